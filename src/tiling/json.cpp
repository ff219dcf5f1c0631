// SPDX-License-Identifier: Apache-2.0
// Writes a tiling as JSON: the members of its spec, then the numbers that are computed from them.
#include <sstream>

#include "base/fail.hpp"
#include "patchfold/tiling.hpp"

namespace patchfold {
namespace {

/// Returns a list of pairs, one for each tiled axis: "[[0, 512], [448, 960]]". `span_of` picks one of the spans of a TileSpan.
template <class F>
std::string pairs(const Tile& tile, F span_of) {
  std::string list = "[";
  for (const TileSpan& span : tile.spans) {
    const Span pair = span_of(span);
    list += (list.size() > 1 ? ", [" : "[") + text(pair.begin) + ", " + text(pair.end) + "]";
  }
  return list + "]";
}

}  // namespace

std::string Tiling::to_json(bool with_tiles) const {
  // The JSON must also fit arrays of other ranks, so default axes are written as negative numbers, and given axes as they were
  // given.
  Dims axes = spec_.axes;
  for (int i = 0; spec_.axes.empty() && i < tile_.size(); ++i) axes.push_back(i - tile_.size());
  std::string scale = "[";
  for (int i = 0; i < tile_.size(); ++i) scale += (i ? ", [" : "[") + text(scale_num_[i]) + ", " + text(scale_den_[i]) + "]";
  std::ostringstream out;
  out.exceptions(std::ios::badbit);
  out << "{\"shape\": " << text(spec_.shape) << ", \"axes\": " << text(axes) << ", \"tile\": " << text(tile_)
      << ", \"stride\": " << text(stride_) << ", \"tail\": \"" << word_of(spec_.tail) << "\", \"padding_mode\": \""
      << word_of(spec_.padding_mode) << "\", \"value\": ";
  // JSON has no infinity, NaN or complex numbers, so these are written as texts.
  if (spec_.value.kind() == Scalar::Kind::signed_integer || spec_.value.kind() == Scalar::Kind::unsigned_integer)
    out << to_string(spec_.value);
  else
    out << '"' << to_string(spec_.value) << '"';
  out << ", \"scale\": " << scale << "], \"offset\": " << text(offset_) << ", \"result\": " << text(result_);
  // Without an alignment and margins, the text is the same as that of versions that do not know them.
  if (!(align_ == Dims::filled(tile_.size(), 1))) out << ", \"align\": " << text(align_);
  if (const Dims none = Dims::filled(tile_.size(), 0); !(margin_ == none && margin_end_ == none)) {
    out << ", \"margin\": [";
    for (int i = 0; i < tile_.size(); ++i) out << (i ? ", [" : "[") << margin_[i] << ", " << margin_end_[i] << ']';
    out << ']';
  }
  out << ", \"output\": " << text(output_) << ", \"grid\": " << text(grid_) << ", \"stream_axis\": " << stream_axis();
  if (with_tiles) {
    out << ", \"tiles\": [";
    for (std::int64_t index = 0; index < size_; ++index) {
      const Tile tile = (*this)[index];
      out << (index ? ", " : "") << "{\"index\": " << index
          << ", \"read\": " << pairs(tile, [](const TileSpan& s) { return s.read; })
          << ", \"pad\": " << pairs(tile, [](const TileSpan& s) { return s.padding(); })
          << ", \"write\": " << pairs(tile, [](const TileSpan& s) { return s.write; })
          << ", \"keep\": " << pairs(tile, [](const TileSpan& s) { return s.keep; }) << '}';
    }
    out << ']';
  }
  out << '}';
  return out.str();
}

}  // namespace patchfold
