// SPDX-License-Identifier: Apache-2.0
#include "wrong_problems.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace patchfold::inputs {
namespace {

constexpr Cell any_axes = none("any number of axes before those that it looks at");
constexpr Cell no_multiples = none("nothing has to be a multiple");
constexpr Cell no_columns = none("it takes no columns");
constexpr std::string_view crops = "negative pads crop";
constexpr std::string_view steps = "a step beyond the image leaves one position";
constexpr std::string_view zero_dilation = "all taps of a dilation of 0 lie in one place";
constexpr std::string_view other_rank = "another length means another number of spatial axes";

}  // namespace

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"unfold f32 2x3x5x6 kernel_size=2,3 stride=2,1 dilation=1,2 padding=1:0,2:1",
       any_axes,
       no_multiples,
       no_columns,
       {{"padding negative", crops}, {"stride largest", steps}, {"dilation zero", zero_dilation}}},
      {"fold f32 2x12x20 output_size=5,6 kernel_size=2,2 stride=1,1 dilation=1,1 padding=0:0,0:0",
       any_axes,
       refused("fold f32 2x13x20 output_size=5,6 kernel_size=2,2", "columns"),
       refused("fold f32 2x12x21 output_size=5,6 kernel_size=2,2", "columns"),
       {{"padding negative", "negative pads crop, which changes the number of positions"}}},
      {"coverage f32 - output_size=5,6 kernel_size=2,2 stride=1,1 dilation=1,1 padding=0:0,0:0",
       none("it has no data"),
       no_multiples,
       no_columns,
       {{"padding negative", crops},
        {"stride largest", steps},
        {"dilation zero", zero_dilation},
        {"output_size zero", "an image may be empty"},
        {"rank 1", "it has no data"},
        {"rank 0", "it has no data"}}},
      {"reorder f32 1x12x5 kernel_size=2,2",
       any_axes,
       refused("reorder f32 1x13x5 kernel_size=2,2", "columns"),
       none("any number of positions"),
       {{"kernel_size longer", other_rank}}},
      {"space_to_batch f32 2x3x5x6 block=2,3 padding=1:0,0:0",
       any_axes,
       refused("space_to_batch f32 2x3x5x6 block=2,3", "image"),
       no_columns,
       {{"padding negative", "negative pads crop, and what is left must be a multiple"}}},
      {"batch_to_space f32 12x3x3x2 block=2,3 crops=1:0,0:2", any_axes,
       refused("batch_to_space f32 13x3x3x2 block=2,3", "batches"), none("any number of blocks")},
      {"space_to_depth f32 2x3x4x6 block=2,3",
       any_axes,
       refused("space_to_depth f32 2x3x5x6 block=2,3", "image"),
       no_columns,
       {{"block longer", other_rank}}},
      {"depth_to_space f32 2x12x2x3 block=2,3",
       any_axes,
       refused("depth_to_space f32 2x13x2x3 block=2,3", "deep"),
       none("any number of blocks"),
       {{"block longer", other_rank}}},
      {"onnx.Col2Im-18 f32 2x8x9 image_shape=5,5 block_shape=2,2 dilations=1,1 pads=0,1,1,0 strides=2,2",
       refused("onnx.Col2Im-18 f32 1x2x8x9 image_shape=5,5 block_shape=2,2", "input"),
       refused("onnx.Col2Im-18 f32 2x9x9 image_shape=5,5 block_shape=2,2 strides=2,2 pads=0,1,1,0", "input"),
       refused("onnx.Col2Im-18 f32 2x8x10 image_shape=5,5 block_shape=2,2 strides=2,2 pads=0,1,1,0", "input"),
       {{"dilations empty", "empty is left out"},
        {"strides empty", "empty is left out, which changes the number of positions"},
        {"pads empty", "empty is left out"}}},
      {"onnx.SpaceToDepth-1 f32 1x2x4x6 blocksize=2", refused("onnx.SpaceToDepth-1 f32 1x1x2x4x6 blocksize=2", "input"),
       refused("onnx.SpaceToDepth-1 f32 1x2x5x6 blocksize=2", "input"), no_columns},
      {"onnx.SpaceToDepth-13 f32 1x2x4x6 blocksize=2", refused("onnx.SpaceToDepth-13 f32 1x1x2x4x6 blocksize=2", "input"),
       refused("onnx.SpaceToDepth-13 f32 1x2x5x6 blocksize=2", "input"), no_columns},
      {"onnx.SpaceToDepth-28 f32 1x2x4x6 blocksize=2", refused("onnx.SpaceToDepth-28 f32 1x1x2x4x6 blocksize=2", "input"),
       refused("onnx.SpaceToDepth-28 f32 1x2x5x6 blocksize=2", "input"), no_columns},
      {"onnx.DepthToSpace-1 f32 1x8x2x3 blocksize=2", refused("onnx.DepthToSpace-1 f32 1x1x8x2x3 blocksize=2", "input"),
       refused("onnx.DepthToSpace-1 f32 1x7x2x3 blocksize=2", "input"), none("any number of blocks")},
      {"onnx.DepthToSpace-11 f32 1x8x2x3 blocksize=2", refused("onnx.DepthToSpace-11 f32 1x1x8x2x3 blocksize=2", "input"),
       refused("onnx.DepthToSpace-11 f32 1x7x2x3 blocksize=2", "input"), none("any number of blocks")},
      {"onnx.DepthToSpace-13 f32 1x8x2x3 blocksize=2", refused("onnx.DepthToSpace-13 f32 1x1x8x2x3 blocksize=2", "input"),
       refused("onnx.DepthToSpace-13 f32 1x7x2x3 blocksize=2", "input"), none("any number of blocks")},
      {"onnx.DepthToSpace-28 f32 1x8x2x3 blocksize=2", refused("onnx.DepthToSpace-28 f32 1x1x8x2x3 blocksize=2", "input"),
       refused("onnx.DepthToSpace-28 f32 1x7x2x3 blocksize=2", "input"), none("any number of blocks")},
      {"openvino.Col2Im-15 f32 8x20 output_size=5,6 kernel_size=2,2 strides=1,2 dilations=1,1 pads_begin=0,1 pads_end=1,2",
       refused("openvino.Col2Im-15 f32 1x1x8x20 output_size=5,6 kernel_size=2,2", "data"),
       refused("openvino.Col2Im-15 f32 9x20 output_size=5,6 kernel_size=2,2", "data"),
       refused("openvino.Col2Im-15 f32 8x21 output_size=5,6 kernel_size=2,2", "data")},
      {"openvino.ExtractImagePatches-3 f32 1x2x7x8 sizes=2,3 strides=3,2 rates=2,1 auto_pad=same_lower",
       refused("openvino.ExtractImagePatches-3 f32 1x1x2x7x8 sizes=2,3 strides=3,2 rates=2,1 auto_pad=valid", "data"),
       no_multiples,
       no_columns,
       {{"strides largest", steps}}},
      {"openvino.SpaceToBatch-2 f32 2x3x5x6 block_shape=1,1,2,3 pads_begin=0,0,1,0 pads_end=0,0,0,0",
       none("any rank from 2, for which the lists are too short"),
       refused("openvino.SpaceToBatch-2 f32 2x3x5x6 block_shape=1,1,2,3 pads_begin=0,0,0,0 pads_end=0,0,0,0", "data"),
       no_columns},
      {"openvino.BatchToSpace-2 f32 12x3x3x2 block_shape=1,1,2,3 crops_begin=0,0,1,0 crops_end=0,0,0,2",
       none("any rank from 2, for which the lists are too short"),
       refused("openvino.BatchToSpace-2 f32 13x3x3x2 block_shape=1,1,2,3 crops_begin=0,0,1,0 crops_end=0,0,0,2", "data"),
       none("any number of blocks")},
      {"openvino.SpaceToDepth-1 f32 1x2x4x6 blocks_mode=depth_first block_size=2", any_axes,
       refused("openvino.SpaceToDepth-1 f32 1x2x5x6 blocks_mode=depth_first block_size=2", "data"), no_columns},
      {"openvino.DepthToSpace-1 f32 1x8x2x3 blocks_mode=blocks_first block_size=2", any_axes,
       refused("openvino.DepthToSpace-1 f32 1x7x2x3 blocks_mode=blocks_first block_size=2", "data"),
       none("any number of blocks")},
      {"tensorflow.SpaceToBatch f32 2x3x4x2 paddings=1:0,2:2 block_size=2",
       refused("tensorflow.SpaceToBatch f32 1x2x3x4x2 paddings=1:0,2:2 block_size=2", "input"),
       refused("tensorflow.SpaceToBatch f32 2x3x4x2 paddings=0:0,2:2 block_size=2", "input"), no_columns},
      {"tensorflow.SpaceToBatchND f32 2x3x4x2 block_shape=3, paddings=1:2", any_axes,
       refused("tensorflow.SpaceToBatchND f32 2x3x4x2 block_shape=3, paddings=1:1", "input"), no_columns},
      {"tensorflow.BatchToSpace f32 8x2x3x2 crops=1:0,1:1 block_size=2",
       refused("tensorflow.BatchToSpace f32 1x8x2x3x2 crops=1:0,1:1 block_size=2", "input"),
       refused("tensorflow.BatchToSpace f32 7x2x3x2 crops=1:0,1:1 block_size=2", "input"), none("any number of blocks")},
      {"tensorflow.BatchToSpaceND f32 6x2x3x2 block_shape=3, crops=1:2", any_axes,
       refused("tensorflow.BatchToSpaceND f32 7x2x3x2 block_shape=3, crops=1:2", "input"), none("any number of blocks")},
      {"tensorflow.SpaceToDepth f32 1x4x6x3 block_size=2",
       refused("tensorflow.SpaceToDepth f32 1x1x4x6x3 block_size=2", "input"),
       refused("tensorflow.SpaceToDepth f32 1x5x6x3 block_size=2", "input"), no_columns},
      {"tensorflow.DepthToSpace f32 1x8x2x4 block_size=2",
       refused("tensorflow.DepthToSpace f32 1x1x8x2x4 block_size=2", "input"),
       refused("tensorflow.DepthToSpace f32 1x8x2x3 block_size=2", "input"), none("any number of blocks")},
      {"tensorflow.ExtractImagePatches f32 1x7x8x2 ksizes=1,2,3,1 strides=1,3,2,1 rates=1,2,1,1 padding=SAME",
       refused("tensorflow.ExtractImagePatches f32 1x1x7x8x2 ksizes=1,2,3,1 strides=1,3,2,1 rates=1,2,1,1 padding=SAME",
               "images"),
       no_multiples,
       no_columns,
       {{"strides largest", steps}}},
      {"tensorflow.ExtractVolumePatches f32 1x3x4x5x2 ksizes=1,2,2,3,1 strides=1,1,2,2,1 padding=SAME",
       refused("tensorflow.ExtractVolumePatches f32 1x1x3x4x5x2 ksizes=1,2,2,3,1 strides=1,1,2,2,1 padding=SAME", "input"),
       no_multiples,
       no_columns,
       {{"strides largest", steps}}},
      {"torch.fold f32 2x12x12 output_size=4,5 kernel_size=2,2 dilation=1,1 padding=0,0 stride=1,1",
       refused("torch.fold f32 1x2x12x12 output_size=4,5 kernel_size=2,2", "input"),
       refused("torch.fold f32 2x13x12 output_size=4,5 kernel_size=2,2", "input"),
       refused("torch.fold f32 2x12x13 output_size=4,5 kernel_size=2,2", "input")},
      {"torch.unfold f32 2x5x3x4 kernel_size=2,3 dilation=1,2 padding=1,1 stride=1,1",
       refused("torch.unfold f32 1x2x5x3x4 kernel_size=2,3 padding=1,1", "input"),
       no_multiples,
       no_columns,
       {{"stride largest", steps}}},
      {"torch.pixel_shuffle f32 2x8x2x3 upscale_factor=2", any_axes,
       refused("torch.pixel_shuffle f32 2x7x2x3 upscale_factor=2", "input"), none("any number of blocks")},
      {"torch.pixel_unshuffle f32 2x2x4x6 downscale_factor=2", any_axes,
       refused("torch.pixel_unshuffle f32 2x2x5x6 downscale_factor=2", "input"), no_columns},
  };
  return all;
}

