// SPDX-License-Identifier: Apache-2.0
// Problems as one line of text.
#include <algorithm>
#include <cctype>
#include <string>

#include "base/fail.hpp"
#include "dialects/text.hpp"
#include "patchfold/table.hpp"

namespace patchfold {
namespace {

[[noreturn]] void refuse(std::string_view part, std::string_view given) {
  fail(ErrorCode::usage, "problem", part, "must read OP DTYPE SHAPE [ARGUMENT=VALUE]..", given.empty() ? "nothing" : given,
       "for example: unfold f32 8x64x112x112 k3x3 s1x1 d1x1 p1x1");
}

/// Removes the first word from the text and returns it.
std::string_view take_word(std::string_view& text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  text.remove_prefix(static_cast<std::size_t>(std::ranges::find_if_not(text, blank) - text.begin()));
  const auto length = static_cast<std::size_t>(std::ranges::find_if(text, blank) - text.begin());
  const std::string_view word = text.substr(0, length);
  text.remove_prefix(length);
  return word;
}

struct Short {
  char letter;
  std::string_view argument;
};
constexpr Short shorts[] = {{'k', "kernel_size"}, {'s', "stride"}, {'d', "dilation"}, {'p', "padding"}};

void take_dtype(ProblemText& problem, std::string_view word) {
  if (word.starts_with("opaque")) {
    const auto size = dialects::parse_integer(word.substr(6));
    if (!size || *size < 1) refuse("dtype", word);
    problem.dtype = DType::opaque;
    problem.element_size = static_cast<std::size_t>(*size);
    return;
  }
  const auto dtype = dtype_of(word);
  if (!dtype) refuse("dtype", word);
  problem.dtype = *dtype;
  problem.element_size = size_of(*dtype);
}

Argument take_argument(const OperatorSpec& op, std::string_view word) {
  const std::size_t equals = word.find('=');
  std::string_view name = word.substr(0, equals);
  std::string value(equals == std::string_view::npos ? "" : word.substr(equals + 1));
  if (equals == std::string_view::npos) {
    const auto* found = std::ranges::find(shorts, word.front(), &Short::letter);
    const bool has_no_value = dialects::find_argument(op, word) != nullptr;
    if (found == std::end(shorts) || has_no_value) refuse("argument", word);
    name = found->argument;
    value = word.substr(1);
    std::ranges::replace(value, 'x', ',');
  }
  const ArgumentSpec& spec = dialects::known_argument(op, name);
  return {std::string(spec.name), parse_value(op, spec, value)};
}

}  // namespace

ProblemText dialects::parse_problem_of(const OperatorSpec& op, std::string_view text) {
  ProblemText problem;
  problem.op = op.name;
  take_dtype(problem, take_word(text));
  const std::string_view shape = take_word(text);
  if (shape.empty()) refuse("shape", shape);
  if (shape != "-") {
    const auto extents = dialects::parse_list(shape, 'x');
    if (!extents || extents->empty() || shape.ends_with('x')) refuse("shape", shape);
    problem.shape = *extents;
  }
  for (std::string_view word = take_word(text); !word.empty(); word = take_word(text))
    problem.arguments.push_back(take_argument(op, word));
  return problem;
}

ProblemText parse_problem(std::string_view text) {
  const OperatorSpec& op = find_operator(take_word(text));
  return dialects::parse_problem_of(op, text);
}

std::string to_string(const ProblemText& problem) {
  std::string text = problem.op + ' ';
  text += problem.dtype == DType::opaque ? "opaque" + std::to_string(problem.element_size)
                                         : std::string(short_name_of(problem.dtype));
  text += ' ';
  for (int i = 0; i < problem.shape.size(); ++i) text += (i ? "x" : "") + std::to_string(problem.shape[i]);
  if (problem.shape.empty()) text += '-';
  for (const Argument& argument : problem.arguments) text += ' ' + argument.name + '=' + to_string(argument.value);
  return text;
}

}  // namespace patchfold
