// SPDX-License-Identifier: Apache-2.0
// Lists the generators of all operators. For an operator without a generator of its own, changes the example in its row of
// the operator table at random. If the operator refuses a change, the error tells which argument to restore or which extent
// to change. So a new operator is tested as soon as it has a row.
#include <algorithm>
#include <memory>
#include <numeric>

#include "geometry.hpp"
#include "problem.hpp"

namespace patchfold::testing {
namespace {

constexpr int most_tries = 200;
constexpr int most_repairs = 24;

class Maker {
 public:
  explicit Maker(const OperatorSpec& op)
      : op_(op),
        example_(parse_problem(std::string(op.name) + " " + std::string(op.example))),
        lowering_(op.bind(example_.arguments).lower(example_.shape)) {}

  int rank() const { return lowering_.geometry.axes.size(); }

  Problem make(Random& random, const Request& request) const {
    for (int tries = 0; tries < most_tries; ++tries) {
      Draw draw{.random = random, .request = request, .text = example_};
      draw.text.dtype = request.type.dtype;
      draw.text.element_size = request.type.size;
      // Some problems have one spatial axis more or less than the example.
      draw.rank = rank() + (random.chance(25) ? static_cast<int>(random.between(-1, 1)) : 0);
      change(draw);
      const auto geometry = repair(draw);
      if (!geometry) continue;
      const std::int64_t least = request.big || request.width > 0 ? 1 : 0;
      const std::int64_t output = element_count(geometry->output);
      const std::int64_t data = geometry->has_data ? element_count(geometry->data) : least;
      if (std::min(data, output) < least || std::max(data, output) > most_elements(request)) continue;
      leave_out_fills(draw.text);
      return {.text = draw.text, .features = {"rank " + std::to_string(geometry->axes.size())}};
    }
    Problem unchanged{.text = example_, .features = {std::string(unchanged_example)}};
    unchanged.text.dtype = request.type.dtype;
    unchanged.text.element_size = request.type.size;
    leave_out_fills(unchanged.text);
    return unchanged;
  }

 private:
  struct Draw {
    Random& random;
    const Request& request;
    ProblemText text;
    int rank = 0;
  };

  /// Returns whether the argument is among `names`, which may be several names in one text: "pads_begin, pads_end".
  static bool is_called(std::string_view argument, std::string_view names) {
    return (", " + std::string(names) + ",").find(", " + std::string(argument) + ",") != std::string::npos;
  }
  const Argument* of_example(std::string_view argument) const {
    const auto found = std::ranges::find(example_.arguments, argument, &Argument::name);
    return found == example_.arguments.end() ? nullptr : &*found;
  }

  /// Leaves out fills that the element type cannot represent.
  void leave_out_fills(ProblemText& text) const {
    const auto view = [&](const Dims& shape) {
      return TensorView{nullptr, shape, contiguous_strides(shape, text.element_size), text.dtype, text.element_size};
    };
    const Lowering lowering = op_.bind(text.arguments).lower(text.shape);
    try {
      lowering.plan(view(text.shape), view(lowering.geometry.output));
    } catch (const Error&) {
      std::erase_if(text.arguments, [](const Argument& each) { return std::holds_alternative<Scalar>(each.value); });
    }
  }

  void change(Draw& draw) const {
    draw.text.arguments.clear();
    for (const ArgumentSpec& argument : op_.arguments) {
      const Argument* shown = of_example(argument.name);
      if (!argument.required && !draw.random.chance(shown != nullptr ? 80 : 40)) continue;
      draw.text.arguments.push_back({std::string(argument.name), draw_value(draw, argument, shown)});
    }
    change_shape(draw);
  }

  /// Sets the shape of the example, with the last axis repeated or left out for another rank.
  void take_shape(Draw& draw) const {
    Dims& shape = draw.text.shape;
    shape = example_.shape;
    if (shape.empty()) return;
    for (int more = draw.rank - rank(); more > 0; --more) shape.push_back(shape.back());
    if (draw.rank < rank()) shape = shape.slice(0, std::max(0, shape.size() + draw.rank - rank()));
  }

