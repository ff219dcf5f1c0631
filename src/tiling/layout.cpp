// SPDX-License-Identifier: Apache-2.0
// Computes the places of tiles: checks of a TilingSpec, and the arithmetic of one axis.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "base/fail.hpp"
#include "base/index.hpp"
#include "ops/operands.hpp"
#include "patchfold/tiling.hpp"
#include "tiling/names.hpp"

namespace patchfold {
namespace {

using tiling::op_tiling;

[[noreturn]] void fail_value(std::string_view argument, std::string_view rule, const auto& given, const auto& expected) {
  fail(ErrorCode::value, op_tiling, argument, rule, given, expected);
}

/// Returns the number of tiles that lie wholly inside an axis.
std::int64_t whole_tiles(std::int64_t extent, std::int64_t tile, std::int64_t stride) {
  return extent < tile ? 0 : (extent - tile) / stride + 1;
}

/// Returns whether the whole tiles leave elements at the end of the axis, so that one more tile is needed.
bool leaves_tail(std::int64_t extent, std::int64_t tile, std::int64_t stride) {
  const std::int64_t whole = whole_tiles(extent, tile, stride);
  return std::max(whole * stride, whole == 0 ? 0 : (whole - 1) * stride + tile) < extent;
}

/// Returns the beginning of a tile that is moved back: the first multiple of `align` from which the tile reaches the axis's end.
std::int64_t moved_back(std::int64_t extent, std::int64_t tile, std::int64_t align) noexcept {
  return ceil_div(extent - tile, align) * align;
}

Dims normal_axes(const Dims& given, int tiled, int rank, std::string_view argument) {
  if (rank < tiled)
    fail(ErrorCode::rank, op_tiling, argument, "must have an axis for each extent of the tile",
         "rank " + std::to_string(rank), "rank " + std::to_string(tiled) + " or more");
  Dims axes;
  for (int i = 0; i < tiled; ++i) {
    std::int64_t axis = given.empty() ? rank - tiled + i : given[i];
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank || (i > 0 && axis <= axes.back()))
      fail_value("axes", "must be different axes of a rank of " + std::to_string(rank) + ", in ascending order", given,
                 "0 to " + std::to_string(rank - 1));
    axes.push_back(axis);
  }
  return axes;
}

void check_count(std::string_view argument, std::size_t count, int tiled, const auto& given) {
  if (count != static_cast<std::size_t>(tiled))
    fail(ErrorCode::length, op_tiling, argument, "must have one entry for each extent of the tile", given,
         std::to_string(tiled) + (tiled == 1 ? " entry" : " entries"));
}

void check_magnitudes(std::string_view argument, const Dims& values) {
  for (const std::int64_t value : values)
    if (!Checked(value).is_below()) fail(ErrorCode::overflow, op_tiling, argument, "must stay below 2^60", values);
}

/// Returns one entry for each tiled axis, from a single number or from a list. Throws Error if a list has another length.
Dims spread(const Axes& given, int tiled, std::string_view argument) {
  if (given.is_scalar()) return Dims::filled(tiled, given.values()[0]);
  check_count(argument, static_cast<std::size_t>(given.values().size()), tiled, given);
  return given.values();
}

Dims strides_of(const TilingSpec& spec) {
  const int tiled = spec.tile.size();
  const int given = !spec.stride.empty() + !spec.overlap.empty() + !spec.overlap_fraction.empty();
  if (given > 1) fail_value("stride", "must not be given together with overlap", "both", "one of them");
  if (!spec.stride.empty()) {
    const Dims stride = spread(spec.stride, tiled, "stride");
    check_magnitudes("stride", stride);
    if (*std::min_element(stride.begin(), stride.end()) < 1)
      fail_value("stride", "must be at least 1 on every axis", spec.stride, "");
    return stride;
  }
  Dims stride = spec.tile;
  if (!spec.overlap.empty()) {
    const Dims overlap = spread(spec.overlap, tiled, "overlap");
    check_magnitudes("overlap", overlap);
    for (int i = 0; i < tiled; ++i) {
      if (overlap[i] >= spec.tile[i])
        fail_value("overlap", "must be less than the tile on every axis", spec.overlap, ErrorValue("less than ", spec.tile));
      stride[i] -= overlap[i];
    }
  } else if (!spec.overlap_fraction.empty()) {
    if (spec.overlap_fraction.size() != 1)
      check_count("overlap", spec.overlap_fraction.size(), tiled, spec.overlap_fraction.size());
    for (int i = 0; i < tiled; ++i) {
      const double part = spec.overlap_fraction[spec.overlap_fraction.size() == 1 ? 0 : static_cast<std::size_t>(i)];
      if (!(part >= 0 && part < 1)) fail_value("overlap", "must be a fraction in [0, 1)", to_string(Scalar(part)), "");
      const auto overlap = static_cast<std::int64_t>(std::floor(part * static_cast<double>(spec.tile[i]) + 0.5));
      stride[i] -= std::min(overlap, spec.tile[i] - 1);
    }
  }
  return stride;
}

/// Returns value * num / den. Throws Error(value) unless the quotient is a whole number; `spec` and `stride` serve the hint.
std::int64_t scaled(std::int64_t value, std::int64_t num, std::int64_t den, std::string_view what, const TilingSpec& spec,
                    const Dims& stride) {
  const auto product = checked_mul(value, num);
  if (!Checked(product).is_below())
    fail(ErrorCode::overflow, op_tiling, "scale", "extents of the output must stay below 2^60", value);
  if (*product % den != 0) tiling::refuse_scale(spec, stride, what, value, {num, den});
  return *product / den;
}

}  // namespace

