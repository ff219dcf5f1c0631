// SPDX-License-Identifier: Apache-2.0
// The list of commands, from which the help and the completions are made.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace patchfold::cli {

struct CommandEntry {
  std::string_view name;
  std::string_view usage;    ///< "split PICTURE FOLDER --tile N [--overlap N]"
  std::string_view summary;  ///< "cut a picture of any size into tiles"
  /// Runs it with the words that follow its name. Throws Error; `in_words` is false once the command line has been read.
  void (*run)(const std::vector<std::string>& words, bool& in_words);
  std::vector<OptionInfo> (*options)();
};

std::span<const CommandEntry> commands() noexcept;
/// What `patchfold --help` prints.
std::string program_help();

}  // namespace patchfold::cli
