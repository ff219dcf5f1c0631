// SPDX-License-Identifier: Apache-2.0
// Facts of ONNX's operators.
#include "facts.hpp"
#include "formulas.hpp"

namespace patchfold::facts {
namespace {

void col2im(Work& w) {
  const Wides extents = w.list("image_shape");
  const std::size_t rank = extents.size();
  const auto or_else = [&](std::string_view name, std::size_t count, Wide value, Wide least) {
    const Wides given = w.list(name, 1, least);
    return given.empty() ? Wides(count, value) : given;
  };
  const Wides kernel = w.list("block_shape", rank, 1), flat = or_else("pads", 2 * rank, 0, 0);
  Wides pads;
  for (std::size_t i = 0; i < rank; ++i) pads.insert(pads.end(), {flat[i], flat[rank + i]});
  const auto axes = axes_of(w, extents, kernel, or_else("strides", rank, 1, 1), or_else("dilations", rank, 1, 1), pads, 1);
  combine(w, axes, kernel, extents, false, false);
}

void space_to_depth(Work& w) {
  depth(w, true, w.list("blocksize", 2, 1), false);
}
void depth_to_space(Work& w) {
  depth(w, false, w.list("blocksize", 2, 1), false);
}

const Known facts({
    {"onnx.Col2Im-18",
     col2im,
     refused,
     longer(1),
     longer(2),
     {{"dilations empty", "empty is left out"},
      {"strides empty", "empty is left out, which changes the number of positions"},
      {"pads empty", "empty is left out"}}},
    {"onnx.SpaceToDepth-1", space_to_depth, refused, longer(2), no_columns},
    {"onnx.SpaceToDepth-13", space_to_depth, refused, longer(2), no_columns},
    {"onnx.SpaceToDepth-28", space_to_depth, refused, longer(2), no_columns},
    {"onnx.DepthToSpace-1", depth_to_space, refused, longer(1), any_blocks},
    {"onnx.DepthToSpace-11", depth_to_space, refused, longer(1), any_blocks},
    {"onnx.DepthToSpace-13", depth_to_space, refused, longer(1), any_blocks},
    {"onnx.DepthToSpace-28", depth_to_space, refused, longer(1), any_blocks},
});

}  // namespace
}  // namespace patchfold::facts
