// SPDX-License-Identifier: Apache-2.0
// Explains every operator, and compares each line that states where an element comes from or goes to with the reference.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "explain_problem.hpp"
#include "reference/reference.hpp"

namespace patchfold {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// Problems with all layouts, orders and padding modes, with overlapping patches, and with one and three axes.
constexpr const char* more_problems[] = {
    ("unfold u8 2x7x6x3 kernel_size=3,2 padding=2:3,1:0 padding_mode=reflect layout=channels_last order=kernel "
     "positions=grid"),
    "unfold f32 2x1x9 kernel_size=3, padding=4, padding_mode=wrap",
    "unfold f32 2x3x5x6 kernel_size=2,3 stride=2,1 dilation=1,2 padding=1:0,2:1 value=-7",
    "unfold bf16 1x2x3x4x5 kernel_size=2,2,2 padding=1:0,0:1,1:1 order=kernel",
    "fold f32 2x12x30 output_size=5,6 kernel_size=2,2 padding=1:0,0:1",
    "fold i32 1x16x12 output_size=5,6 kernel_size=2,3 layout=channels_last order=kernel padding=0",
    "fold f32 1x4x7x18 output_size=9,9 kernel_size=3,3 stride=2,1 layout=channels_last positions=grid",
    "fold f32 1x6x3 output_size=3, kernel_size=3, dilation=0",
    "coverage i64 - output_size=5,6 kernel_size=2,2 stride=2,1 padding=0,1",
    "space_to_batch f32 5x6x3x2 block=3, padding=1:2 layout=channels_last",
    "space_to_depth f32 2x3x4x6 block=2,3 mode=depth_first",
    "depth_to_space f32 2x12x2x3 block=2,3 mode=blocks_first",
    "depth_to_space f32 2x2x3x12 block=2,3 layout=channels_last",
};

/// Returns more_problems and the example of every operator.
const std::vector<std::string>& problems() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> list(std::begin(more_problems), std::end(more_problems));
    for (const OperatorSpec& op : operators()) list.push_back(std::string(op.name) + " " + std::string(op.example));
    return list;
  }();
  return all;
}

reference::Value reference_value(const ArgumentValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* list = std::get_if<Dims>(&value)) return reference::List(list->begin(), list->end());
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  if (const auto* scalar = std::get_if<Scalar>(&value)) return reference::Number(scalar->as_signed());
  const auto& pads = std::get<PadsList>(value);
  reference::Pairs pairs;
  for (int i = 0; i < pads.size(); ++i) pairs.emplace_back(pads[i].begin, pads[i].end);
  return pairs;
}

/// The reference implementation of one problem, with integers as data.
class Reference {
 public:
  explicit Reference(std::string_view problem) : text_(parse_problem(problem)) {
    for (const Argument& argument : text_.arguments) arguments_.emplace(argument.name, reference_value(argument.value));
  }

  std::int64_t count() const { return element_count(text_.shape); }
  std::vector<std::uint64_t> run(const std::vector<std::uint64_t>& input) {
    reference::Array data{{text_.shape.begin(), text_.shape.end()}, reference::DType::uint64, 8, {}};
    data.bytes.resize(input.size() * 8);
    std::memcpy(data.bytes.data(), input.data(), data.bytes.size());
    const reference::Array result = reference::run(text_.op, data, arguments_);
    output_shape_ = Dims(std::span(result.shape));
    std::vector<std::uint64_t> output(result.bytes.size() / 8);
    std::memcpy(output.data(), result.bytes.data(), result.bytes.size());
    return output;
  }
  const Dims& input_shape() const { return text_.shape; }
  const Dims& output_shape() const { return output_shape_; }

 private:
  ProblemText text_;
  reference::Arguments arguments_{};
  Dims output_shape_{};
};

/// Removes the text up to the end of its next index, such as "[1, 2, 3]". Returns the row-major index of this element in an
/// array of shape `shape`, or -1 if the text has no index.
std::int64_t take_element(std::string_view& text, const Dims& shape) {
  const std::size_t open = std::min(text.find('['), text.size());
  const std::size_t close = std::min(text.find(']', open), text.size());
  std::string index(text.substr(open, close - open));
  text.remove_prefix(close);
  if (index.empty()) return -1;
  std::ranges::replace_if(
      index, [](char c) { return c < '0' || c > '9'; }, ' ');
  std::istringstream numbers(index);
  std::int64_t flat = 0;
  int axis = 0;
  for (std::int64_t i = 0; numbers >> i; flat = flat * shape[axis++] + i) {
    EXPECT_LT(axis, shape.size()) << index;
    EXPECT_LT(i, shape[axis]) << index;
  }
  EXPECT_EQ(axis, shape.size()) << index;
  return flat;
}

struct Statement {
  std::string left;
  std::string right;
};

/// Returns the two sides of every statement "element OPERATOR value" in the text. Lines that were broken for their length
/// are joined first.
std::vector<Statement> statements(const std::string& text, const std::string& op) {
  std::vector<std::string> lines;
  for (const std::string& line : lines_of(text))
    if (line.starts_with("        "))
      lines.back() += line;
    else
      lines.push_back(line);
  std::vector<Statement> found;
  for (const std::string& line : lines)
    if (const auto at = line.find(op); at != std::string::npos && line.rfind(']', at) != std::string::npos)
      found.push_back({line.substr(0, at), line.substr(at + op.size())});
  return found;
}

