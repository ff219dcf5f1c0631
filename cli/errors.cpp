// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/report.hpp"
#include "patchfold/patchfold.h"
#include "patchfold/plan.hpp"
#include "src/base/nearest.hpp"

namespace patchfold::cli {
namespace {

using Text = std::back_insert_iterator<std::string>;

constexpr std::string_view c_prefix = "PF_ERROR_";

std::string in_capitals(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return result;
}

/// Returns the status of the C interface that has the name of a catalogue entry.
pf_status status_of(const ErrorEntry& entry) {
  pf_status status = PF_OK;
  while (pf_status_name(status) != entry.name) ++status;
  return status;
}

std::string exit_codes(const ErrorEntry& entry) {
  const int first = exit_code(entry.code, false), of_words = exit_code(entry.code, true);
  return first == of_words ? fmt::format("{}", first) : fmt::format("{} or {}", first, of_words);
}

/// Returns the text in lines of at most `width` characters, each with `indent` before it.
std::string wrapped(std::string_view text, std::size_t width, std::string_view indent = "") {
  std::string result;
  while (!text.empty()) {
    std::size_t end = text.size() <= width ? text.size() : text.rfind(' ', width);
    if (end == std::string_view::npos) end = std::min(text.find(' '), text.size());
    fmt::format_to(Text(result), "{}{}\n", indent, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string list() {
  std::size_t width = 0;
  for (const auto& entry : error_catalogue()) width = std::max(width, entry.name.size());
  std::string text;
  for (const auto& entry : error_catalogue()) fmt::format_to(Text(text), "  {:{}}  {}\n", entry.name, width, entry.when);
  return text + "\nA message ends with its code in brackets. `patchfold errors CODE` explains one code with an example.\n";
}

std::string show(const ErrorEntry& entry) {
  return fmt::format("{}\n{}\nExample:\n{}\nWhat to do:\n{}\nC++: ErrorCode::{}\nC: {}{} ({})\nPython: {}\nExit code: {}\n",
                     entry.name, wrapped(entry.when, 98, "  "), wrapped(entry.example, 98, "  "),
                     wrapped(entry.advice, 98, "  "), entry.name, c_prefix, in_capitals(entry.name), status_of(entry),
                     entry.python.empty() ? "never raised" : entry.python, exit_codes(entry));
}

/// Returns the code of the error that throw_if_failed throws for a status.
std::string_view code_of(Status status) {
  try {
    throw_if_failed(status, "");
  } catch (const Error& error) {
    return describe(error.code()).name;
  }
  return {};
}

/// Returns rows of Markdown, one for each status that a run can return except ok.
std::string status_rows() {
  std::string text;
  for (const auto& [status, name] :
       {std::pair(Status::null_data, "null_data"), std::pair(Status::overlap, "overlap"),
        std::pair(Status::out_of_memory, "out_of_memory"), std::pair(Status::executor_failed, "executor_failed"),
        std::pair(Status::scratch_too_small, "scratch_too_small"), std::pair(Status::scratch_overlap, "scratch_overlap")})
    fmt::format_to(Text(text), "| `Status::{}` | {} | [{}](#{}) |\n", name, patchfold::describe(status), code_of(status),
                   code_of(status));
  return text;
}

constexpr std::string_view introduction = R"(<!-- Written by `patchfold errors --markdown > docs/errors.md`. -->
# Errors

Every error is one sentence. It names the operator, the wrong argument, the rule, the given value and the expected one, and, where
it can tell, what to type instead (HINT). Empty parts are left out, and parts of more than 1000 characters are cut:

    OPERATOR: ARGUMENT: RULE; given GIVEN, expected EXPECTED; HINT
    {}

OPERATOR is an operator, a reader, a writer or a command; ARGUMENT is an argument, a tensor or a file. Each front end writes values
as they are typed there: Python writes lists as tuples, names tensors after its parameters, and says kernel_size=(3, 3) where the
command line says --kernel_size 3,3. All arguments are checked before anything is written, so the output keeps its
content; only the error `executor` leaves it unspecified. The [glossary](glossary.md) explains the words.

Each error has one of the {} codes below. The meaning of a code never changes, but sentences may be reworded:

| | the sentence | its parts | the code |
|---|---|---|---|
| C++ | `patchfold::Error`: `what()` | `op()`, `argument()`, `rule()`, `given()`, `expected()`, `hint()` | `code()`; `describe(code)` is its entry here |
| C | `pf_last_error()` | `pf_last_error_part(PF_PART_RULE)`, .. | the `pf_status` that is returned; `pf_status_name`, `pf_status_doc` |
| Python | `str(error)` | `error.operator`, `.argument`, `.rule`, `.given`, `.expected`, `.hint` | `error.code`, and the class of the exception |
| command line | the line on standard error | | in brackets at the end of the line, and the exit code |

```sh fails
patchfold ops unfodl
```
```text output
patchfold: operator: there is no operator of this name; given unfodl; did you mean unfold? [unknown_operator]
```

`patchfold errors` lists the codes, and `patchfold errors CODE` shows the section of one. The exit code is 2 if the command line
alone shows the error, otherwise 1. A few codes always have the same exit code.

In Python, `InvalidValue` is a `ValueError` and `InvalidType` is a `TypeError`; both are a `patchfold.Error`. `MemoryError` and
`RuntimeError` are Python's own classes and have only the sentence. Checks of the Python package itself have the code `value` or
`type`. Codes that Python never raises are never returned in C either.

`PF_ERROR_INTERNAL` ({}) is not one of these codes: it is a fault of the library. Please report it.

In C++, functions throw std::bad_alloc when memory runs out; `Error` with the code `out_of_memory` is thrown only where it can say
more, such as the number of bytes. Running a plan throws nothing and returns a `Status`. `throw_if_failed` throws the error of a
status:

| status | meaning | code |
|---|---|---|
{})";

std::string markdown() {
  std::string text = fmt::format(introduction, describe(ErrorCode::divisible).example, error_catalogue().size(),
                                 static_cast<int>(PF_ERROR_INTERNAL), status_rows());
  for (const auto& entry : error_catalogue()) {
    fmt::format_to(Text(text), "\n## {}\n\n{}\n    {}\n\n{}\n", entry.name, wrapped(entry.when, 125), entry.example,
                   wrapped(fmt::format("**What to do:** {}", entry.advice), 125));
    fmt::format_to(Text(text), "| C++ | C | Python | exit code |\n|---|---|---|---|\n");
    fmt::format_to(Text(text), "| `ErrorCode::{}` | `{}{}` ({}) | {} | {} |\n", entry.name, c_prefix,
                   in_capitals(entry.name), status_of(entry),
                   entry.python.empty() ? "never raised" : fmt::format("`{}`", entry.python), exit_codes(entry));
  }
  return text;
}

/// Returns the entry of a code, which may be spelt as in C++ or as in C.
const ErrorEntry& find(std::string_view code) {
  const std::string capitals = in_capitals(code);
  const std::string_view bare =
      capitals.starts_with(c_prefix) ? std::string_view(capitals).substr(c_prefix.size()) : capitals;
  const auto entry = std::ranges::find(error_catalogue(), bare, [](const auto& e) { return in_capitals(e.name); });
  if (entry != error_catalogue().end()) return *entry;
  std::string known;
  Nearest nearest(code);
  for (const auto& e : error_catalogue()) {
    fmt::format_to(Text(known), "{}{}", known.empty() ? "" : ", ", e.name);
    nearest.offer(e.name);
  }
  if (nearest.found().empty()) fail_usage("errors", "CODE", "is not an error code", code, known);
  fail_usage("errors", "CODE", "is not an error code", code, {}, {"did you mean ", nearest.found(), "?"});
}

JsonObject json(const ErrorEntry& entry) {
  const int first = exit_code(entry.code, false), of_words = exit_code(entry.code, true);
  std::vector<int> codes{first};
  if (first != of_words) codes.push_back(of_words);
  return JsonObject()
      .add("code", entry.name)
      .add("when", entry.when)
      .add("example", entry.example)
      .add("advice", entry.advice)
      .add("cpp", fmt::format("ErrorCode::{}", entry.name))
      .add("c", fmt::format("{}{}", c_prefix, in_capitals(entry.name)))
      .add("c_status", static_cast<int>(status_of(entry)))
      .add("python", entry.python.empty() ? std::optional<std::string_view>() : entry.python)
      .add("exit_codes", JsonText{json_list(codes, [](int code) { return code; })});
}

/// Reads the words of `patchfold errors`.
struct ErrorsCommand {
  ErrorsCommand() {
    std::vector<std::string> names;
    for (const auto& entry : error_catalogue()) names.emplace_back(entry.name);
    command.choices(one, std::move(names));
    const auto markdown_flag = command.flag("--markdown", as_markdown, "all codes, as docs/errors.md");
    command.excludes(markdown_flag, one);
    command.excludes(command.flag("--json", as_json, "all codes, or the one, as JSON"), markdown_flag);
  }

  std::string code{};
  bool as_markdown = false, as_json = false;
  Command command{"Lists the codes of errors, or shows one: an example, what to do, and what it is in C, C++ and Python.",
                  "patchfold errors"};
  Command::Option one = command.word("CODE", code, "divisible, PF_ERROR_DIVISIBLE, ..", "");
};

}  // namespace

std::vector<OptionInfo> errors_options() {
  return ErrorsCommand().command.options();
}

void run_errors(const std::vector<std::string>& words) {
  ErrorsCommand all;
  if (const std::string help = all.command.parse(words); !help.empty()) return print(help);
  const bool has_code = all.command.given(all.one);
  if (!all.as_json) return print(all.as_markdown ? markdown() : !has_code ? list() : show(find(all.code)));
  if (has_code) return print(json(find(all.code)).text() + "\n");
  print(json_list(
            error_catalogue(), [](const ErrorEntry& entry) { return json(entry); }, ",\n ") +
        "\n");
}

}  // namespace patchfold::cli
