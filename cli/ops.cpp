// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "formats/file.hpp"
#include "src/base/other_words.hpp"

namespace patchfold::cli {
namespace {

using Text = std::back_insert_iterator<std::string>;

/// Calls f(dialect) before the operators of each dialect, and g(op) for each operator.
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

/// Returns rows of cells as lines; each column is as wide as its widest cell.
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

/// Returns a sentence about the shapes of the example's tensors. quote: what stands around a name.
std::string shapes_of(const OperatorSpec& op, const Example& example, std::string_view quote) {
  const std::string output = formats::shape_text(example.output);
  if (op.data_input.empty()) return fmt::format("the output has shape {}", output);
  return fmt::format("{2}{0}{2} of shape {1} gives an output of shape {3}", op.data_input, formats::shape_text(example.shape),
                     quote, output);
}

std::string show(const OperatorSpec& op) {
  std::string text = fmt::format("{}\n  {}\n\n", op.name, op.doc);
  fmt::format_to(Text(text), "Definition: {}\n", op.definition);
  fmt::format_to(Text(text), "Data input: {}\n", op.data_input.empty() ? "none" : op.data_input);
  if (const auto types = index_types_of(op); !types.empty()) fmt::format_to(Text(text), "Shape inputs: {}\n", types);
  if (!is_neutral(op)) fmt::format_to(Text(text), "Neutral operator of the example: {}\n", op.neutral);
  if (!op.arguments.empty()) text += "\nArguments:\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& argument : op.arguments) {
    rows.push_back({fmt::format("--{}", argument.name), kind_of(argument), default_of(argument), std::string(argument.doc)});
    if (!argument.choices.empty()) rows.push_back({"", "", "", fmt::format("one of {}", fmt::join(argument.choices, ", "))});
  }
  text += columns(rows);
  const Example example = example_of(op);
  fmt::format_to(Text(text), "\nExample:\n  {}\n", example.command);
  return text + fmt::format("  {}\n", shapes_of(op, example, ""));
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
  text += op.arguments.empty() ? "* Arguments: none\n" : "\n| argument | kind | | meaning |\n|---|---|---|---|\n";
  for (const auto& argument : op.arguments) {
    const auto words = argument.choices.empty() ? "" : fmt::format("; one of `{}`", fmt::join(argument.choices, "`, `"));
    fmt::format_to(Text(text), "| `{}` | {} | {} | {}{} |\n", argument.name, kind_of(argument), cell(default_of(argument)),
                   cell(argument.doc), words);
  }
  const Example example = example_of(op);
  fmt::format_to(Text(text), "\n    {}\n\nHere {}.\n", example.command, shapes_of(op, example, "`"));
  return text;
}

std::string markdown() {
  std::string text =
      R"(<!-- Written by `patchfold ops --markdown > docs/operators.md`. -->
# Operators

Every operator of the operator table, with its arguments. The [glossary](glossary.md) explains the words, and
[dialects.md](dialects.md#each-operator-is-one-setting-of-a-neutral-operator) the neutral operators' options. On the command line,
and in C in `pf_text(name, value)`, values are written like this; the last column has other calls of C that make the same argument:

| kind | value | in C |
|---|---|---|
| `integer` | `3` | `pf_integer(name, 3)` |
| `integers` | a list: `3,5` | `pf_integers(name, values, 2)` |
| `axes` | one number for every spatial axis, `3`, or a list: `3,5` | `pf_integer` or `pf_integers` |
| `pairs` | a list of begin:end: `1:2,0:1` | `pf_pairs(name, values, 2)` with `values` of 1, 2, 0, 1 |
| `padding` | `valid`, `same_upper` (also `same`), `same_lower`, or any of the forms above | `pf_integer`, `pf_integers`, `pf_pairs` |
| `number` | `1.5`, `-3`, `nan`, `inf`, `1+2j` | `pf_number(name, 1.5)` |
| `boolean` | `true` or `false` | `pf_integer(name, 1)` |
| `choice` | one of the words in the row of the argument | `pf_text(name, "edge")`; in C++ an enumerator, `PaddingMode::edge` |

The length of a list is the number of spatial axes. If a neutral operator has a number for `kernel_size` or `block` and no list, the
data must have rank 4, with two spatial axes. `padding` is a number for both ends of every axis, or a list with a number or a pair
for each axis.

`pf_output_shape` computes the shape of an output. With C channels, spatial extents I, K = the product of the kernel's extents, and
l = (I + pads - dilation * (kernel - 1) - 1) / stride + 1 positions on an axis, rounded down, L of them in all:

| operator | data | output |
|---|---|---|
| `unfold` | (B.., C, I1..IR) | (B.., C*K, L); `positions=grid`: (B.., C*K, l1..lR) |
| `fold` | (B.., C*K, L), or as a grid | (B.., C, I1..IR) with I = `output_size` |
| `coverage` | none | (I1..IR) |
| `reorder`, `copy` | any shape that they take | the same shape |
| `space_to_batch` | (N, C, I1..IR) | (N*K, C, (I + pads) / block ..) with K = the product of the block |
| `batch_to_space` | (N*K, C, I1..IR) | (N, C, I * block - crops ..) |
| `space_to_depth` | (B.., C, I1..IR) | (B.., C*K, I / block ..) |
| `depth_to_space` | (B.., C*K, I1..IR) | (B.., C, I * block ..) |

With `layout=channels_last`, C and C*K come last. Operators of other systems have the shapes of their neutral operator and options.

An argument that is an input may also be given as a tensor: a .npy file after the data.

All front ends also read words of other systems for padding modes and orders of axes within a patch:
)";
  for (const PaddingWord& each : padding_words) fmt::format_to(Text(text), "`{}` is `{}`,\n", each.other, each.here);
  text += "`c kh kw` is `channel`, and `kh kw c` and `p1 p2 c` are `kernel`.\n";
  for_each_operator(
      [&](const DialectSpec& dialect) {
        fmt::format_to(Text(text), "\n## {}\n\n{} Definition: {}\n", dialect.name, dialect.doc, dialect.definition);
      },
      [&](const OperatorSpec& op) { text += markdown(op); });
  return text;
}

JsonObject json(const ArgumentSpec& argument) {
  return JsonObject()
      .add("name", argument.name)
      .add("kind", name_of(argument.kind))
      .add("input", argument.is_input)
      .add("required", argument.required)
      .add("default", argument.default_text.empty() ? std::optional<std::string>() : argument.default_text)
      .add("choices", JsonText{json_list(argument.choices, [](std::string_view word) { return word; })})
      .add("doc", argument.doc);
}

JsonObject json(const OperatorSpec& op) {
  const auto part = [](std::string_view text) {
    return text.empty() ? std::optional<std::string_view>() : std::optional(text);
  };
  return JsonObject()
      .add("name", op.name)
      .add("dialect", op.dialect)
      .add("doc", op.doc)
      .add("definition", op.definition)
      .add("data_input", part(op.data_input))
      .add("shape_inputs", part(index_types_of(op)))
      .add("neutral", op.neutral)
      .add("example", example_of(op).command)
      .add("arguments", JsonText{json_list(op.arguments, [](const ArgumentSpec& each) { return json(each); })});
}

std::string json_of_all() {
  return json_list(
             operators(), [](const OperatorSpec& op) { return json(op); }, ",\n ") +
         "\n";
}

/// Reads the words of `patchfold ops`.
struct OpsCommand {
  OpsCommand() {
    std::vector<std::string> names;
    for (const OperatorSpec& each : operators()) names.emplace_back(each.name);
    command.choices(op, std::move(names));
    command.excludes(markdown_flag, op);
    command.excludes(json_flag, markdown_flag);
  }

  std::string name{};
  bool as_markdown = false, as_json = false;
  Command command{"Lists the operators, or shows one with its arguments.", "patchfold ops"};
  Command::Option op = command.word("OP", name, "unfold, onnx.Col2Im-18, ..", "");
  Command::Option markdown_flag =
      command.flag("--markdown", as_markdown, "all operators with their arguments, as docs/operators.md");
  Command::Option json_flag = command.flag("--json", as_json, "all operators, or the one, with their arguments as JSON");
};

}  // namespace

std::vector<OptionInfo> ops_options() {
  return OpsCommand().command.options();
}

void run_ops(const std::vector<std::string>& words) {
  OpsCommand all;
  if (const std::string help = all.command.parse(words); !help.empty()) return print(help);
  if (all.as_markdown)
    print(markdown());
  else if (all.as_json)
    print(all.name.empty() ? json_of_all() : json(find_operator(all.name)).text() + "\n");
  else if (all.name.empty())
    print(list());
  else
    print(show(find_operator(all.name)));
}

}  // namespace patchfold::cli