namespace {

/// Whether an argument of this kind takes such a value at all.
bool takes(const ArgumentSpec& argument, const ArgumentValue& value) {
  const bool number = std::holds_alternative<std::int64_t>(value);
  const bool list = std::holds_alternative<Dims>(value);
  const bool word = std::holds_alternative<std::string>(value);
  const bool pairs = std::holds_alternative<PadsList>(value);
  if (std::holds_alternative<IndexTensor>(value)) return argument.is_input;
  switch (argument.kind) {
    case ArgumentKind::integer:
    case ArgumentKind::boolean: return number;
    case ArgumentKind::integers:
    case ArgumentKind::axes: return number || list;
    case ArgumentKind::pairs: return list || pairs;
    case ArgumentKind::padding: return number || list || pairs || word;
    case ArgumentKind::number: return number || std::holds_alternative<Scalar>(value);
    case ArgumentKind::choice: return word;
  }
  return false;
}

bool is_integral(const ArgumentSpec& argument) {
  return argument.kind != ArgumentKind::number && argument.kind != ArgumentKind::boolean &&
         argument.kind != ArgumentKind::choice;
}

/// The value with another first number.
ArgumentValue with_first(const ArgumentValue& value, std::int64_t first) {
  if (const auto* list = std::get_if<Dims>(&value)) {
    Dims changed = *list;
    // Lists of TensorFlow and OpenVINO begin with the batch.
    changed[changed.size() > 2 ? changed.size() - 2 : 0] = first;
    return changed;
  }
  if (const auto* pairs = std::get_if<PadsList>(&value)) {
    PadsList changed;
    for (int i = 0; i < pairs->size(); ++i) changed.push_back({i == 0 ? first : (*pairs)[i].begin, (*pairs)[i].end});
    return changed;
  }
  return first;
}

class Table {
 public:
  explicit Table(const Row& row) : row_(row), right_(parse_problem(row.problem)), spec_(find_operator(right_.op)) {}

