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

/// Returns the product of the extents, where an empty axis counts as one, since loops over the other axes may run even then.
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

Dims draw_dims(Random& random, int length, std::int64_t lowest, std::int64_t highest) {
  Dims dims;
  for (; length > 0; --length) dims.push_back(random.chance(95) ? random.between(lowest, highest) : draw_number(random));
  return dims;
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
  // Counts work that the shapes do not show: the positions and taps of coverage, and of problems whose tensors are empty.
  const bool hidden = text.op == "coverage" || element_count(text.shape) == 0 || element_count(output) == 0;
  return !hidden || std::all_of(text.arguments.begin(), text.arguments.end(),
                                [](const Argument& argument) { return is_moderate(argument.value); });
}

TilingSpec draw_tiling(Random& random) {
  TilingSpec spec;
  const int rank = static_cast<int>(random.between(1, 4));
  const int tiled = static_cast<int>(random.between(1, rank));
  spec.shape = draw_dims(random, rank, 0, 12);
  spec.tile = draw_dims(random, tiled, 1, 6);
  switch (random.between(0, 4)) {
    case 0: spec.overlap = draw_dims(random, tiled, -2, 4); break;
    case 1: spec.overlap = random.between(0, 3); break;
    case 2: spec.stride = draw_dims(random, tiled, 1, 6); break;
    case 3:
      for (int i = 0; i < tiled; ++i) spec.overlap_fraction.push_back(static_cast<double>(random.between(-1, 11)) / 10);
      break;
    default: break;
  }
  spec.tail = static_cast<Tail>(random.between(0, 5));
  spec.padding_mode = static_cast<PaddingMode>(random.between(0, 5));
  if (random.chance(30)) {
    for (int i = 0; i < tiled; ++i) spec.axes.push_back(random.chance(95) ? rank - tiled + i : draw_number(random));
  }
  if (random.chance(10)) spec.scale = {{draw_number(random), draw_number(random)}};
  if (random.chance(10)) spec.offset = draw_dims(random, tiled, -2, 2);
  if (random.chance(10)) spec.result = draw_dims(random, tiled, 1, 6);
  if (random.chance(20)) spec.margin = draw_dims(random, tiled, -2, 7);
  if (random.chance(20)) spec.margin_end = random.between(-2, 7);
  if (random.chance(10)) spec.output = draw_dims(random, tiled, 0, 12);
  return spec;
}

MergeSpec draw_merge(Random& random, const Tiling& tiling, DType dtype, std::size_t size) {
  MergeSpec spec;
  if (random.chance(90)) spec.reduce = static_cast<Reduce>(random.between(0, 6));
  spec.window.kind = static_cast<WeightWindow::Kind>(random.between(0, 9));
  if (random.chance(10)) spec.window.sigma_scale = static_cast<double>(random.between(-1, 100)) / 50;
  if (spec.window.kind == WeightWindow::Kind::axes)
    for (const auto extent : tiling.result()) {
      auto& weights = spec.window.axes.emplace_back();
      for (std::int64_t i = 0; i < std::min<std::int64_t>(extent, 100); ++i)
        weights.push_back(static_cast<double>(random.between(0, 20)));
    }
  if (spec.window.kind == WeightWindow::Kind::array && element_count(tiling.result()) < 2000)
    for (std::int64_t i = element_count(tiling.result()); i > 0; --i)
      spec.window.array.push_back(static_cast<double>(random.between(0, 20)));
  spec.dtype = dtype;
  spec.element_size = size;
  spec.channels = tiling.channels();
  if (random.chance(20)) spec.fill = testing::random_scalar(random, dtype);
  if (random.chance(20))
    for (std::int64_t i = 0; i < std::min<std::int64_t>(tiling.size(), 2000); ++i)
      spec.mask.push_back(static_cast<std::uint8_t>(random.chance(80)));
  spec.copy = random.chance(50);
  if (random.chance(10)) spec.memory_limit = draw_number(random);
  return spec;
}

bool is_small(const Tiling& tiling) {
  const double elements = steps(tiling.spec().shape);
  return elements < 20000 && steps(tiling.output()) * elements < 1e7 && steps(tiling.result()) < 20000 &&
         tiling.size() < 2000;
}

}  // namespace patchfold::fuzz