Tiling::Tiling(const TilingSpec& spec) : spec_(spec), tile_(spec.tile) {
  const int tiled = tile_.size();
  if (tiled == 0) fail(ErrorCode::missing, op_tiling, "tile", "must be given", "nothing", "an extent for each tiled axis");
  check_magnitudes("tile", tile_);
  if (*std::min_element(tile_.begin(), tile_.end()) < 1) fail_value("tile", "must be at least 1 on every axis", tile_, "");
  if (!spec.axes.empty()) check_count("axes", static_cast<std::size_t>(spec.axes.size()), tiled, spec.axes);
  axes_ = normal_axes(spec.axes, tiled, spec.shape.size(), "shape");
  ops::check_shape(op_tiling, "shape", spec.shape);
  stride_ = strides_of(spec);
  margin_ = spec.margin.empty() ? Dims::filled(tiled, 0) : spread(spec.margin, tiled, "margin");
  margin_end_ = spec.margin_end.empty() ? margin_ : spread(spec.margin_end, tiled, "margin");
  check_magnitudes("margin", margin_);
  check_magnitudes("margin", margin_end_);
  align_ = spec.align.empty() ? Dims::filled(tiled, 1) : spread(spec.align, tiled, "align");
  check_magnitudes("align", align_);
  if (*std::min_element(align_.begin(), align_.end()) < 1)
    fail_value("align", "must be at least 1 on every axis", spec.align, "");
  for (int i = 0; i < tiled; ++i)
    if (stride_[i] % align_[i] != 0)
      tiling::refuse_stride(spec, axes_[i], tile_[i], stride_[i], align_[i]);
    else if (margin_[i] % align_[i] != 0)
      fail_value("margin", "must be a multiple of align before the array",
                 text(margin_[i]) + " along axis " + text(axes_[i]), "a multiple of " + text(align_[i]));

  if (spec.scale.size() > 1) check_count("scale", spec.scale.size(), tiled, spec.scale.size());
  if (!spec.offset.empty()) check_count("offset", static_cast<std::size_t>(spec.offset.size()), tiled, spec.offset);
  if (!spec.result.empty()) check_count("result", static_cast<std::size_t>(spec.result.size()), tiled, spec.result);
  check_magnitudes("offset", spec.offset);
  check_magnitudes("result", spec.result);
  if (!spec.output.empty()) check_count("output", static_cast<std::size_t>(spec.output.size()), tiled, spec.output);
  check_magnitudes("output", spec.output);
  offset_ = spec.offset.empty() ? Dims::filled(tiled, 0) : spec.offset;

  Checked count = 1;
  Dims default_output;
  for (int i = 0; i < tiled; ++i) {
    const Ratio scale = spec.scale.empty()       ? Ratio{}
                        : spec.scale.size() == 1 ? spec.scale[0]
                                                 : spec.scale[static_cast<std::size_t>(i)];
    if (scale.num < 1 || scale.den < 1)
      fail_value("scale", "must be greater than 0", text(scale.num) + "/" + text(scale.den), "");
    scale_num_.push_back(scale.num);
    scale_den_.push_back(scale.den);
    const std::int64_t extent = spec.shape[axes_[i]];
    const std::int64_t tile = tile_[i];
    const std::int64_t stride = stride_[i];
    // An array without elements has nothing to repeat in its margins, so it has no tiles.
    const std::int64_t reach = extent == 0 ? 0 : std::max<std::int64_t>(0, extent + margin_[i] + margin_end_[i]);
    if (!Checked(reach).is_below()) fail(ErrorCode::overflow, op_tiling, "margin", "must stay below 2^60", margin_);
    reach_.push_back(reach);
    const std::int64_t whole = whole_tiles(reach, tile, stride);
    const bool tail = leaves_tail(reach, tile, stride);
    const Tail rule = this->tail(i);
    if (tail && rule == Tail::shift && tile > reach) tiling::refuse_long_tile(spec, axes_, i, reach);
    if (tail && rule == Tail::error)
      fail_value("shape", "must be covered by whole tiles if the tail is an error",
                 text(reach) + " along axis " + text(axes_[i]) + (reach == extent ? "" : ", margins included"),
                 text(tile) + " and " + text(stride) + " for each further tile");
    grid_.push_back(whole + (tail && (rule == Tail::shift || rule == Tail::pad || rule == Tail::partial)));
    if (rule == Tail::partial)  // tiles that begin behind the array, in its margin, have no elements
      grid_.back() = std::min(grid_.back(), ceil_div(std::max<std::int64_t>(0, extent + margin_[i]), stride));
    count = count * grid_.back();

    const auto extent_scaled = checked_mul(extent, scale.num);
    if (!Checked(extent_scaled).is_below() || !Checked(checked_mul(reach, scale.num)).is_below())
      fail(ErrorCode::overflow, op_tiling, "scale", "extents of the output must stay below 2^60", spec.shape);
    default_output.push_back(ceil_div(*extent_scaled, scale.den));
    output_.push_back(spec.output.empty() ? default_output.back() : spec.output[i]);
    if (output_.back() < 0) fail_value("output", "must be at least 0 on every axis", spec.output, "");
    if (grid_.back() > 0) scaled(margin_[i], scale.num, scale.den, "margins", spec, stride_);
    if (whole > 1) scaled(stride, scale.num, scale.den, "strides", spec, stride_);
    result_.push_back(spec.result.empty() ? scaled(tile, scale.num, scale.den, "tiles", spec, stride_) : spec.result[i]);
    if (result_.back() < 1) fail_value("result", "must be at least 1 on every axis", spec.result, "");
    if (grid_.back() > whole) {
      const std::int64_t start = rule == Tail::shift ? moved_back(reach, tile, align_[i]) : whole * stride;
      scaled(start, scale.num, scale.den, "starts of the last tiles", spec, stride_);
    }
    if (rule == Tail::partial && grid_.back() > 0) check_partial(i);
  }
  if (default_output == output_) spec_.output = {};  // so that a tiling with another scale can be made from the spec
  if (!count.is_below()) fail(ErrorCode::overflow, op_tiling, "tile", "the number of tiles must stay below 2^60", grid_);
  size_ = *count.value();
  if (!is_enumerator(spec.tail)) fail_value("tail", "must be " + listed_words<Tail>(), static_cast<int>(spec.tail), "");
  if (!is_enumerator(spec.padding_mode))
    fail_value("padding_mode", "must be " + listed_words<PaddingMode>(), static_cast<int>(spec.padding_mode), "");
}

