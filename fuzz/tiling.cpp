// SPDX-License-Identifier: Apache-2.0
// Tilings and merges: what is accepted puts the tiles of an array together to that array, bit by bit, however they come.
#include "patchfold/tiling.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "fuzz/problems.hpp"
#include "fuzz/target.hpp"

namespace patchfold::fuzz {
namespace {

using testing::Random;

Dims draw_dims(Random& random, int length, std::int64_t lowest, std::int64_t highest) {
  Dims dims;
  for (; length > 0; --length) dims.push_back(random.chance(95) ? random.between(lowest, highest) : draw_number(random));
  return dims;
}

TilingSpec draw_spec(Random& random) {
  TilingSpec spec;
  const int rank = static_cast<int>(random.between(1, 4));
  const int tiled = static_cast<int>(random.between(1, rank));
  spec.shape = draw_dims(random, rank, 0, 12);
  spec.tile = draw_dims(random, tiled, 1, 6);
  switch (random.between(0, 4)) {
    case 0: spec.overlap = draw_dims(random, tiled, -2, 4); break;
    case 1: spec.overlap = random.between(0, 3); break;
    case 2: spec.stride = draw_dims(random, tiled, 1, 6); break;
    case 3:
      for (int i = 0; i < tiled; ++i) spec.overlap_fraction.push_back(static_cast<double>(random.between(-1, 11)) / 10);
      break;
    default: break;
  }
  spec.tail = static_cast<Tail>(random.between(0, 5));
  spec.padding_mode = static_cast<PaddingMode>(random.between(0, 4));
  if (random.chance(30)) {
    for (int i = 0; i < tiled; ++i) spec.axes.push_back(random.chance(95) ? rank - tiled + i : draw_number(random));
  }
  if (random.chance(10)) spec.scale = {{draw_number(random), draw_number(random)}};
  if (random.chance(10)) spec.offset = draw_dims(random, tiled, -2, 2);
  if (random.chance(10)) spec.result = draw_dims(random, tiled, 1, 6);
  return spec;
}

MergeSpec draw_merge(Random& random, const Tiling& tiling, DType dtype, std::size_t size) {
  MergeSpec spec;
  if (random.chance(90)) spec.reduce = static_cast<Reduce>(random.between(0, 6));
  spec.window.kind = static_cast<WeightWindow::Kind>(random.between(0, 7));
  if (random.chance(10)) spec.window.sigma_scale = static_cast<double>(random.between(-1, 100)) / 50;
  if (spec.window.kind == WeightWindow::Kind::axes)
    for (const auto extent : tiling.result()) {
      auto& weights = spec.window.axes.emplace_back();
      for (std::int64_t i = 0; i < std::min<std::int64_t>(extent, 100); ++i)
        weights.push_back(static_cast<double>(random.between(0, 20)));
    }
  if (spec.window.kind == WeightWindow::Kind::array && element_count(tiling.result()) < 2000)
    for (std::int64_t i = element_count(tiling.result()); i > 0; --i)
      spec.window.array.push_back(static_cast<double>(random.between(0, 20)));
  spec.dtype = dtype;
  spec.element_size = size;
  spec.channels = tiling.channels();
  if (random.chance(20)) spec.fill = testing::random_scalar(random, dtype);
  if (random.chance(20))
    for (std::int64_t i = 0; i < std::min<std::int64_t>(tiling.size(), 2000); ++i)
      spec.mask.push_back(static_cast<std::uint8_t>(random.chance(80)));
  spec.copy = random.chance(50);
  if (random.chance(10)) spec.memory_limit = draw_number(random);
  return spec;
}

/// Checks that rows come in order and keeps them.
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

bool is_small(const Tiling& tiling) {
  double elements = 1;
  for (const auto extent : tiling.spec().shape) elements *= static_cast<double>(std::max<std::int64_t>(extent, 1));
  double output = 1;
  for (const auto extent : tiling.output()) output *= static_cast<double>(std::max<std::int64_t>(extent, 1));
  double result = 1;
  for (const auto extent : tiling.result()) result *= static_cast<double>(std::max<std::int64_t>(extent, 1));
  return elements < 20000 && output * elements < 1e7 && result < 20000 && tiling.size() < 2000;
}

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

/// Whether a merge may be refused: `invalid` is what check_merge says, `refused` what the constructor of Merger says.
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

/// Weights above 0 for a tile, or none: they change no value where all tiles agree.
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

/// Cuts the tiles and gives them to the merger, in order or not.
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
  const TilingSpec spec = draw_spec(random);
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
  const bool is_plain = spec.scale.empty() && spec.offset.empty() && spec.result.empty();
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
  // NaN payloads are kept by what copies; what computes gives the quiet NaN where contributions differ, and here none do.
  expect(output.bytes == array.bytes, "the tiles of an array do not give the array");
}

}  // namespace
}  // namespace patchfold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  patchfold::fuzz::run({data, size});
  return 0;
}
