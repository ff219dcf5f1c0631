// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <utility>

#include "cli/report.hpp"
#include "cli/text.hpp"
#include "src/base/nearest.hpp"

namespace patchfold::cli {
namespace {

class Formatter final : public CLI::Formatter {
 public:
  explicit Formatter(std::string usage) : usage_(std::move(usage)) { column_width(34); }
  std::string make_usage(const CLI::App*, std::string) const override { return "Usage: " + usage_ + "\n"; }
  /// Returns what an option means, in lines that let the help have at most 160 columns.
  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_desc(option);
    for (std::size_t begin = 0, most = 160 - get_column_width(); text.size() - begin > most;) {
      const std::size_t space = text.rfind(' ', begin + most);
      if (space == std::string::npos || space <= begin) break;
      text[space] = '\n';
      begin = space + 1;
    }
    return text;
  }

 private:
  std::string usage_;
};

/// Returns the names in a text such as "-o,--output".
std::vector<std::string> names_of(const std::string& text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) return {text};
  return {text.substr(0, comma), text.substr(comma + 1)};
}

}  // namespace

struct Command::Parser {
  CLI::App app;
  std::string command{};  ///< the second word of the command's name
  std::vector<CLI::Option*> options{};
  std::vector<OptionInfo> infos{};

  Parser(std::string doc, const std::string& name) : app(std::move(doc), name) {
    command = name.substr(name.find(' ') + 1);
    command.resize(std::min(command.find(' '), command.size()));
  }

  Option keep(CLI::Option* option, OptionInfo described) {
    options.push_back(option);
    infos.push_back(std::move(described));
    return Option{options.size() - 1};
  }
  /// Throws Error(usage) for words that CLI11 could not read, with this program's texts instead of CLI11's.
  [[noreturn]] void refuse(const CLI::ParseError& error) const {
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) refuse_extras();
    const std::string what = error.what();
    constexpr std::string_view conversion = "Could not convert: ", excludes = " excludes ";
    if (const auto equals = what.find(" = "); what.starts_with(conversion) && equals != std::string::npos)
      fail_usage(command, what.substr(conversion.size(), equals - conversion.size()), "must be a number",
                 what.substr(equals + 3));
    if (const auto missing = what.find(": 1 required value missing"); missing != std::string::npos)
      fail_usage(command, what.substr(0, missing), "needs a value", {}, {}, help_hint());
    if (const auto at = what.find(excludes); at != std::string::npos)
      fail_usage(command, what.substr(0, at),
                 text_of("must not be given together with ", what.substr(at + excludes.size())));
    fail_usage(command, {}, what);
  }
  /// Throws Error(usage) for the first unknown option; if there is none, for the first surplus word.
  [[noreturn]] void refuse_extras() const {
    const std::vector<std::string> extras = app.remaining();
    const auto option = std::find_if(extras.begin(), extras.end(), [](const auto& word) { return word.starts_with('-'); });
    if (option == extras.end())
      fail_usage(command, extras.empty() ? "" : extras.front(), "is one word too many", {}, {}, help_hint());
    const std::string name = option->substr(0, option->find('='));
    fail_usage(command, name, "there is no such option", {}, {}, option_hint(name));
  }
  /// Returns a hint: the most similar option, or else the command that lists the options.
  ErrorValue option_hint(std::string_view name) const {
    Nearest nearest(name);
    std::string meant;
    for (const CLI::Option* known : app.get_options())
      for (const std::string& each : known->get_lnames())
        if (std::string candidate = "--" + each; nearest.offer(candidate)) meant = std::move(candidate);
    return meant.empty() ? help_hint() : ErrorValue("did you mean ", meant, "?");
  }
  ErrorValue help_hint() const { return {"`", app.get_name(), " --help` shows what there is"}; }

  CLI::Option* at(Option option) const { return options[static_cast<std::size_t>(option)]; }

  template <class T>
  Option add_number(const std::string& name, T& value, int low, int high, std::string form, std::string doc) {
    std::vector<std::string> names = names_of(name);
    // Checks the range here and not with CLI11, whose releases word the error differently.
    const auto require_range = [this, option = names.back(), low, high](const std::string& given) -> std::string {
      int number = 0;
      if (CLI::detail::lexical_cast(given, number) && number >= low && number <= high) return {};
      fail_usage(command, option, "must be a number in its range", given, text_of(low, " to ", high));
    };
    CLI::Option* option =
        app.add_option(name, value, doc)->option_text(std::move(form))->type_name("value")->check(require_range);
    return keep(option, {.names = std::move(names), .doc = std::move(doc)});
  }
};

