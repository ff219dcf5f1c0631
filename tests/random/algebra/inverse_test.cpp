// SPDX-License-Identifier: Apache-2.0
// Tests operators that undo each other.
#include "support.hpp"

namespace patchfold::testing {
namespace {

struct Blocks {
  Dims block{};
  Dims blocks{};
  PadsList pads{};
  Dims image{};  ///< blocks * block - pads
};

Blocks random_blocks(std::int64_t highest_pad) {
  Blocks b;
  const auto rank = static_cast<int>(between(1, 4));
  while (b.image.size() < rank) {
    const std::int64_t block = between(1, 3);
    const std::int64_t blocks = between(0, rank > 2 ? 3 : 6);
    const Pads pads{between(0, highest_pad), between(0, highest_pad)};
    const std::int64_t image = blocks * block - pads.begin - pads.end;
    if (image < 0) {
      b.block.push_back(block);
      b.blocks.push_back(blocks);
      b.pads.push_back({});
      b.image.push_back(blocks * block);
      continue;
    }
    b.block.push_back(block);
    b.blocks.push_back(blocks);
    b.pads.push_back(pads);
    b.image.push_back(image);
  }
  RC_LOG() << "block " << to_string(b.block) << " blocks " << to_string(b.blocks) << " image " << to_string(b.image) << '\n';
  return b;
}

Dims image_shape(const Dims& spatial, std::int64_t channels, Layout layout) {
  Dims shape = {between(1, 2)};
  if (layout == Layout::channels_first) shape.push_back(channels);
  shape.append(spatial);
  if (layout == Layout::channels_last) shape.push_back(channels);
  return shape;
}

RC_GTEST_PROP(Algebra, BatchToSpaceUndoesSpaceToBatch, ()) {
  const Blocks b = random_blocks(3);
  const Layout layout = random_layout();
  const auto x = arbitrary<std::int32_t>(image_shape(b.image, between(0, 3), layout));
  const auto batches = apply(SpaceToBatch{.block = b.block, .padding = b.pads, .layout = layout}, x);
  RC_ASSERT(apply(BatchToSpace{.block = b.block, .crops = b.pads, .layout = layout}, batches) == x);
}

RC_GTEST_PROP(Algebra, SpaceToBatchUndoesBatchToSpaceWithoutCrops, ()) {
  const Blocks b = random_blocks(0);
  const Layout layout = random_layout();
  Dims shape = image_shape(b.blocks, between(0, 3), layout);
  shape[0] *= element_count(b.block);
  const auto x = arbitrary<std::int32_t>(shape);
  const auto image = apply(BatchToSpace{.block = b.block, .layout = layout}, x);
  RC_ASSERT(apply(SpaceToBatch{.block = b.block, .layout = layout}, image) == x);
}

RC_GTEST_PROP(Algebra, DepthToSpaceUndoesSpaceToDepthAndBack, ()) {
  const Blocks b = random_blocks(0);
  const Layout layout = random_layout();
  const DepthMode mode = flip() ? DepthMode::depth_first : DepthMode::blocks_first;
  const SpaceToDepth to_depth{.block = b.block, .mode = mode, .layout = layout};
  const DepthToSpace to_space{.block = b.block, .mode = mode, .layout = layout};
  const std::int64_t channels = between(0, 3);
  const auto x = arbitrary<std::int32_t>(image_shape(b.image, channels, layout));
  RC_ASSERT(apply(to_space, apply(to_depth, x)) == x);
  const auto y = arbitrary<std::int32_t>(image_shape(b.blocks, channels * element_count(b.block), layout));
  RC_ASSERT(apply(to_depth, apply(to_space, y)) == y);
}

TEST(Algebra, DepthFirstDoesNotUndoBlocksFirst) {
  Tensor<std::int32_t> x = filled<std::int32_t>({1, 2, 2, 2}, 0);
  for (std::size_t i = 0; i < 8; ++i) x.values[i] = static_cast<std::int32_t>(i + 1);
  const auto deep = apply(SpaceToDepth{.block = {2, 2}, .mode = DepthMode::blocks_first}, x);
  const auto back = apply(DepthToSpace{.block = {2, 2}, .mode = DepthMode::depth_first}, deep);
  EXPECT_EQ(back.shape, x.shape);
  EXPECT_EQ(back.values, (std::vector<std::int32_t>{1, 5, 2, 6, 3, 7, 4, 8}));
}

RC_GTEST_PROP(Algebra, ReorderUndoesItself, ()) {
  const Geometry g = random_geometry({});
  const Pair pair = random_pair(g);
  const auto x = arbitrary<std::int32_t>(pair.unfold.output_shape(pair.image));
  const Order source = random_order();
  const Order target = random_order();
  const Reorder there{g.kernel, source, target, pair.unfold.layout, pair.unfold.positions};
  const Reorder back{g.kernel, target, source, pair.unfold.layout, pair.unfold.positions};
  RC_ASSERT(apply(back, apply(there, x)) == x);
}

RC_GTEST_PROP(Algebra, ReorderTurnsTheOrdersOfUnfoldIntoEachOther, ()) {
  const Geometry g = random_geometry({});
  Pair pair = random_pair(g);
  const auto x = arbitrary<std::int32_t>(pair.image);
  const auto columns = apply(pair.unfold, x);
  const Order source = pair.unfold.order;
  pair.unfold.order = source == Order::channel ? Order::kernel : Order::channel;
  const Reorder reorder{g.kernel, source, pair.unfold.order, pair.unfold.layout, pair.unfold.positions};
  RC_ASSERT(apply(reorder, columns) == apply(pair.unfold, x));
}

RC_GTEST_PROP(Algebra, ReorderTurnsTheModesOfSpaceToDepthIntoEachOther, ()) {
  const Blocks b = random_blocks(0);
  const Layout layout = random_layout();
  const auto x = arbitrary<std::int32_t>(image_shape(b.image, between(1, 3), layout));
  const auto crd = apply(SpaceToDepth{.block = b.block, .mode = DepthMode::depth_first, .layout = layout}, x);
  const auto dcr = apply(SpaceToDepth{.block = b.block, .mode = DepthMode::blocks_first, .layout = layout}, x);
  RC_ASSERT(apply(Reorder{b.block, Order::channel, Order::kernel, layout, Positions::grid}, crd) == dcr);
}

RC_GTEST_PROP(Algebra, SpaceToDepthIsUnfoldWhoseStrideIsItsKernel, ()) {
  const Blocks b = random_blocks(0);
  const Layout layout = random_layout();
  const bool depth_first = flip();
  const auto x = arbitrary<std::int32_t>(image_shape(b.image, between(1, 3), layout));
  const Unfold unfold{.kernel_size = b.block,
                      .stride = b.block,
                      .layout = layout,
                      .order = depth_first ? Order::channel : Order::kernel,
                      .positions = Positions::grid,
                      .allow_empty = true};
  const SpaceToDepth to_depth{b.block, depth_first ? DepthMode::depth_first : DepthMode::blocks_first, layout};
  RC_ASSERT(apply(to_depth, x) == apply(unfold, x));
}

}  // namespace
}  // namespace patchfold::testing
