// SPDX-License-Identifier: Apache-2.0
// Generators of random problems of the block operators (neutral and of the dialects), of reorder and of copy.
#include "geometry.hpp"

namespace patchfold::testing {
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

template <bool to_batch>
Problem make_space_batch(Random& random, const Request& request) {
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

template <bool to_depth>
Problem make_space_depth(Random& random, const Request& request) {
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

Dims channels_first(const BlockGeometry& g, bool deep) {
  Dims shape = {g.batch, deep ? g.channels * element_count(g.block) : g.channels};
  shape.append(deep ? g.blocks : g.image);
  return shape;
}

/// Returns random blocks of two axes with one block size for both, the form of most depth operators.
BlockGeometry square(Random& random, const Request& request, std::int64_t lowest_block, bool pads = false) {
  BlockRules rules;
  rules.pads = pads;
  rules.same_block = true;
  rules.lowest_block = lowest_block;
  return random_blocks(random, 2, rules, request);
}

template <int version, bool to_depth>
Problem make_onnx(Random& random, const Request& request) {
  static const std::string name =
      std::string("onnx.") + (to_depth ? "SpaceToDepth-" : "DepthToSpace-") + std::to_string(version);
  Problem problem = problem_of(name, request);
  const BlockGeometry g = square(random, request, 1);
  describe(g, problem.features);
  problem.text.shape = channels_first(g, !to_depth);
  add(problem, "blocksize", g.block[0]);
  if (version >= (to_depth ? 28 : 11)) {
    const std::string mode = random.chance(50) ? "DCR" : "CRD";
    add(random, problem, "mode", mode, mode == "DCR");
    problem.features.insert(mode);
  }
  note_extents(problem.text.shape, problem.features);
  return problem;
}

template <bool to_depth>
Problem make_openvino_depth(Random& random, const Request& request) {
  Problem problem = problem_of(to_depth ? "openvino.SpaceToDepth-1" : "openvino.DepthToSpace-1", request);
  BlockRules rules;
  rules.same_block = true;
  const BlockGeometry g = random_blocks(random, random_rank(random, request), rules, request);
  describe(g, problem.features);
  problem.text.shape = channels_first(g, !to_depth);
  const std::string mode = random.chance(50) ? "blocks_first" : "depth_first";
  add(random, problem, "block_size", g.block[0], g.block[0] == 1);
  add(problem, "blocks_mode", mode);
  problem.features.insert(mode);
  note_extents(problem.text.shape, problem.features);
  return problem;
}

template <bool to_batch>
Problem make_openvino_batch(Random& random, const Request& request) {
  Problem problem = problem_of(to_batch ? "openvino.SpaceToBatch-2" : "openvino.BatchToSpace-2", request);
  BlockRules rules;
  rules.pads = true;
  const BlockGeometry g = random_blocks(random, random_rank(random, request), rules, request);
  describe(g, problem.features);
  const Ends ends = ends_of(g.pads);
  // Returns a list with an entry for every axis, the batch axis included.
  const auto with_batch = [](std::int64_t first, const Dims& list) {
    Dims all = {first};
    all.append(list);
    return all;
  };
  problem.text.shape = with_batch(to_batch ? g.batch : g.batch * element_count(g.block), to_batch ? g.image : g.blocks);
  add(problem, "block_shape", with_batch(1, g.block));
  add(problem, to_batch ? "pads_begin" : "crops_begin", with_batch(0, ends.begins));
  add(problem, to_batch ? "pads_end" : "crops_end", with_batch(0, ends.ends));
  note_extents(problem.text.shape, problem.features);
  return problem;
}

template <bool to_batch>
Problem make_tensorflow_batch(Random& random, const Request& request) {
  Problem problem = problem_of(to_batch ? "tensorflow.SpaceToBatch" : "tensorflow.BatchToSpace", request);
  const BlockGeometry g = square(random, request, 2, true);
  describe(g, problem.features);
  Dims& shape = problem.text.shape;
  shape = {to_batch ? g.batch : g.batch * element_count(g.block)};
  shape.append(to_batch ? g.image : g.blocks);
  shape.push_back(g.channels);
  add(problem, to_batch ? "paddings" : "crops", g.pads);
  add(problem, "block_size", g.block[0]);
  note_extents(shape, problem.features);
  return problem;
}

template <bool to_batch>
Problem make_tensorflow_batch_nd(Random& random, const Request& request) {
  Problem problem = problem_of(to_batch ? "tensorflow.SpaceToBatchND" : "tensorflow.BatchToSpaceND", request);
  BlockRules rules;
  rules.pads = true;
  BlockGeometry g = random_blocks(random, random_rank(random, request), rules, request);
  if (!request.big && random.chance(5)) {  // no blocked axes: a copy
    g.rank = 0;
    g.block = {};
    g.pads = {};
    g.blocks = g.image;
  }
  describe(g, problem.features);
  Dims& shape = problem.text.shape;
  shape = {to_batch ? g.batch : g.batch * element_count(g.block)};
  shape.append(to_batch ? g.image : g.blocks);
  shape.append(random_batches(random, static_cast<int>(random.between(0, 2)), !request.big));
  add(problem, "block_shape", g.block);
  add(problem, to_batch ? "paddings" : "crops", g.pads);
  note_extents(shape, problem.features);
  return problem;
}

template <bool to_depth>
Problem make_tensorflow_depth(Random& random, const Request& request) {
  Problem problem = problem_of(to_depth ? "tensorflow.SpaceToDepth" : "tensorflow.DepthToSpace", request);
  const BlockGeometry g = square(random, request, 2);
  describe(g, problem.features);
  const bool nchw = random.chance(50);
  problem.text.shape = channels_first(g, !to_depth);
  const Dims& s = problem.text.shape;
  if (!nchw) problem.text.shape = {s[0], s[2], s[3], s[1]};
  add(problem, "block_size", g.block[0]);
  add(random, problem, "data_format", nchw ? "NCHW" : "NHWC", !nchw);
  problem.features.insert(nchw ? "NCHW" : "NHWC");
  note_extents(problem.text.shape, problem.features);
  return problem;
}

template <bool unshuffle>
Problem make_torch_shuffle(Random& random, const Request& request) {
  Problem problem = problem_of(unshuffle ? "torch.pixel_unshuffle" : "torch.pixel_shuffle", request);
  const BlockGeometry g = square(random, request, 1);
  describe(g, problem.features);
  const int batch_axes = static_cast<int>(random.between(0, 3));
  problem.text.shape = random_batches(random, batch_axes, !request.big);
  problem.text.shape.append(channels_first(g, !unshuffle).slice(1, 4));
  add(problem, unshuffle ? "downscale_factor" : "upscale_factor", g.block[0]);
  problem.features.insert("batch axes " + std::to_string(batch_axes));
  note_extents(problem.text.shape, problem.features);
  return problem;
}

}  // namespace

std::vector<Subject> block_subjects() {
  const Names crops = {"asymmetric pads", "zero extent",  "extent > 64",  "channels_last", "channels_first", "split",
                       "other axes 0",    "other axes 1", "other axes 2", "numbers only",  "pads > block"};
  const Names batch = crops + Names{"negative pads", "odd same_upper", "odd same_lower"};
  const Names depth = {"zero extent", "extent > 64",  "channels_last", "channels_first", "blocks_first", "depth_first",
                       "split",       "batch axes 0", "batch axes 1",  "batch axes 2",   "numbers only"};
  const Names order = {"zero extent",
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
  const Names common = {"zero extent", "extent > 64", "split"};
  const Names modes = {"DCR", "CRD"};
  const Names blocks_modes = {"blocks_first", "depth_first"};
  const Names padded = {"asymmetric pads", "pads > block", "index tensor"};
  const Names formats = {"NHWC", "NCHW"};
  const Names batched = {"batch axes 0", "batch axes 1", "batch axes 2", "batch axes 3"};
  return {
      {"reorder", make_reorder, false, 1, 6, order},
      {"copy", make_copy, false, 0, 6, {"zero extent", "extent > 64"}},
      {"space_to_batch", make_space_batch<true>, false, 1, 6, batch},
      {"batch_to_space", make_space_batch<false>, false, 1, 6, crops},
      {"space_to_depth", make_space_depth<true>, false, 1, 6, depth},
      {"depth_to_space", make_space_depth<false>, false, 1, 6, depth},
      {"onnx.SpaceToDepth-1", make_onnx<1, true>, false, 2, 2, common},
      {"onnx.SpaceToDepth-13", make_onnx<13, true>, false, 2, 2, common},
      {"onnx.SpaceToDepth-28", make_onnx<28, true>, false, 2, 2, common + modes},
      {"onnx.DepthToSpace-1", make_onnx<1, false>, false, 2, 2, common},
      {"onnx.DepthToSpace-11", make_onnx<11, false>, false, 2, 2, common + modes},
      {"onnx.DepthToSpace-13", make_onnx<13, false>, false, 2, 2, common + modes},
      {"onnx.DepthToSpace-28", make_onnx<28, false>, false, 2, 2, common + modes},
      {"openvino.SpaceToBatch-2", make_openvino_batch<true>, false, 1, 6, common + padded},
      {"openvino.BatchToSpace-2", make_openvino_batch<false>, false, 1, 6, common + padded},
      {"openvino.SpaceToDepth-1", make_openvino_depth<true>, false, 1, 6, common + blocks_modes},
      {"openvino.DepthToSpace-1", make_openvino_depth<false>, false, 1, 6, common + blocks_modes},
      {"tensorflow.SpaceToBatch", make_tensorflow_batch<true>, false, 2, 2, common + padded},
      {"tensorflow.BatchToSpace", make_tensorflow_batch<false>, false, 2, 2, common + padded},
      {"tensorflow.SpaceToBatchND", make_tensorflow_batch_nd<true>, false, 0, 6, common + padded},
      {"tensorflow.BatchToSpaceND", make_tensorflow_batch_nd<false>, false, 0, 6, common + padded},
      {"tensorflow.SpaceToDepth", make_tensorflow_depth<true>, false, 2, 2, common + formats},
      {"tensorflow.DepthToSpace", make_tensorflow_depth<false>, false, 2, 2, common + formats},
      {"torch.pixel_shuffle", make_torch_shuffle<false>, false, 2, 2, common + batched},
      {"torch.pixel_unshuffle", make_torch_shuffle<true>, false, 2, 2, common + batched},
  };
}

}  // namespace patchfold::testing
