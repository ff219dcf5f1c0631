// SPDX-License-Identifier: Apache-2.0
#include "wrong_problems.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace patchfold::inputs {

ProblemText right_problem(const OperatorSpec& op) {
  return parse_problem(std::string(op.name) + " " + std::string(op.example));
}

namespace {

/// Returns whether an argument's kind accepts a value's type.
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

/// Returns the value with one of its numbers replaced by `first`: the single number, or an entry of the list.
ArgumentValue with_first(const ArgumentValue& value, std::int64_t first) {
  if (const auto* list = std::get_if<Dims>(&value)) {
    Dims changed = *list;
    // Changes the last but one entry of a list, since the first and the last entry may be for the batch and the channels.
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
  Table(const OperatorSpec& op, const facts::Facts* known)
      : facts_(known), spec_(op), right_(right_problem(op)), lowering_(op.bind(right_.arguments).lower(right_.shape)) {}

  std::vector<Wrong> make() {
    add_axes();
    for (const ArgumentSpec& argument : spec_.arguments) {
      add_types(argument);
      if (is_integral(argument) && given(argument) != nullptr) add_numbers(argument);
    }
    add_names();
    if (facts_ != nullptr) add_facts();
    return std::move(wrong_);
  }

 private:
  void add(std::string what, ProblemText problem, std::vector<ErrorCode> codes, std::vector<std::string> arguments,
           bool has_text = true) {
    if (facts_ != nullptr && std::ranges::find(facts_->exempt, what, &facts::Exempt::what) != facts_->exempt.end()) {
      used_.push_back(what);
      return;
    }
    wrong_.push_back({std::move(what), std::move(problem), std::move(codes), std::move(arguments), has_text});
  }
  void add_cell(const std::string& what, const facts::Cell& cell, ErrorCode code) {
    if (!cell.reason.empty()) return;
    ProblemText problem = right_;
    ++problem.shape[cell.axis];
    add(what, problem, {code}, {std::string(spec_.data_input)});
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
  /// Returns the names of the data input and of all arguments: an error about lists may name any of them.
  std::vector<std::string> names() const {
    std::vector<std::string> all = {std::string(spec_.data_input)};
    for (const ArgumentSpec& argument : spec_.arguments) all.emplace_back(argument.name);
    return all;
  }

  /// Adds the mistakes that need facts of the operator.
  void add_facts() {
    if (facts_->more_axes == facts::refused) {
      ProblemText problem = right_;
      problem.shape = {1};
      problem.shape.append(right_.shape);
      add("axes above", problem, {ErrorCode::rank}, {std::string(spec_.data_input)});
    }
    add_cell("divisible", facts_->divisible, ErrorCode::divisible);
    add_cell("positions", facts_->positions, ErrorCode::position_count);
    for (const facts::Exempt& exempt : facts_->exempt)
      if (std::ranges::find(used_, exempt.what) == used_.end())
        throw std::logic_error(right_.op + " needs no exemption from " + std::string(exempt.what));
  }

  void add_axes() {
    const std::vector<std::string> data = {std::string(spec_.data_input)};
    for (const int rank : {0, 1}) {
      // Without facts, an operator without data or without arguments may accept any rank, and other operators may accept rank 1.
      if (facts_ == nullptr && (rank > 0 || spec_.data_input.empty() || spec_.arguments.empty())) continue;
      ProblemText problem = right_;
      problem.shape = Dims::filled(rank, 4);
      add("rank " + std::to_string(rank), problem, {ErrorCode::rank}, data, rank > 0);
    }
    // The extent is a multiple of the taps, so that it is valid for columns too.
    const std::int64_t large = (std::int64_t{1} << 40) / lowering_.geometry.taps * lowering_.geometry.taps;
    for (int axis = 0; axis < right_.shape.size(); ++axis) {
      ProblemText problem = right_;
      problem.shape[axis] = -1;
      add("negative extent " + std::to_string(axis), problem,
          {ErrorCode::value, ErrorCode::position_count, ErrorCode::divisible}, data, false);
      problem.shape = Dims::filled(right_.shape.size(), large);
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
        // An unknown word is a wrong value of the argument or, if it is read as text, a value of the wrong kind.
        add(what, with(argument.name, values[i]), {ErrorCode::value, ErrorCode::type}, named);
      }
    }
    if (argument.is_input)
      add(std::string(argument.name) + " of floats", with(argument.name, IndexTensor{{3, 3}, {2}, DType::float32}),
          {ErrorCode::type}, named, false);
  }

  /// Returns whether `names`, the names in an error such as "pads_begin, pads_end", contain the argument's name.
  static bool is_called(const ArgumentSpec& argument, std::string_view names) {
    return (", " + std::string(names) + ",").find(", " + std::string(argument.name) + ",") != std::string::npos;
  }

  void add_numbers(const ArgumentSpec& argument) {
    const std::string name(argument.name);
    const ArgumentValue& value = *given(argument);
    const ArgumentNames& called = lowering_.names;
    const bool is_step = is_called(argument, called.kernel_size) || is_called(argument, called.stride);
    if (facts_ != nullptr) add_lists(argument);
    if (facts_ != nullptr || is_step) add(name + " negative", with(name, with_first(value, -7)), {ErrorCode::value}, {name});
    if (facts_ != nullptr ? !is_called(argument, called.padding) : is_step)
      add(name + " zero", with(name, with_first(value, 0)), {ErrorCode::value, ErrorCode::position_count}, names());
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
    add(name + " largest", with(name, with_first(value, std::numeric_limits<std::int64_t>::max())),
        {ErrorCode::overflow, ErrorCode::value, ErrorCode::divisible, ErrorCode::position_count}, names());
  }

  void add_names() {
    ProblemText problem = right_;
    problem.arguments.push_back({"no_such_argument", std::int64_t{1}});
    add("unknown argument", problem, {ErrorCode::unknown_argument}, {"no_such_argument"});
    if (!right_.arguments.empty()) {
      const Argument& first = right_.arguments.front();
      problem = right_;
      problem.arguments.push_back(first);
      add("argument twice", problem, {ErrorCode::unknown_argument}, {first.name});
    }
    for (const ArgumentSpec& argument : spec_.arguments) {
      if (!argument.required) continue;
      problem = right_;
      std::erase_if(problem.arguments, [&](const Argument& each) { return each.name == argument.name; });
      add("without " + std::string(argument.name), problem, {ErrorCode::missing}, {std::string(argument.name)});
    }
  }

  const facts::Facts* facts_;
  const OperatorSpec& spec_;
  ProblemText right_;
  Lowering lowering_;
  std::vector<Wrong> wrong_{};
  std::vector<std::string> used_{};
};

}  // namespace

std::vector<Wrong> wrong_problems(const OperatorSpec& op, const facts::Facts* known) {
  return Table(op, known).make();
}

}  // namespace patchfold::inputs