  std::vector<Wrong> make() {
    add_axes();
    add_cell("axes above", row_.axes_above, ErrorCode::rank);
    add_cell("divisible", row_.divisible, ErrorCode::divisible);
    add_cell("positions", row_.positions, ErrorCode::position_count);
    for (const ArgumentSpec& argument : spec_.arguments) {
      add_types(argument);
      if (is_integral(argument) && given(argument) != nullptr) add_lists(argument);
    }
    add_names();
    for (const Exempt& exempt : row_.exempt)
      if (std::ranges::find(used_, exempt.what) == used_.end())
        throw std::logic_error(right_.op + " needs no exemption from " + std::string(exempt.what));
    return std::move(wrong_);
  }

 private:
  void add(std::string what, ProblemText problem, std::vector<ErrorCode> codes, std::vector<std::string> arguments,
           bool has_text = true) {
    if (std::ranges::find(row_.exempt, what, &Exempt::what) != row_.exempt.end()) {
      used_.push_back(what);
      return;
    }
    wrong_.push_back({std::move(what), std::move(problem), std::move(codes), std::move(arguments), has_text});
  }
  void add_cell(const std::string& what, const Cell& cell, ErrorCode code) {
    if (cell.reason.empty()) add(what, parse_problem(cell.problem), {code}, {std::string(cell.argument)});
  }
  const ArgumentValue* given(const ArgumentSpec& argument) const {
    const auto found = std::ranges::find(right_.arguments, argument.name, &Argument::name);
    return found == right_.arguments.end() ? nullptr : &found->value;
  }
  ProblemText with(std::string_view name, const ArgumentValue& value) const {
    ProblemText problem = right_;
    std::erase_if(problem.arguments, [&](const Argument& argument) { return argument.name == name; });
    problem.arguments.push_back({std::string(name), value});
    return problem;
  }
  /// Every name that an error about lists may give.
  std::vector<std::string> names() const {
    std::vector<std::string> all = {std::string(spec_.data_input)};
    for (const ArgumentSpec& argument : spec_.arguments) all.emplace_back(argument.name);
    return all;
  }

