// SPDX-License-Identifier: Apache-2.0
#include "tiling/blend_writer.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/move.hpp"
#include "kernels/stream.hpp"

namespace patchfold::tiling {
namespace {

/// The number of elements, of all sources together, that are packed or weighted at a time, so that they fit the first-level cache.
constexpr std::int64_t part_elements = 4096;
/// The most bytes of rows that are made in the first-level cache before they are written past the cache.
constexpr std::int64_t staged_bytes = 8192;
/// The fewest bytes of a row that is written past the cache: shorter rows share most of their cache lines with other cells.
constexpr std::int64_t least_streamed = 128;

}  // namespace

BlendWriter::BlendWriter(const CellPlan& plan, std::int64_t piece, std::int64_t most_rows)
    : CellWriter(plan, piece),
      terms_(sources()),
      streams_(!plan.folding && plan.rules.store == kernels::Store::past_cache &&
               plan.rows.step == plan.rules.output_element && plan.row_bytes() >= least_streamed),
      blend_(plan.folding ? kernels::folding_rows(plan.folding->step, plan.rules.low_bytes < 4) : plan.rules.blend) {
  const Rules& rules = plan.rules;
  const bool leaves_gaps = plan.rows.step != rules.output_element;
  const bool has_gaps = std::any_of(plan.rows.steps.begin(), plan.rows.steps.end(),
                                    [&](const CellRows::Step& step) { return step.bytes != rules.element; });
  const bool makes_labels = rules.classes > 0;
  if (most_rows == 0 || has_gaps || leaves_gaps || makes_labels || (streams_ && plan.row_bytes() > staged_bytes)) {
    // `share` is whole cache lines for every element type, so each part of a row begins a line if the first part begins a line.
    const std::int64_t share =
        part_elements / static_cast<std::int64_t>(sources() + 1) / kernels::line_bytes * kernels::line_bytes;
    part_ = std::min(part_, std::max(kernels::line_bytes, share));
    if (!plan.has_zeros && !leaves_gaps && !plan.folding) lines_ = rules.lines;
  } else {
    most_rows_ = streams_ ? std::min(most_rows, staged_bytes / plan.row_bytes()) : most_rows;
  }
  if (has_gaps)
    packed_ = std::make_unique_for_overwrite<std::byte[]>(sources() * static_cast<std::size_t>(part_ * rules.element));
  if (streams_ || leaves_gaps || makes_labels)
    made_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(most_rows_ * part_ * rules.made_element));
  if (rules.counts_alike) room_ = std::make_unique_for_overwrite<std::uint64_t[]>(sources());
  if (makes_labels) {
    best_ = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(part_));
    labels_ = std::make_unique_for_overwrite<std::int32_t[]>(static_cast<std::size_t>(part_));
  }
  if (!plan.has_zeros) return;
  raw_.resize(sources());
  chosen_.resize(sources());
  chosen_tiles_.resize(sources());
}

std::unique_ptr<double[]> BlendWriter::numbers(std::size_t for_each) const {
  return std::make_unique_for_overwrite<double[]>(for_each *
                                                  static_cast<std::size_t>(most_rows_ * part_ * plan_.rules.parts));
}

void BlendWriter::weigh(std::int64_t, std::int64_t, std::int64_t) noexcept {}

/// Sets the addresses and pitches of the elements in terms_; packs elements that do not lie side by side.
void BlendWriter::place_elements(std::int64_t rows, std::int64_t begin, std::int64_t count) noexcept {
  const std::int64_t element = plan_.rules.element;
  for (std::size_t s = 0; s < sources(); ++s) {
    const std::int64_t step = plan_.rows.steps[s].bytes;
    const std::byte* from = src_[s] + class_ * plan_.sources.stride(s, 0) + begin * step;
    if (step != element) {
      std::byte* packed = packed_.get() + static_cast<std::int64_t>(s) * part_ * element;
      kernels::copy_row(packed, element, from, step, count, element);
      from = packed;
    }
    terms_[s].elements = from;
    terms_[s].pitch = pitch(s);
    terms_[s].ahead = rows * pitch(s);
  }
}

