// SPDX-License-Identifier: Apache-2.0
// Tests that the operator table is complete, consistent, and readable as text.
#include "patchfold/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <set>

#include "base/other_words.hpp"

namespace patchfold {
namespace {

TEST(Table, HoldsEveryOperatorOnceWithAnExampleThatItTakes) {
  std::set<std::string_view> found;
  for (const OperatorSpec& op : operators()) {
    EXPECT_TRUE(found.insert(op.name).second) << op.name;
    const ProblemText example = parse_problem(std::string(op.name) + " " + std::string(op.example));
    const Geometry geometry = op.bind(example.arguments).lower(example.shape).geometry;
    EXPECT_GT(element_count(geometry.output), 0) << op.name;
    EXPECT_EQ(geometry.sums, op.sums) << op.name;
    EXPECT_EQ(geometry.has_data, !op.data_input.empty()) << op.name;
    for (const ArgumentSpec& argument : op.arguments)
      EXPECT_TRUE(!argument.required || std::ranges::count(example.arguments, argument.name, &Argument::name) == 1)
          << op.name;
  }
}

TEST(Table, ReadsTheOldNameOfAnArgument) {
  const OperatorSpec& op = find_operator("unfold");
  const ProblemText old = parse_problem("unfold f32 1x1x4x4 kernel_size=2 columns=grid");
  EXPECT_EQ(to_string(old), "unfold f32 1x1x4x4 kernel_size=2 positions=grid");
  const std::vector<Argument> given = {{"kernel_size", std::int64_t{2}}, {"columns", std::string("grid")}};
  EXPECT_EQ(op.bind(given).output_shape({1, 1, 4, 4}), (Dims{1, 4, 3, 3}));
  const std::vector<Argument> twice = {
      {"kernel_size", std::int64_t{2}}, {"columns", std::string("grid")}, {"positions", std::string("grid")}};
  EXPECT_THROW(op.bind(twice), Error);
}

TEST(Table, DescribesEveryArgument) {
  for (const OperatorSpec& op : operators()) {
    EXPECT_FALSE(op.doc.empty()) << op.name;
    EXPECT_EQ(op.doc.back(), '.') << op.name;
    EXPECT_FALSE(op.definition.empty()) << op.name;
    EXPECT_EQ(op.data_input.empty(), op.name == "coverage") << op.name;
    bool attributes = false;
    for (const ArgumentSpec& argument : op.arguments) {
      EXPECT_FALSE(argument.doc.empty()) << op.name << " " << argument.name;
      EXPECT_EQ(argument.kind == ArgumentKind::choice, !argument.choices.empty()) << op.name << " " << argument.name;
      EXPECT_TRUE(!argument.required || argument.default_text.empty()) << op.name << " " << argument.name;
      EXPECT_FALSE(argument.is_input && attributes) << "inputs come first: " << op.name << " " << argument.name;
      attributes |= !argument.is_input;
    }
  }
}

TEST(Table, DefaultsReadAsValuesAndAreTheStructsOwn) {
  int defaults = 0;
  for (const OperatorSpec& op : operators())
    for (const ArgumentSpec& argument : op.arguments) {
      if (argument.default_text.empty()) continue;
      EXPECT_EQ(to_string(parse_value(op, argument, argument.default_text)), argument.default_text == "true" ? "1"
                                                                             : argument.default_text == "false"
                                                                                 ? "0"
                                                                                 : argument.default_text)
          << op.name << " " << argument.name;
      ++defaults;
    }
  EXPECT_GT(defaults, 30);
  const auto& col2im = find_operator("openvino.Col2Im-15");
  for (const ArgumentSpec& argument : col2im.arguments) {
    if (argument.name == "strides") {
      EXPECT_EQ(argument.default_text, "1,1");
    } else if (argument.name == "pads_begin") {
      EXPECT_EQ(argument.default_text, "0,0");
    }
  }
}

TEST(Table, FindsTheNewestVersionAndSuggestsTheNearestName) {
  EXPECT_EQ(find_operator("onnx.DepthToSpace").name, "onnx.DepthToSpace-28");
  EXPECT_EQ(find_operator("onnx.DepthToSpace-11").name, "onnx.DepthToSpace-11");
  EXPECT_EQ(find_operator("unfold").name, "unfold");
  for (const auto& [wrong, near] : {std::pair{"unfodl", "unfold"},
                                    {"openvino.Col2im-15", "openvino.Col2Im-15"},
                                    {"torch.pixel_unshufffle", "torch.pixel_unshuffle"},
                                    {"SpaceToBatchND", "tensorflow.SpaceToBatchND"}}) {
    try {
      find_operator(wrong);
      FAIL() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unknown_operator);
      EXPECT_EQ(error.hint(), "did you mean " + std::string(near) + "?") << error.what();
    }
  }
}

TEST(Table, NamesTheVersionThatWasAskedForInErrors) {
  const Argument argument{"blocksize", std::int64_t{2}};
  try {
    find_operator("onnx.DepthToSpace-11").bind({&argument, 1}).output_shape({1, 3, 2, 2});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.op(), "onnx.DepthToSpace-11");
  }
}

