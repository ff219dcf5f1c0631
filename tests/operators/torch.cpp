// SPDX-License-Identifier: Apache-2.0
// Facts of PyTorch's operators.
#include "facts.hpp"
#include "formulas.hpp"

namespace patchfold::facts {
namespace {

/// Requires data of shape (N, C, spatial) or, without a batch, (C, spatial), in which only N may be 0.
void require_data(Work& w, std::size_t without_batch) {
  for (std::size_t i = w.data.size() == without_batch ? 0 : 1; i < w.data.size(); ++i) w.require(w.data[i] != 0);
}

void fold(Work& w) {
  const std::size_t rank = w.rank_of({"output_size", "kernel_size", "dilation", "padding", "stride"}, 2);
  require_data(w, 2);
  const Wides extents = w.list("output_size", rank, 1), kernel = w.list("kernel_size", rank, 1);
  Wides pads;
  for (const Wide both : w.list("padding", rank, 0)) pads.insert(pads.end(), {both, both});
  const auto axes = axes_of(w, extents, kernel, w.list("stride", rank), w.list("dilation", rank), pads, 1);
  for (const Axis& axis : axes) w.require(axis.positions >= 1);
  combine(w, axes, kernel, extents, false, false);
}

void unfold(Work& w) {
  const std::size_t rank = w.rank_of({"kernel_size", "dilation", "padding", "stride"}, 2);
  w.require(w.data.size() == rank + 2 || (rank == 2 && w.data.size() == 3));
  require_data(w, rank + 1);
  const auto spatial = w.data.end() - static_cast<std::ptrdiff_t>(rank);
  const Wides kernel = w.list("kernel_size", rank, 1);
  Wides pads;
  for (const Wide both : w.list("padding", rank, 0)) pads.insert(pads.end(), {both, both});
  const auto axes = axes_of(w, {spatial, w.data.end()}, kernel, w.list("stride", rank), w.list("dilation", rank), pads, 1);
  for (const Axis& axis : axes) w.require(axis.positions >= 1);
  if (!w.formula.is_legal) return;
  w.give(
      join({{w.data.begin(), spatial - 1}, {product({*(spatial - 1), taps_of(w, kernel)}), product(positions_of(axes))}}));
}

const Known facts({
    {"torch.fold", fold, refused, longer(1), longer(2)},
    {"torch.unfold", unfold, refused, no_multiples, no_columns, {{"stride largest", steps}}},
    {"torch.pixel_shuffle", [](Work& w) { depth(w, false, w.list("upscale_factor", 2, 1), false); }, any_axes, longer(1),
     any_blocks},
    {"torch.pixel_unshuffle", [](Work& w) { depth(w, true, w.list("downscale_factor", 2, 1), false); }, any_axes, longer(2),
     no_columns},
});

}  // namespace
}  // namespace patchfold::facts
