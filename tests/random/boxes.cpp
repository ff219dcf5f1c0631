// SPDX-License-Identifier: Apache-2.0
#include "boxes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

namespace patchfold::testing {
namespace {

TilingSpec draw_tiling(Random& random) {
  TilingSpec spec;
  const int tiled = static_cast<int>(random.between(1, 4));
  const int channels = static_cast<int>(random.between(0, tiled < 4 ? 2 : 1));
  const int rank = tiled + channels;
  // Tilings of few axes get longer axes, so that rows are long enough for every kernel.
  const std::array<std::int64_t, 4> longest = {300, 60, 20, 10};
  const std::int64_t most = longest[static_cast<std::size_t>(tiled - 1)];
  std::vector<int> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  for (int i = 0; i < channels; ++i) axes.erase(axes.begin() + random.between(0, static_cast<int>(axes.size()) - 1));
  for (const int axis : axes) spec.axes.push_back(axis);
  spec.shape = Dims::filled(rank, 0);
  for (int axis = 0; axis < rank; ++axis) spec.shape[axis] = random.between(1, 4);
  const bool is_scaled = random.chance(30);
  const std::int64_t num = is_scaled ? random.between(1, 3) : 1, den = is_scaled ? random.between(1, 2) : 1;
  Dims strides;
  for (const int axis : axes) {
    spec.shape[axis] = random.between(1, most) * den;
    spec.tile.push_back(random.between(1, most / 2) * den);
    strides.push_back(random.between(1, std::max<std::int64_t>(1, spec.tile.back() / den + (random.chance(10) ? 2 : 0))) *
                      den);
  }
  spec.stride = strides;
  spec.tail = static_cast<Tail>(random.between(0, 5));
  if (is_scaled) spec.scale = {{num, den}};
  if (random.chance(20))
    for (int i = 0; i < tiled; ++i) spec.offset.push_back(random.between(-2, 3));
  if (random.chance(20))
    for (const std::int64_t tile : spec.tile) spec.result.push_back(tile * num / den + random.between(-2, 2));
  if (random.chance(30)) {
    Dims before, behind;
    for (int i = 0; i < tiled; ++i) {
      before.push_back(random.between(-1, 4) * den);
      behind.push_back(random.between(-1, 4) * den);
    }
    spec.margin = before;
    spec.margin_end = behind;
  }
  if (random.chance(10))
    for (int i = 0; i < tiled; ++i) spec.output.push_back(random.between(0, most));
  return spec;
}

MergeSpec draw_merge_of_any_type(Random& random, const Tiling& tiling) {
  constexpr std::array types = {DType::boolean, DType::int8,      DType::uint8,   DType::int16,   DType::uint16,
                                DType::int32,   DType::int64,     DType::uint64,  DType::float16, DType::bfloat16,
                                DType::float32, DType::float32,   DType::float64, DType::opaque,  DType::complex64,
                                DType::uint8,   DType::complex128};
  MergeSpec spec;
  spec.dtype = random.pick(types);
  spec.element_size = spec.dtype == DType::opaque ? 3 : size_of(spec.dtype);
  draw_merge(random, tiling, spec);
  if (spec.dtype == DType::opaque) spec.reduce = random.pick(std::array{Reduce::first, Reduce::last, Reduce::center});
  return spec;
}

/// Returns elements of random bytes. Often, and for booleans always, all bytes are 0 or 1, so that many elements are equal.
Bytes draw_elements(Random& random, std::int64_t count, DType dtype, std::size_t size) {
  Bytes bytes(static_cast<std::size_t>(count) * size);
  const bool is_any = random.chance(40);
  for (std::byte& byte : bytes)
    byte = static_cast<std::byte>(random.between(0, is_any && dtype != DType::boolean ? 255 : 1));
  return bytes;
}

/// An array in a random order of its axes, with unused bytes between its rows.
struct Array {
  Bytes bytes{};
  Dims shape{};
  Dims strides{};
  std::size_t size = 0;

  Array(Random& random, const Dims& given, std::size_t element) : shape(given), strides(given), size(element) {
    std::vector<int> order(static_cast<std::size_t>(given.size()));
    std::iota(order.begin(), order.end(), 0);
    if (random.chance(40) && !order.empty()) std::swap(order.back(), order[random.next() % order.size()]);
    auto step = static_cast<std::int64_t>(element);
    if (random.chance(20)) step *= 2;
    for (std::size_t i = order.size(); i-- > 0;) {
      strides[order[i]] = step;
      step *= std::max<std::int64_t>(1, given[order[i]]);
      if (random.chance(10)) step += static_cast<std::int64_t>(element);
    }
    bytes.resize(static_cast<std::size_t>(step));
  }
};

/// Returns the shape `full` with the sizes of `part` along the tiled axes.
Dims with_tiled(const Dims& axes, Dims full, const std::vector<Span>& part) {
  for (std::size_t i = 0; i < part.size(); ++i) full[static_cast<int>(axes[static_cast<int>(i)])] = part[i].size();
  return full;
}

/// Returns the part of a tile's result that lies in the box, in a random layout.
Array piece_of(Random& random, const Whole& whole, std::int64_t tile, const Box& box) {
  const std::vector<Span> part = whole.tiling.piece(tile, box);
  const Dims result = whole.tiling.result_shape(tile, whole.spec.channels);
  const std::size_t size = whole.spec.element_size;
  Array piece(random, with_tiled(whole.axes, result, part), size);
  const Dims strides = contiguous_strides(result, size);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < part.size(); ++i)
    first += part[i].begin * strides[static_cast<int>(whole.axes[static_cast<int>(i)])];
  each_index(piece.shape, [&](const Dims& at) {
    std::memcpy(piece.bytes.data() + offset_of(at, piece.strides),
                whole.results[static_cast<std::size_t>(tile)].data() + first + offset_of(at, strides), size);
  });
  return piece;
}

}  // namespace

