// SPDX-License-Identifier: Apache-2.0
// Tilings for C.
#include <algorithm>
#include <complex>
#include <cstddef>

#include "capi/callback_executor.hpp"
#include "capi/convert.hpp"
#include "capi/tiles.hpp"

namespace patchfold::capi {

static_assert(static_cast<int>(Tail::shift) == PF_TAIL_SHIFT && static_cast<int>(Tail::pad) == PF_TAIL_PAD &&
              static_cast<int>(Tail::partial) == PF_TAIL_PARTIAL && static_cast<int>(Tail::drop) == PF_TAIL_DROP &&
              static_cast<int>(Tail::error) == PF_TAIL_ERROR &&
              static_cast<int>(Tail::shift_or_pad) == PF_TAIL_SHIFT_OR_PAD);

Scalar scalar_of(const pf_scalar& given, std::string_view op, std::string_view argument) {
  check_reserved(given.reserved, op, argument);
  switch (given.kind) {
    case PF_VALUE_INTEGER: return given.integer;
    case PF_VALUE_UNSIGNED: return static_cast<std::uint64_t>(given.integer);
    case PF_VALUE_NUMBER: return given.number;
    case PF_VALUE_COMPLEX: return std::complex<double>(given.number, given.imaginary);
    default: fail(ErrorCode::type, op, argument, "there is no such kind of number", given.kind);
  }
}

namespace {

Dims dims_of(const std::int64_t* entries, std::int32_t count, std::string_view argument) {
  return Dims(list_of(entries, count, op_tiling, argument));
}

/// Returns the entries as axes; a single entry applies to every tiled axis.
Axes axes_of(const std::int64_t* entries, std::int32_t count, std::string_view argument) {
  const Dims dims = dims_of(entries, count, argument);
  return dims.size() == 1 ? Axes(dims[0]) : Axes(dims);
}

TilingSpec tiling_spec_of(const pf_tiling_spec* from) {
  const auto given =
      load<pf_tiling_spec>(required(from, op_tiling, "spec"), offsetof(pf_tiling_spec, margin), op_tiling, "spec");
  TilingSpec spec;
  spec.shape = dims_of(given.shape, given.rank, "shape");
  spec.tile = dims_of(given.tile, given.n_tiled, "tile");
  spec.overlap = axes_of(given.overlap, given.n_overlap, "overlap");
  const auto fractions = list_of(given.overlap_fraction, given.n_overlap_fraction, op_tiling, "overlap");
  spec.overlap_fraction.assign(fractions.begin(), fractions.end());
  spec.stride = axes_of(given.stride, given.n_stride, "stride");
  spec.tail = enumerator_of<Tail>(given.tail, given.tail, op_tiling, "tail");
  spec.padding_mode = enumerator_of<PaddingMode>(given.padding_mode, given.padding_mode, op_tiling, "padding_mode");
  if (given.value != nullptr) spec.value = scalar_of(*given.value, op_tiling, "value");
  spec.axes = dims_of(given.axes, given.n_axes, "axes");
  for (const pf_ratio ratio : list_of(given.scale, given.n_scale, op_tiling, "scale"))
    spec.scale.push_back({ratio.num, ratio.den});
  spec.offset = dims_of(given.offset, given.n_offset, "offset");
  spec.result = dims_of(given.result, given.n_result, "result");
  spec.align = axes_of(given.align, given.n_align, "align");
  spec.margin = axes_of(given.margin, given.n_margin, "margin");
  spec.margin_end = axes_of(given.margin_end, given.n_margin_end, "margin");
  spec.output = dims_of(given.output, given.n_output, "output");
  return spec;
}

pf_tiling_layout layout_of(const pf_tiling& from) {
  const Tiling& tiling = from.tiling;
  pf_tiling_layout layout{};
  layout.rank = tiling.spec().shape.size();
  layout.n_tiled = tiling.axes().size();
  layout.n_channels = from.channels.size();
  layout.stream_axis = tiling.stream_axis();
  layout.count = tiling.size();
  layout.shape = tiling.spec().shape.begin();
  layout.channels = from.channels.begin();
  layout.axes = tiling.axes().begin();
  layout.tile = tiling.spec().tile.begin();
  layout.stride = tiling.stride().begin();
  layout.grid = tiling.grid().begin();
  layout.result = tiling.result().begin();
  layout.output = tiling.output().begin();
  return layout;
}

pf_tile_span span_of(const TileSpan& span) {
  return {span.read.begin, span.read.end, span.extent, span.write.begin, span.write.end,
          span.keep.begin, span.keep.end, span.result, span.start};
}

void give_tile(const Tiling& tiling, std::int64_t index, std::int64_t* position, pf_tile_span* spans) {
  const Tile tile = tiling[index];
  if (position != nullptr) std::copy(tile.position.begin(), tile.position.end(), position);
  if (spans != nullptr) std::transform(tile.spans.begin(), tile.spans.end(), spans, span_of);
}

TileSpan checked_span(const Tiling& tiling, std::int32_t i, std::int64_t k) {
  if (i < 0 || i >= tiling.axes().size())
    fail(ErrorCode::value, op_tiling, "i", "must be the number of a tiled axis", i,
         ErrorValue("0 to ", tiling.axes().size() - 1));
  if (k < 0 || k >= tiling.grid()[i])
    fail(ErrorCode::value, op_tiling, "k", "must be the number of a tile along the axis", k,
         tiling.grid()[i] == 0 ? ErrorValue("none: there are no tiles") : ErrorValue("0 to ", tiling.grid()[i] - 1));
  return tiling.span(i, k);
}

Dims channels_of(const Tiling& tiling, const std::int64_t* channels, std::int32_t count) {
  const Dims given = dims_of(channels, count, "channels");
  if (given.size() > max_rank - tiling.axes().size())
    fail(ErrorCode::rank, op_tiling, "channels", "must leave room for the tiled axes", given.size(),
         ErrorValue("at most ", max_rank - tiling.axes().size()));
  return given;
}

}  // namespace
}  // namespace patchfold::capi