/// Compares every "output[..] <- data[..]" and "output[..] <- outside: V" with the reference; returns their number.
std::size_t check_moves(const std::string& text, Reference& reference) {
  std::vector<std::uint64_t> numbers;
  for (std::int64_t i = 0; i < reference.count(); ++i) numbers.push_back(1000 + static_cast<std::uint64_t>(i));
  const auto output = reference.run(numbers);
  const auto found = statements(text, " <- ");
  for (const auto& [left, right] : found) {
    std::string_view to = left, from = right;
    constexpr std::string_view outside = "outside: ";
    const auto expected = from.starts_with(outside)
                              ? static_cast<std::uint64_t>(std::stoll(right.substr(outside.size())))
                              : numbers.at(static_cast<std::size_t>(take_element(from, reference.input_shape())));
    EXPECT_EQ(output.at(static_cast<std::size_t>(take_element(to, reference.output_shape()))), expected) << left << right;
  }
  return found.size();
}

/// Compares every "output[..] = data[..] + .." with the reference; returns their number. The data are random numbers, so
/// that one wrong element changes the sum.
std::size_t check_sums(const std::string& text, Reference& reference) {
  std::vector<std::uint64_t> tags;
  std::uint64_t tag = 1;
  for (std::int64_t i = 0; i < reference.count(); ++i)
    tags.push_back(tag = tag * 6364136223846793005U + 1442695040888963407U);
  const auto sums = reference.run(tags);
  const auto found = statements(text, " = ");
  for (const auto& [left, right] : found) {
    std::string_view to = left, terms = right;
    std::uint64_t sum = 0;
    for (std::int64_t term; (term = take_element(terms, reference.input_shape())) >= 0;)
      sum += tags.at(static_cast<std::size_t>(term));
    EXPECT_EQ(sums.at(static_cast<std::size_t>(take_element(to, reference.output_shape()))), sum) << left << right;
  }
  return found.size();
}

/// Compares every "data[..] -> output[..]" and "data[..] -> outside" with the reference; returns their number.
std::size_t check_destinations(const std::string& text, Reference& reference) {
  const auto found = statements(text, " -> ");
  for (const auto& [left, right] : found) {
    std::string_view from = left, to = right;
    std::vector<std::uint64_t> one(static_cast<std::size_t>(reference.count()));
    one.at(static_cast<std::size_t>(take_element(from, reference.input_shape()))) = 1;
    const auto output = reference.run(one);
    std::vector<std::uint64_t> expected(output.size());
    if (!to.starts_with("outside")) expected.at(static_cast<std::size_t>(take_element(to, reference.output_shape()))) = 1;
    EXPECT_EQ(output, expected) << left << right;
  }
  return found.size();
}

TEST(ExplainEveryOperator, IsPlainTextThatNamesEverything) {
  for (const std::string& problem : problems()) {
    SCOPED_TRACE(problem);
    const ProblemText parsed = parse_problem(problem);
    const OperatorSpec& op = find_operator(parsed.op);
    const std::string text = explain(parsed, {.plan = true});
    EXPECT_EQ(text.back(), '\n');
    for (const std::string& line : lines_of(text)) {
      EXPECT_LE(line.size(), 100U) << line;
      EXPECT_TRUE(std::ranges::all_of(line, [](char c) { return c >= ' ' && c <= '~'; })) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
    EXPECT_EQ(text.find("\nArguments\n") == std::string::npos, op.arguments.empty());
    for (const char* part : {"\nShapes, ", "\nCoverage: ", "\nPlan: ", "  strategy  "}) EXPECT_THAT(text, HasSubstr(part));
    EXPECT_EQ(text.find("\nOrder: ") == std::string::npos, op.name == "coverage");
    EXPECT_EQ(text.find("\nWindows: tap q") == std::string::npos, op.name == "reorder" || op.name == "copy");
    for (const ArgumentSpec& argument : op.arguments)
      EXPECT_THAT(text, HasSubstr("\n  " + std::string(argument.name) + " "));
    const std::string shape = to_string(op.bind(parsed.arguments).output_shape(parsed.shape));
    EXPECT_TRUE(std::ranges::any_of(lines_of(text), [&](const std::string& line) {
      return line.starts_with("  output  ") && line.find(" " + shape + " ") != std::string::npos;
    })) << shape;
  }
}

TEST(ExplainEveryOperator, NamesTheSourcesThatTheReferenceReads) {
  for (const std::string& problem : problems()) {
    SCOPED_TRACE(problem);
    const OperatorSpec& op = find_operator(parse_problem(problem).op);
    if (op.data_input.empty()) continue;
    Reference reference(problem);
    const std::string text = explain_problem(problem);
    if (op.sums) {
      EXPECT_GE(check_sums(text, reference), 3U);
      EXPECT_GE(check_destinations(text, reference), 3U);
    } else {
      EXPECT_GE(check_moves(text, reference), 7U);
    }
  }
}

/// Compares the counts that fold's explanation prints as a grid with the reference's fold of ones.
TEST(ExplainEveryOperator, CountsAsTheReferenceDoes) {
  const char* problem = "fold f32 1x12x30 output_size=5,6 kernel_size=2,2 stride=1,1 padding=1:0,0:1";
  Reference reference(problem);
  const auto counts = reference.run(std::vector<std::uint64_t>(360, 1));
  std::string grid = "  output[0, 0, :, :]\n";
  for (std::size_t row = 0; row < 5; ++row) {
    grid += "   ";
    for (std::size_t column = 0; column < 6; ++column) grid += " " + std::to_string(counts[row * 6 + column]);
    grid += "\n";
  }
  EXPECT_THAT(explain_problem(problem), HasSubstr(grid));
}

}  // namespace
}  // namespace patchfold