TEST(Table, ChecksShapesThatOnlyItsOperatorsRefuse) {
  const struct {
    std::string_view op;
    std::vector<Argument> arguments;
    Dims data;
    std::string_view message;
  } cases[] = {
      {"unfold",
       {{"kernel_size", std::int64_t{2}}},
       {8, 8},
       "unfold: image: must have a channel axis and the spatial axes; given [8, 8] of rank 2, expected rank 4; a grey "
       "picture: "
       "image with shape [1, 8, 8] and kernel_size=2,2"},
      {"batch_to_space",
       {{"block", Dims{2, 2}}, {"crops", std::string("same_upper")}},
       {4, 1, 3, 3},
       "batch_to_space: crops: must be numbers: the rule same needs the size of the image; given same"},
      {"tensorflow.SpaceToBatchND",
       {{"block_shape", IndexTensor{{2}, {1}, DType::int64}}, {"paddings", IndexTensor{{0, 0}, {2}, DType::int64}}},
       {4, 4, 1},
       "tensorflow.SpaceToBatchND: paddings: must be a tensor of pairs; given [2] of rank 1, expected shape [M, 2]"},
  };
  for (const auto& [op, arguments, data, message] : cases) {
    try {
      find_operator(op).bind(arguments).output_shape(data);
      ADD_FAILURE() << "taken: " << message;
    } catch (const Error& error) {
      EXPECT_EQ(std::string_view(error.what()), message);
    }
  }
}

TEST(Table, RefusesAFillBesideAWordThatPadsWithZero) {
  const OperatorSpec& op = find_operator("unfold");
  const auto shape = [&](const char* word, const ArgumentValue& value) {
    std::vector<Argument> arguments = {{"value", value},
                                       {"padding_mode", std::string(word)},
                                       {"padding", std::int64_t{1}},
                                       {"kernel_size", std::int64_t{2}}};
    const Dims output = op.bind(arguments).output_shape({1, 1, 4, 4});
    std::ranges::reverse(arguments);
    EXPECT_EQ(op.bind(arguments).output_shape({1, 1, 4, 4}), output);
    return output;
  };
  for (const PaddingWord& each : padding_words) {
    for (const ArgumentValue& zero :
         {ArgumentValue(std::int64_t{0}), ArgumentValue(Scalar(0.0)), ArgumentValue(Scalar(-0.0))})
      EXPECT_EQ(shape(each.other.data(), zero), (Dims{1, 4, 25}));
    for (const ArgumentValue& other : {ArgumentValue(std::int64_t{5}), ArgumentValue(Scalar(std::complex<double>(0, 1)))}) {
      if (each.other != "zeros") {
        EXPECT_EQ(shape(each.other.data(), other), (Dims{1, 4, 25}));
        continue;
      }
      try {
        shape(each.other.data(), other);
        ADD_FAILURE() << "taken";
      } catch (const Error& error) {
        EXPECT_EQ(std::string_view(error.what()),
                  "unfold: value: does not go with padding_mode zeros, which pads with 0; given " + to_string(other) +
                      ", expected 0, or padding_mode constant");
      }
    }
  }
}

TEST(Values, ReadTheFormsThatPeopleWrite) {
  const OperatorSpec& op = find_operator("unfold");
  const auto read = [&](std::string_view name, std::string_view text) {
    for (const ArgumentSpec& argument : op.arguments)
      if (argument.name == name) return to_string(parse_value(op, argument, text));
    return std::string("?");
  };
  EXPECT_EQ(read("kernel_size", "3"), "3");
  EXPECT_EQ(read("kernel_size", "3,"), "3,");
  EXPECT_EQ(read("kernel_size", "[3, 5]"), "3,5");
  EXPECT_EQ(read("padding", "same_lower"), "same_lower");
  EXPECT_EQ(read("padding", "1:2,0:-1"), "1:2,0:-1");
  EXPECT_EQ(read("padding", "1,2"), "1,2");
  EXPECT_EQ(read("value", "-1.5"), "-1.5");
  EXPECT_EQ(read("value", "nan"), "nan");
  EXPECT_EQ(read("value", "18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(read("value", "1.5-2j"), "1.5-2j");
  for (const auto& [name, text] : {std::pair{"kernel_size", "3x3"},
                                   {"kernel_size", "3.5"},
                                   {"padding", "sane"},
                                   {"padding", "1:"},
                                   {"value", "one"},
                                   {"value", "1+"},
                                   {"value", "+"},
                                   {"value", "++1"},
                                   {"value", "1+2"},
                                   {"value", "1+xj"},
                                   {"value", "xj"},
                                   {"kernel_size", "99999999999999999999"}}) {
    EXPECT_THROW(read(name, text), Error) << name << " " << text;
  }
}

TEST(ProblemText, ReadsBackWhatItWrites) {
  for (const std::string text : {"unfold f32 8x64x112x112 kernel_size=3,3 stride=1,1 dilation=1,1 padding=1:2,1:1",
                                 "openvino.Col2Im-15 bf16 3x12x225 output_size=16,16 kernel_size=2,2",
                                 "reorder opaque5 1x12x3 kernel_size=2,2 source=kernel target=channel",
                                 "coverage i64 - output_size=5,5 kernel_size=3"})
    EXPECT_EQ(to_string(parse_problem(text)), text);
}

TEST(ProblemText, ReadsTheShortFormsOfTheNeutralOperators) {
  EXPECT_EQ(to_string(parse_problem("unfold f32 8x64x112x112 k3x3 s1x1 d1x1 p1x1")),
            "unfold f32 8x64x112x112 kernel_size=3,3 stride=1,1 dilation=1,1 padding=1,1");
  EXPECT_EQ(to_string(parse_problem("unfold float32 1x1x9x9 k3 p1:2x0:1")),
            "unfold f32 1x1x9x9 kernel_size=3 padding=1:2,0:1");
}

TEST(ProblemText, RefusesWhatIsNoProblem) {
  for (const char* text : {"", "unfold", "unfold f33 1", "unfold f32", "unfold f32 1xx2", "unfold f32 1x2 q3",
                           "unfold f32 1x2 size=3", "nothing f32 1", "unfold opaque0 1"})
    EXPECT_THROW(parse_problem(text), Error) << text;
}

}  // namespace
}  // namespace patchfold