  void add_axes() {
    const std::vector<std::string> data = {std::string(spec_.data_input)};
    for (const int rank : {0, 1}) {
      ProblemText problem = right_;
      problem.shape = Dims::filled(rank, 4);
      add("rank " + std::to_string(rank), problem, {ErrorCode::rank}, data, rank > 0);
    }
    for (int axis = 0; axis < right_.shape.size(); ++axis) {
      ProblemText problem = right_;
      problem.shape[axis] = -1;
      add("negative extent " + std::to_string(axis), problem,
          {ErrorCode::value, ErrorCode::position_count, ErrorCode::divisible}, data, false);
      problem.shape = Dims::filled(right_.shape.size(), std::int64_t{1} << 40);
      add("too many elements " + std::to_string(axis), problem, {ErrorCode::overflow, ErrorCode::position_count}, names(),
          false);
    }
  }

  void add_types(const ArgumentSpec& argument) {
    const std::vector<std::string> named = {std::string(argument.name)};
    const ArgumentValue values[] = {std::int64_t{3},          Dims{3, 3},
                                    PadsList{{1, 1}, {1, 1}}, Scalar(1.5),
                                    std::string("sideways"),  IndexTensor{{3, 3}, {2}, DType::int64}};
    constexpr std::string_view kinds[] = {"number", "list", "pairs", "fraction", "word", "tensor"};
    for (std::size_t i = 0; i < std::size(values); ++i) {
      const std::string what = std::string(argument.name) + " is a " + std::string(kinds[i]);
      if (!takes(argument, values[i])) {
        add(what, with(argument.name, values[i]), {ErrorCode::type}, named,
            std::holds_alternative<std::string>(values[i]) || std::holds_alternative<Scalar>(values[i]));
      } else if (std::holds_alternative<std::string>(values[i]) || argument.kind == ArgumentKind::boolean) {
        // A word that it does not know: no value of the argument, or, read as text, none of its kind.
        add(what, with(argument.name, values[i]), {ErrorCode::value, ErrorCode::type}, named);
      }
    }
    if (argument.is_input)
      add(std::string(argument.name) + " of floats", with(argument.name, IndexTensor{{3, 3}, {2}, DType::float32}),
          {ErrorCode::type}, named, false);
  }

