// SPDX-License-Identifier: Apache-2.0
// Panels of means against a loop over single elements: the bits that all terms have, or the sum in the accumulator of the
// type divided once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "every_set.hpp"
#include "fenced.hpp"
#include "kernel_bytes.hpp"
#include "kernels/mean_scalar.hpp"
#include "kernels/panel.hpp"
#include "kernels/panel_means.hpp"

namespace patchfold::kernels {
namespace {

/// How much the terms of an element differ.
enum class Terms { alike, from_some_row, differ };

struct Expected {
  std::vector<std::byte> element{};
  bool is_certain = true;
};

template <class T>
Expected mean_of(const std::vector<const std::byte*>& terms, const std::byte* fill) {
  Expected expected;
  const auto keep = [&](const std::byte* from) { expected.element.assign(from, from + sizeof(T)); };
  if (terms.empty()) {
    keep(fill);
  } else if (std::all_of(terms.begin(), terms.end(),
                         [&](const std::byte* at) { return std::memcmp(at, terms[0], sizeof(T)) == 0; })) {
    keep(terms[0]);
  } else {
    typename MeanOf<T>::Accumulator sum(MeanOf<T>::nothing);
    for (const std::byte* at : terms) MeanOf<T>::add(sum, load<T>(at));
    T mean{};
    expected.is_certain = MeanOf<T>::store(sum, static_cast<double>(terms.size()), mean);
    keep(reinterpret_cast<const std::byte*>(&mean));
  }
  return expected;
}

/// Masks as they are along a row: tap k of a phase counts from lane k on, or until some lanes before the end.
std::vector<PanelMask> random_masks(Dice& dice, std::int64_t lanes, std::int64_t vectors) {
  std::vector<PanelMask> masks;
  const bool is_whole = dice.chance(30);
  for (std::int64_t count = dice.between(1, 4); count > 0; --count) {
    PanelMask mask{0, static_cast<std::int16_t>(lanes), 0, static_cast<std::int16_t>(lanes)};
    if (!is_whole && dice.chance(60)) mask.first_from = static_cast<std::int16_t>(dice.between(0, lanes));
    if (!is_whole && dice.chance(60)) mask.last_to = static_cast<std::int16_t>(dice.between(0, lanes));
    if (!is_whole && vectors == 1) mask.last_from = mask.first_from, mask.first_to = mask.last_to;
    masks.push_back(mask);
  }
  return masks;
}

template <class T>
void check_panel(Dice& dice, DType dtype, const std::string& set) {
  const PanelKernel& kernel = mean_panel_kernel(dtype);
  const auto size = static_cast<std::int64_t>(sizeof(T));
  ASSERT_EQ(kernel.lane_size, size);
  const std::int64_t lanes = kernel.lanes;
  Panel panel;
  panel.vectors = dice.between(1, kernel.most_vectors);
  panel.rows = dice.between(1, 11);
  const std::int64_t width = panel.vectors * lanes;
  panel.src_pitch = width * size + dice.between(0, 9) * size;
  panel.to_pitch = width * size + dice.between(0, 40);
  panel.prefetch = dice.chance(50) ? 0 : dice.between(1, 5000);
  const std::vector<PanelMask> masks = random_masks(dice, lanes, panel.vectors);
  panel.masks = masks.data();
  panel.masks_count = static_cast<std::int64_t>(masks.size());
  const std::int64_t columns = dice.chance(5) ? 0 : dice.between(1, 3) * panel.masks_count;
  panel.count = columns;

  // One column after the other, between pages that cannot be read: masked lanes may lie beyond either end.
  const std::int64_t column = panel.rows * panel.src_pitch;
  const auto kind = static_cast<Terms>(dice.between(0, 2));
  const bool are_small = dice.chance(50);
  std::vector<std::byte> pattern(static_cast<std::size_t>(column));
  const auto randomize = [&](std::byte* at) {
    T value;
    dice.fill({reinterpret_cast<std::byte*>(&value), sizeof value});
    if constexpr (std::is_arithmetic_v<T>)
      if (are_small) value = static_cast<T>(static_cast<T>(dice.between(0, 100)) / (std::is_integral_v<T> ? T(1) : T(7)));
    if constexpr (std::is_same_v<T, Boolean>)
      if (are_small) value = {dice.chance(50)};
    std::memcpy(at, &value, sizeof value);
  };
  for (std::int64_t at = 0; at < column; at += size) randomize(&pattern[static_cast<std::size_t>(at)]);
  // The lanes before the first that counts, and behind the last, are left out of the memory.
  std::int64_t before = width, after = width;
  for (const PanelMask& mask : masks) {
    before = std::min<std::int64_t>(before, panel.vectors == 1 ? mask.first_from : mask.first_from);
    after = std::min<std::int64_t>(after, lanes - mask.last_to);
  }
  const std::int64_t bytes =
      std::max<std::int64_t>(columns * column - (panel.src_pitch - width * size) - (before + after) * size, 0);
  const Fenced source(static_cast<std::size_t>(bytes), dice.chance(50));
  const std::int64_t first_row = dice.between(0, panel.rows);
  for (std::int64_t at = 0; at < bytes; at += size) {
    const std::int64_t place = (at + before * size) % column;
    std::memcpy(source.data() + at, &pattern[static_cast<std::size_t>(place)], sizeof(T));
    const bool differs = kind == Terms::differ || (kind == Terms::from_some_row && place / panel.src_pitch >= first_row);
    if (differs && dice.chance(kind == Terms::differ ? 90 : 20)) randomize(source.data() + at);
  }
  panel.begin = source.data();
  panel.end = source.end();
  panel.src = source.data() - before * size;
  std::vector<PanelTerm> terms;
  for (std::int64_t i = 0; i < columns; ++i) terms.push_back({i * column, i % panel.masks_count});
  panel.terms = terms.data();
  panel.high = columns == 0 ? 0 : (columns - 1) * column;
  FillLine fill;
  for (std::size_t i = 0; i < fill.size(); ++i) fill[i] = static_cast<std::byte>(i % sizeof(T) + 1);
  panel.fill = &fill;
  bool certain = true, all_certain = true;
  panel.certain = &certain;

  Target target((panel.rows - 1) * panel.to_pitch + width * size, dice.between(0, 63));
  panel.to = target.data();
  kernel.sum(panel);
  for (std::int64_t row = 0; row < panel.rows; ++row)
    for (std::int64_t lane = 0; lane < width; ++lane) {
      const std::int64_t vector = lane / lanes;
      std::vector<const std::byte*> counted;
      for (const PanelTerm& term : terms) {
        const PanelMask& m = masks[static_cast<std::size_t>(term.mask)];
        if (vector == 0 && (lane < m.first_from || lane >= m.first_to)) continue;
        const std::int64_t within = lane % lanes;
        if (vector == panel.vectors - 1 && (within < m.last_from || within >= m.last_to)) continue;
        counted.push_back(panel.src + term.offset + row * panel.src_pitch + lane * size);
      }
      const Expected expected = mean_of<T>(counted, fill.data());
      const std::int64_t at = row * panel.to_pitch + lane * size;
      const bool is_open = !expected.is_certain || (!certain && needs_care(dtype, target.data() + at));
      all_certain = all_certain && expected.is_certain;
      std::memcpy(target.expected() + at, is_open ? target.data() + at : expected.element.data(), sizeof(T));
    }
  ASSERT_EQ(target.wrong(), "") << set << ", " << name_of(dtype) << ": " << panel.vectors << " vectors of " << lanes
                                << " lanes, " << panel.rows << " rows, " << panel.count << " terms with "
                                << panel.masks_count << " masks, kind " << static_cast<int>(kind);
  ASSERT_TRUE(all_certain || !certain) << set << ", " << name_of(dtype);
}

TEST(MeanPanels, AreThoseOfSingleElements) {
  Dice dice(3);
  on_every_instruction_set("mean panel", [&](const std::string& set) {
    for (const DType dtype : dtypes())
      visit(dtype, [&]<class T>(std::type_identity<T>) {
        if constexpr (!std::is_void_v<AveragedAs<T>>)
          for (int round = 0; round < 250; ++round)
            if (!::testing::Test::HasFatalFailure()) check_panel<AveragedAs<T>>(dice, dtype, set);
      });
  });
}

}  // namespace
}  // namespace patchfold::kernels
