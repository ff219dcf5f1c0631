// SPDX-License-Identifier: Apache-2.0
#include "cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/report.hpp"
#include "cli/text.hpp"
#include "cli/tile_options.hpp"
#include "system/terminal.hpp"

namespace patchfold::cli {
namespace {

/// Returns the words with --name=value split into two, underscores for dashes in names of arguments, and the new name for
/// each old name. Writes a note about each old name to standard error.
std::vector<std::string> normalise(const std::vector<std::string>& words, const OperatorSpec& op) {
  std::vector<std::string> result;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    std::string name = word.substr(0, equals);
    if (name.starts_with("--")) std::replace(name.begin() + 2, name.end(), '-', '_');
    const std::string_view plain = name.starts_with("--") ? std::string_view(name).substr(2) : std::string_view();
    const auto argument = std::find_if(op.arguments.begin(), op.arguments.end(), [&](const ArgumentSpec& spec) {
      return !plain.empty() && (spec.name == plain || spec.old_name == plain);
    });
    const bool known = argument != op.arguments.end();
    if (known && argument->name != plain) {
      note(fmt::format("patchfold: --{} is now called --{}; the old name works until 1.0\n", plain, argument->name));
      name = fmt::format("--{}", argument->name);
    }
    result.push_back(known ? name : word);
    if (known && equals != std::string::npos) result.push_back(word.substr(equals + 1));
  }
  return result;
}

std::string describe(const ArgumentSpec& argument) {
  std::string text(argument.doc);
  if (argument.required) text += text.empty() ? "required" : "; required";
  if (!argument.default_text.empty()) text += fmt::format("{}default {}", text.empty() ? "" : "; ", argument.default_text);
  return text;
}

/// Returns how help texts show a value of this argument: "N", "N,..", "true|false".
std::string placeholder(const ArgumentSpec& argument) {
  switch (argument.kind) {
    case ArgumentKind::integer: return "N";
    case ArgumentKind::integers: return "N,..";
    case ArgumentKind::axes: return "N or N,..";
    case ArgumentKind::pairs: return "B:E,..";
    case ArgumentKind::padding: return "PADDING";
    case ArgumentKind::number: return "NUMBER";
    case ArgumentKind::boolean: return "true|false";
    case ArgumentKind::choice: return fmt::format("{}", fmt::join(argument.choices, "|"));
  }
  return "VALUE";
}

/// Returns the values that shells offer for an argument.
std::vector<std::string> words_of(const ArgumentSpec& argument) {
  if (argument.kind == ArgumentKind::boolean) return {"true", "false"};
  if (argument.kind == ArgumentKind::padding) return {"valid", "same_upper", "same_lower"};
  return {argument.choices.begin(), argument.choices.end()};
}

}  // namespace

Example example_of(const OperatorSpec& op) {
  const ProblemText problem = parse_problem(text_of(op.name, " ", op.example));
  Example example;
  for (const auto& [name, value] : problem.arguments) example.options += text_of(" --", name, " ", to_string(value));
  const std::string input = op.data_input.empty() ? "" : text_of(" ", op.data_input, ".npy");
  example.command = text_of("patchfold run ", op.name, input, example.options, " -o output.npy");
  example.shape = problem.shape;
  example.output = op.bind(problem.arguments).output_shape(problem.shape);
  return example;
}

void add_reporting(Command& command, Reporting& reporting) {
  const auto quiet = command.flag("-q,--quiet", reporting.quiet, "print nothing on success");
  const auto json = command.flag("--json", reporting.json, "print the report, and an error, as JSON");
  command.excludes(json, quiet);
}

void add_threads(Command& command, int& threads) {
  command.option("--threads", threads, 0, 1 << 16, "N", "threads to use; 0: as many as the machine has");
}

void add_format(Command& command, std::string& format) {
  command.choices(command.option("--format", format, "FORMAT",
                                 text_of("of a result whose name does not say it, such as -: ",
                                         listed_words<formats::FileFormat>(), "; default npy")),
                  choices_of<formats::FileFormat>());
}

formats::FileFormat format_of_output(std::string_view command, std::string_view option, const std::string& output,
                                     const std::string& format) {
  const auto named = formats::format_of_name(output);
  std::optional<formats::FileFormat> chosen;
  if (!format.empty()) chosen = choice_of<formats::FileFormat>(command, "--format", format);
  if (named && chosen && *named != *chosen)
    fail_usage(command, "--format", text_of("must not contradict the name of ", option), format, output);
  const int stream = formats::standard_descriptor(output, 1);
  if (stream >= 0 && system::is_terminal(stream))
    fail_usage(command, option, "is a terminal, which cannot show binary data", output_name(output),
               "a redirection or a pipe, .. > FILE, or the name of a file");
  if (named || chosen) return named ? *named : *chosen;
  if (stream < 0 && !formats::is_device_name(output))
    fail_usage(command, option, "must end in .npy, .png, .jpg, .jpeg, .tif or .tiff", output,
               "such a name, or --format, which says what it is");
  return formats::FileFormat::npy;
}

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (const DType each : dtypes())
    if (each != DType::opaque) names.emplace_back(name_of(each));
  return names;
}

std::optional<DType> parse_dtype(std::string_view command, std::string_view option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto dtype = dtype_of(text);
  if (dtype && *dtype != DType::opaque) return dtype;
  fail_usage(command, option, "must be an element type", text, fmt::format("{}", fmt::join(dtype_names(), ", ")));
}

ArgumentValue parse_argument(std::string_view command, std::string_view option, ArgumentKind kind, const std::string& text) {
  OperatorSpec op;
  op.name = command;
  return parse_value(op, {.name = option, .kind = kind}, text);
}

OperatorOptions::OperatorOptions(Command& command, const OperatorSpec& op)
    : command_(command), op_(op), values_(op.arguments.size()) {
  for (std::size_t i = 0; i < op.arguments.size(); ++i) {
    const ArgumentSpec& argument = op.arguments[i];
    options_.push_back(command.option(fmt::format("--{}", argument.name), values_[i], placeholder(argument),
                                      describe(argument), "Arguments"));
    command.choices(options_.back(), words_of(argument));
  }
  command.keep_unknown();
}

std::string OperatorOptions::parse(const std::vector<std::string>& words) {
  const std::vector<std::string> normal = normalise(words, op_);
  for (const auto& argument : op_.arguments)
    if (const std::string name = fmt::format("--{}", argument.name); std::count(normal.begin(), normal.end(), name) > 1)
      throw Error({ErrorCode::unknown_argument, std::string(op_.name), name, "must be given only once", "", ""});
  if (auto help = command_.parse(normal); !help.empty()) return help;
  if (const auto extras = command_.remaining(); !extras.empty()) {
    const std::string name = extras.front().substr(0, extras.front().find('='));
    throw Error({ErrorCode::unknown_argument,
                 std::string(op_.name),
                 name,
                 "is not an argument of this operator",
                 {},
                 {},
                 command_.option_hint(name)});
  }
  return {};
}

std::vector<Argument> OperatorOptions::arguments() const {
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < op_.arguments.size(); ++i)
    if (given(i)) arguments.push_back({std::string(op_.arguments[i].name), parse_value(op_, op_.arguments[i], values_[i])});
  return arguments;
}

}  // namespace patchfold::cli
