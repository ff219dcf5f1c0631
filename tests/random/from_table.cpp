// SPDX-License-Identifier: Apache-2.0
// Random problems of operators that have no generator of their own: the example of the row of the operator table, changed at
// random until the operator takes it. A new operator is tested by its row alone.
#include <algorithm>
#include <set>

#include "problem.hpp"

namespace patchfold::testing {
namespace {

constexpr int most_tries = 1000;

Dims draw_list(Random& random, int size, std::int64_t least) {
  Dims list;
  for (int i = 0; i < size; ++i) list.push_back(random.between(least, 4));
  return list;
}

/// A value of the argument's kind; many are refused.
ArgumentValue draw(Random& random, const ArgumentSpec& argument, int axes) {
  const std::int64_t least = argument.name.find("pad") == std::string_view::npos ? 1 : 0;
  switch (argument.kind) {
    case ArgumentKind::integer: return random.between(least, 4);
    case ArgumentKind::boolean: return random.between(0, 1);
    case ArgumentKind::number: return Scalar(random.between(-3, 3));
    case ArgumentKind::choice: return std::string(random.pick(argument.choices));
    case ArgumentKind::integers: return draw_list(random, axes, least);
    case ArgumentKind::axes:
      if (random.chance(30)) return random.between(least, 4);
      return draw_list(random, axes, least);
    case ArgumentKind::padding: return random.between(-1, 2);
    case ArgumentKind::pairs: break;
  }
  PadsList pairs;
  for (int i = 0; i < axes; ++i) pairs.push_back({random.between(0, 2), random.between(0, 2)});
  return pairs;
}

/// The first number that an error expects.
std::optional<std::int64_t> expected_number(const Error& error) {
  for (const ErrorValue::Part& part : error.parts().expected.parts())
    if (const auto* number = std::get_if<std::int64_t>(&part)) return *number;
  return std::nullopt;
}

/// The geometry, after columns got the number of rows and positions that errors ask for; nothing if that does not help.
std::optional<Geometry> fit(const BoundOperator& op, Dims& shape, Random& random) {
  for (int tries = 0; tries < 3; ++tries) {
    try {
      return op.lower(shape).geometry;
    } catch (const Error& error) {
      const auto number = expected_number(error);
      if (!number || *number < 0 || shape.size() < 2) return std::nullopt;
      if (error.code() == ErrorCode::divisible)
        shape[shape.size() - 2] = *number * random.between(1, 3);
      else if (error.code() == ErrorCode::position_count)
        shape.back() = *number;
      else
        return std::nullopt;
    }
  }
  return std::nullopt;
}

Problem make(const OperatorSpec& op, Random& random, const Request& request) {
  const ProblemText example = parse_problem(std::string(op.name) + " " + std::string(op.example));
  for (int tries = 0; tries < most_tries; ++tries) {
    const int rank = static_cast<int>(random.between(1, 3));
    Problem problem{.text = {std::string(op.name), request.type.dtype, request.type.size, {}, {}}};
    for (const ArgumentSpec& argument : op.arguments)
      if (argument.required || random.chance(60))
        problem.text.arguments.push_back({std::string(argument.name), draw(random, argument, rank)});
    Dims& shape = problem.text.shape;
    const int axes = std::max(0, example.shape.size() + static_cast<int>(random.between(-1, 1)));
    for (int axis = 0; axis < axes; ++axis) shape.push_back(random.between(random.chance(10) ? 0 : 1, 9));
    if (request.big)
      for (int axis = std::max(0, axes - 3); axis < axes; ++axis) shape[axis] *= random.between(4, 12);
    if (request.width > 0 && axes > 0) shape.back() = request.width;
    try {
      const auto geometry = fit(op.bind(problem.text.arguments), shape, random);
      if (!geometry || element_count(geometry->output) > (request.big ? 1 << 22 : 1 << 15)) continue;
      problem.features.insert("rank " + std::to_string(geometry->axes.size()));
      return problem;
    } catch (const Error&) {
      continue;  // drawn too wildly
    }
  }
  return {.text = {std::string(op.name), request.type.dtype, request.type.size, example.shape, example.arguments}};
}

}  // namespace

std::vector<Subject> subjects_from_table(std::span<const Subject> known) {
  std::vector<Subject> list;
  for (const OperatorSpec& op : operators()) {
    if (std::ranges::find(known, op.name, &Subject::op) != known.end()) continue;
    list.push_back({op.name, [&op](Random& random, const Request& request) { return make(op, random, request); }, op.sums,
                    /*lowest_rank=*/2, /*highest_rank=*/2});
  }
  return list;
}

}  // namespace patchfold::testing
