// SPDX-License-Identifier: Apache-2.0
// Random problems of the block operators, of reorder and of copy.
#include "geometry.hpp"

namespace patchfold::testing {

std::vector<Subject> dialect_block_subjects();

namespace {

Problem make_reorder(Random& random, const Request& request) {
  Problem problem = problem_of("reorder", request);
  const int rank = random_rank(random, request);
  const bool grid = random.chance(50);
  const bool scalar = grid && rank == 2 && random.chance(50);
  const bool last = random.chance(50);
  Rules rules;
  rules.zero_extents = true;
  rules.same_everywhere = scalar;
  rules.batch_axes = scalar ? 1 : static_cast<int>(random.between(0, 2));
  const Geometry g = random_geometry(random, rank, rules, request);
  problem.features.insert("rank " + std::to_string(rank));
  const auto words = std::vector<std::string>{"channel", "kernel"};
  const std::string source = random.pick(words);
  const std::string target = random.pick(words);
  add(problem, "kernel_size", scalar ? ArgumentValue(g.kernel[0]) : ArgumentValue(g.kernel));
  add(random, problem, "source", source, source == "channel");
  add(random, problem, "target", target, target == "kernel");
  add(random, problem, "layout", last ? "channels_last" : "channels_first", !last);
  add(random, problem, "positions", grid ? "grid" : "flat", !grid);
  Dims& shape = problem.text.shape;
  shape = g.batches;
  if (!last) shape.push_back(g.channels * g.taps());
  shape.append(grid ? g.positions : Dims{g.all_positions()});
  if (last) shape.push_back(g.channels * g.taps());
  problem.features.insert(source + " to " + target);
  problem.features.insert(last ? "channels_last" : "channels_first");
  problem.features.insert(grid ? "grid" : "flat");
  problem.features.insert("batch axes " + std::to_string(rules.batch_axes));
  if (scalar) problem.features.insert("numbers only");
  note_extents(shape, problem.features);
  return problem;
}

Problem make_copy(Random& random, const Request& request) {
  Problem problem = problem_of("copy", request);
  const int rank = random_rank(random, request) - (random.chance(5) ? 1 : 0);
  Dims& shape = problem.text.shape;
  const bool plain = !request.big && request.width == 0;
  std::int64_t most = most_elements(request);
  for (int axis = 0; axis < rank; ++axis) {
    const bool last = axis + 1 == rank;
    const std::int64_t longest = std::max<std::int64_t>(last ? most : std::min<std::int64_t>(most, 12), 1);
    std::int64_t extent = request.big && last ? longest : random.between(1, random.between(1, longest));
    if (plain && random.chance(4)) extent = 0;
    if (request.width != 0 && last) extent = request.width;
    shape.push_back(extent);
    most /= std::max<std::int64_t>(extent, 1);
  }
  problem.features.insert("rank " + std::to_string(rank));
  note_extents(shape, problem.features);
  return problem;
}

Problem make_space_batch(Random& random, const Request& request, bool to_batch) {
  Problem problem = problem_of(to_batch ? "space_to_batch" : "batch_to_space", request);
  const int rank = random_rank(random, request);
  const bool scalars = rank == 2 && random.chance(40);
  const bool last = random.chance(40);
  const int others = scalars ? 1 : static_cast<int>(random.between(0, 2));
  BlockRules rules;
  rules.pads = true;
  rules.negative_pads = to_batch;
  rules.rule_pads = to_batch && !scalars;
  rules.same_everywhere = scalars;
  const BlockGeometry g = random_blocks(random, rank, rules, request);
  Dims& shape = problem.text.shape;
  Dims rest = random_batches(random, others, !request.big && request.width == 0);
  if (request.width != 0 && others > 0) rest[others - 1] = g.channels;
  shape.push_back(to_batch ? g.batch : g.batch * element_count(g.block));
  if (!last) shape.append(rest);
  shape.append(to_batch ? g.image : g.blocks);
  if (last) shape.append(rest);
  add(problem, "block", scalars ? ArgumentValue(g.block[0]) : ArgumentValue(g.block));
  if (!g.rule.empty())
    add(problem, "padding", g.rule);
  else if (scalars)
    add(random, problem, to_batch ? "padding" : "crops", g.pads[0].begin, g.pads[0].begin == 0);
  else
    add(random, problem, to_batch ? "padding" : "crops", g.pads, no_pads(g.pads));
  add(random, problem, "layout", last ? "channels_last" : "channels_first", !last);
  describe(g, problem.features);
  if (scalars) problem.features.insert("numbers only");
  problem.features.insert(last ? "channels_last" : "channels_first");
  problem.features.insert("other axes " + std::to_string(others));
  note_extents(shape, problem.features);
  return problem;
}

Problem make_space_to_batch(Random& random, const Request& request) {
  return make_space_batch(random, request, true);
}
Problem make_batch_to_space(Random& random, const Request& request) {
  return make_space_batch(random, request, false);
}

Problem make_space_depth(Random& random, const Request& request, bool to_depth) {
  Problem problem = problem_of(to_depth ? "space_to_depth" : "depth_to_space", request);
  const int rank = random_rank(random, request);
  const bool scalar = rank == 2 && random.chance(50);
  const bool last = random.chance(50);
  const bool depth_first = random.chance(50);
  const int batch_axes = scalar ? 1 : static_cast<int>(random.between(0, 2));
  BlockRules rules;
  rules.same_everywhere = scalar;
  const BlockGeometry g = random_blocks(random, rank, rules, request);
  const std::int64_t channels = to_depth ? g.channels : g.channels * element_count(g.block);
  Dims& shape = problem.text.shape;
  shape = random_batches(random, batch_axes, !request.big && request.width == 0);
  if (!last) shape.push_back(channels);
  shape.append(to_depth ? g.image : g.blocks);
  if (last) shape.push_back(channels);
  add(problem, "block", scalar ? ArgumentValue(g.block[0]) : ArgumentValue(g.block));
  add(random, problem, "mode", depth_first ? "depth_first" : "blocks_first", !depth_first);
  add(random, problem, "layout", last ? "channels_last" : "channels_first", !last);
  describe(g, problem.features);
  problem.features.insert(last ? "channels_last" : "channels_first");
  problem.features.insert(depth_first ? "depth_first" : "blocks_first");
  problem.features.insert("batch axes " + std::to_string(batch_axes));
  if (scalar) problem.features.insert("numbers only");
  note_extents(shape, problem.features);
  return problem;
}

Problem make_space_to_depth(Random& random, const Request& request) {
  return make_space_depth(random, request, true);
}
Problem make_depth_to_space(Random& random, const Request& request) {
  return make_space_depth(random, request, false);
}

}  // namespace

std::vector<Subject> block_subjects() {
  const std::vector<std::string> crops = {"asymmetric pads", "zero extent",  "extent > 64",  "channels_last",
                                          "channels_first",  "split",        "other axes 0", "other axes 1",
                                          "other axes 2",    "numbers only", "pads > block"};
  std::vector<std::string> batch = crops;
  for (const auto* feature : {"negative pads", "odd same_upper", "odd same_lower"}) batch.emplace_back(feature);
  const std::vector<std::string> depth = {"zero extent",  "extent > 64",  "channels_last", "channels_first",
                                          "blocks_first", "depth_first",  "split",         "batch axes 0",
                                          "batch axes 1", "batch axes 2", "numbers only"};
  const std::vector<std::string> order = {"zero extent",
                                          "extent > 64",
                                          "channels_last",
                                          "channels_first",
                                          "grid",
                                          "flat",
                                          "split",
                                          "batch axes 0",
                                          "batch axes 1",
                                          "batch axes 2",
                                          "channel to kernel",
                                          "kernel to channel",
                                          "channel to channel",
                                          "numbers only"};
  std::vector<Subject> all = {
      {"reorder", make_reorder, false, 1, 6, order},
      {"copy", make_copy, false, 0, 6, {"zero extent", "extent > 64"}},
      {"space_to_batch", make_space_to_batch, false, 1, 6, batch},
      {"batch_to_space", make_batch_to_space, false, 1, 6, crops},
      {"space_to_depth", make_space_to_depth, false, 1, 6, depth},
      {"depth_to_space", make_depth_to_space, false, 1, 6, depth},
  };
  for (auto& subject : dialect_block_subjects()) all.push_back(std::move(subject));
  return all;
}

}  // namespace patchfold::testing
