// SPDX-License-Identifier: Apache-2.0
// Tests the vectors of a file, in the form that vectors.txt describes, in the library and in the reference. The lines of one
// name are one test.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "random/check.hpp"
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

std::vector<std::string> split(const std::string& text, std::string_view separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + separator.size())
    parts.push_back(text.substr(begin, (end = text.find(separator, begin)) - begin));
  return parts;
}

/// Returns the numbers of a text; "1 5..8" is 1 5 6 7 8.
Ints numbers(const std::string& text) {
  Ints values;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto dots = word.find("..");
    const auto last = std::stoll(dots == std::string::npos ? word : word.substr(dots + 2));
    for (auto value = std::stoll(word); value <= last; ++value) values.push_back(value);
  }
  return values;
}

/// Returns the problems of a text with alternatives. "unfold 1x3x4 k{2|3} s{1|2}" has four: k2 s1, k2 s2, k3 s1 and k3 s2.
std::vector<std::string> alternatives(const std::string& text) {
  const auto open = text.find('{'), close = text.find('}');
  if (open == std::string::npos) return {text};
  std::vector<std::string> all;
  for (const auto& word : split(text.substr(open + 1, close - open - 1), "|"))
    for (const auto& rest : alternatives(text.substr(close + 1))) all.push_back(text.substr(0, open) + word + rest);
  return all;
}

std::vector<DType> types_of(const std::string& words) {
  if (words == "numeric") return {numeric_types().begin(), numeric_types().end()};
  if (words == "summable") return {summable_types().begin(), summable_types().end()};
  std::vector<DType> types;
  for (const auto& word : split(words, ",")) types.push_back(dtype_of(word).value());
  return types;
}

/// Returns the reference's result: its extents, then its elements.
Ints by_reference(const ProblemText& problem, const Ints& data) {
  const reference::Array array{
      {problem.shape.begin(), problem.shape.end()}, reference::DType::int64, 8, encode(DType::int64, data)};
  auto arguments = patchfold::testing::reference_arguments(problem.arguments);
  for (auto& [name, value] : arguments)  // in a text, an empty list of pairs looks like a list of numbers
    if ((name == "paddings" || name == "crops") && value == reference::Value(reference::List{})) value = reference::Pairs{};
  const auto made = reference::run(std::string(find_operator(problem.op).name), array, arguments);
  Ints values(made.bytes.size() / 8);
  if (!values.empty()) std::memcpy(values.data(), made.bytes.data(), made.bytes.size());
  values.insert(values.begin(), made.shape.begin(), made.shape.end());
  return values;
}

/// Returns the numbers as a text in the form of vectors.txt.
std::string text_of(const Ints& values) {
  std::string text;
  for (const auto value : values) text += " " + std::to_string(value);
  return text;
}

Dims extents_of(const std::string& text) {
  Dims extents;
  if (text != "-")
    for (const auto& extent : split(text, "x")) extents.push_back(std::stoll(extent));
  return extents;
}

/// Expects that the arguments or the operator refuse the problem, as `result` says: "refused CODE,CODE: WORD; WORD".
void expect_refused(const ProblemText& problem, const std::string& result) {
  std::vector<ErrorCode> codes;
  const auto colon = result.find(": ");
  for (const auto& code : split(result.substr(8, colon == std::string::npos ? colon : colon - 8), ","))
    codes.push_back(std::ranges::find(error_catalogue(), code, &ErrorEntry::name)->code);
  const auto texts = colon == std::string::npos ? std::vector<std::string>() : split(result.substr(colon + 2), "; ");
  const std::vector<std::string_view> words(texts.begin(), texts.end());
  const OperatorSpec& spec = find_operator(problem.op);
  std::optional<Problem> bound;
  try {
    bound.emplace(spec.name, spec.bind(problem.arguments));
  } catch (const Error&) {
    return expect_error_of_binding(spec.name, problem.arguments, codes, words);
  }
  expect_error(*bound, problem.shape, codes, words);
}

void check(const std::string& line) {
  SCOPED_TRACE(line.substr(0, 200));
  const auto fields = split(line, " | ");
  const auto& result = fields.back();
  const bool is_refused = result.starts_with("refused "), is_shape = result.starts_with("shape ");
  const auto colon = is_refused || is_shape ? 0 : result.find(':');
  const auto fingerprints = colon == std::string::npos ? split(result, " ") : std::vector<std::string>{};
  std::size_t at = 0;
  for (std::string text : alternatives(fields.at(2))) {
    const auto parsed = parse_problem(text.insert(text.find(' '), " f32"));
    if (is_refused) {
      expect_refused(parsed, result);
      continue;
    }
    const Problem problem(parsed.op, find_operator(parsed.op).bind(parsed.arguments));
    if (is_shape) {
      expect_shape(problem, parsed.shape, extents_of(result.substr(6)));
      continue;
    }
    const auto data = fields.size() == 5 ? numbers(fields[3]) : iota(parsed.shape);
    const Ints right = by_reference(parsed, data);
    if (colon == std::string::npos) {
      const auto expected = std::stoull(fingerprints.at(at++), nullptr, 16);
      EXPECT_EQ(fingerprint(problem, parsed.shape), expected) << text;
      EXPECT_EQ(fingerprint(right), expected) << text << " by the reference";
      continue;
    }
    const Dims out = extents_of(result.substr(0, colon));
    Ints expected = numbers(result.substr(colon + 1));
    if (fields.at(1) == "bits")
      expect_moved(problem, parsed.shape, out, expected);
    else
      expect_values(problem, parsed.shape, data, out, expected, types_of(fields.at(1)));
    expected.insert(expected.begin(), out.begin(), out.end());
    EXPECT_EQ(text_of(right), text_of(expected)) << text << " by the reference";
  }
  EXPECT_EQ(at, fingerprints.size());
}

class Vector : public ::testing::Test {
 public:
  explicit Vector(std::vector<std::string> lines) : lines_(std::move(lines)) {}
  void TestBody() override {
    for (const auto& line : lines_) check(line);
  }

 private:
  std::vector<std::string> lines_;
};

const bool registered = [] {
  std::map<std::string, std::vector<std::string>> tests;
  std::ifstream file(PATCHFOLD_VECTORS);
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') tests[line.substr(0, line.find(' '))].push_back(line);
  if (tests.empty()) throw std::runtime_error(PATCHFOLD_VECTORS " has no vectors");
  for (const auto& [name, lines] : tests) {
    const auto names = split(name, ".");
    ::testing::RegisterTest(names.at(0).c_str(), names.at(1).c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [lines = lines]() -> ::testing::Test* { return new Vector(lines); });
  }
  return true;
}();

}  // namespace
}  // namespace patchfold::vectors