std::optional<Whole> draw_whole(Random& random) {
  try {
    Tiling tiling(draw_tiling(random));
    if (tiling.size() == 0 || tiling.size() > 4000 || element_count(tiling.output()) == 0) return std::nullopt;
    MergeSpec spec = draw_merge_of_any_type(random, tiling);
    check_merge(tiling, spec, true);
    Whole whole{tiling, spec};
    const MergeOutput form = merge_output(tiling, spec);
    whole.shape = form.shape;
    whole.output_axes = form.axes;
    whole.type = form.dtype;
    whole.axes = tiling.axes_in(spec.channels.size() + form.axes.size());
    whole.output_size = whole.type != spec.dtype ? size_of(whole.type) : spec.element_size;
    whole.output.resize(static_cast<std::size_t>(element_count(whole.shape)) * whole.output_size);
    Merger merger(
        tiling, spec,
        {whole.output.data(), whole.shape, contiguous_strides(whole.shape, whole.output_size), whole.type, whole.output_size});
    for (std::int64_t i = 0; i < tiling.size(); ++i) {
      const Dims extents = tiling.result_shape(i, spec.channels);
      whole.results.push_back(draw_elements(random, element_count(extents), spec.dtype, spec.element_size));
      if (!spec.mask.empty() && spec.mask[static_cast<std::size_t>(i)] == 0) continue;
      merger.add(i, {whole.results.back().data(), extents, contiguous_strides(extents, spec.element_size), spec.dtype,
                     spec.element_size});
    }
    merger.finish();
    return whole;
  } catch (const Error&) {  // the drawn tiling or merge is invalid
    return std::nullopt;
  }
}

Box draw_box(Random& random, const Tiling& tiling) {
  Box box;
  for (const std::int64_t extent : tiling.output()) {
    const std::int64_t begin = random.chance(20) ? 0 : random.between(0, extent - 1);
    box.push_back({begin, random.chance(20) ? extent : random.between(std::min(begin + 1, extent), extent)});
  }
  if (random.chance(2)) box[0].end = box[0].begin;
  return box;
}

std::string text_of(const Whole& whole, const Box& box) {
  std::string text = whole.tiling.to_json(false) + " " + std::string(name_of(whole.spec.dtype)) + " " +
                     std::string(word_of(reduction_of(whole.spec))) + " window " +
                     std::string(word_of(whole.spec.window.kind)) + " box";
  for (const Span span : box) text += " " + std::to_string(span.begin) + ":" + std::to_string(span.end);
  return text;
}

std::int64_t wrong_elements(Random& random, const Whole& whole, const BoxMerger& merger, const Box& box) {
  std::vector<Array> arrays;
  std::vector<Piece> pieces;
  const std::vector<Span> tiles = whole.tiling.touching(box);
  Dims counts;
  for (const Span span : tiles) counts.push_back(span.size());
  each_index(counts, [&](const Dims& at) {
    std::int64_t tile = 0;
    for (int i = 0; i < at.size(); ++i)
      tile = tile * whole.tiling.grid()[i] + tiles[static_cast<std::size_t>(i)].begin + at[i];
    if (!whole.spec.mask.empty() && whole.spec.mask[static_cast<std::size_t>(tile)] == 0) return;
    arrays.push_back(piece_of(random, whole, tile, box));
    pieces.push_back({tile, {nullptr, arrays.back().shape, arrays.back().strides, whole.spec.dtype, arrays.back().size}});
  });
  for (std::size_t i = 0; i < pieces.size(); ++i) pieces[i].view.data = arrays[i].bytes.data();
  if (pieces.size() > 1) std::swap(pieces.front(), pieces[random.next() % pieces.size()]);

  Array out(random, with_tiled(whole.output_axes, whole.shape, box), whole.output_size);
  merger.merge(box, pieces, {out.bytes.data(), out.shape, out.strides, whole.type, out.size},
               random.chance(50) ? default_executor() : serial_executor());
  const Dims strides = contiguous_strides(whole.shape, whole.output_size);
  std::int64_t first = 0, wrong = 0;
  for (std::size_t i = 0; i < box.size(); ++i)
    first += box[i].begin * strides[static_cast<int>(whole.output_axes[static_cast<int>(i)])];
  each_index(out.shape, [&](const Dims& at) {
    wrong += std::memcmp(out.bytes.data() + offset_of(at, out.strides), whole.output.data() + first + offset_of(at, strides),
                         out.size) != 0;
  });
  return wrong;
}

}  // namespace patchfold::testing
