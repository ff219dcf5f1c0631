// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs.hpp"

#include <algorithm>
#include <filesystem>

#include "cli/report.hpp"
#include "cli/text.hpp"
#include "formats/picture.hpp"
#include "patchfold/operators.hpp"

namespace patchfold::cli {
namespace {

/// Returns the argument that sets the operator's layout; null if there is none.
const ArgumentSpec* layout_of(const OperatorSpec& op) {
  const auto argument = std::ranges::find_if(
      op.arguments, [](const ArgumentSpec& spec) { return spec.name == "layout" || spec.name == "data_format"; });
  return argument == op.arguments.end() ? nullptr : &*argument;
}

bool is_last(std::string_view word) {
  return word == "channels_last" || word == "NHWC";
}

/// Turns a single number for the kernel or the block into two, one for each spatial axis of a picture.
void spread_numbers(RunRequest& request) {
  for (Argument& argument : request.arguments)
    if (argument.name == "kernel_size" || argument.name == "block")
      if (const auto* number = std::get_if<std::int64_t>(&argument.value)) argument.value = Dims{*number, *number};
}

}  // namespace

void settle_layout(RunRequest& request) {
  const OperatorSpec& op = *request.op;
  const bool in = request.data.kind == Source::Kind::picture;
  // Coverage has no channels, and reorder works on columns, so neither has a layout.
  if ((!in && !formats::is_picture_path(request.output)) || op.data_input.empty()) return;
  if (op.neutral == Copy::name) return;  // copy takes either layout
  if (in && op.dialect == "neutral") spread_numbers(request);
  const std::string file = std::filesystem::path(in ? request.data.path : request.output).filename().string();
  const auto refuse = [&](std::string_view but, std::string_view hint) {
    fail_usage(
        op.name, file,
        text_of("is ", in ? "read" : "written", " as ", request.chw ? "C x H x W with --chw" : "H x W x C", ", but ", but),
        {}, {}, hint);
  };
  if (!request.batch && (op.neutral.starts_with("space_to_batch") || op.neutral.starts_with("batch_to_space")))
    fail_usage(op.name, file, "has no batch axis, which the operator needs", {}, {}, "add --batch");
  const ArgumentSpec* const layout = layout_of(op);
  if (layout == nullptr) {
    const bool last = op.neutral.find("layout=channels_last") != std::string::npos;
    if (last == request.chw)
      refuse(text_of("the operator takes ", last ? "H x W x C" : "C x H x W"), last ? "leave --chw out" : "add --chw");
    return;
  }
  const auto fits = [&](std::string_view word) { return is_last(word) != request.chw; };
  const auto given = std::ranges::find(request.arguments, layout->name, &Argument::name);
  if (given == request.arguments.end()) {
    request.arguments.push_back({std::string(layout->name), std::string(*std::ranges::find_if(layout->choices, fits))});
  } else if (const std::string& word = std::get<std::string>(given->value); !fits(word)) {
    refuse(text_of("--", layout->name, " is ", word), request.chw ? text_of("leave --chw or --", layout->name, " out")
                                                                  : text_of("add --chw, or leave --", layout->name, " out"));
  }
}

RunRequest with_other_layout(const RunRequest& request) {
  RunRequest other = request;
  other.bound.reset();
  const ArgumentSpec* const layout = layout_of(*request.op);
  for (Argument& argument : other.arguments)
    if (layout != nullptr && argument.name == layout->name) {
      const std::string word = std::get<std::string>(argument.value);
      argument.value = std::string(*std::ranges::find_if(layout->choices, [&](std::string_view w) { return w != word; }));
    }
  return other;
}

}  // namespace patchfold::cli