  void add_lists(const ArgumentSpec& argument) {
    const std::string name(argument.name);
    const ArgumentValue& value = *given(argument);
    if (const auto* list = std::get_if<Dims>(&value)) {
      Dims longer = *list;
      longer.push_back(longer.back());
      add(name + " longer", with(name, longer), {ErrorCode::length, ErrorCode::missing}, names());
      add(name + " empty", with(name, Dims{}), {ErrorCode::length, ErrorCode::missing}, names());
    } else if (const auto* pairs = std::get_if<PadsList>(&value)) {
      PadsList longer = *pairs;
      longer.push_back({0, 0});
      add(name + " longer", with(name, longer), {ErrorCode::length}, names());
      add(name + " empty", with(name, PadsList{}), {ErrorCode::length}, names());
    }
    const bool pads = name.find("pad") != std::string::npos || name == "crops" || name.find("crops") == 0;
    add(name + " negative", with(name, with_first(value, -7)), {ErrorCode::value}, {name, "padding"});
    add(name + " largest", with(name, with_first(value, std::numeric_limits<std::int64_t>::max())),
        {ErrorCode::overflow, ErrorCode::value, ErrorCode::divisible, ErrorCode::position_count}, names());
    if (!pads) add(name + " zero", with(name, with_first(value, 0)), {ErrorCode::value, ErrorCode::position_count}, names());
  }

  void add_names() {
    const Argument& first = right_.arguments.front();
    ProblemText problem = right_;
    problem.arguments.push_back({"no_such_argument", std::int64_t{1}});
    add("unknown argument", problem, {ErrorCode::unknown_argument}, {"no_such_argument"});
    problem = right_;
    problem.arguments.push_back(first);
    add("argument twice", problem, {ErrorCode::unknown_argument}, {first.name});
    for (const ArgumentSpec& argument : spec_.arguments) {
      if (!argument.required) continue;
      problem = right_;
      std::erase_if(problem.arguments, [&](const Argument& each) { return each.name == argument.name; });
      add("without " + std::string(argument.name), problem, {ErrorCode::missing}, {std::string(argument.name)});
    }
  }

  const Row& row_;
  ProblemText right_;
  const OperatorSpec& spec_;
  std::vector<Wrong> wrong_{};
  std::vector<std::string> used_{};
};

}  // namespace

std::vector<Wrong> wrong_problems(const Row& row) {
  return Table(row).make();
}

}  // namespace patchfold::inputs
