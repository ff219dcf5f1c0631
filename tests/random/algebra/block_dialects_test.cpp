// SPDX-License-Identifier: Apache-2.0
// Every block operator of a dialect is one setting of the neutral operator.
#include "support.hpp"

namespace patchfold::testing {
namespace {

struct Blocks {
  Dims block{};
  Dims blocks{};
  PadsList pads{};
  Dims image{};  ///< blocks * block - pads
  std::int64_t batch = 1;
  std::int64_t channels = 1;

  std::int64_t offsets() const { return element_count(block); }
  Dims begins() const { return ends_or_begins(false); }
  Dims ends() const { return ends_or_begins(true); }
  Dims ends_or_begins(bool end) const {
    Dims list;
    for (int d = 0; d < pads.size(); ++d) list.push_back(end ? pads[d].end : pads[d].begin);
    return list;
  }
};

Dims join(const Dims& a, const Dims& b, const Dims& c = {}) {
  Dims all = a;
  all.append(b);
  all.append(c);
  return all;
}

Blocks random_blocks(int lowest_rank, int highest_rank, std::int64_t lowest_block, bool same_block, bool pads) {
  Blocks b;
  const std::int64_t common = between(lowest_block, 3);
  const std::int64_t rank = between(lowest_rank, highest_rank);
  for (std::int64_t d = 0; d < rank; ++d) {
    const std::int64_t block = same_block ? common : between(lowest_block, 3);
    const std::int64_t blocks = between(2, 5);
    const Pads pad = pads ? Pads{between(0, blocks * block / 2), between(0, blocks * block / 2)} : Pads{};
    b.block.push_back(block);
    b.blocks.push_back(blocks);
    b.pads.push_back(pad);
    b.image.push_back(blocks * block - pad.begin - pad.end);
  }
  b.batch = between(1, 2);
  b.channels = between(1, 3);
  RC_LOG() << "block " << to_string(b.block) << " blocks " << to_string(b.blocks) << " pads " << to_string(b.begins())
           << to_string(b.ends()) << '\n';
  return b;
}

using Tensor32 = Tensor<std::int32_t>;

RC_GTEST_PROP(Dialects, TensorFlowBatchOperatorsAreNeutralOnes, ()) {
  const Blocks b = random_blocks(2, 2, 2, true, true);
  const SpaceToBatch to_batch{.block = b.block, .padding = b.pads, .layout = Layout::channels_last};
  const BatchToSpace to_space{.block = b.block, .crops = b.pads, .layout = Layout::channels_last};
  const auto x = arbitrary<std::int32_t>(join({b.batch}, b.image, {b.channels}));
  const auto y = arbitrary<std::int32_t>(join({b.batch * b.offsets()}, b.blocks, {b.channels}));
  RC_ASSERT(apply(tensorflow::SpaceToBatch{.paddings = b.pads, .block_size = b.block[0]}, x) == apply(to_batch, x));
  RC_ASSERT(apply(tensorflow::BatchToSpace{.crops = b.pads, .block_size = b.block[0]}, y) == apply(to_space, y));
}

RC_GTEST_PROP(Dialects, TensorFlowBatchOperatorsNDAreNeutralOnes, ()) {
  const Blocks b = random_blocks(1, 4, 1, false, true);
  const SpaceToBatch to_batch{.block = b.block, .padding = b.pads, .layout = Layout::channels_last};
  const BatchToSpace to_space{.block = b.block, .crops = b.pads, .layout = Layout::channels_last};
  const Dims rest = flip() ? Dims{} : Dims{b.channels, 2};
  const auto x = arbitrary<std::int32_t>(join({b.batch}, b.image, rest));
  const auto y = arbitrary<std::int32_t>(join({b.batch * b.offsets()}, b.blocks, rest));
  RC_ASSERT(apply(tensorflow::SpaceToBatchND{.block_shape = b.block, .paddings = b.pads}, x) == apply(to_batch, x));
  RC_ASSERT(apply(tensorflow::BatchToSpaceND{.block_shape = b.block, .crops = b.pads}, y) == apply(to_space, y));
}

RC_GTEST_PROP(Dialects, OpenVinoBatchOperatorsAreNeutralOnes, ()) {
  const Blocks b = random_blocks(1, 4, 1, false, true);
  const SpaceToBatch to_batch{.block = b.block, .padding = b.pads};
  const BatchToSpace to_space{.block = b.block, .crops = b.pads};
  const auto x = arbitrary<std::int32_t>(join({b.batch}, b.image));
  const auto y = arbitrary<std::int32_t>(join({b.batch * b.offsets()}, b.blocks));
  const Dims block = join({1}, b.block);
  const Dims begins = join({0}, b.begins());
  const Dims ends = join({0}, b.ends());
  RC_ASSERT(apply(openvino::SpaceToBatch{block, begins, ends}, x) == apply(to_batch, x));
  RC_ASSERT(apply(openvino::BatchToSpace{block, begins, ends}, y) == apply(to_space, y));
}

RC_GTEST_PROP(Dialects, OpenVinoDepthOperatorsAreNeutralOnes, ()) {
  const Blocks b = random_blocks(1, 4, 1, true, false);
  const bool depth_first = flip();
  const auto mode = depth_first ? DepthMode::depth_first : DepthMode::blocks_first;
  const auto blocks_mode = depth_first ? openvino::BlocksMode::depth_first : openvino::BlocksMode::blocks_first;
  const auto x = arbitrary<std::int32_t>(join({b.batch, b.channels}, b.image));
  const auto y = arbitrary<std::int32_t>(join({b.batch, b.channels * b.offsets()}, b.blocks));
  RC_ASSERT(apply(openvino::SpaceToDepth{b.block[0], blocks_mode}, x) ==
            apply(SpaceToDepth{.block = b.block, .mode = mode}, x));
  RC_ASSERT(apply(openvino::DepthToSpace{b.block[0], blocks_mode}, y) ==
            apply(DepthToSpace{.block = b.block, .mode = mode}, y));
}

RC_GTEST_PROP(Dialects, OnnxDepthOperatorsAreNeutralOnes, ()) {
  const Blocks b = random_blocks(2, 2, 1, true, false);
  const bool depth_first = flip();
  const auto mode = depth_first ? DepthMode::depth_first : DepthMode::blocks_first;
  const auto onnx_mode = depth_first ? onnx::Mode::CRD : onnx::Mode::DCR;
  const auto x = arbitrary<std::int32_t>(join({b.batch, b.channels}, b.image));
  const auto y = arbitrary<std::int32_t>(join({b.batch, b.channels * b.offsets()}, b.blocks));
  RC_ASSERT(apply(onnx::SpaceToDepth{b.block[0], onnx_mode}, x) == apply(SpaceToDepth{.block = b.block, .mode = mode}, x));
  RC_ASSERT(apply(onnx::DepthToSpace{b.block[0], onnx_mode}, y) == apply(DepthToSpace{.block = b.block, .mode = mode}, y));
}

RC_GTEST_PROP(Dialects, TensorFlowDepthOperatorsAreNeutralOnes, ()) {
  const Blocks b = random_blocks(2, 2, 2, true, false);
  const bool nchw = flip();
  const auto layout = nchw ? Layout::channels_first : Layout::channels_last;
  const auto format = nchw ? tensorflow::DataFormat::NCHW : tensorflow::DataFormat::NHWC;
  const auto shape = [&](std::int64_t channels, const Dims& spatial) {
    return nchw ? join({b.batch, channels}, spatial) : join({b.batch}, spatial, {channels});
  };
  const auto x = arbitrary<std::int32_t>(shape(b.channels, b.image));
  const auto y = arbitrary<std::int32_t>(shape(b.channels * b.offsets(), b.blocks));
  RC_ASSERT(apply(tensorflow::SpaceToDepth{b.block[0], format}, x) ==
            apply(SpaceToDepth{.block = b.block, .layout = layout}, x));
  RC_ASSERT(apply(tensorflow::DepthToSpace{b.block[0], format}, y) ==
            apply(DepthToSpace{.block = b.block, .layout = layout}, y));
}

RC_GTEST_PROP(Dialects, TorchPixelShufflesAreNeutralOnes, ()) {
  const Blocks b = random_blocks(2, 2, 1, true, false);
  const Dims lead = flip() ? Dims{} : Dims{b.batch, 2};
  const auto x = arbitrary<std::int32_t>(join(lead, {b.channels}, b.image));
  const auto y = arbitrary<std::int32_t>(join(lead, {b.channels * b.offsets()}, b.blocks));
  const SpaceToDepth to_depth{.block = b.block, .mode = DepthMode::depth_first};
  const DepthToSpace to_space{.block = b.block, .mode = DepthMode::depth_first};
  RC_ASSERT(apply(torch::PixelUnshuffle{b.block[0]}, x) == apply(to_depth, x));
  RC_ASSERT(apply(torch::PixelShuffle{b.block[0]}, y) == apply(to_space, y));
}

}  // namespace
}  // namespace patchfold::testing
