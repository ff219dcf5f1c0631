// SPDX-License-Identifier: Apache-2.0
#include "cli/report.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cli/text.hpp"
#include "formats/file.hpp"
#include "system/file.hpp"
#include "system/terminal.hpp"

namespace patchfold::cli {
namespace {

/// Writes arguments in errors as options of the command line: --kernel_size 3,3.
class OptionWriter final : public ErrorWriter {
 public:
  std::string setting(const Setting& setting) const override {
    const std::string text = ErrorWriter::setting(setting);
    return "--" + setting.name + " " + text.substr(setting.name.size() + 1);
  }
};

/// Writes the whole text. Returns 0, or the error number of the system.
int write_all(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const auto written = system::write(descriptor, text.data(), text.size());
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

bool has_terminal() noexcept {
  return system::takes_escapes(system::standard_error);
}

int terminal_width() noexcept {
  const int columns = system::terminal_columns(system::standard_error);
  return columns > 0 ? columns : 80;
}

std::string in_colour(Colour colour, std::string_view text) {
  const char* const no_colour = std::getenv("NO_COLOR");
  const bool is_unwanted = no_colour != nullptr && *no_colour != '\0';
  if (text.empty() || is_unwanted || !has_terminal()) return std::string(text);
  return text_of("\033[", static_cast<int>(colour), "m", text, "\033[0m");
}

int exit_code(ErrorCode code, bool in_words) noexcept {
  switch (code) {
    case ErrorCode::usage:
    case ErrorCode::unknown_operator:
    case ErrorCode::unknown_argument:
    case ErrorCode::missing: return wrong_usage;
    case ErrorCode::file_write:
    case ErrorCode::out_of_memory: return failed;
    default: return in_words ? wrong_usage : failed;
  }
}

void fail_usage(std::string_view command, std::string_view argument, std::string_view rule, std::string_view given,
                std::string_view expected, ErrorValue hint) {
  throw Error({ErrorCode::usage, std::string(command), std::string(argument), std::string(rule), std::string(given),
               std::string(expected), std::move(hint)});
}

void print(std::string_view text) {
  if (const int error = write_all(system::standard_output, text))
    throw Error({ErrorCode::file_write, "", "standard output", "cannot be written", std::strerror(error), ""});
}

void note(std::string_view text) noexcept {
  write_all(system::standard_error, text);
}

void print_error(const Error& error, int exit_code, bool json) noexcept {
  try {
    const OptionWriter writer;
    const std::string message = error.message(writer);
    if (!json) return print_error(message, describe(error.code()).name, exit_code, json);
    const auto part = [](const std::string& text) {
      return text.empty() ? std::optional<std::string>() : std::optional(text);
    };
    JsonObject object;
    object.add("code", describe(error.code()).name)
        .add("operator", part(error.op()))
        .add("argument", part(error.argument()))
        .add("rule", error.rule())
        .add("given", part(error.parts().given.text(writer)))
        .add("expected", part(error.parts().expected.text(writer)))
        .add("hint", part(error.parts().hint.text(writer)))
        .add("message", message)
        .add("exit_code", exit_code);
    note(JsonObject().add("error", object).text() + "\n");
  } catch (...) {
    print_error("out of memory", describe(ErrorCode::out_of_memory).name, exit_code, json);
  }
}

void print_error(std::string_view message, std::string_view code, int exit_code, bool json) noexcept {
  try {
    if (json) {
      JsonObject object;
      object.add("code", code.empty() ? std::optional<std::string_view>() : code)
          .add("operator", nullptr)
          .add("argument", nullptr)
          .add("rule", message)
          .add("given", nullptr)
          .add("expected", nullptr)
          .add("message", message)
          .add("exit_code", exit_code);
      return note(JsonObject().add("error", object).text() + "\n");
    }
    std::string line = in_colour(Colour::red, "patchfold:") + " ";
    for (const char c : message) line += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? ' ' : c;
    if (!code.empty()) line += text_of(" [", code, "]");
    write_all(system::standard_error, line + "\n");
  } catch (...) {
    write_all(system::standard_error, "patchfold: out of memory\n");
  }
}

bool is_standard_output(std::string_view path) noexcept {
  return formats::standard_descriptor(path, system::standard_output) == system::standard_output;
}

std::string output_name(std::string_view path) {
  return std::string(path == "-" ? "standard output" : path);
}

void Reporting::report(std::string_view output, const std::string& line, const JsonObject& object) const {
  if (quiet) return;
  if (!json) return note(line);
  is_standard_output(output) ? note(object.text() + "\n") : print(object.text() + "\n");
}

void Reporting::forecast(std::string_view output, const std::string& line, const JsonObject& object) const {
  const std::string text = json ? object.text() + "\n" : line;
  is_standard_output(output) ? note(text) : print(text);
}

}  // namespace patchfold::cli
