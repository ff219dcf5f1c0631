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
  /// Runs the command with the words behind its name. Throws Error. `in_words` becomes false once the command line is read: later
  /// errors are not errors in the words.
  void (*run)(const std::vector<std::string>& words, bool& in_words);
  std::vector<OptionInfo> (*options)();
};

std::span<const CommandEntry> commands() noexcept;
/// Returns the text of `patchfold --help`.
std::string program_help();

/// Runs the operator of the request and writes its output. An output file is complete or is not written. Throws Error.
void run_operator(const RunRequest& request);
/// Cuts a picture or an array into tiles. Throws Error.
void run_split(const SplitRequest& request);
/// Puts tiles together. Throws Error.
void run_merge(const MergeRequest& request);

/// Prints the operator table as text, Markdown or JSON. Throws Error(usage, unknown_operator).
void run_ops(const std::vector<std::string>& words);
std::vector<OptionInfo> ops_options();

/// Prints the effect of an operator on a tensor of one shape. Throws Error: all errors except file_write are errors of usage.
void run_explain(const std::vector<std::string>& words);
/// Returns the options of `patchfold explain` with an operator, and without one.
std::vector<OptionInfo> explain_options(const OperatorSpec& op);
std::vector<OptionInfo> explain_options();
/// Prints the places of tiles and the weights of their merge. Throws the same errors as run_explain.
void run_explain_tiling(const std::vector<std::string>& words);
std::vector<OptionInfo> explain_tiling_options();

/// Measures the time of problems on this machine against the roof of the same run. Throws Error.
void run_bench(const std::vector<std::string>& words);
std::vector<OptionInfo> bench_options();

/// Prints the catalogue of errors as text, Markdown or JSON. Throws Error(usage).
void run_errors(const std::vector<std::string>& words);
std::vector<OptionInfo> errors_options();

/// Prints or writes the completion script of a shell. Throws Error(usage, file_write).
void run_completion(const std::vector<std::string>& words);
std::vector<OptionInfo> completion_options();
/// Returns the answer to `patchfold __complete WORD...`: a line for each word that may replace the last word.
std::string candidates(const std::vector<std::string>& words);

}  // namespace patchfold::cli
