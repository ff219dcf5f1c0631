// SPDX-License-Identifier: Apache-2.0
// Sums in panels of registers, bit for bit those of a plain loop.
#include <gtest/gtest.h>

#include <algorithm>

#include "every_set.hpp"
#include "fenced.hpp"
#include "kernel_lanes.hpp"
#include "kernels/panel.hpp"

namespace patchfold::kernels {
namespace {

PanelMask random_mask(Dice& dice, std::int64_t lanes, std::int64_t vectors) {
  const auto range = [&](std::int16_t& from, std::int16_t& to) {
    from = 0;
    to = static_cast<std::int16_t>(lanes);
    if (dice.chance(60)) return;
    from = static_cast<std::int16_t>(dice.between(0, lanes));
    to = static_cast<std::int16_t>(dice.between(from, lanes));
  };
  PanelMask mask;
  range(mask.first_from, mask.first_to);
  range(mask.last_from, mask.last_to);
  if (vectors == 1) mask.last_from = mask.first_from, mask.last_to = mask.first_to;
  return mask;
}

/// Whether a lane of a row counts.
bool counts(const PanelMask& mask, std::int64_t lane, std::int64_t lanes, std::int64_t vectors) {
  const std::int64_t vector = lane / lanes, within = lane % lanes;
  if (vector == 0 && (within < mask.first_from || within >= mask.first_to)) return false;
  return vector != vectors - 1 || (within >= mask.last_from && within < mask.last_to);
}

void check_panel(Dice& dice, DType dtype, const std::string& set) {
  const PanelKernel& kernel = panel_kernel(dtype);
  const Lane lane = lane_of(dtype);
  const std::int64_t size = kernel.lane_size, lanes = kernel.lanes;
  Panel panel;
  panel.vectors = dice.between(1, kernel.most_vectors);
  panel.rows = dice.chance(50) ? dice.between(1, 4) : dice.between(1, 2 * kernel.rows(panel.vectors) + 3);
  const std::int64_t width = panel.vectors * lanes;
  panel.src_pitch = dice.chance(10) ? 0 : dice.between(1, width * size + 100);
  panel.to_pitch = width * size + (dice.chance(50) ? 0 : dice.between(0, 100));
  panel.count = dice.chance(5) ? 0 : dice.between(1, dice.chance(80) ? 4 : 12);
  panel.prefetch = dice.chance(50) ? 0 : dice.between(1, 5000);

  // What may be read ends, or begins, where memory does; lanes that do not count may lie beyond. As a rule nothing does.
  const bool roomy = dice.chance(50);
  const std::int64_t reach = (panel.rows - 1) * panel.src_pitch + width * size;
  const Fenced source(static_cast<std::size_t>(reach + (roomy ? width * size : dice.between(0, 60))), dice.chance(50));
  const auto mood = static_cast<Mood>(dice.between(0, 3));
  dice.fill(source.bytes());
  const std::int64_t bytes = source.end() - source.data();
  for (std::int64_t at = 0; at + size <= bytes; at += size) put(random_lane(dice, lane, mood), size, source.data() + at);
  panel.begin = source.data();
  panel.end = source.end();
  panel.src = source.data() + (dice.chance(50) ? 0 : dice.between(0, bytes));
  std::vector<PanelMask> masks;
  for (int i = 0; i < 3; ++i) masks.push_back(random_mask(dice, lanes, panel.vectors));
  panel.masks = masks.data();
  std::vector<PanelTerm> terms;
  for (std::int64_t i = 0; i < panel.count; ++i) {
    const std::int64_t mask = dice.between(0, 2);
    std::int64_t low = width, high = 0;  // the lanes that must be there
    for (std::int64_t l = 0; l < width; ++l)
      if (counts(masks[static_cast<std::size_t>(mask)], l, lanes, panel.vectors)) low = std::min(low, l), high = l + 1;
    if (roomy || low >= high) low = 0, high = width;
    const std::int64_t room = bytes - (panel.rows - 1) * panel.src_pitch - (high - low) * size;
    std::int64_t at = dice.chance(40) ? room : dice.between(0, room);
    if (dice.chance(60)) at = at / size * size;  // whole elements, of which some are special
    terms.push_back({source.data() + at - low * size - panel.src, mask});
    panel.low = i == 0 ? terms.back().offset : std::min(panel.low, terms.back().offset);
    panel.high = i == 0 ? terms.back().offset : std::max(panel.high, terms.back().offset);
  }
  panel.terms = terms.data();

  Target target((panel.rows - 1) * panel.to_pitch + width * size, dice.between(0, 63));
  panel.to = target.data();
  kernel.sum(panel);
  const Format format = format_of(lane);
  for (std::int64_t row = 0; row < panel.rows; ++row)
    for (std::int64_t l = 0; l < width; ++l) {
      std::vector<const std::byte*> counted;
      for (const PanelTerm& term : terms)
        if (counts(masks[static_cast<std::size_t>(term.mask)], l, lanes, panel.vectors))
          counted.push_back(panel.src + term.offset + row * panel.src_pitch + l * size);
      const Sum sum = sum_of(lane, counted);
      const std::int64_t at = row * panel.to_pitch + l * size;
      const std::uint64_t given = get(target.data() + at, size);
      const bool either = sum.nans > 1 && is_nan(sum.bits, format) && is_nan(given, format);
      put(either ? given : sum.bits, size, target.expected() + at);
    }
  ASSERT_EQ(target.wrong(), "") << set << ", " << name_of(dtype) << ": " << panel.vectors << " vectors of " << lanes
                                << " lanes, " << panel.rows << " rows, " << panel.count << " terms, source pitch "
                                << panel.src_pitch << ", pitch " << panel.to_pitch << ", mood " << static_cast<int>(mood);
}

TEST(Panels, SumWhatAPlainLoopSums) {
  Dice dice(1);
  on_every_instruction_set("panel", [&](const std::string& set) {
    for (const DType dtype : dtypes())
      for (int round = 0; round < 250 && is_summable(dtype); ++round) {
        ASSERT_NO_FATAL_FAILURE(check_panel(dice, dtype, set));
      }
  });
}

/// Sums of two terms, in every lane of a vector.
void check_pairs(DType dtype, const std::vector<std::uint16_t>& a, const std::vector<std::uint16_t>& b,
                 const std::string& set) {
  const PanelKernel& kernel = panel_kernel(dtype);
  const Lane lane = lane_of(dtype);
  const PanelMask all{0, static_cast<std::int16_t>(kernel.lanes), 0, static_cast<std::int16_t>(kernel.lanes)};
  const auto* from_a = reinterpret_cast<const std::byte*>(a.data());
  const auto* from_b = reinterpret_cast<const std::byte*>(b.data());
  std::vector<std::uint16_t> sums(a.size());
  for (std::int64_t i = 0; i + kernel.lanes <= static_cast<std::int64_t>(a.size()); i += kernel.lanes) {
    const PanelTerm terms[] = {{0, 0}, {from_b - from_a, 0}};
    Panel panel;
    panel.terms = terms;
    panel.count = 2;
    panel.masks = &all;
    panel.src = from_a + 2 * i;
    panel.to = reinterpret_cast<std::byte*>(sums.data() + i);
    // Both lists may be read whole.
    panel.begin = std::min(from_a, from_b);
    panel.end = std::max(from_a, from_b) + a.size() * 2;
    panel.low = std::min<std::int64_t>(0, from_b - from_a);
    panel.high = std::max<std::int64_t>(0, from_b - from_a);
    kernel.sum(panel);
  }
  const Format format = format_of(lane);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Sum sum = sum_of(lane, {from_a + 2 * i, from_b + 2 * i});
    if (sum.nans > 1 && is_nan(sums[i], format)) continue;
    ASSERT_EQ(sums[i], sum.bits) << set << ", " << name_of(dtype) << ": " << a[i] << " + " << b[i];
  }
}

TEST(Panels, AddAndRoundEveryHalf) {
  // Every pattern with a zero, a neighbour half a place away, its negation and a few others.
  std::vector<std::uint16_t> a, b;
  for (const std::uint32_t other :
       {0x0000u, 0x8000u, 0x0001u, 0x8001u, 0x3c00u, 0x0400u, 0x7bffu, 0x4c00u, 0x3f80u, 0x0080u, 0x7f7fu, 0x7c00u, 0xff80u})
    for (std::uint32_t bits = 0; bits < 1u << 16; ++bits) {
      a.push_back(static_cast<std::uint16_t>(bits));
      b.push_back(static_cast<std::uint16_t>(other));
    }
  for (const std::uint32_t places : {8u, 9u, 11u, 12u})
    for (std::uint32_t bits = 0; bits < 1u << 16; ++bits) {
      const std::uint32_t exponent = places < 10 ? 0x80u : 0x400u;
      a.push_back(static_cast<std::uint16_t>(bits));
      b.push_back(static_cast<std::uint16_t>((bits & ~(exponent - 1)) - places * exponent));
    }
  on_every_instruction_set("panel", [&](const std::string& set) {
    for (const DType dtype : {DType::float16, DType::bfloat16}) {
      ASSERT_NO_FATAL_FAILURE(check_pairs(dtype, a, b, set));
      ASSERT_NO_FATAL_FAILURE(check_pairs(dtype, b, a, set));
    }
  });
}

}  // namespace
}  // namespace patchfold::kernels
