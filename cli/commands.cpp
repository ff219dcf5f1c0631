// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.hpp"

#include <algorithm>

#include "cli/arguments.hpp"
#include "cli/merge_options.hpp"
#include "cli/report.hpp"
#include "cli/split_options.hpp"
#include "cli/text.hpp"
#include "patchfold/plan.hpp"

namespace patchfold::cli {
namespace {

using Words = std::vector<std::string>;

/// Runs a command in two steps: an error while it reads its words is an error of usage, a later error is not.
template <class Request>
void run_request(Request (*parse)(const Words&), void (*command)(const Request&), const Words& words, bool& in_words) {
  const Request request = parse(words);
  in_words = false;
  if (!request.help.empty()) return print(request.help);
  set_num_threads(request.threads);
  command(request);
}

/// Runs a command that reads no files, so that every error is an error of usage.
template <void (*command)(const Words&)>
void run_on_words(const Words& words, bool&) {
  command(words);
}

constexpr CommandEntry entries[] = {
    {"ops", "ops [OP]", "list the operators, or show one", run_on_words<run_ops>, ops_options},
    {"run", "run OP INPUT... [--ARGUMENT VALUE]... -o OUT", "run an operator from file to file",
     [](const Words& words, bool& in_words) { run_request(parse_run, run_operator, words, in_words); }, run_options},
    {"split", "split PICTURE FOLDER --tile N [--overlap N]", "cut a picture of any size into tiles",
     [](const Words& words, bool& in_words) { run_request(parse_split, run_split, words, in_words); }, split_options},
    {"merge", "merge FOLDER OUT", "put tiles together again, without seams",
     [](const Words& words, bool& in_words) { run_request(parse_merge, run_merge, words, in_words); }, merge_options},
    {"explain", "explain OP --shape N,.. [--ARGUMENT VALUE]...", "show what an operator does to a shape",
     run_on_words<run_explain>, explain_options},
    {"bench", "bench [PROBLEM]... [--threads N,..]", "measure how fast operators run", run_on_words<run_bench>,
     bench_options},
    {"errors", "errors [CODE]", "list the codes of errors, or what to do about one", run_on_words<run_errors>,
     errors_options},
    {"completion", "completion bash|zsh|fish", "print what makes a shell complete commands and options",
     run_on_words<run_completion>, completion_options},
};

constexpr std::string_view program_doc =
    "patchfold cuts tensors into blocks and patches and puts them back, as ONNX, OpenVINO, TensorFlow, PyTorch and Keras "
    "do.\n";
constexpr std::string_view program_files =
    "INPUT, PICTURE and OUT are .npy files or pictures (.png, .jpg, .tif; H x W x C, with --chw C x H x W); - is standard\n"
    "input or output. Reports go to standard error, with --json as JSON to standard output.\n";
constexpr std::string_view exit_codes_doc = "Exit code: 0 done, 1 failed, 2 wrong usage.\n";
constexpr std::string_view program_examples =
    "  patchfold run unfold image.npy --kernel_size 3,3 --padding 1 -o columns.npy\n"
    "  patchfold run fold columns.npy --output_size 16,16 --kernel_size 3,3 --padding 1 -o image.npy\n"
    "  patchfold run space_to_depth photo.png --block 2,2 --layout channels_last --as float32 -o blocks.npy\n"
    "  patchfold split photo.png tiles --tile 512 --overlap 64\n"
    "  patchfold merge tiles photo-again.png\n"
    "  patchfold explain unfold --shape 1,3,8,8 --kernel_size 3,3 --padding 1\n";

}  // namespace

std::span<const CommandEntry> commands() noexcept {
  return entries;
}

std::string program_help() {
  std::size_t width = 0;
  for (const auto& entry : entries) width = std::max(width, entry.usage.size());
  std::string text = text_of(program_doc, "\n");
  for (const auto& entry : entries)
    text += text_of(&entry == entries ? "Usage: " : "       ", "patchfold ", entry.usage,
                    std::string(width - entry.usage.size() + 2, ' '), entry.summary, "\n");
  return text_of(text, "       patchfold --help, --version\n\n", program_files,
                 "`patchfold COMMAND --help` and `patchfold run OP --help` list all options.\n", exit_codes_doc,
                 "\nExamples:\n", program_examples);
}

}  // namespace patchfold::cli
