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

/// The files that a shell offers for a value.
enum class Completion { nothing, file, folder };

/// An option or a word as completions read it.
struct OptionInfo {
  std::vector<std::string> names{};  ///< "-o", "--output"; of a word its name alone: "FOLDER"
  std::string doc{};
  bool is_word = false;
  bool is_repeated = false;            ///< of words: any number of them
  int values = 1;                      ///< of options: so many words; 0 for a flag
  std::vector<std::string> choices{};  ///< the values that there are; empty: any
  Completion completion = Completion::nothing;
};

/// The options and words of a command, each with the variable that receives its value, and the text of its help.
///
/// A command adds what it takes, then calls parse() once. Variables have to live until then, and keep their value where
/// nothing is given. CLI11 does the reading; command.cpp alone includes it, because it takes longer to compile than the rest
/// of a command.
class Command {
 public:
  /// An option or word that was added to this command.
  enum class Option : std::size_t {};

  /// `name` as in "patchfold run unfold"; errors of usage name its second word.
  Command(std::string doc, std::string name);
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  ~Command();

  void usage(std::string text);   ///< instead of one made from the options
  void footer(std::string text);  ///< the end of the help
  /// Words and options that are unknown are kept, for remaining().
  void keep_unknown();
  /// The first unknown word ends the options: it and all that follows are kept, for remaining().
  void stop_at_unknown();

  /// Words by position; `form` follows their name in the help.
  Option word(const std::string& name, std::string& value, std::string doc, std::string form = " ");
  Option words(const std::string& name, std::vector<std::string>& values, std::string doc);
  /// Options with a value; `form` says how that is written. Options of a group stand together in the help.
  Option option(const std::string& name, std::string& value, std::string form, std::string doc, std::string group = "");
  /// An option with so many values, one word each.
  Option option(const std::string& name, std::vector<std::string>& values, int count, std::string form, std::string doc);
  Option option(const std::string& name, int& value, int low, int high, std::string form, std::string doc);
  Option option(const std::string& name, std::optional<int>& value, int low, int high, std::string form, std::string doc);
  Option option(const std::string& name, double& value, int low, int high, std::string form, std::string doc);
  Option option(const std::string& name, double& value, double low, double high, std::string form, std::string doc);
  Option flag(const std::string& name, bool& value, std::string doc);

  /// For completions: the values that the option takes, or what they name.
  void choices(Option option, std::vector<std::string> values);
  void completes(Option option, Completion completion);

  void excludes(Option option, Option other);
  void needs(Option option, Option other);

  /// Reads the words that follow the command. Returns the help text if it was asked for, or nothing. Throws Error(usage).
  std::string parse(std::vector<std::string> words);
  std::string help() const;
  const std::vector<OptionInfo>& options() const noexcept;
  bool given(Option option) const;
  std::vector<std::string> remaining() const;
  /// Returns a hint: what to type in place of an option that there is not.
  ErrorValue option_hint(std::string_view name) const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace patchfold::cli
