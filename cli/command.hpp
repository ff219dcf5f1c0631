// SPDX-License-Identifier: Apache-2.0
// The options and words of one command: their definition and their parsing.
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

/// What completions need to know about an option or a word.
struct OptionInfo {
  std::vector<std::string> names{};  ///< all names of an option: "-o", "--output"; of a word its only name: "FOLDER"
  std::string doc{};
  bool is_word = false;
  bool is_repeated = false;            ///< of a word: any number of words may follow
  int values = 1;                      ///< of an option: the number of its values; 0 for a flag
  std::vector<std::string> choices{};  ///< the allowed values; empty: any value
  Completion completion = Completion::nothing;
};

/// A command line: its options and words, each with the variable that receives its value, and its help text.
///
/// The code of a command adds the options and words, then calls parse() once. The variables must live until parse() returns; those
/// without a value on the command line do not change. CLI11 reads the words. Only command.cpp includes CLI11, because its headers
/// take longer to compile than the rest of a command.
class Command {
 public:
  /// An option or word of this command, by its number.
  enum class Option : std::size_t {};

  /// Makes a command with a `name` such as "patchfold run unfold"; errors of usage name the second word, here "run".
  Command(std::string doc, std::string name);
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  ~Command();

  void usage(std::string text);   ///< replaces the usage line that CLI11 makes
  void footer(std::string text);  ///< sets the end of the help
  /// Accepts unknown words and options, which remaining() then returns.
  void keep_unknown();
  /// Ends the options at the first unknown word; remaining() then returns this word and all later words.
  void stop_at_unknown();

  /// Adds a word by its position; the help shows `form` after its name.
  Option word(const std::string& name, std::string& value, std::string doc, std::string form = " ");
  Option words(const std::string& name, std::vector<std::string>& values, std::string doc);
  /// Adds an option with a value; in the help `form` shows how to write the value. The help shows the options of one `group`
  /// together.
  Option option(const std::string& name, std::string& value, std::string form, std::string doc, std::string group = "");
  /// Adds an option with `count` values, one word each.
  Option option(const std::string& name, std::vector<std::string>& values, int count, std::string form, std::string doc);
  Option option(const std::string& name, int& value, int low, int high, std::string form, std::string doc);
  Option option(const std::string& name, std::optional<int>& value, int low, int high, std::string form, std::string doc);
  Option flag(const std::string& name, bool& value, std::string doc);

  /// Sets what completions offer for an option: its values, or the kind of file that a value names. Returns the option.
  Option choices(Option option, std::vector<std::string> values);
  Option completes(Option option, Completion completion);

  void excludes(Option option, Option other);

  /// Reads the words after the command's name. Returns the help text if it was asked for, else an empty text. Throws Error(usage).
  std::string parse(std::vector<std::string> words);
  std::string help() const;
  const std::vector<OptionInfo>& options() const noexcept;
  bool given(Option option) const;
  std::vector<std::string> remaining() const;
  /// Returns a hint with the option that was most likely meant by the unknown option `name`.
  ErrorValue option_hint(std::string_view name) const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace patchfold::cli