  void change_shape(Draw& draw) const {
    Random& random = draw.random;
    take_shape(draw);
    Dims& shape = draw.text.shape;
    if (shape.empty()) return;
    // In some cases the first axis is left out, or the last axis is repeated.
    if (random.chance(15)) shape = shape.slice(shape.size() > 1 ? 1 : 0, shape.size());
    if (random.chance(10) && shape.size() < max_rank) shape.push_back(shape.back());
    for (std::int64_t& extent : shape)
      if (random.chance(60)) extent = random.between(random.chance(10) ? 0 : 1, 12);
    if (draw.request.big)
      for (int axis = std::max(0, shape.size() - 3); axis < shape.size(); ++axis)
        shape[axis] = std::max<std::int64_t>(shape[axis], 1) * random.between(4, 12);
    if (draw.request.width > 0) {
      for (std::int64_t& extent : shape) extent = std::max<std::int64_t>(extent, 1);
      shape.back() = draw.request.width;
    }
  }

  /// Returns a random number for the argument, similar to the number in the example.
  std::int64_t draw_number(Draw& draw, std::string_view argument, std::optional<std::int64_t> shown) const {
    Random& random = draw.random;
    const bool is_image = is_called(argument, lowering_.names.output_size) && !is_called(argument, lowering_.names.stride);
    if (is_image && draw.request.big) return random.between(4, 12) * random.between(4, 12);
    if (is_image && draw.request.width > 0) return random.chance(50) ? draw.request.width : random.between(1, 12);
    if (shown && random.chance(60)) return *shown;
    if (is_image) return random.between(1, 12);
    return random.between(is_called(argument, lowering_.names.padding) ? 0 : 1, 4);
  }

  /// Returns the length of a list for the drawn rank, from its length in the example.
  int draw_length(Draw& draw, int shown) const {
    if (draw.rank == rank() || rank() == 0) return shown;
    // Lists of begins and ends grow by two entries for each axis, other lists by one.
    if (shown == 2 * rank() && draw.random.chance(50)) return 2 * draw.rank;
    return std::max(0, shown + draw.rank - rank());
  }

  Dims draw_list(Draw& draw, std::string_view argument, const Dims& shown) const {
    Dims list;
    const int length = draw_length(draw, shown.size());
    // Entries for the batch and the channels remain at the ends of the list.
    for (int i = 0; i < length && i < max_rank; ++i) {
      const int like = i < shown.size() / 2 ? i : std::max(0, shown.size() - (length - i));
      list.push_back(draw_number(draw, argument, like < shown.size() ? std::optional(shown[like]) : std::nullopt));
    }
    return list;
  }

  ArgumentValue draw_value(Draw& draw, const ArgumentSpec& argument, const Argument* shown) const {
    Random& random = draw.random;
    const ArgumentValue* value = shown == nullptr ? nullptr : &shown->value;
    const auto* number = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
    const auto* list = value == nullptr ? nullptr : std::get_if<Dims>(value);
    switch (argument.kind) {
      case ArgumentKind::integer:
        return draw_number(draw, argument.name, number == nullptr ? std::nullopt : std::optional(*number));
      case ArgumentKind::boolean: return random.between(0, 1);
      case ArgumentKind::number: return Scalar(random.between(-3, 3));
      case ArgumentKind::choice: return std::string(random.pick(argument.choices));
      case ArgumentKind::axes:
        if (random.chance(30)) return draw_number(draw, argument.name, std::nullopt);
        break;
      case ArgumentKind::padding:
        if (random.chance(20)) return random.between(-1, 2);
        [[fallthrough]];
      case ArgumentKind::pairs: {
        const auto* pairs = value == nullptr ? nullptr : std::get_if<PadsList>(value);
        PadsList all;
        for (int i = draw_length(draw, pairs == nullptr ? rank() : pairs->size()); i > 0; --i)
          all.push_back({random.between(0, 2), random.between(0, 2)});
        return all;
      }
      case ArgumentKind::integers: break;
    }
    return draw_list(draw, argument.name, list == nullptr ? Dims::filled(rank(), 1) : *list);
  }

