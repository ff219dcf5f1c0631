// SPDX-License-Identifier: Apache-2.0
#include "formulas.hpp"

#include <map>

#include "formula_work.hpp"

namespace patchfold::limits {
namespace {

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

void unfold(Work& w) {
  const std::size_t rank = w.rank_of({"kernel_size", "stride", "dilation", "padding"}, w.data.size() - 2);
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
  const bool is_padded = !w.is("padding_mode", "constant");
  for (const Axis& axis : axes) w.require(!is_padded || axis.extent > 0 || product(positions) == 0);
  const Wides where = w.is("positions", "grid") ? positions : Wides{product(positions)};
  const Wides rows = {product({channels, taps})};
  w.give(last ? join({batch, where, rows}) : join({batch, rows, where}));
}

/// (N, C, spatial) with or without N: only the batch may be empty.
void require_data(Work& w, std::size_t without_batch) {
  for (std::size_t i = w.data.size() == without_batch ? 0 : 1; i < w.data.size(); ++i) w.require(w.data[i] != 0);
}

void torch_unfold(Work& w) {
  const std::size_t rank = w.rank_of({"kernel_size", "dilation", "padding", "stride"}, 2);
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

void openvino_patches(Work& w) {
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

void tensorflow_patches(Work& w, bool dilates) {
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

/// Columns [batch.., rows, positions..] into [batch.., channels, extents..].
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

/// Pads that a rule gives, for operators that know the image.
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

void torch_fold(Work& w) {
  const std::size_t rank = w.rank_of({"output_size", "kernel_size", "dilation", "padding", "stride"}, 2);
  require_data(w, 2);
  const Wides extents = w.list("output_size", rank, 1), kernel = w.list("kernel_size", rank, 1);
  Wides pads;
  for (const Wide both : w.list("padding", rank, 0)) pads.insert(pads.end(), {both, both});
  const auto axes = axes_of(w, extents, kernel, w.list("stride", rank), w.list("dilation", rank), pads, 1);
  for (const Axis& axis : axes) w.require(axis.positions >= 1);
  combine(w, axes, kernel, extents, false, false);
}

void onnx_col2im(Work& w) {
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

void openvino_col2im(Work& w) {
  const Wides extents = w.list("output_size", 2, 1), kernel = w.list("kernel_size", 2, 1);
  const Wides begins = w.list("pads_begin", 2, 0), ends = w.list("pads_end", 2, 0);
  const auto axes = axes_of(w, extents, kernel, w.list("strides", 2, 1), w.list("dilations", 2, 0),
                            {begins[0], ends[0], begins[1], ends[1]}, 0);
  combine(w, axes, kernel, extents, false, false);
}

void reorder(Work& w) {
  const Wides kernel = w.list("kernel_size", w.data.size() - 2, 1);
  const bool last = w.is("layout", "channels_last");
  const std::size_t positions = w.is("positions", "grid") ? kernel.size() : 1;
  const std::size_t axis = last ? w.data.size() - 1 : w.data.size() - 1 - positions;
  if (!w.formula.is_legal) return;
  w.require(w.data[axis] % taps_of(w, kernel) == 0);
  w.give(w.data);
}

/// Blocks of the axes from `first` on move to the batch.
void to_batch(Work& w, std::size_t first, const Wides& block, Wides pads, std::string_view rule = "valid") {
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

std::size_t first_blocked(Work& w, std::size_t rank) {
  return w.is("layout", "channels_last") ? 1 : w.data.size() - rank;
}

void space_to_batch(Work& w) {
  const std::size_t rank = w.rank_of({"block", "padding"}, w.data.size() - 2);
  to_batch(w, first_blocked(w, rank), w.list("block", rank),
           w.pairs("padding", rank, std::numeric_limits<std::int64_t>::min()), w.word("padding"));
}
void batch_to_space(Work& w) {
  const std::size_t rank = w.rank_of({"block", "crops"}, w.data.size() - 2);
  to_space(w, first_blocked(w, rank), w.list("block", rank), w.pairs("crops", rank, 0));
}

/// Lists with an entry for the batch, which leaves it alone.
Wides openvino_pairs(Work& w, std::string_view begin_name, std::string_view end_name) {
  const Wides begins = w.list(begin_name, 1, 0), ends = w.list(end_name, 1, 0);
  w.require(begins[0] == 0 && ends[0] == 0);
  Wides pairs;
  for (std::size_t i = 1; i < begins.size(); ++i) pairs.insert(pairs.end(), {begins[i], ends[i]});
  return pairs;
}
Wides openvino_blocks(Work& w) {
  const Wides all = w.list("block_shape", 1, 1);
  w.require(all[0] == 1);
  return {all.begin() + 1, all.end()};
}

/// Channels and spatial axes from `channel` on, or with the channels last.
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

Wides square(Work& w, std::string_view name, Wide least) {
  return w.list(name, 2, least);
}

using Rule = void (*)(Work&);

const std::map<std::string_view, Rule>& rules() {
  static const std::map<std::string_view, Rule> all = {
      {"unfold", unfold},
      {"fold", [](Work& w) { fold(w, false); }},
      {"coverage", [](Work& w) { fold(w, true); }},
      {"reorder", reorder},
      {"space_to_batch", space_to_batch},
      {"batch_to_space", batch_to_space},
      {"space_to_depth",
       [](Work& w) { depth(w, true, w.list("block", w.data.size() - 2), w.is("layout", "channels_last")); }},
      {"depth_to_space",
       [](Work& w) { depth(w, false, w.list("block", w.data.size() - 2), w.is("layout", "channels_last")); }},
      {"onnx.Col2Im-18", onnx_col2im},
      {"onnx.SpaceToDepth-1", [](Work& w) { depth(w, true, square(w, "blocksize", 1), false); }},
      {"onnx.SpaceToDepth-13", [](Work& w) { depth(w, true, square(w, "blocksize", 1), false); }},
      {"onnx.SpaceToDepth-28", [](Work& w) { depth(w, true, square(w, "blocksize", 1), false); }},
      {"onnx.DepthToSpace-1", [](Work& w) { depth(w, false, square(w, "blocksize", 1), false); }},
      {"onnx.DepthToSpace-11", [](Work& w) { depth(w, false, square(w, "blocksize", 1), false); }},
      {"onnx.DepthToSpace-13", [](Work& w) { depth(w, false, square(w, "blocksize", 1), false); }},
      {"onnx.DepthToSpace-28", [](Work& w) { depth(w, false, square(w, "blocksize", 1), false); }},
      {"openvino.Col2Im-15", openvino_col2im},
      {"openvino.ExtractImagePatches-3", openvino_patches},
      {"openvino.SpaceToBatch-2",
       [](Work& w) { to_batch(w, 1, openvino_blocks(w), openvino_pairs(w, "pads_begin", "pads_end")); }},
      {"openvino.BatchToSpace-2",
       [](Work& w) { to_space(w, 1, openvino_blocks(w), openvino_pairs(w, "crops_begin", "crops_end")); }},
      {"openvino.SpaceToDepth-1", [](Work& w) { depth(w, true, w.list("block_size", w.data.size() - 2), false); }},
      {"openvino.DepthToSpace-1", [](Work& w) { depth(w, false, w.list("block_size", w.data.size() - 2), false); }},
      {"tensorflow.SpaceToBatch", [](Work& w) { to_batch(w, 1, square(w, "block_size", 2), w.pairs("paddings", 2, 0)); }},
      {"tensorflow.BatchToSpace", [](Work& w) { to_space(w, 1, square(w, "block_size", 2), w.pairs("crops", 2, 0)); }},
      {"tensorflow.SpaceToBatchND", [](Work& w) { to_batch(w, 1, w.list("block_shape", 1, 1), w.pairs("paddings", 1, 0)); }},
      {"tensorflow.BatchToSpaceND", [](Work& w) { to_space(w, 1, w.list("block_shape", 1, 1), w.pairs("crops", 1, 0)); }},
      {"tensorflow.SpaceToDepth", [](Work& w) { depth(w, true, square(w, "block_size", 2), w.is("data_format", "NHWC")); }},
      {"tensorflow.DepthToSpace", [](Work& w) { depth(w, false, square(w, "block_size", 2), w.is("data_format", "NHWC")); }},
      {"tensorflow.ExtractImagePatches", [](Work& w) { tensorflow_patches(w, true); }},
      {"tensorflow.ExtractVolumePatches", [](Work& w) { tensorflow_patches(w, false); }},
      {"torch.fold", torch_fold},
      {"torch.unfold", torch_unfold},
      {"torch.pixel_shuffle", [](Work& w) { depth(w, false, square(w, "upscale_factor", 1), false); }},
      {"torch.pixel_unshuffle", [](Work& w) { depth(w, true, square(w, "downscale_factor", 1), false); }},
  };
  return all;
}

}  // namespace

Formula formula_of(const ProblemText& problem) {
  Work work(problem);
  rules().at(problem.op)(work);
  return work.formula;
}

std::vector<std::string_view> known_formulas() {
  std::vector<std::string_view> names;
  for (const auto& rule : rules()) names.push_back(rule.first);
  return names;
}

}  // namespace patchfold::limits
