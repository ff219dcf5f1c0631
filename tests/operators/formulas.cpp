// SPDX-License-Identifier: Apache-2.0
#include "formulas.hpp"

namespace patchfold::facts {

std::vector<Axis> axes_of(Work& w, const Wides& extents, const Wides& kernel, const Wides& stride, const Wides& dilation,
                          const Wides& pads, Wide least_dilation) {
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < extents.size(); ++i)
    axes.push_back({extents[i], kernel[i], stride[i], dilation[i], pads[2 * i], pads[2 * i + 1]});
  for (Axis& axis : axes) w.slide(axis, least_dilation);
  return axes;
}

Wides positions_of(const std::vector<Axis>& axes) {
  Wides all;
  for (const Axis& axis : axes) all.push_back(axis.positions);
  return all;
}

Wide taps_of(Work& w, const Wides& kernel) {
  const Wide taps = product(kernel);
  w.fits_63_bits(taps);
  return taps;
}

void combine(Work& w, const std::vector<Axis>& axes, const Wides& kernel, const Wides& extents, bool last, bool grid) {
  if (!w.formula.is_legal) return;
  w.tensor(extents);
  const auto position_axes = static_cast<std::ptrdiff_t>(grid ? extents.size() : 1);
  const auto begin = w.data.end() - position_axes - (last ? 1 : 0);
  const Wides given(begin, begin + position_axes);
  const Wide rows = last ? w.data.back() : *(begin - 1);
  const Wides batch(w.data.begin(), begin - (last ? 0 : 1));
  const Wide taps = taps_of(w, kernel);
  const Wides positions = positions_of(axes);
  w.require(rows % taps == 0);
  w.require(given == (grid ? positions : Wides{product(positions)}));
  if (!grid) w.fits_63_bits(product(positions));
  w.give(last ? join({batch, extents, {rows / taps}}) : join({batch, {rows / taps}, extents}));
}

void to_batch(Work& w, std::size_t first, const Wides& block, Wides pads, std::string_view rule) {
  Wides shape = w.data;
  for (std::size_t i = 0; i < block.size(); ++i) {
    Axis axis{w.data[first + i], block[i], block[i], 1, pads[2 * i], pads[2 * i + 1]};
    if (rule != "valid" && rule != "") w.pad_same(axis, rule == "same_lower");
    w.slide(axis, 1);
    if (!w.formula.is_legal) return;
    const Wide padded = axis.extent + axis.begin + axis.end;
    w.require(padded >= 0 && padded % axis.kernel == 0);
    shape[first + i] = padded / axis.kernel;
  }
  if (!w.formula.is_legal) return;
  shape[0] = product({w.data[0], taps_of(w, block)});
  w.give(shape);
}

void to_space(Work& w, std::size_t first, const Wides& block, const Wides& crops) {
  Wides shape = w.data;
  for (std::size_t i = 0; i < block.size(); ++i) {
    w.require(block[i] >= 1 && crops[2 * i] >= 0 && crops[2 * i + 1] >= 0);
    shape[first + i] = w.data[first + i] * block[i] - crops[2 * i] - crops[2 * i + 1];
    for (const Wide size : {crops[2 * i], crops[2 * i + 1], block[i], shape[first + i]}) w.below_limit(size);
    w.require(shape[first + i] >= 0);
  }
  if (!w.formula.is_legal) return;
  const Wide taps = taps_of(w, block);
  w.require(w.data[0] % taps == 0);
  shape[0] = w.data[0] / taps;
  w.give(shape);
}

void depth(Work& w, bool to_depth, const Wides& block, bool last) {
  const std::size_t rank = block.size();
  const std::size_t channel = last ? w.data.size() - 1 : w.data.size() - 1 - rank;
  const std::size_t first = last ? channel - rank : channel + 1;
  Wides shape = w.data;
  for (const Wide each : block) w.require(each >= 1);
  if (!w.formula.is_legal) return;
  const Wide taps = taps_of(w, block);
  for (std::size_t i = 0; i < rank; ++i) {
    w.below_limit(block[i]);
    if (to_depth) w.require(w.data[first + i] % block[i] == 0);
    shape[first + i] = to_depth ? w.data[first + i] / block[i] : product({w.data[first + i], block[i]});
  }
  if (!to_depth && w.formula.is_legal) w.tensor({shape.begin() + first, shape.begin() + first + rank});
  if (!to_depth) w.require(w.data[channel] % taps == 0);
  shape[channel] = to_depth ? product({w.data[channel], taps}) : w.data[channel] / taps;
  w.give(shape);
}

}  // namespace patchfold::facts
