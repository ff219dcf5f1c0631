// SPDX-License-Identifier: Apache-2.0
// Facts of the neutral operators.
#include "facts.hpp"
#include "formulas.hpp"

namespace patchfold::facts {
namespace {

/// Returns the number of spatial axes: the length of a list or, if no argument is a list, two. Without a list, the data must
/// have four axes.
std::size_t spatial_rank(Work& w, std::initializer_list<std::string_view> names) {
  const std::size_t rank = w.rank_of(names, 0);
  w.require(rank > 0 || w.data.size() == 4);
  return rank > 0 ? rank : 2;
}

void unfold(Work& w) {
  const std::size_t rank = spatial_rank(w, {"kernel_size", "stride", "dilation", "padding"});
  const bool last = w.is("layout", "channels_last");
  const auto spatial = w.data.end() - static_cast<std::ptrdiff_t>(rank + last);
  const Wides batch(w.data.begin(), spatial - (last ? 0 : 1));
  const Wide channels = last ? w.data.back() : *(spatial - 1);
  const Wides extents(spatial, spatial + static_cast<std::ptrdiff_t>(rank));
  const Wides kernel = w.list("kernel_size", rank), stride = w.list("stride", rank), dilation = w.list("dilation", rank);
  const Wides pads = w.pairs("padding", rank, std::numeric_limits<std::int64_t>::min());
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < rank; ++i) {
    axes.push_back({extents[i], kernel[i], stride[i], dilation[i], pads[2 * i], pads[2 * i + 1]});
    if (w.is("padding", "same_upper") || w.is("padding", "same_lower")) w.pad_same(axes[i], w.is("padding", "same_lower"));
    w.slide(axes[i], 0);
  }
  if (!w.formula.is_legal) return;
  const Wide taps = taps_of(w, kernel);
  const Wides positions = positions_of(axes);
  for (const Axis& axis : axes) w.require(axis.positions >= 1 || w.number("allow_empty") != 0);
  const bool is_padded = !w.is("padding_mode", "constant");
  for (const Axis& axis : axes) w.require(!is_padded || axis.extent > 0 || product(positions) == 0);
  const Wides where = w.is("positions", "grid") ? positions : Wides{product(positions)};
  const Wides rows = {product({channels, taps})};
  w.give(last ? join({batch, where, rows}) : join({batch, rows, where}));
}

/// Returns the axes with their pads and positions. The argument `padding` is a rule, which gives the pads.
std::vector<Axis> ruled(Work& w, const Wides& extents, const Wides& kernel, const Wides& stride, const Wides& dilation) {
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    axes.push_back({extents[i], kernel[i], stride[i], dilation[i], 0, 0});
    if (!w.is("padding", "valid")) w.pad_same(axes[i], w.is("padding", "same_lower"));
    w.slide(axes[i], 0);
  }
  return axes;
}

void fold(Work& w, bool counts) {
  const Wides extents = w.list("output_size");
  const std::size_t rank = extents.size();
  const Wides kernel = w.list("kernel_size", rank), stride = w.list("stride", rank), dilation = w.list("dilation", rank);
  const auto axes = w.word("padding").empty()
                        ? axes_of(w, extents, kernel, stride, dilation,
                                  w.pairs("padding", rank, std::numeric_limits<std::int64_t>::min()), 0)
                        : ruled(w, extents, kernel, stride, dilation);
  if (!counts) return combine(w, axes, kernel, extents, w.is("layout", "channels_last"), w.is("positions", "grid"));
  if (!w.formula.is_legal) return;
  taps_of(w, kernel);
  w.fits_63_bits(product(positions_of(axes)));
  w.give(extents);
}

void reorder(Work& w) {
  const Wides kernel = w.list("kernel_size", spatial_rank(w, {"kernel_size"}), 1);
  const bool last = w.is("layout", "channels_last");
  const std::size_t positions = w.is("positions", "grid") ? kernel.size() : 1;
  const std::size_t axis = last ? w.data.size() - 1 : w.data.size() - 1 - positions;
  if (!w.formula.is_legal) return;
  w.require(w.data[axis] % taps_of(w, kernel) == 0);
  w.give(w.data);
}

void copy(Work& w) {
  w.give(w.data);
}

std::size_t first_blocked(Work& w, std::size_t rank) {
  return w.is("layout", "channels_last") ? 1 : w.data.size() - rank;
}

void space_to_batch(Work& w) {
  const std::size_t rank = spatial_rank(w, {"block", "padding"});
  to_batch(w, first_blocked(w, rank), w.list("block", rank),
           w.pairs("padding", rank, std::numeric_limits<std::int64_t>::min()), w.word("padding"));
}

void batch_to_space(Work& w) {
  const std::size_t rank = spatial_rank(w, {"block", "crops"});
  to_space(w, first_blocked(w, rank), w.list("block", rank), w.pairs("crops", rank, 0));
}

const Known facts({
    {"unfold",
     unfold,
     any_axes,
     no_multiples,
     no_columns,
     {{"padding negative", crops}, {"stride largest", steps}, {"dilation zero", zero_dilation}}},
    {"fold",
     [](Work& w) { fold(w, false); },
     any_axes,
     longer(1),
     longer(2),
     {{"padding negative", "negative pads crop, which changes the number of positions"}}},
    {"coverage",
     [](Work& w) { fold(w, true); },
     "it has no data",
     no_multiples,
     no_columns,
     {{"padding negative", crops},
      {"stride largest", steps},
      {"dilation zero", zero_dilation},
      {"output_size zero", "an image may be empty"},
      {"rank 1", "it has no data"},
      {"rank 0", "it has no data"}}},
    {"reorder", reorder, any_axes, longer(1), none("any number of positions"), {{"kernel_size longer", other_rank}}},
    {"copy",
     copy,
     "any number of axes",
     no_multiples,
     no_columns,
     {{"rank 0", "a number has no axes"}, {"rank 1", "any number of axes"}}},
    {"space_to_batch",
     space_to_batch,
     any_axes,
     longer(2),
     no_columns,
     {{"padding negative", "negative pads crop, and what is left must be a multiple"}}},
    {"batch_to_space", batch_to_space, any_axes, longer(0), any_blocks},
    {"space_to_depth",
     [](Work& w) { depth(w, true, w.list("block", spatial_rank(w, {"block"})), w.is("layout", "channels_last")); },
     any_axes,
     longer(2),
     no_columns,
     {{"block longer", other_rank}}},
    {"depth_to_space",
     [](Work& w) { depth(w, false, w.list("block", spatial_rank(w, {"block"})), w.is("layout", "channels_last")); },
     any_axes,
     longer(1),
     any_blocks,
     {{"block longer", other_rank}}},
});

}  // namespace
}  // namespace patchfold::facts
