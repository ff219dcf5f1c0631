// SPDX-License-Identifier: Apache-2.0
#include "cli/example.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

namespace patchfold::cli {
namespace {

/// Values worth trying for a required argument, the most telling first.
std::vector<std::string> candidates(const ArgumentSpec& argument) {
  const bool extents = argument.name.starts_with("output") || argument.name.starts_with("image");
  switch (argument.kind) {
    case ArgumentKind::integer: return {"2"};
    case ArgumentKind::axes:
    case ArgumentKind::integers:
      if (extents) return {"4,4"};
      return {"2,2", "1,1,2,2", "1,2,2,1", "1,2,2,2,1", "0,0", "0,0,0,0"};
    case ArgumentKind::pairs: return {"0:0,0:0"};
    case ArgumentKind::padding: return {"0"};
    case ArgumentKind::number: return {"1"};
    case ArgumentKind::boolean: return {"true"};
    case ArgumentKind::choice: return {argument.choices.begin(), argument.choices.end()};
  }
  return {};
}

class Search {
 public:
  explicit Search(const OperatorSpec& op) : op_(op) {
    for (const auto& argument : op.arguments)
      if (argument.required) required_.push_back(&argument);
    texts_.resize(required_.size());
  }

  bool find(const Dims& shape, std::size_t next = 0) {
    if (next == required_.size()) return accepted(shape);
    for (const auto& text : candidates(*required_[next])) {
      texts_[next] = text;
      if (find(shape, next + 1)) return true;
    }
    return false;
  }

  std::string options() const {
    std::string text;
    for (std::size_t i = 0; i < required_.size(); ++i) text += fmt::format(" --{} {}", required_[i]->name, texts_[i]);
    return text;
  }

 private:
  bool accepted(const Dims& shape) const try {
    std::vector<Argument> arguments;
    for (std::size_t i = 0; i < required_.size(); ++i)
      arguments.push_back({std::string(required_[i]->name), parse_value(op_, *required_[i], texts_[i])});
    return element_count(op_.bind(arguments).output_shape(shape)) > 0;
  } catch (const Error&) {
    return false;
  }

  const OperatorSpec& op_;
  std::vector<const ArgumentSpec*> required_;
  std::vector<std::string> texts_;
};

}  // namespace

Example example_of(const OperatorSpec& op) {
  const std::vector<Dims> columns = {{1, 4, 9}};
  const std::vector<Dims> images = {{1, 4, 4, 4}, {4, 4, 4, 4}, {1, 4, 4, 4, 4}, {1, 4, 9}};
  const std::string input = op.data_input.empty() ? "" : fmt::format(" {}.npy", op.data_input);
  Search search(op);
  for (const auto* shapes : op.data_input == "columns" ? std::vector{&columns, &images} : std::vector{&images})
    for (const Dims& shape : *shapes)
      if (search.find(shape))
        return {fmt::format("patchfold run {}{}{} -o output.npy", op.name, input, search.options()), search.options(),
                op.data_input.empty() ? Dims{} : shape};
  return {fmt::format("patchfold run {}{} .. -o output.npy", op.name, input), " ..", {}};
}

}  // namespace patchfold::cli