void Tiling::check_partial(int i) const {
  for (const std::int64_t k : {std::int64_t{0}, grid_[i] - 1}) {  // no other tile is shorter than the first or the last one
    const std::int64_t extent = span(i, k).extent;
    if (extent < 1)
      fail_value("margin", "must leave every partial tile an element of the array", margin_,
                 "less than " + text(tile_[i]) + " along axis " + text(axes_[i]));
    const std::int64_t cut = scaled(tile_[i] - extent, scale_num_[i], scale_den_[i], "partial tiles", spec_, stride_);
    if (cut >= result_[i])
      fail_value("result", "must be longer than what partial tiles lack", spec_.result, "more than " + text(cut));
  }
}

Tail Tiling::tail(int i) const noexcept {
  if (spec_.tail != Tail::shift_or_pad) return spec_.tail;
  return tile_[i] > reach_[i] ? Tail::pad : Tail::shift;
}

TileSpan Tiling::span(int i, std::int64_t k) const noexcept {
  const std::int64_t extent = spec_.shape[axes_[i]];
  const std::int64_t tile = tile_[i];
  const bool is_moved = k >= whole_tiles(reach_[i], tile, stride_[i]) && tail(i) == Tail::shift;
  TileSpan span;
  span.origin = (is_moved ? moved_back(reach_[i], tile, align_[i]) : k * stride_[i]) - margin_[i];
  span.read.begin = std::clamp<std::int64_t>(span.origin, 0, extent);
  span.read.end = std::clamp(span.origin + tile, span.read.begin, extent);
  span.extent = tile;
  if (spec_.tail == Tail::partial) {
    span.origin = span.read.begin;
    span.extent = span.read.size();
  }
  span.result = result_[i] - (tile - span.extent) * scale_num_[i] / scale_den_[i];
  span.start = span.origin * scale_num_[i] / scale_den_[i] + offset_[i];
  span.write.begin = std::clamp<std::int64_t>(span.start, 0, output_[i]);
  span.write.end = std::clamp<std::int64_t>(span.start + span.result, span.write.begin, output_[i]);
  span.keep = {span.write.begin - span.start, span.write.end - span.start};
  return span;
}

