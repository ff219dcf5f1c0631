// SPDX-License-Identifier: Apache-2.0
// `patchfold completion`: what shells complete, made from the definitions of the commands and from the operator table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.hpp"

namespace patchfold::cli {

/// Runs `patchfold completion` with the words that follow it. Throws Error(usage, file_write).
void run_completion(const std::vector<std::string>& words);
CommandInfo completion_info();

/// What is completed behind one command: itself, or with an operator as its first word.
struct Completed {
  std::string command{};  ///< "run"
  std::string op{};       ///< "unfold", or "tiling" behind explain, or empty
  CommandInfo info{};
  bool takes_operator = false;  ///< its first word is an operator's name, or stands for one
};

/// Every command, and those that take an operator with each of its names.
std::vector<Completed> all_completed();

std::string bash_completion(std::span<const Completed> all);
std::string zsh_completion(std::span<const Completed> all);
std::string fish_completion(std::span<const Completed> all);

}  // namespace patchfold::cli
