// SPDX-License-Identifier: Apache-2.0
#include "cli/ops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/command.hpp"
#include "cli/example.hpp"
#include "cli/report.hpp"

namespace patchfold::cli {
namespace {

using Text = std::back_insert_iterator<std::string>;

/// Calls f(dialect) before the first operator of each dialect, and g(op) for each operator.
template <class F, class G>
void for_each_operator(F&& f, G&& g) {
  for (const DialectSpec& dialect : all_dialects()) {
    f(dialect);
    for (const OperatorSpec& op : operators())
      if (op.dialect == dialect.name) g(op);
  }
}

bool is_neutral(const OperatorSpec& op) {
  return op.neutral.starts_with(op.name);
}

std::string default_of(const ArgumentSpec& argument) {
  if (argument.required) return "required";
  return argument.default_text.empty() ? "optional" : "default " + argument.default_text;
}

std::string kind_of(const ArgumentSpec& argument) {
  return fmt::format("{}{}", name_of(argument.kind), argument.is_input ? ", input" : "");
}

std::string_view index_types_of(const OperatorSpec& op) {
  const bool has_inputs = std::any_of(op.arguments.begin(), op.arguments.end(), [](const auto& a) { return a.is_input; });
  if (!has_inputs) return {};
  switch (op.index_types) {
    case IndexTypes::int64: return "int64";
    case IndexTypes::int32_or_int64: return "int32 or int64";
    case IndexTypes::same_int32_or_int64: return "int32 or int64, the same for all";
    case IndexTypes::integral: return "any integer type";
    case IndexTypes::same_integral: return "any integer type, the same for all";
  }
  return {};
}

std::string list() {
  std::size_t width = 0;
  for (const auto& op : operators()) width = std::max(width, op.name.size());
  std::string text;
  for_each_operator(
      [&](const DialectSpec& dialect) {
        fmt::format_to(Text(text), "{}{}: {}\n", text.empty() ? "" : "\n", dialect.name, dialect.doc);
      },
      [&](const OperatorSpec& op) { fmt::format_to(Text(text), "  {:{}}  {}\n", op.name, width, op.doc); });
  text += "\n`patchfold ops OP` shows the arguments of one; a version may be left out and means the newest.\n";
  return text;
}

/// Lines of columns, each as wide as its widest cell.
std::string columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) fmt::format_to(Text(line), "  {:{}}", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string show(const OperatorSpec& op) {
  std::string text = fmt::format("{}\n  {}\n\n", op.name, op.doc);
  fmt::format_to(Text(text), "Definition: {}\n", op.definition);
  fmt::format_to(Text(text), "Data input: {}\n", op.data_input.empty() ? "none" : op.data_input);
  if (const auto types = index_types_of(op); !types.empty()) fmt::format_to(Text(text), "Shape inputs: {}\n", types);
  if (!is_neutral(op)) fmt::format_to(Text(text), "Neutral operator of the example: {}\n", op.neutral);
  text += "\nArguments:\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& argument : op.arguments) {
    rows.push_back({fmt::format("--{}", argument.name), kind_of(argument), default_of(argument), std::string(argument.doc)});
    if (!argument.choices.empty()) rows.push_back({"", "", "", fmt::format("one of {}", fmt::join(argument.choices, ", "))});
  }
  text += columns(rows);
  const Example example = example_of(op);
  fmt::format_to(Text(text), "\nExample:\n  {}\n", example.command);
  if (!op.data_input.empty())
    fmt::format_to(Text(text), "  with {}.npy of shape {}\n", op.data_input, shape_text(example.shape));
  return text;
}

std::string cell(std::string_view text) {
  std::string result;
  for (const char c : text) (c == '|' ? result += "\\|" : result += c);
  return result;
}

std::string markdown(const OperatorSpec& op) {
  std::string text = fmt::format("\n### {}\n\n{}\n\n* Definition: {}\n* Data input: {}\n", op.name, op.doc, op.definition,
                                 op.data_input.empty() ? "none" : fmt::format("`{}`", op.data_input));
  if (const auto types = index_types_of(op); !types.empty()) fmt::format_to(Text(text), "* Shape inputs: {}\n", types);
  if (!is_neutral(op)) fmt::format_to(Text(text), "* Neutral operator of the example: `{}`\n", op.neutral);
  text += "\n| argument | kind | | meaning |\n|---|---|---|---|\n";
  for (const auto& argument : op.arguments) {
    const auto words = argument.choices.empty() ? "" : fmt::format("; one of `{}`", fmt::join(argument.choices, "`, `"));
    fmt::format_to(Text(text), "| `{}` | {} | {} | {}{} |\n", argument.name, kind_of(argument), cell(default_of(argument)),
                   cell(argument.doc), words);
  }
  fmt::format_to(Text(text), "\n    {}\n", example_of(op).command);
  return text;
}

std::string markdown() {
  std::string text =
      R"(<!-- Written by `patchfold ops --markdown > docs/operators.md`. -->
# Operators

Every operator of the operator table, with its arguments. The [glossary](glossary.md) explains the words, and
[dialects.md](dialects.md#each-operator-is-one-setting-of-a-neutral-operator) the neutral operators' options. On the command line
values are written like this:

| kind | value |
|---|---|
| `integer` | `3` |
| `integers` | a list: `3,5` |
| `axes` | one number for every spatial axis, `3`, or a list: `3,5` |
| `pairs` | a list of begin:end: `1:2,0:1` |
| `padding` | `valid`, `same_upper`, `same_lower`, or any of the forms above |
| `number` | `1.5`, `-3`, `nan`, `inf`, `1+2j` |
| `boolean` | `true` or `false` |
| `choice` | one of the words in the row of the argument |

An argument that is an input may also be given as a tensor: a .npy file after the data.
)";
  for_each_operator(
      [&](const DialectSpec& dialect) {
        fmt::format_to(Text(text), "\n## {}\n\n{} Definition: {}\n", dialect.name, dialect.doc, dialect.definition);
      },
      [&](const OperatorSpec& op) { text += markdown(op); });
  return text;
}

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < ' ')
      fmt::format_to(Text(result), "\\u{:04x}", c);
    else
      result += c;
  }
  return result + "\"";
}

