// SPDX-License-Identifier: Apache-2.0
// Finds the tiles that touch a box of the output, and the part of each tile that lies in the box.
#include <algorithm>

#include "base/fail.hpp"
#include "base/index.hpp"
#include "tiling/names.hpp"

namespace patchfold {
namespace tiling {

ErrorValue missing_text(const Tiling& tiling, std::span<const std::int64_t> first, std::int64_t count) {
  ErrorValue given(count, " missing: ");
  for (const std::int64_t tile : first)
    given.append(tile == first.front() ? "" : ", ", tile, " at position ", index_at(tile, tiling.grid()));
  if (count > static_cast<std::int64_t>(first.size())) given.append(", ..");
  return given;
}

Box whole_output(const Tiling& tiling) {
  Box box;
  for (const std::int64_t extent : tiling.output()) box.push_back({0, extent});
  return box;
}

void check_box(const Tiling& tiling, const Box& box) {
  const Dims& output = tiling.output();
  if (static_cast<int>(box.size()) != output.size())
    fail(ErrorCode::length, op_tiling, "box", "must have a span for each tiled axis", box.size(), output.size());
  for (int i = 0; i < output.size(); ++i) {
    const Span span = box[static_cast<std::size_t>(i)];
    if (span.begin < 0 || span.end < span.begin || span.end > output[i])
      fail(ErrorCode::value, op_tiling, "box", "must lie in the output",
           ErrorValue(span.begin, " to ", span.end, " along axis ", tiling.axes()[i]), ErrorValue("0 to ", output[i]));
  }
}

Span shared_part(Span a, Span b) noexcept {
  const std::int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

Span tiles_touching(const Tiling& tiling, int i, Span span) noexcept {
  // The beginnings of tiles ascend, and so do the ends, so the tiles that touch a span are neighbours.
  const auto first_where = [&](auto holds) {
    std::int64_t low = 0;
    std::int64_t high = tiling.grid()[i];
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (holds(tiling.span(i, middle).write))
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  };
  const std::int64_t first = first_where([&](Span write) { return write.end > span.begin; });
  if (span.size() <= 0) return {first, first};
  return {first, std::max(first, first_where([&](Span write) { return write.begin >= span.end; }))};
}

}  // namespace tiling

std::vector<Span> Tiling::touching(const Box& box) const {
  tiling::check_box(*this, box);
  std::vector<Span> tiles;
  for (int i = 0; i < output_.size(); ++i)
    tiles.push_back(tiling::tiles_touching(*this, i, box[static_cast<std::size_t>(i)]));
  return tiles;
}

std::vector<Span> Tiling::piece(std::int64_t index, const Box& box) const {
  const Tile tile = (*this)[index];
  tiling::check_box(*this, box);
  std::vector<Span> part;
  for (std::size_t i = 0; i < box.size(); ++i) {
    const Span both = tiling::shared_part(box[i], tile.spans[i].write);
    const std::int64_t start = tile.spans[i].start;
    part.push_back(both.size() == 0 ? Span{} : Span{both.begin - start, both.end - start});
  }
  return part;
}

}  // namespace patchfold
