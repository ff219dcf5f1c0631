// SPDX-License-Identifier: Apache-2.0
// Random problems of the dialects' block operators.
#include "geometry.hpp"

namespace patchfold::testing {
namespace {

Dims channels_first(const BlockGeometry& g, bool deep) {
  Dims shape = {g.batch, deep ? g.channels * element_count(g.block) : g.channels};
  shape.append(deep ? g.blocks : g.image);
  return shape;
}

/// Returns random blocks of two axes with one block size, the form of most depth operators.
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

std::vector<Subject> dialect_block_subjects() {
  const Names common = {"zero extent", "extent > 64", "split"};
  const Names modes = {"DCR", "CRD"};
  const Names blocks_modes = {"blocks_first", "depth_first"};
  const Names padded = {"asymmetric pads", "pads > block", "index tensor"};
  const Names formats = {"NHWC", "NCHW"};
  const Names batched = {"batch axes 0", "batch axes 1", "batch axes 2", "batch axes 3"};
  return {
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
