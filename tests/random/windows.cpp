// SPDX-License-Identifier: Apache-2.0
// Generators of random problems of the window operators, neutral and of the dialects.
#include "geometry.hpp"

namespace patchfold::testing {
namespace {

bool uniform(const Dims& list) {
  for (const auto value : list)
    if (value != list[0]) return false;
  return true;
}

ArgumentValue axes_value(Random& random, const Dims& list, bool scalar) {
  if (scalar || (uniform(list) && random.chance(30))) return list[0];
  return list;
}

/// Returns the padding of a geometry as a rule, a number, a number for each axis, or pairs.
ArgumentValue padding_value(Random& random, const Geometry& g, bool scalar) {
  if (!g.rule.empty()) return g.rule;
  Dims begins;
  bool symmetric = true;
  for (int d = 0; d < g.rank; ++d) {
    begins.push_back(g.pads[d].begin);
    symmetric = symmetric && g.pads[d].begin == g.pads[d].end;
  }
  if (symmetric && (scalar || (uniform(begins) && random.chance(30)))) return begins[0];
  if (symmetric && random.chance(30)) return begins;
  return g.pads;
}

/// Adds kernel_size, stride, dilation and padding. With `scalars`, all of them are single numbers. With `list_elsewhere`,
/// kernel_size may be a number, since another argument is a list.
void add_windows(Random& random, Problem& problem, const Geometry& g, bool scalars, bool list_elsewhere) {
  const Dims ones = Dims::filled(g.rank, 1);
  if (scalars) problem.features.insert("numbers only");
  add(problem, "kernel_size", scalars || list_elsewhere ? axes_value(random, g.kernel, scalars) : ArgumentValue(g.kernel));
  add(random, problem, "stride", axes_value(random, g.stride, scalars), g.stride == ones);
  add(random, problem, "dilation", axes_value(random, g.dilation, scalars), g.dilation == ones);
  const bool none = g.rule.empty() && no_pads(g.pads);
  add(random, problem, "padding", padding_value(random, g, scalars), none);
}

Rules neutral_rules(Random& random, bool scalars) {
  Rules rules;
  rules.zero_dilation = true;
  rules.negative_pads = true;
  rules.zero_extents = true;
  rules.symmetric_pads = scalars;
  rules.same_everywhere = scalars;
  rules.rule_pads = random.chance(25);
  rules.batch_axes = scalars ? 1 : static_cast<int>(random.between(0, 2));
  return rules;
}

struct Form {
  bool channels_last, kernel_major, grid;
};

Form add_form(Random& random, Problem& problem) {
  const Form form{random.chance(50), random.chance(50), random.chance(50)};
  add(random, problem, "layout", form.channels_last ? "channels_last" : "channels_first", !form.channels_last);
  add(random, problem, "order", form.kernel_major ? "kernel" : "channel", !form.kernel_major);
  add(random, problem, "positions", form.grid ? "grid" : "flat", !form.grid);
  problem.features.insert(form.channels_last ? "channels_last" : "channels_first");
  problem.features.insert(form.kernel_major ? "kernel-major" : "channel-major");
  problem.features.insert(form.grid ? "grid" : "flat");
  return form;
}

Dims columns_shape(const Geometry& g, const Form& form) {
  const std::int64_t rows = g.channels * g.taps();
  const Dims where = form.grid ? g.positions : Dims{g.all_positions()};
  Dims shape = g.batches;
  if (!form.channels_last) shape.push_back(rows);
  shape.append(where);
  if (form.channels_last) shape.push_back(rows);
  return shape;
}

Problem make_unfold(Random& random, const Request& request) {
  Problem problem = problem_of("unfold", request);
  const int rank = random_rank(random, request);
  const bool scalars = rank == 2 && random.chance(40);
  Rules rules = neutral_rules(random, scalars);
  const auto modes = all_words<PaddingMode>();
  const std::string mode =
      random.chance(50) ? "constant" : random.pick(std::vector<std::string>(modes.begin() + 1, modes.end()));
  if (mode != "constant") rules.zero_extents = false;
  const Geometry g = random_geometry(random, rank, rules, request);
  describe(g, problem.features);
  problem.features.insert("batch axes " + std::to_string(rules.batch_axes));
  add_windows(random, problem, g, scalars, false);
  const Form form = add_form(random, problem);
  add(random, problem, "padding_mode", mode, mode == "constant");
  problem.features.insert("mode " + mode);
  if (problem.features.contains("pads > extent")) problem.features.insert("mode " + mode + ", pads > extent");
  if (mode == "constant" && request.type.dtype != DType::opaque && random.chance(60)) {
    add(problem, "value", random_scalar(random, request.type.dtype));
    problem.features.insert("fill value");
  }
  const bool empty = problem.features.contains("no positions");
  if (empty || random.chance(10)) add(problem, "allow_empty", std::int64_t{1});
  problem.text.shape = image_shape(g, form.channels_last);
  return problem;
}

Problem make_fold(Random& random, const Request& request) {
  Problem problem = problem_of("fold", request);
  const int rank = random_rank(random, request);
  const bool scalars = random.chance(15);
  Rules rules = neutral_rules(random, false);
  rules.same_everywhere = rules.symmetric_pads = scalars;
  const Geometry g = random_geometry(random, rank, rules, request);
  describe(g, problem.features);
  problem.features.insert("batch axes " + std::to_string(rules.batch_axes));
  add(problem, "output_size", g.image);
  add_windows(random, problem, g, scalars, true);
  const Form form = add_form(random, problem);
  const bool averages = random.chance(45);
  add(random, problem, "reduce", averages ? "mean" : "sum", !averages);
  if (averages) problem.features.insert("means");
  if (averages && random.chance(60)) {
    add(problem, "fill", random_scalar(random, request.type.dtype));
    problem.features.insert("means, filled");
  }
  const bool accumulate = !averages && random.chance(35);
  add(random, problem, "accumulate", std::int64_t{accumulate ? 1 : 0}, !accumulate);
  if (accumulate) problem.features.insert("accumulate");
  problem.text.shape = columns_shape(g, form);
  return problem;
}

Problem make_coverage(Random& random, const Request& request) {
  Problem problem = problem_of("coverage", request);
  const bool scalars = random.chance(15);
  Rules rules = neutral_rules(random, false);
  rules.same_everywhere = rules.symmetric_pads = scalars;
  rules.batch_axes = 0;
  const Geometry g = random_geometry(random, random_rank(random, request), rules, request);
  describe(g, problem.features);
  add(problem, "output_size", g.image);
  add_windows(random, problem, g, scalars, true);
  return problem;
}

Dims flat_columns(const Geometry& g) {
  Dims shape = g.batches;
  shape.push_back(g.channels * g.taps());
  shape.push_back(g.all_positions());
  return shape;
}

Problem make_onnx_col2im(Random& random, const Request& request) {
  Problem problem = problem_of("onnx.Col2Im-18", request);
  const Geometry g = random_geometry(random, random_rank(random, request), {}, request);
  describe(g, problem.features);
  add(problem, "image_shape", g.image);
  add(problem, "block_shape", g.kernel);
  add(random, problem, "dilations", g.dilation, all_are(g.dilation, 1));
  const Ends ends = ends_of(g.pads);
  Dims pads = ends.begins;
  pads.append(ends.ends);
  add(random, problem, "pads", pads, all_are(pads, 0));
  add(random, problem, "strides", g.stride, all_are(g.stride, 1));
  problem.text.shape = flat_columns(g);
  return problem;
}

Problem make_openvino_col2im(Random& random, const Request& request) {
  Problem problem = problem_of("openvino.Col2Im-15", request);
  Rules rules;
  rules.zero_dilation = true;
  rules.batch_axes = random.chance(30) ? 0 : 1;
  const Geometry g = random_geometry(random, 2, rules, request);
  describe(g, problem.features);
  problem.features.insert("batch axes " + std::to_string(rules.batch_axes));
  const Ends ends = ends_of(g.pads);
  add(problem, "output_size", g.image);
  add(problem, "kernel_size", g.kernel);
  add(random, problem, "strides", g.stride, all_are(g.stride, 1));
  add(random, problem, "dilations", g.dilation, all_are(g.dilation, 1));
  add(random, problem, "pads_begin", ends.begins, all_are(ends.begins, 0));
  add(random, problem, "pads_end", ends.ends, all_are(ends.ends, 0));
  problem.text.shape = flat_columns(g);
  return problem;
}

Problem make_torch(Random& random, const Request& request, bool fold) {
  Problem problem = problem_of(fold ? "torch.fold" : "torch.unfold", request);
  const bool scalars = random.chance(15);
  Rules rules;
  rules.symmetric_pads = true;
  rules.zero_positions = false;
  rules.zero_channels = false;
  rules.same_everywhere = scalars;
  const int rank = scalars ? 2 : random_rank(random, request);
  rules.batch_axes = (fold || rank == 2) && random.chance(30) ? 0 : 1;
  Geometry g = random_geometry(random, rank, rules, request);
  while (scalars && fold && g.image[0] != g.image[1]) g = random_geometry(random, rank, rules, request);
  describe(g, problem.features);
  if (scalars) problem.features.insert("numbers only");
  problem.features.insert("batch axes " + std::to_string(rules.batch_axes));
  const auto value = [&](const Dims& list) {
    return scalars || (list.size() == 2 && list[0] == list[1] && random.chance(20)) ? ArgumentValue(list[0])
                                                                                    : ArgumentValue(list);
  };
  const Dims pads = ends_of(g.pads).begins;
  if (fold) add(problem, "output_size", scalars ? ArgumentValue(g.image[0]) : ArgumentValue(g.image));
  add(problem, "kernel_size", scalars ? ArgumentValue(g.kernel[0]) : ArgumentValue(g.kernel));
  add(random, problem, "dilation", value(g.dilation), all_are(g.dilation, 1));
  add(random, problem, "padding", value(pads), all_are(pads, 0));
  add(random, problem, "stride", value(g.stride), all_are(g.stride, 1));
  problem.text.shape = fold ? flat_columns(g) : image_shape(g, false);
  return problem;
}

Problem make_torch_fold(Random& random, const Request& request) {
  return make_torch(random, request, true);
}
Problem make_torch_unfold(Random& random, const Request& request) {
  return make_torch(random, request, false);
}

/// Returns the rules of operators that extract patches, whose pads come from a padding rule only.
Rules extract_rules() {
  Rules rules;
  rules.zero_extents = true;
  rules.rule_pads = true;
  return rules;
}

Problem make_openvino_extract(Random& random, const Request& request) {
  Problem problem = problem_of("openvino.ExtractImagePatches-3", request);
  const Geometry g = random_geometry(random, 2, extract_rules(), request);
  describe(g, problem.features);
  add(problem, "sizes", g.kernel);
  add(problem, "strides", g.stride);
  add(problem, "rates", g.dilation);
  add(problem, "auto_pad", g.rule);
  problem.text.shape = image_shape(g, false);
  return problem;
}

template <bool volume>
Problem make_tensorflow_extract(Random& random, const Request& request) {
  Problem problem = problem_of(volume ? "tensorflow.ExtractVolumePatches" : "tensorflow.ExtractImagePatches", request);
  const int rank = volume ? 3 : 2;
  Rules rules = extract_rules();
  rules.dilation = !volume;
  // With VALID, TensorFlow refuses kernels that are much too large: extent - effective + stride must be greater than
  // -stride.
  Geometry g;
  bool legal = false;
  while (!legal) {
    g = random_geometry(random, rank, rules, request);
    legal = g.rule != "same_lower";
    for (int d = 0; d < rank; ++d) {
      const std::int64_t effective = (g.kernel[d] - 1) * g.dilation[d] + 1;
      legal = legal && (g.rule != "valid" || g.image[d] - effective + g.stride[d] > -g.stride[d]);
    }
  }
  describe(g, problem.features);
  const auto framed = [](const Dims& list) {
    Dims framed_list = {1};
    framed_list.append(list);
    framed_list.push_back(1);
    return framed_list;
  };
  add(problem, "ksizes", framed(g.kernel));
  add(problem, "strides", framed(g.stride));
  if (!volume) add(problem, "rates", framed(g.dilation));
  add(problem, "padding", g.rule == "valid" ? "VALID" : "SAME");
  problem.text.shape = image_shape(g, true);
  return problem;
}

}  // namespace

std::vector<Subject> window_subjects() {
  const Names geometry = {"asymmetric pads", "negative pads",  "pads > extent", "holes",
                          "stride > image",  "dilation 0",     "far taps",      "no positions",
                          "odd same_upper",  "odd same_lower", "cover >= 3",    "extent > 64",
                          "zero extent",     "numbers only",   "split",         "same, stride > kernel"};
  const Names both = geometry + Names{"C > 1, dilated", "channels_last", "channels_first", "kernel-major", "channel-major",
                                      "grid",           "flat",          "batch axes 0",   "batch axes 1", "batch axes 2"};
  Names extract = both + Names{"fill value"};
  for (const auto mode : all_words<PaddingMode>()) {
    extract.push_back("mode " + std::string(mode));
    extract.push_back("mode " + std::string(mode) + ", pads > extent");
  }
  const Names combine = both + Names{"accumulate", "means", "means, filled"};
  const Names common = {"holes", "stride > image", "cover >= 3", "extent > 64", "split"};
  const Names dilated = {"C > 1, dilated"};
  const Names padded = {"pads > extent", "far taps"};
  const Names zeros = {"no positions", "zero extent"};
  const Names batched = {"batch axes 0", "batch axes 1"};
  const Names same = {"odd same_upper", "same, stride > kernel", "asymmetric pads"};
  return {
      {"unfold", make_unfold, false, 1, 6, extract},
      {"fold", make_fold, true, 1, 6, combine},
      {"coverage", make_coverage, true, 1, 6, geometry},
      {"onnx.Col2Im-18", make_onnx_col2im, true, 1, 6,
       common + dilated + padded + zeros + Names{"asymmetric pads", "index tensor"}},
      {"openvino.Col2Im-15", make_openvino_col2im, true, 2, 2,
       common + dilated + padded + zeros + batched + Names{"asymmetric pads", "dilation 0", "index tensor"}},
      {"torch.fold", make_torch_fold, true, 1, 6, common + dilated + padded + batched + Names{"numbers only"}},
      {"torch.unfold", make_torch_unfold, false, 1, 6, common + dilated + padded + batched + Names{"numbers only"}},
      {"openvino.ExtractImagePatches-3", make_openvino_extract, false, 2, 2,
       common + dilated + zeros + same + Names{"odd same_lower"}},
      {"tensorflow.ExtractImagePatches", make_tensorflow_extract<false>, false, 2, 2, common + dilated + zeros + same},
      {"tensorflow.ExtractVolumePatches", make_tensorflow_extract<true>, false, 3, 3, common + zeros + same},
  };
}

}  // namespace patchfold::testing
