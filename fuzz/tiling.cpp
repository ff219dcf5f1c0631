// SPDX-License-Identifier: Apache-2.0
// Fuzzes tilings and merges: tiles cut from an array and merged in any order must give that array, bit by bit.
#include "patchfold/tiling.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "fuzz/problems.hpp"
#include "fuzz/target.hpp"

namespace patchfold::fuzz {
namespace {

using testing::Random;

/// A sink that checks that rows come in order, and keeps them.
class Sink final : public RowSink {
 public:
  Sink(const TensorView& output, int axis) : output_(output), axis_(axis) {}
  void write(Span rows, const ConstTensorView& band) override {
    expect(rows.begin == next_ && rows.end > rows.begin, "rows come out of order");
    next_ = rows.end;
    TensorView part = output_;
    part.shape[axis_] = rows.size();
    part.data = static_cast<std::byte*>(part.data) + rows.begin * part.strides[axis_];
    copy(band, part);
  }

 private:
  static void copy(const ConstTensorView& src, const TensorView& dst) {
    expect(src.shape == dst.shape, "a band of the wrong shape");
    Dims index = Dims::filled(src.shape.size(), 0);
    for (auto count = element_count(src.shape); count > 0; --count) {
      std::int64_t from = 0;
      std::int64_t to = 0;
      for (int axis = 0; axis < index.size(); ++axis) {
        from += index[axis] * src.strides[axis];
        to += index[axis] * dst.strides[axis];
      }
      std::memcpy(static_cast<std::byte*>(dst.data) + to, static_cast<const std::byte*>(src.data) + from, src.element_size);
      for (int axis = index.size() - 1; axis >= 0 && ++index[axis] == src.shape[axis]; --axis) index[axis] = 0;
    }
  }

  TensorView output_;
  int axis_;
  std::int64_t next_ = 0;
};

struct Tensor {
  Dims shape{};
  DType dtype{};
  std::size_t size = 0;
  std::vector<std::byte> bytes{};

  Tensor(const Dims& given, DType type, std::size_t element_size)
      : shape(given),
        dtype(type),
        size(element_size),
        bytes(static_cast<std::size_t>(element_count(given)) * element_size) {}
  TensorView view() { return {bytes.data(), shape, contiguous_strides(shape, size), dtype, size}; }
};

bool covers_everything(const Tiling& tiling) {
  Tensor counts(tiling.output(), DType::int64, sizeof(std::int64_t));
  tiling.coverage(counts.view());
  for (std::size_t at = 0; at < counts.bytes.size(); at += sizeof(std::int64_t)) {
    std::int64_t count = 0;
    std::memcpy(&count, counts.bytes.data() + at, sizeof count);
    if (count == 0) return false;
  }
  return true;
}

/// Checks that a refused merge has a reason. `invalid` is the code with which check_merge refuses the merge, `refused` the
/// code with which Merger's constructor does.
void check_refusal(const Tiling& tiling, const MergeSpec& merge, std::optional<ErrorCode> invalid,
                   std::optional<ErrorCode> refused) {
  if (refused && !invalid) {
    const bool weights_leave_gaps = !merge.fill && (!merge.mask.empty() || !has_formula(merge.window.kind));
    expect(
        (*refused == ErrorCode::out_of_memory && merge.memory_limit) || (*refused == ErrorCode::value && weights_leave_gaps),
        "a valid merge is refused");
  }
  if (invalid) {
    expect(refused.has_value(), "an invalid merge is accepted");
    const bool has_only_defaults =
        merge.window.kind == WeightWindow::Kind::ones && merge.window.sigma_scale > 0 && merge.mask.empty() && !merge.fill;
    const bool copies = merge.reduce == Reduce::first || merge.reduce == Reduce::last;
    expect(!has_only_defaults || !copies || !covers_everything(tiling), "a merge that only copies is refused");
  }
}

/// Returns weights above 0 for a tile, or none. Tiles agree where they overlap, so weights do not change the result.
TileWeights draw_weights(Random& random, const MergeSpec& merge, const Dims& shape, std::vector<double>& room) {
  TileWeights weights;
  const Reduce reduce = reduction_of(merge);
  const bool is_selecting = reduce == Reduce::first || reduce == Reduce::last || reduce == Reduce::center;
  const bool is_wide = merge.dtype == DType::int64 || merge.dtype == DType::uint64;
  if (is_selecting || is_wide || random.chance(70)) return weights;
  weights.number = static_cast<double>(random.between(1, 40)) / 8;
  if (random.chance(50)) return weights;
  Dims extents = shape;
  for (int axis = 0; axis < extents.size(); ++axis)
    if (random.chance(40)) extents[axis] = 1;
  if (element_count(extents) > 2000) return weights;
  room.resize(static_cast<std::size_t>(element_count(extents)));
  for (double& weight : room) weight = static_cast<double>(random.between(1, 40)) / 8;
  weights.array = patchfold::view(std::as_const(room).data(), extents);
  return weights;
}

/// Cuts the tiles and adds them to the merger, in their order or in a random order.
void put_together(Random& random, const Tiling& tiling, Tensor& array, const MergeSpec& merge, bool is_plain,
                  Merger& merger) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(tiling.size()));
  std::iota(order.begin(), order.end(), 0);
  if (random.chance(70))
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i) - 1))]);
  for (const auto index : order) {
    if (!merge.mask.empty() && merge.mask[static_cast<std::size_t>(index)] == 0) continue;
    auto tile = std::make_shared<Tensor>(tiling.tile_shape(index), array.dtype, array.size);
    tiling.cut(index, array.view(), tile->view());
    if (!is_plain) tile = std::make_shared<Tensor>(tiling.result_shape(index, tiling.channels()), array.dtype, array.size);
    std::vector<double> room;
    const TileWeights weights = draw_weights(random, merge, tile->shape, room);
    merger.add(index, tile->view(), weights, tile);
  }
  merger.finish();
}

