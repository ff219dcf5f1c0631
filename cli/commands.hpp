// SPDX-License-Identifier: Apache-2.0
// The commands, and the list of them from which the help and the completions are made.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "patchfold/table.hpp"

namespace patchfold::cli {

struct MergeRequest;
struct RunRequest;
struct SplitRequest;

struct CommandEntry {
  std::string_view name;
  std::string_view usage;    ///< "split PICTURE FOLDER --tile N [--overlap N]"
  std::string_view summary;  ///< "cut a picture of any size into tiles"
  /// Runs the command with the words after its name. Throws Error. `in_words` becomes false once the command line is read, since
  /// later errors are not errors of usage.
  void (*run)(const std::vector<std::string>& words, bool& in_words);
  std::vector<OptionInfo> (*options)();
};

std::span<const CommandEntry> commands() noexcept;
/// Returns the text of `patchfold --help`.
std::string program_help();

/// Runs the operator of the request and writes its output, completely or not at all. Throws Error.
void run_operator(const RunRequest& request);
/// Cuts a picture or an array into tiles. Throws Error.
void run_split(const SplitRequest& request);
/// Merges tiles to a picture or an array. Throws Error.
void run_merge(const MergeRequest& request);

/// Prints the operator table as text, Markdown or JSON. Throws Error(usage, unknown_operator).
void run_ops(const std::vector<std::string>& words);
std::vector<OptionInfo> ops_options();

/// Prints what an operator does to a tensor of one shape. Throws Error; every error but file_write is an error of usage.
void run_explain(const std::vector<std::string>& words);
/// Returns the options of `patchfold explain` with an operator, and without one.
std::vector<OptionInfo> explain_options(const OperatorSpec& op);
std::vector<OptionInfo> explain_options();
/// Prints where the tiles of a tiling lie, and the weights of their merge. Throws the same errors as run_explain.
void run_explain_tiling(const std::vector<std::string>& words);
std::vector<OptionInfo> explain_tiling_options();

/// Measures how long problems take on this machine, and the roof of each in the same run; prints both. Throws Error.
void run_bench(const std::vector<std::string>& words);
std::vector<OptionInfo> bench_options();

/// Prints the catalogue of errors as text, Markdown or JSON. Throws Error(usage).
void run_errors(const std::vector<std::string>& words);
std::vector<OptionInfo> errors_options();

/// Prints or writes the completion script of a shell. Throws Error(usage, file_write).
void run_completion(const std::vector<std::string>& words);
std::vector<OptionInfo> completion_options();
/// Returns the answer to `patchfold __complete WORD...`: one line for each word that may stand in the place of the last WORD.
std::string candidates(const std::vector<std::string>& words);

}  // namespace patchfold::cli
