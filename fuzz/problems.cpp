// SPDX-License-Identifier: Apache-2.0
#include "fuzz/problems.hpp"

#include <algorithm>
#include <array>

#include "geometry.hpp"

namespace patchfold::fuzz {
namespace {

using testing::Random;

Dims draw_list(Random& random) {
  Dims list;
  for (auto length = random.between(0, random.chance(90) ? 5 : 32); length > 0; --length)
    list.push_back(draw_number(random));
  return list;
}

Scalar draw_scalar(Random& random) {
  return testing::random_scalar(random, random.pick(testing::all_types()).dtype);
}

ArgumentValue draw_value(Random& random, const OperatorSpec& spec) {
  switch (random.between(0, 6)) {
    case 0: return draw_number(random);
    case 1: return draw_list(random);
    case 2: {
      PadsList pads;
      for (auto length = random.between(0, 5); length > 0; --length)
        pads.push_back({draw_number(random), draw_number(random)});
      return pads;
    }
    case 3: return draw_scalar(random);
    case 4: return draw_text(random);
    case 5: {
      const ArgumentSpec& argument = random.pick(spec.arguments);
      return argument.choices.empty() ? std::string("same_upper") : std::string(random.pick(argument.choices));
    }
    default: return IndexTensor{draw_list(random), draw_list(random), random.pick(testing::all_types()).dtype};
  }
}

void change_shape(Random& random, Dims& shape) {
  const int axis = static_cast<int>(random.between(0, shape.size()));
  if (axis < shape.size() && random.chance(70)) {
    shape[axis] = draw_number(random);
    return;
  }
  Dims changed;
  const bool adds = random.chance(50) && shape.size() < 31;
  for (int i = 0; i <= shape.size(); ++i) {
    if (i == axis && adds) changed.push_back(draw_number(random));
    if (i < shape.size() && (i != axis || adds)) changed.push_back(shape[i]);
  }
  shape = changed;
}

void change(Random& random, ProblemText& text) {
  const OperatorSpec& spec = find_operator(text.op);
  auto& arguments = text.arguments;
  switch (random.between(0, 5)) {
    case 0:
    case 1:
      if (!arguments.empty()) {
        const auto which = random.between(0, static_cast<std::int64_t>(arguments.size()) - 1);
        arguments[static_cast<std::size_t>(which)].value = draw_value(random, spec);
      }
      break;
    case 2:
      if (!arguments.empty())
        arguments.erase(arguments.begin() + random.between(0, static_cast<std::int64_t>(arguments.size()) - 1));
      break;
    case 3: {
      const bool is_known = random.chance(80) && !spec.arguments.empty();
      arguments.push_back(
          {is_known ? std::string(random.pick(spec.arguments).name) : draw_text(random), draw_value(random, spec)});
      break;
    }
    case 4: change_shape(random, text.shape); break;
    default: {
      const auto type = random.pick(testing::all_types());
      text.dtype = type.dtype;
      text.element_size = type.size;
    }
  }
}

/// Returns the number of elements, counting empty axes as one: loops over the other axes may still run.
double steps(const Dims& shape) {
  double product = 1;
  for (const auto extent : shape) product *= static_cast<double>(std::max<std::int64_t>(extent, 1));
  return product;
}

bool is_moderate(std::int64_t number) {
  return number > -4096 && number < 4096;
}

bool is_moderate(const ArgumentValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return is_moderate(*number);
  if (const auto* list = std::get_if<Dims>(&value))
    return std::all_of(list->begin(), list->end(), [](auto n) { return is_moderate(n); });
  return true;
}

}  // namespace

std::int64_t draw_number(Random& random) {
  if (random.chance(85)) return random.between(-3, 12);
  constexpr std::array bits = {7, 8, 15, 16, 31, 32, 53, 60, 62, 63};
  const auto edge = std::uint64_t{1} << random.pick(bits);
  return static_cast<std::int64_t>((random.chance(50) ? edge : 0 - edge) +
                                   static_cast<std::uint64_t>(random.between(-2, 2)));
}

std::string draw_text(Random& random) {
  std::string text;
  for (auto length = random.between(0, 12); length > 0; --length) text += static_cast<char>(random.between(0, 255));
  return text;
}

DrawnProblem draw_problem(Random& random) {
  const testing::Subject& subject = testing::subjects()[static_cast<std::size_t>(
      random.between(0, static_cast<std::int64_t>(testing::subjects().size()) - 1))];
  const auto types = subject.sums ? testing::summable_types() : testing::all_types();
  DrawnProblem drawn;
  drawn.problem = subject.make(random, {random.pick(types), false});
  drawn.sums = subject.sums;
  if (random.chance(40)) {
    drawn.is_legal = false;
    for (auto changes = random.between(1, 3); changes > 0; --changes) change(random, drawn.problem.text);
  }
  return drawn;
}

bool is_small(const ProblemText& text, const Dims& output) {
  constexpr double most = 20000;
  if (steps(text.shape) > most || steps(output) > most) return false;
  // Counts the work that shapes do not show: positions and taps of coverage, and of problems without elements.
  const bool hidden = text.op == "coverage" || element_count(text.shape) == 0 || element_count(output) == 0;
  return !hidden || std::all_of(text.arguments.begin(), text.arguments.end(),
                                [](const Argument& argument) { return is_moderate(argument.value); });
}

}  // namespace patchfold::fuzz
