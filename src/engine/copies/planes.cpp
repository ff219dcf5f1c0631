// SPDX-License-Identifier: Apache-2.0
#include "engine/copies/planes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "base/checked.hpp"
#include "engine/walk.hpp"
#include "kernels/stream.hpp"

namespace patchfold::engine {
namespace {

constexpr std::int64_t most_offsets = 4096;  // limit of the offsets along an axis of planes whose steps are equal on one side
constexpr std::int64_t most_rows = 256;      // limit of the rows that lie at irregular places
constexpr double per_miss = 5;               // cycles for a line that the first-level cache lacks

}  // namespace

Planes::Planes(std::int64_t unit, const BrickAxes& axes) : unit_(unit), axes_(axes) {
  take_unit();
  vectors_ = kernels::plane_vectors(unit_);
  cycles_ = -1;
  consider({});
  for (int i = axes_.size() - 1; i >= 0; --i) {  // the axis with the smallest stride in the destination first
    if (axes_[i].length == 1) continue;
    Choice choice;
    choice.columns.push_back(i);
    consider_rows(choice);
    extend(choice.columns, {}, Side::both);
    if (choice.columns.size() > 1) consider_rows(choice);
    if (axes_[i].to == unit_ && vectors_.lanes > 1) consider_exchanges(i);
  }
  for (int i = 0; i < axes_.size(); ++i)
    if (axes_[i].length > 1 && !has(best_.rows, i) && !has(best_.columns, i)) others_.push_back(i);
}

void Planes::prepare() {
  repeats_ = repeats(best_.columns);
  list_offsets(best_.rows, 0);
  list_offsets(best_.columns, 2);
}

/// Joins units that are neighbours on both sides.
void Planes::take_unit() {
  for (bool found = true; found;) {
    found = false;
    for (BrickAxis& axis : axes_) {
      if (axis.length == 1 || !axis.whole || axis.from != unit_ || axis.to != unit_ ||
          unit_ * axis.length > longest_plane_unit)
        continue;
      unit_ *= axis.length;
      axis.length = 1;
      found = true;
    }
  }
}

/// Compares the prices of all choices with these columns.
void Planes::consider_rows(const Choice& choice) {
  for (const bool to : {true, false}) {
    Choice filled = choice;
    fill_rows(filled, to);
    consider(filled);
  }
}

/// Compares the prices of the choices that load vectors along rows and exchange them with these columns.
void Planes::consider_exchanges(int columns) {
  for (int i = 0; i < axes_.size(); ++i) {
    const std::int64_t from = std::abs(axes_[i].from);
    if (i == columns || axes_[i].length == 1 || (from != unit_ && from != 2 * unit_)) continue;
    Choice choice;
    choice.rows.push_back(i);
    choice.columns.push_back(columns);
    consider(choice);
    // A dim may continue the rows or the columns; the cheaper choice wins.
    Choice rows_first = choice, columns_first = choice;
    extend(rows_first.rows, rows_first.columns, Side::from);
    extend(rows_first.columns, rows_first.rows, Side::to);
    consider(rows_first);
    extend(columns_first.columns, columns_first.rows, Side::to);
    extend(columns_first.rows, columns_first.columns, Side::from);
    consider(columns_first);
  }
}

/// Adds to `list` the axes that continue it on the given side, or on both sides, unless they are in `other`.
void Planes::extend(List& list, const List& other, Side side) const {
  constexpr std::int64_t enough = 128;
  const auto continues = [&](int i, const BrickAxis& before) {
    return (side == Side::to || axes_[i].from == before.length * before.from) &&
           (side == Side::from || axes_[i].to == before.length * before.to);
  };
  std::int64_t product = axes_[list[0]].length;
  for (bool found = true; found && product < enough;) {
    found = false;
    const int before = list[list.size() - 1];
    if (!axes_[before].whole) return;
    for (int i = 0; i < axes_.size() && !found; ++i) {
      if (axes_[i].length == 1 || has(list, i) || has(other, i)) continue;
      if (!continues(i, axes_[before]) || product * axes_[i].length > most_offsets) continue;
      list.push_back(i);
      product *= axes_[i].length;
      found = true;
    }
  }
}

/// Adds axes to the rows until there are enough rows; the axis with the smallest stride in the destination (`to`) or in the
/// source comes first.
void Planes::fill_rows(Choice& choice, bool to) const {
  const auto step = [&](int i) { return std::abs(to ? axes_[i].to : axes_[i].from); };
  std::int64_t product = 1;
  for (const bool whole : {true, false})
    for (;;) {
      int nearest = -1;
      for (int i = 0; i < axes_.size(); ++i) {
        if (axes_[i].length == 1 || axes_[i].whole != whole || has(choice.rows, i) || has(choice.columns, i)) continue;
        if (product * axes_[i].length > (choice.rows.empty() ? most_offsets : most_rows)) continue;
        if (nearest < 0 || step(i) < step(nearest)) nearest = i;
      }
      if (nearest < 0) break;
      choice.rows.push_back(nearest);
      product *= axes_[nearest].length;
      if (!whole) break;  // an axis that may be cut must be the last
    }
}

std::int64_t Planes::length(const List& list) const noexcept {
  std::int64_t product = 1;
  for (const int i : list) product *= axes_[i].length;
  return product;
}

/// Returns the step in bytes between the units of a list on one side; 0 if steps differ.
std::int64_t Planes::step(const List& list, bool to) const noexcept {
  std::int64_t reach = 0;
  for (int k = 0; k < list.size(); ++k) {
    const std::int64_t stride = to ? axes_[list[k]].to : axes_[list[k]].from;
    if (k > 0 && stride != reach) return 0;
    reach = stride * axes_[list[k]].length;
  }
  return list.empty() ? 0 : to ? axes_[list[0]].to : axes_[list[0]].from;
}

bool Planes::repeats(const List& columns) const noexcept {
  return !columns.empty() && std::ranges::all_of(columns, [&](int i) { return axes_[i].from == 0; });
}

void Planes::consider(Choice choice) {
  const double cycles = price(choice);
  if (cycles_ >= 0 && cycles >= cycles_) return;
  cycles_ = cycles;
  best_ = choice;
}

/// Returns the estimated number of lines per unit that one side misses in the first-level cache. Neighbours in a line cause one
/// miss only if few other lines are touched between them.
double Planes::misses(const Choice& choice, bool to) const noexcept {
  constexpr double near_lines = 256, sets = 64;  // of a first-level cache
  const auto stride = [&](int i) { return std::abs(to ? axes_[i].to : axes_[i].from); };
  constexpr auto line = static_cast<double>(kernels::line_bytes);
  double lines = 1, shared = 1;
  const auto pass = [&](int i) {
    const auto length = static_cast<double>(axes_[i].length), step = static_cast<double>(stride(i));
    if (step < line) {
      if (lines <= near_lines) shared *= std::min(length, line / std::max(step, 1.0));
      lines *= std::max(1.0, length * step / line);
      return;
    }
    // Lines whose distance is a multiple of a large power of two fall into few sets of the cache.
    const double apart = static_cast<double>(std::gcd(stride(i) / kernels::line_bytes, static_cast<std::int64_t>(sets)));
    lines *= std::max(length, std::ceil(length * apart / sets) * sets / 4);
  };
  for (const List* list : {&choice.columns, &choice.rows})
    for (const int i : *list) pass(i);
  for (int i = axes_.size() - 1; i >= 0; --i)
    if (axes_[i].length > 1 && !has(choice.columns, i) && !has(choice.rows, i)) pass(i);
  return 1 / std::min(shared, std::max(1.0, line / static_cast<double>(unit_)));
}

/// Returns the estimated cycles for a brick. The constants are rough, so the estimate only separates choices that differ much.
double Planes::price(const Choice& choice) const noexcept {
  std::int64_t volume = 1;
  for (const BrickAxis& axis : axes_) volume *= axis.length;
  const std::int64_t rows = length(choice.rows), columns = length(choice.columns);
  const auto count = [](std::int64_t value) { return static_cast<double>(value); };
  const double planes = count(volume) / count(rows * columns), per_plane = 25;
  const auto of_planes = [&](double cycles) { return planes * (per_plane + cycles); };

  const std::int64_t from_rows = step(choice.rows, false), from_columns = step(choice.columns, false);
  const std::int64_t to_rows = step(choice.rows, true), to_columns = step(choice.columns, true);
  const std::int64_t lanes = vectors_.lanes;
  switch (kernels::plane_way(unit_, vectors_, rows, columns,
                             {to_rows, to_columns, from_rows, from_columns, repeats(choice.columns)})) {
    case kernels::PlaneWay::join: return of_planes(3.0 * count(columns * ceil_div(rows, lanes)));
    case kernels::PlaneWay::split: return of_planes(3.0 * count(rows * ceil_div(columns, lanes)));
    case kernels::PlaneWay::exchange:
      return of_planes(kernels::blocks_of(vectors_, rows, columns, std::abs(from_rows) / unit_).cycles);
    case kernels::PlaneWay::straighten:
      return of_planes(count(rows) * (columns < lanes ? 8 : 3 + 3.0 * count(ceil_div(columns, lanes))));
    case kernels::PlaneWay::spread:
      return of_planes(count(rows) *
                       (4 + (unit_ * columns < 32 ? 1.2 * count(columns) : 2 * count(ceil_div(columns, lanes)))));
    case kernels::PlaneWay::repeat:
      return of_planes(count(rows) * (6 + count(ceil_div(columns * unit_, kernels::line_bytes))));
    case kernels::PlaneWay::units: break;
  }
  const double piece = std::max(unit_ <= 4 || unit_ % 8 == 0 ? 0.9 : 1.5, count(unit_) / 24);
  const double lookup = from_columns != 0 && to_columns != 0 ? 0 : 1;
  double fetched = per_miss * (misses(choice, true) + misses(choice, false));
  if (std::abs(to_columns) >= kernels::line_bytes) fetched += 0.5;  // the processor prefetches neighbouring lines
  return of_planes(count(rows) * (6 + count(columns) * (piece + lookup + fetched)));
}

/// Stores the offsets of the units along rows or columns, in the destination and in the source.
void Planes::list_offsets(const List& list, std::size_t at) {
  for (std::size_t side = 0; side < 2; ++side) {
    auto& offsets = offsets_[at + side];
    offsets = {0};
    offsets.reserve(static_cast<std::size_t>(length(list)));
    for (const int i : list) {
      const std::int64_t stride = side == 0 ? axes_[i].to : axes_[i].from;
      const std::size_t size = offsets.size();
      for (std::int64_t k = 1; k < axes_[i].length; ++k)
        for (std::size_t j = 0; j < size; ++j) offsets.push_back(offsets[j] + k * stride);
    }
    steps_[at + side] = step(list, side == 0);
  }
}

void Planes::move(std::byte* to, const std::byte* from, const Extents& extents, const std::byte* from_end,
                  kernels::Ahead& ahead) const noexcept {
  const auto units = [&](const List& list) {
    std::int64_t product = 1;
    for (const int i : list) product *= extents[static_cast<std::size_t>(i)];
    return product;
  };
  kernels::Plane plane;
  plane.rows = units(best_.rows);
  plane.columns = units(best_.columns);
  plane.dst_rows = {offsets_[0].data(), steps_[0]};
  plane.src_rows = {offsets_[1].data(), steps_[1]};
  plane.dst_columns = {offsets_[2].data(), steps_[2]};
  plane.src_columns = {offsets_[3].data(), steps_[3]};
  plane.src_end = from_end;
  plane.repeats = repeats_;
  DimList others;
  for (const int i : others_) {
    const std::int64_t extent = extents[static_cast<std::size_t>(i)];
    if (extent > 1) others.push_back({extent, axes_[i].from, axes_[i].to});
  }
  const std::int64_t lines = ceil_div(plane.rows * plane.columns * unit_, kernels::line_bytes);
  const kernels::MovePlane move = kernels::plane_kernel(unit_, plane);
  if (others.empty()) {
    ahead.advance(lines);
    return move(to, from, unit_, plane);
  }
  const std::int64_t planes = count_tuples(others);
  Counter counter(others, 0);
  for (std::int64_t k = 0; k < planes; ++k, counter.next()) {
    ahead.advance(lines);
    move(to + counter.dst, from + counter.src, unit_, plane);
  }
}

}  // namespace patchfold::engine
