// SPDX-License-Identifier: Apache-2.0
// Random problems of the neutral window operators.
#include "geometry.hpp"

namespace patchfold::testing {

std::vector<Subject> dialect_window_subjects();

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

/// Adds kernel_size, stride, dilation and padding; with `scalars`, only single numbers.
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

}  // namespace

std::vector<Subject> window_subjects() {
  const std::vector<std::string> geometry = {"asymmetric pads", "negative pads",  "pads > extent", "holes",
                                             "stride > image",  "dilation 0",     "far taps",      "no positions",
                                             "odd same_upper",  "odd same_lower", "cover >= 3",    "extent > 64",
                                             "zero extent",     "numbers only",   "split",         "same, stride > kernel"};
  std::vector<std::string> both = geometry;
  for (const auto* feature : {"C > 1, dilated", "channels_last", "channels_first", "kernel-major", "channel-major", "grid",
                              "flat", "batch axes 0", "batch axes 1", "batch axes 2"})
    both.emplace_back(feature);
  std::vector<std::string> extract = both;
  extract.emplace_back("fill value");
  for (const auto mode : all_words<PaddingMode>()) {
    extract.push_back("mode " + std::string(mode));
    extract.push_back("mode " + std::string(mode) + ", pads > extent");
  }
  std::vector<std::string> combine = both;
  for (const auto* feature : {"accumulate", "means", "means, filled"}) combine.emplace_back(feature);
  std::vector<Subject> all = {{"unfold", make_unfold, false, 1, 6, extract},
                              {"fold", make_fold, true, 1, 6, combine},
                              {"coverage", make_coverage, true, 1, 6, geometry}};
  for (auto& subject : dialect_window_subjects()) all.push_back(std::move(subject));
  return all;
}

}  // namespace patchfold::testing