void BlendWriter::write(std::int64_t rows, std::int64_t begin, std::int64_t count) noexcept {
  const Rules& rules = plan_.rules;
  std::byte* dst = dst_ + begin * plan_.rows.step;
  if (rules.classes > 0) return make_labels(dst, begin, count);
  place_elements(rows, begin, count);
  weigh(rows, begin, count);
  const std::int64_t bytes = count * rules.output_element;
  kernels::BlendRows block{dst, pitch(), terms_.data(), static_cast<std::int64_t>(sources()), rows, count * rules.parts};
  block.room = room_.get();
  block.inverse = inverse_.from;
  block.inverse_pitch = inverse_.pitch;
  if (low_ != nullptr) {
    block.low = low_ + begin * rules.low_bytes;
    block.low_pitch = low_pitch();
  }
  const auto is_line = [](auto value) { return static_cast<std::int64_t>(value) % kernels::line_bytes == 0; };
  if (lines_ != nullptr && is_line(bytes) && is_line(reinterpret_cast<std::uintptr_t>(dst))) return lines_(block);
  if (made_) {
    block.dst = made_.get();
    block.pitch = bytes;
    if (low_ != nullptr)  // the kernel continues sums, whose upper halves are in dst
      kernels::copy_row(made_.get(), rules.output_element, dst, plan_.rows.step, count, rules.output_element);
  } else if (rules.store == kernels::Store::past_cache) {
    for (std::int64_t r = rows; r < 2 * rows; ++r)
      for (std::int64_t i = 0; i < bytes; i += kernels::line_bytes) __builtin_prefetch(dst + r * pitch() + i, 1);
  }
  if (plan_.has_zeros)
    make_stretches(block.dst, count);
  else
    blend_(block);
  kernels::Ahead nothing;
  if (streams_)
    kernels::copy_rows(dst, pitch(), made_.get(), bytes, bytes, rows, rules.store, nothing);
  else if (made_)
    kernels::copy_row(dst, plan_.rows.step, made_.get(), rules.output_element, count, rules.output_element);
}

/// Makes the labels of a part of a row, for argmax. Elements for which no class has a score get the fill.
void BlendWriter::make_labels(std::byte* dst, std::int64_t begin, std::int64_t count) noexcept {
  const Rules& rules = plan_.rules;
  std::fill_n(labels_.get(), count, -1);
  for (class_ = 0; class_ < rules.classes; ++class_) {
    place_elements(1, begin, count);
    if (class_ == 0 || plan_.sources.has_factors()) weigh(1, begin, count);  // windows have equal weights for all classes
    if (plan_.has_zeros) {
      make_stretches(made_.get(), count);
      continue;
    }
    blend_({made_.get(), 0, terms_.data(), static_cast<std::int64_t>(sources()), 1, count});
    rank(0, count);
  }
  class_ = 0;
  for (std::int64_t j = 0; j < count; ++j, dst += plan_.rows.step) {
    const auto label = static_cast<std::uint16_t>(labels_[static_cast<std::size_t>(j)]);
    const auto small = static_cast<std::uint8_t>(label);
    const void* from = rules.output_element == 1 ? static_cast<const void*>(&small) : &label;
    if (labels_[static_cast<std::size_t>(j)] < 0) from = rules.fill.data();
    std::memcpy(dst, from, static_cast<std::size_t>(rules.output_element));
  }
}

/// Compares the scores in made_ of `count` elements of the part, from element `first` on, with the best so far.
void BlendWriter::rank(std::int64_t first, std::int64_t count) noexcept {
  auto* best = reinterpret_cast<std::byte*>(best_.get() + first);
  plan_.rules.rank({best, labels_.get() + first}, made_.get() + first * plan_.rules.made_element, count,
                   static_cast<std::int32_t>(class_));
}

/// Makes a part of a row in which some weights are 0, stretch by stretch. A stretch is a run of elements with the same
/// contributing tiles. For argmax, also compares the scores.
void BlendWriter::make_stretches(std::byte* dst, std::int64_t count) noexcept {
  const Rules& rules = plan_.rules;
  std::int64_t first = 0;
  while (first < count) {
    std::int64_t last = first + 1;
    const auto same = [&](std::int64_t j) {
      for (std::size_t s = 0; s < sources(); ++s)
        if (takes_part(s, j) != takes_part(s, first)) return false;
      return true;
    };
    while (last < count && same(last)) ++last;
    std::size_t chosen = 0;
    for (std::size_t s = 0; s < sources(); ++s) {
      if (!takes_part(s, first)) continue;
      chosen_tiles_[chosen] = plan_.sources.tile(s);
      chosen_[chosen++] = {terms_[s].elements + first * rules.element, terms_[s].weights + first * rules.parts, 1};
    }
    std::byte* to = dst + first * rules.made_element;
    if (chosen > 0) reduce_chosen(to, last - first, chosen);
    if (chosen > 0 && rules.classes > 0) rank(first, last - first);
    if (chosen == 0 && rules.classes == 0)
      kernels::fill_row(to, rules.output_element, rules.fill.data(), rules.output_element, last - first,
                        rules.output_element);
    first = last;
  }
}

/// Makes `count` elements from the first `chosen` terms of chosen_.
void BlendWriter::reduce_chosen(std::byte* dst, std::int64_t count, std::size_t chosen) noexcept {
  const Rules& rules = plan_.rules;
  if (rules.blend != nullptr)
    return rules.blend({.dst = dst,
                        .terms = chosen_.data(),
                        .terms_count = static_cast<std::int64_t>(chosen),
                        .count = count * rules.parts,
                        .room = room_.get()});
  const std::size_t one = rules.cells.selected({chosen_tiles_.data(), chosen}, plan_.segments);
  std::memcpy(dst, chosen_[one].elements, static_cast<std::size_t>(count * rules.element));
}

}  // namespace patchfold::tiling
