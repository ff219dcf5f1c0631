// SPDX-License-Identifier: Apache-2.0
// Facts of TensorFlow's operators.
#include "facts.hpp"
#include "formulas.hpp"

namespace patchfold::facts {
namespace {

void patches(Work& w, bool dilates) {
  const std::size_t rank = w.data.size() - 2;
  const Wides kernel = w.list("ksizes"), stride = w.list("strides");
  const Wides rates = dilates ? w.list("rates") : Wides(rank + 2, 1);
  for (const Wides& list : {kernel, stride, rates}) w.require(list.front() == 1 && list.back() == 1);
  Wides shape = {w.data[0]};
  for (std::size_t i = 1; i <= rank; ++i) {
    Axis axis{w.data[i], kernel[i], stride[i], rates[i], 0, 0};
    if (w.is("padding", "SAME"))
      w.pad_same(axis, false, !dilates);
    else if (axis.kernel >= 1 && axis.stride >= 1 && axis.dilation >= 1)
      w.require((axis.kernel - 1) * axis.dilation + 1 - axis.extent < 2 * axis.stride);
    w.slide(axis, 1);
    shape.push_back(axis.positions);
  }
  if (!w.formula.is_legal) return;
  shape.push_back(product({taps_of(w, kernel), w.data.back()}));
  w.give(shape);
}

Wides block_of(Work& w) {
  return w.list("block_size", 2, 2);
}

const Known facts({
    {"tensorflow.SpaceToBatch", [](Work& w) { to_batch(w, 1, block_of(w), w.pairs("paddings", 2, 0)); }, refused, longer(1),
     no_columns},
    {"tensorflow.SpaceToBatchND", [](Work& w) { to_batch(w, 1, w.list("block_shape", 1, 1), w.pairs("paddings", 1, 0)); },
     any_axes, longer(1), no_columns},
    {"tensorflow.BatchToSpace", [](Work& w) { to_space(w, 1, block_of(w), w.pairs("crops", 2, 0)); }, refused, longer(0),
     any_blocks},
    {"tensorflow.BatchToSpaceND", [](Work& w) { to_space(w, 1, w.list("block_shape", 1, 1), w.pairs("crops", 1, 0)); },
     any_axes, longer(0), any_blocks},
    {"tensorflow.SpaceToDepth", [](Work& w) { depth(w, true, block_of(w), w.is("data_format", "NHWC")); }, refused,
     longer(1), no_columns},
    {"tensorflow.DepthToSpace", [](Work& w) { depth(w, false, block_of(w), w.is("data_format", "NHWC")); }, refused,
     longer(1), any_blocks},
    {"tensorflow.ExtractImagePatches",
     [](Work& w) { patches(w, true); },
     refused,
     no_multiples,
     no_columns,
     {{"strides largest", steps}}},
    {"tensorflow.ExtractVolumePatches",
     [](Work& w) { patches(w, false); },
     refused,
     no_multiples,
     no_columns,
     {{"strides largest", steps}}},
});

}  // namespace
}  // namespace patchfold::facts