  /// Returns the geometry of the drawn problem, after restoring or changing what errors name; nothing if that fails.
  std::optional<patchfold::Geometry> repair(Draw& draw) const {
    for (int repairs = 0; repairs < most_repairs; ++repairs) {
      try {
        return op_.bind(draw.text.arguments).lower(draw.text.shape).geometry;
      } catch (const Error& error) {
        if (!take_back(draw, error) && !fit_rank(draw, error) && !fit_extent(draw, error)) return std::nullopt;
      }
    }
    return std::nullopt;
  }

  /// Restores the example's values of the arguments that the error names. Returns whether the error names an argument.
  bool take_back(Draw& draw, const Error& error) const {
    bool found = false;
    for (const ArgumentSpec& argument : op_.arguments) {
      if (!is_called(argument.name, error.argument())) continue;
      found = true;
      std::erase_if(draw.text.arguments, [&](const Argument& each) { return each.name == argument.name; });
      if (const Argument* shown = of_example(argument.name)) draw.text.arguments.push_back(*shown);
    }
    // For another rank the example's lists are too short or too long, so the example's rank is restored too.
    if (found && draw.rank != rank() && (error.code() == ErrorCode::length || error.code() == ErrorCode::rank)) {
      draw.rank = rank();
      change(draw);
    }
    return found;
  }

  bool fit_rank(Draw& draw, const Error& error) const {
    if (error.code() != ErrorCode::rank) return false;
    if (draw.text.shape.size() == example_.shape.size() + draw.rank - rank()) {
      draw.rank = rank();
      change(draw);
    }
    take_shape(draw);
    return true;
  }

  /// Changes one extent of the data so that the error disappears or changes. Returns whether there is such an extent.
  bool fit_extent(Draw& draw, const Error& error) const {
    Dims& shape = draw.text.shape;
    Dims order = shape;
    std::iota(order.begin(), order.end(), 0);
    for (int i = order.size() - 1; i > 0; --i) std::swap(order[i], order[static_cast<int>(draw.random.between(0, i))]);
    std::optional<Dims> other;
    for (const std::int64_t place : order) {
      const int axis = static_cast<int>(place);
      for (const std::int64_t extent : candidates(draw, error, shape[axis])) {
        Dims changed = shape;
        changed[axis] = extent;
        try {
          op_.bind(draw.text.arguments).lower(changed);
          shape = changed;
          return true;
        } catch (const Error& next) {
          if (!other && next.rule() != error.rule()) other = changed;
          if (!other && draw.random.chance(20) && next.given() != error.given()) other = changed;
        }
      }
    }
    if (other) shape = *other;
    return other.has_value();
  }

  /// Returns extents that may satisfy an error: the numbers that it expects, multiples of them, and the next larger extents.
  static std::vector<std::int64_t> candidates(Draw& draw, const Error& error, std::int64_t extent) {
    std::vector<std::int64_t> all;
    for (const ErrorValue::Part& part : error.parts().expected.parts()) {
      if (const auto* number = std::get_if<std::int64_t>(&part))
        all.insert(all.end(), {*number * draw.random.between(1, 3), *number});
      if (const auto* numbers = std::get_if<Dims>(&part)) all.insert(all.end(), numbers->begin(), numbers->end());
    }
    for (int step = 1; step <= 4; ++step) all.push_back(extent + step);
    return all;
  }

  const OperatorSpec& op_;
  ProblemText example_;
  Lowering lowering_;
};

}  // namespace

std::vector<Subject> subjects_from_table(std::span<const Subject> known) {
  std::vector<Subject> list;
  for (const OperatorSpec& op : operators()) {
    if (std::ranges::find(known, op.name, &Subject::op) != known.end()) continue;
    const auto maker = std::make_shared<const Maker>(op);
    list.push_back({op.name, [maker](Random& random, const Request& request) { return maker->make(random, request); },
                    op.sums, /*lowest_rank=*/maker->rank(), /*highest_rank=*/maker->rank()});
  }
  return list;
}

std::span<const Subject> subjects() {
  static const std::vector<Subject> all = [] {
    std::vector<Subject> list = window_subjects();
    for (auto& subject : block_subjects()) list.push_back(std::move(subject));
    for (auto& subject : subjects_from_table(list)) list.push_back(std::move(subject));
    return list;
  }();
  return all;
}

}  // namespace patchfold::testing