std::int64_t Tiling::longest(int i) const noexcept {
  if (spec_.tail != Tail::partial || margin_[i] <= 0 || grid_[i] == 0) return 0;
  // Tiles that begin before the array grow with their number, and the others shrink.
  const std::int64_t inside = std::min(ceil_div(margin_[i], stride_[i]), grid_[i] - 1);
  return inside > 0 && span(i, inside - 1).extent > span(i, inside).extent ? inside - 1 : inside;
}

std::int64_t Tiling::largest() const noexcept {
  Dims position;
  for (int i = 0; i < grid_.size(); ++i) position.push_back(longest(i));
  return size_ == 0 ? 0 : number_at(position, grid_);
}

Tile Tiling::operator[](std::int64_t index) const {
  if (index < 0 || index >= size_)
    fail_value("index", "must be the index of a tile", index,
               size_ == 0 ? "none: there are no tiles" : "0 to " + text(size_ - 1));
  Tile tile;
  tile.index = index;
  tile.position = index_at(index, grid_);
  for (int i = 0; i < grid_.size(); ++i) tile.spans.push_back(span(i, tile.position[i]));
  return tile;
}

Dims Tiling::axes_in(int rank) const {
  return normal_axes(spec_.axes, tile_.size(), rank, "result");
}

Dims Tiling::channels() const {
  Dims channels;
  for (int axis = 0; axis < spec_.shape.size(); ++axis)
    if (std::find(axes_.begin(), axes_.end(), axis) == axes_.end()) channels.push_back(spec_.shape[axis]);
  return channels;
}

namespace tiling {

std::string tile_text(const Tiling& tiling, std::int64_t tile) {
  return text(tile) + " at position " + text(index_at(tile, tiling.grid()));
}

Dims interleaved(const Dims& axes, const Dims& channels, const Dims& tiled) {
  Dims shape;
  for (int next = 0, axis = 0; axis < channels.size() + tiled.size(); ++axis) {
    const bool is_tiled = next < axes.size() && axes[next] == axis;
    shape.push_back(is_tiled ? tiled[next++] : channels[axis - next]);
  }
  return shape;
}

}  // namespace tiling

Dims Tiling::tile_shape(std::int64_t index) const {
  Dims extents;
  for (const TileSpan& span : (*this)[index].spans) extents.push_back(span.extent);
  return tiling::interleaved(axes_, channels(), extents);
}

Dims Tiling::result_shape(std::int64_t index, const Dims& channels) const {
  Dims extents;
  for (const TileSpan& span : (*this)[index].spans) extents.push_back(span.result);
  return tiling::interleaved(axes_in(channels.size() + extents.size()), channels, extents);
}

Dims Tiling::result_channels(std::int64_t index, const Dims& shape) const {
  const Dims axes = axes_in(shape.size());
  Dims channels;
  for (int axis = 0; axis < shape.size(); ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) channels.push_back(shape[axis]);
  if (const Dims expected = result_shape(index, channels); !(shape == expected))
    tiling::refuse_shape(*this, op_tiling, "result", index, shape, expected);
  return channels;
}

std::optional<Ratio> Tiling::scale_of(std::int64_t index, const Dims& shape) const {
  if (shape.size() < tile_.size()) return std::nullopt;
  for (int i = 0; i < tile_.size(); ++i)  // a function that drops or adds a border has no scale that explains its results
    if (offset_[i] != 0 || (Checked(tile_[i]) * scale_num_[i]).value() != (Checked(result_[i]) * scale_den_[i]).value())
      return std::nullopt;
  const Dims axes = axes_in(shape.size());
  const Tile tile = (*this)[index];
  const auto extent = [&](int i) { return tile.spans[static_cast<std::size_t>(i)].extent; };
  bool is_new = false;
  for (int i = 0; i < tile_.size(); ++i) {
    const std::int64_t result = shape[static_cast<int>(axes[i])];
    // The ratios along all axes must be equal; extents are limited, so that their products fit.
    if (result < 1 || std::max(result, extent(i)) > std::int64_t{1} << 31) return std::nullopt;
    if (result * extent(0) != shape[static_cast<int>(axes[0])] * extent(i)) return std::nullopt;
    is_new |= result != tile.spans[static_cast<std::size_t>(i)].result;
  }
  if (!is_new) return std::nullopt;
  const std::int64_t first = shape[static_cast<int>(axes[0])];
  const std::int64_t common = std::gcd(first, extent(0));
  return Ratio{first / common, extent(0) / common};
}

Dims Tiling::output_shape(const Dims& channels) const {
  return tiling::interleaved(axes_in(channels.size() + output_.size()), channels, output_);
}

}  // namespace patchfold