using namespace patchfold::capi;  // NOLINT: the functions below are the interface itself

pf_status pf_tiling_create(const pf_tiling_spec* spec, pf_tiling** tiling) {
  return guarded([&] {
    *required(tiling, "pf_tiling_create", "tiling") = nullptr;
    *tiling = new pf_tiling(tiling_spec_of(spec));
  });
}

void pf_tiling_destroy(pf_tiling* tiling) {
  delete tiling;
}

pf_status pf_tiling_info(const pf_tiling* tiling, pf_tiling_layout* layout) {
  return guarded([&] {
    save(layout_of(*required(tiling, "pf_tiling_info", "tiling")), layout, sizeof(pf_tiling_layout), op_tiling, "layout");
  });
}

pf_status pf_tiling_tile(const pf_tiling* tiling, int64_t index, int64_t* position, pf_tile_span* spans) {
  return guarded([&] { give_tile(tiling_of(tiling, "pf_tiling_tile"), index, position, spans); });
}

pf_status pf_tiling_span(const pf_tiling* tiling, int32_t i, int64_t k, pf_tile_span* span) {
  return guarded([&] {
    const auto& known = tiling_of(tiling, "pf_tiling_span");
    *required(span, op_tiling, "span") = span_of(checked_span(known, i, k));
  });
}

pf_status pf_tiling_tile_shape(const pf_tiling* tiling, int64_t index, int64_t* shape, int32_t* rank) {
  return guarded([&] {
    const auto& known = tiling_of(tiling, "pf_tiling_tile_shape");
    give_list(known.tile_shape(index), shape, required(rank, op_tiling, "rank"), op_tiling, "shape");
  });
}

pf_status pf_tiling_result_shape(const pf_tiling* tiling, int64_t index, const int64_t* channels, int32_t n_channels,
                                 int64_t* shape, int32_t* rank) {
  return guarded([&] {
    const auto& known = tiling_of(tiling, "pf_tiling_result_shape");
    required(rank, op_tiling, "rank");
    give_list(known.result_shape(index, channels_of(known, channels, n_channels)), shape, rank, op_tiling, "shape");
  });
}

pf_status pf_tiling_output_shape(const pf_tiling* tiling, const int64_t* channels, int32_t n_channels, int64_t* shape,
                                 int32_t* rank) {
  return guarded([&] {
    const auto& known = tiling_of(tiling, "pf_tiling_output_shape");
    required(rank, op_tiling, "rank");
    give_list(known.output_shape(channels_of(known, channels, n_channels)), shape, rank, op_tiling, "shape");
  });
}

pf_status pf_tiling_axes_in(const pf_tiling* tiling, int32_t rank, int64_t* axes) {
  return guarded([&] {
    const auto found = tiling_of(tiling, "pf_tiling_axes_in").axes_in(rank);
    std::copy(found.begin(), found.end(), required(axes, op_tiling, "axes"));
  });
}

pf_status pf_tiling_result_channels(const pf_tiling* tiling, int64_t index, const int64_t* shape, int32_t rank,
                                    int64_t* channels, int32_t* n_channels) {
  return guarded([&] {
    const auto& known = tiling_of(tiling, "pf_tiling_result_channels");
    required(n_channels, op_tiling, "n_channels");
    give_list(known.result_channels(index, dims_of(shape, rank, "result")), channels, n_channels, op_tiling, "channels");
  });
}

pf_status pf_tiling_scale_of(const pf_tiling* tiling, int64_t index, const int64_t* shape, int32_t rank, pf_ratio* scale) {
  return guarded([&] {
    const auto& known = tiling_of(tiling, "pf_tiling_scale_of");
    required(scale, op_tiling, "scale");
    const auto found = known.scale_of(index, dims_of(shape, rank, "result")).value_or(patchfold::Ratio{0, 0});
    *scale = {found.num, found.den};
  });
}

pf_status pf_tiling_cut(const pf_tiling* tiling, int64_t index, const pf_tensor* array, const pf_tensor* tile,
                        const pf_executor* executor) {
  return guarded([&] {
    const auto& known = tiling_of(tiling, "pf_tiling_cut");
    const auto from = view_of(*required(array, op_tiling, "array"), op_tiling, "array");
    const auto to = view_of(*required(tile, op_tiling, "tile"), op_tiling, "tile");
    ChosenExecutor chosen(executor, op_tiling);
    known.cut(index, from, to, chosen.get());
  });
}

pf_status pf_tiling_coverage(const pf_tiling* tiling, const pf_tensor* counts) {
  return guarded([&] {
    const auto& known = tiling_of(tiling, "pf_tiling_coverage");
    known.coverage(view_of(*required(counts, op_tiling, "counts"), op_tiling, "counts"));
  });
}

pf_status pf_tiling_json(const pf_tiling* tiling, int32_t with_tiles, char** text) {
  return guarded([&] {
    *required(text, "pf_tiling_json", "text") = nullptr;
    *text = copy_of(tiling_of(tiling, "pf_tiling_json").to_json(with_tiles != 0));
  });
}
