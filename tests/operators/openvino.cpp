// SPDX-License-Identifier: Apache-2.0
// Facts of OpenVINO's operators.
#include "facts.hpp"
#include "formulas.hpp"

namespace patchfold::facts {
namespace {

void col2im(Work& w) {
  const Wides extents = w.list("output_size", 2, 1), kernel = w.list("kernel_size", 2, 1);
  const Wides begins = w.list("pads_begin", 2, 0), ends = w.list("pads_end", 2, 0);
  const auto axes = axes_of(w, extents, kernel, w.list("strides", 2, 1), w.list("dilations", 2, 0),
                            {begins[0], ends[0], begins[1], ends[1]}, 0);
  combine(w, axes, kernel, extents, false, false);
}

void patches(Work& w) {
  const Wides kernel = w.list("sizes", 2), stride = w.list("strides", 2), rates = w.list("rates", 2);
  Wides shape = {w.data[0], 0};
  for (std::size_t i = 0; i < 2; ++i) {
    Axis axis{w.data[2 + i], kernel[i], stride[i], rates[i], 0, 0};
    if (!w.is("auto_pad", "valid")) w.pad_same(axis, w.is("auto_pad", "same_lower"));
    w.slide(axis, 1);
    shape.push_back(axis.positions);
  }
  if (!w.formula.is_legal) return;
  shape[1] = product({w.data[1], taps_of(w, kernel)});
  w.give(shape);
}

/// Returns the pairs (begin, end) of two lists, without the pair of the batch, which must be zero.
Wides batch_pairs(Work& w, std::string_view begin_name, std::string_view end_name) {
  const Wides begins = w.list(begin_name, 1, 0), ends = w.list(end_name, 1, 0);
  w.require(begins[0] == 0 && ends[0] == 0);
  Wides pairs;
  for (std::size_t i = 1; i < begins.size(); ++i) pairs.insert(pairs.end(), {begins[i], ends[i]});
  return pairs;
}
Wides blocks_of(Work& w) {
  const Wides all = w.list("block_shape", 1, 1);
  w.require(all[0] == 1);
  return {all.begin() + 1, all.end()};
}

constexpr std::string_view short_lists = "any rank from 2, for which the lists are too short";

const Known facts({
    {"openvino.Col2Im-15", col2im, refused, longer(1), longer(2)},
    {"openvino.ExtractImagePatches-3", patches, refused, no_multiples, no_columns, {{"strides largest", steps}}},
    {"openvino.SpaceToBatch-2", [](Work& w) { to_batch(w, 1, blocks_of(w), batch_pairs(w, "pads_begin", "pads_end")); },
     short_lists, longer(2), no_columns},
    {"openvino.BatchToSpace-2", [](Work& w) { to_space(w, 1, blocks_of(w), batch_pairs(w, "crops_begin", "crops_end")); },
     short_lists, longer(0), any_blocks},
    {"openvino.SpaceToDepth-1", [](Work& w) { depth(w, true, w.list("block_size", w.data.size() - 2), false); }, any_axes,
     longer(2), no_columns},
    {"openvino.DepthToSpace-1", [](Work& w) { depth(w, false, w.list("block_size", w.data.size() - 2), false); }, any_axes,
     longer(1), any_blocks},
});

}  // namespace
}  // namespace patchfold::facts