void run(std::span<const std::uint8_t> bytes) {
  Random random(bytes);
  const TilingSpec spec = draw_tiling(random);
  std::optional<Tiling> tiling;
  if (refusal([&] { tiling.emplace(spec); })) return;
  refusal([&] { (*tiling)[draw_number(random)]; });
  const auto type = random.pick(testing::all_types());
  if (!is_small(*tiling)) {
    refusal([&] { merge_memory(*tiling, draw_merge(random, *tiling, type.dtype, type.size), random.chance(50)); });
    return;
  }
  Tensor array(spec.shape, type.dtype, type.size);
  testing::Features features;
  array.bytes = testing::random_elements(random, type, element_count(spec.shape), features);
  const MergeSpec merge = draw_merge(random, *tiling, type.dtype, type.size);
  const bool is_plain = spec.scale.empty() && spec.offset.empty() && spec.result.empty() && spec.output.empty();
  Tensor output({}, type.dtype, type.size);
  std::optional<Sink> sink;
  std::optional<Merger> merger;
  const auto invalid = refusal([&] { check_merge(*tiling, merge); });
  const auto refused = refusal([&] {
    output = Tensor(tiling->output_shape(tiling->channels()), type.dtype, type.size);
    std::fill(output.bytes.begin(), output.bytes.end(), std::byte{0xA5});
    sink.emplace(output.view(), tiling->stream_axis());
    if (random.chance(50)) {
      merger.emplace(*tiling, merge, *sink);
    } else {
      merger.emplace(*tiling, merge, output.view());
    }
  });
  check_refusal(*tiling, merge, invalid, refused);
  if (refused) return;
  const auto stopped = refusal([&] { put_together(random, *tiling, array, merge, is_plain, *merger); });
  if (stopped) {
    expect(*stopped == ErrorCode::out_of_memory && merge.memory_limit, "a tile that a merger needs is refused");
    return;
  }
  const bool moves = merge.reduce != Reduce::sum;
  if (!is_plain || !moves || !merge.mask.empty() || merge.fill) return;
  // A copy keeps the payload of a NaN. A sum gives the quiet NaN only where contributions differ, and here they never do.
  expect(output.bytes == array.bytes, "the tiles of an array do not give the array");
}

}  // namespace
}  // namespace patchfold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  patchfold::fuzz::run({data, size});
  return 0;
}