Command::Command(std::string doc, std::string name) : parser_(std::make_unique<Parser>(std::move(doc), name)) {}
Command::~Command() = default;

void Command::usage(std::string text) {
  parser_->app.formatter(std::make_shared<Formatter>(std::move(text)));
}
void Command::footer(std::string text) {
  parser_->app.footer(std::move(text));
}
void Command::keep_unknown() {
  parser_->app.allow_extras();
}
void Command::stop_at_unknown() {
  parser_->app.prefix_command();
}

Command::Option Command::word(const std::string& name, std::string& value, std::string doc, std::string form) {
  CLI::Option* option = parser_->app.add_option(name, value, doc);
  if (!form.empty()) option->option_text(std::move(form));
  return parser_->keep(option, {.names = {name}, .doc = std::move(doc), .is_word = true});
}
Command::Option Command::words(const std::string& name, std::vector<std::string>& values, std::string doc) {
  CLI::Option* option = parser_->app.add_option(name, values, doc)->option_text("...");
  return parser_->keep(option, {.names = {name}, .doc = std::move(doc), .is_word = true, .is_repeated = true});
}
Command::Option Command::option(const std::string& name, std::string& value, std::string form, std::string doc,
                                std::string group) {
  CLI::Option* option = parser_->app.add_option(name, value, doc)->option_text(std::move(form))->type_name("value");
  if (!group.empty()) option->group(std::move(group));
  return parser_->keep(option, {.names = names_of(name), .doc = std::move(doc)});
}
Command::Option Command::option(const std::string& name, std::vector<std::string>& values, int count, std::string form,
                                std::string doc) {
  CLI::Option* option = parser_->app.add_option(name, values, doc)->option_text(form)->type_name("value")->expected(count);
  return parser_->keep(option, {.names = names_of(name), .doc = std::move(doc), .values = count});
}
Command::Option Command::option(const std::string& name, int& value, int low, int high, std::string form, std::string doc) {
  return parser_->add_number(name, value, low, high, std::move(form), std::move(doc));
}
Command::Option Command::option(const std::string& name, std::optional<int>& value, int low, int high, std::string form,
                                std::string doc) {
  return parser_->add_number(name, value, low, high, std::move(form), std::move(doc));
}
Command::Option Command::flag(const std::string& name, bool& value, std::string doc) {
  CLI::Option* option = parser_->app.add_flag(name, value, doc)->option_text(" ");
  return parser_->keep(option, {.names = names_of(name), .doc = std::move(doc), .values = 0});
}

Command::Option Command::choices(Option option, std::vector<std::string> values) {
  parser_->infos[static_cast<std::size_t>(option)].choices = std::move(values);
  return option;
}
Command::Option Command::completes(Option option, Completion completion) {
  parser_->infos[static_cast<std::size_t>(option)].completion = completion;
  return option;
}

void Command::excludes(Option option, Option other) {
  parser_->at(option)->excludes(parser_->at(other));
}

std::string Command::parse(std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());  // CLI11 takes the words in reverse order
  try {
    parser_->app.parse(std::move(words));
    return {};
  } catch (const CLI::CallForHelp&) {
    return help();
  } catch (const CLI::ParseError& error) {
    parser_->refuse(error);
  }
}

std::string Command::help() const {
  return parser_->app.help();
}
const std::vector<OptionInfo>& Command::options() const noexcept {
  return parser_->infos;
}
bool Command::given(Option option) const {
  return parser_->at(option)->count() > 0;
}
ErrorValue Command::option_hint(std::string_view name) const {
  return parser_->option_hint(name);
}
std::vector<std::string> Command::remaining() const {
  return parser_->app.remaining();
}

}  // namespace patchfold::cli
