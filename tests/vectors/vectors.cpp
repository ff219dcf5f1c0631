// SPDX-License-Identifier: Apache-2.0
// Runs the vectors of vectors.txt, which says how they are written; the lines of one name are one test.
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

std::vector<std::string> split(const std::string& text, std::string_view separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + separator.size())
    parts.push_back(text.substr(begin, (end = text.find(separator, begin)) - begin));
  return parts;
}

/// Returns the numbers of "1 5..8", which are 1 5 6 7 8.
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

/// Returns the problems of "unfold 1x3x4 k{2|3} s{1|2}": with k2 s1, k2 s2, k3 s1 and k3 s2.
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

void check(const std::string& line) {
  SCOPED_TRACE(line.substr(0, 200));
  const auto fields = split(line, " | ");
  const auto& result = fields.back();
  const auto colon = result.find(':');
  const auto fingerprints = colon == std::string::npos ? split(result, " ") : std::vector<std::string>{};
  std::size_t at = 0;
  for (std::string text : alternatives(fields.at(2))) {
    const auto parsed = parse_problem(text.insert(text.find(' '), " f32"));
    const Problem problem(parsed.op, find_operator(parsed.op).bind(parsed.arguments));
    if (colon == std::string::npos) {
      EXPECT_EQ(fingerprint(problem, parsed.shape), std::stoull(fingerprints.at(at++), nullptr, 16)) << text;
      continue;
    }
    Dims out;
    for (const auto& extent : split(result.substr(0, colon), "x")) out.push_back(std::stoll(extent));
    const auto data = fields.size() == 5 ? numbers(fields[3]) : iota(parsed.shape);
    expect_values(problem, parsed.shape, data, out, numbers(result.substr(colon + 1)), types_of(fields.at(1)));
  }
  EXPECT_EQ(at, fingerprints.size());
}

class Vector : public testing::Test {
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
    testing::RegisterTest(names.at(0).c_str(), names.at(1).c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [lines = lines]() -> testing::Test* { return new Vector(lines); });
  }
  return true;
}();

}  // namespace
}  // namespace patchfold::vectors
