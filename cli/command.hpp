// SPDX-License-Identifier: Apache-2.0
// The options and words of one command.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "patchfold/error.hpp"

namespace patchfold::cli {

/// The kind of file that a shell offers for a value.
enum class Completion { nothing, file, folder };

/// The facts about an option or a word that completions need.
struct OptionInfo {
  std::vector<std::string> names{};  ///< "-o", "--output"; for a word its name alone: "FOLDER"
  std::string doc{};
  bool is_word = false;
  bool is_repeated = false;            ///< for a word: any number of words may follow
  int values = 1;                      ///< for an option: the number of its values; 0 for a flag
  std::vector<std::string> choices{};  ///< the allowed values; empty: any
  Completion completion = Completion::nothing;
};

/// The options and words of a command, each with the variable that receives its value, and the text of its help.
///
/// A command adds its options, then calls parse() once. The variables must live until parse() returns; a variable without a value
/// on the command line does not change. CLI11 reads the words. Only command.cpp includes CLI11, because its headers take longer to
/// compile than the rest of a command.
class Command {
 public:
  /// Names an option or word of this command.
  enum class Option : std::size_t {};

  /// Makes a command with a `name` such as "patchfold run unfold"; errors of usage name its second word.
  Command(std::string doc, std::string name);
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  ~Command();

  void usage(std::string text);   ///< replaces the usage line that is made from the options
  void footer(std::string text);  ///< sets the end of the help
  /// Keeps unknown words and options for remaining().
  void keep_unknown();
  /// Ends the options at the first unknown word, and keeps this word and all later words for remaining().
  void stop_at_unknown();

  /// Adds a word by position; `form` follows its name in the help.
  Option word(const std::string& name, std::string& value, std::string doc, std::string form = " ");
  Option words(const std::string& name, std::vector<std::string>& values, std::string doc);
  /// Adds an option with a value; `form` shows how to write the value. The help shows the options of a group together.
  Option option(const std::string& name, std::string& value, std::string form, std::string doc, std::string group = "");
  /// Adds an option with `count` values, one word each.
  Option option(const std::string& name, std::vector<std::string>& values, int count, std::string form, std::string doc);
  Option option(const std::string& name, int& value, int low, int high, std::string form, std::string doc);
  Option option(const std::string& name, std::optional<int>& value, int low, int high, std::string form, std::string doc);
  Option flag(const std::string& name, bool& value, std::string doc);

  /// Tells completions the values of the option, or the kind of file that a value names; returns the option.
  Option choices(Option option, std::vector<std::string> values);
  Option completes(Option option, Completion completion);

  void excludes(Option option, Option other);

  /// Reads the words that follow the command. Returns the help text if it was asked for, or nothing. Throws Error(usage).
  std::string parse(std::vector<std::string> words);
  std::string help() const;
  const std::vector<OptionInfo>& options() const noexcept;
  bool given(Option option) const;
  std::vector<std::string> remaining() const;
  /// Returns a hint: the option to type in place of the unknown option `name`.
  ErrorValue option_hint(std::string_view name) const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace patchfold::cli