template <class Range, class F>
std::string json_list(const Range& range, F&& item) {
  std::string text;
  for (const auto& each : range) text += (text.empty() ? "" : ", ") + item(each);
  return "[" + text + "]";
}

std::string json_of(const ArgumentSpec& argument) {
  return fmt::format(
      "\n    {{\"name\": {}, \"kind\": {}, \"input\": {}, \"required\": {}, \"default\": {}, \"choices\": {}, \"doc\": {}}}",
      json_string(argument.name), json_string(name_of(argument.kind)), argument.is_input, argument.required,
      argument.default_text.empty() ? "null" : json_string(argument.default_text),
      json_list(argument.choices, [](std::string_view word) { return json_string(word); }), json_string(argument.doc));
}

std::string json() {
  const auto item = [](const OperatorSpec& op) {
    const auto types = index_types_of(op);
    return fmt::format(
        "\n  {{\"name\": {}, \"dialect\": {}, \"doc\": {}, \"definition\": {}, \"data_input\": {}, \"shape_inputs\": {},\n"
        "   \"neutral\": {}, \"example\": {}, \"arguments\": {}}}",
        json_string(op.name), json_string(op.dialect), json_string(op.doc), json_string(op.definition),
        op.data_input.empty() ? "null" : json_string(op.data_input), types.empty() ? "null" : json_string(types),
        json_string(op.neutral), json_string(example_of(op).command), json_list(op.arguments, json_of));
  };
  return json_list(operators(), item) + "\n";
}

}  // namespace

void run_ops(const std::vector<std::string>& words) {
  Command command("Lists the operators, or shows one with its arguments.", "patchfold ops");
  std::string name;
  bool as_markdown = false, as_json = false;
  const auto op = command.word("OP", name, "unfold, onnx.Col2Im-18, ..", "");
  const auto markdown_flag =
      command.flag("--markdown", as_markdown, "all operators with their arguments, as docs/operators.md");
  const auto json_flag = command.flag("--json", as_json, "the same as JSON");
  command.excludes(markdown_flag, op);
  command.excludes(json_flag, op);
  command.excludes(json_flag, markdown_flag);
  if (const std::string help = command.parse(words); !help.empty()) return print(help);
  if (as_markdown)
    print(markdown());
  else if (as_json)
    print(json());
  else if (name.empty())
    print(list());
  else
    print(show(find_operator(name)));
}

}  // namespace patchfold::cli
