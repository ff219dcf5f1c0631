// SPDX-License-Identifier: Apache-2.0
#include "cli/program.hpp"

#include <exception>
#include <new>

#include "cli/arguments.hpp"
#include "cli/bench.hpp"
#include "cli/errors.hpp"
#include "cli/explain.hpp"
#include "cli/merge.hpp"
#include "cli/ops.hpp"
#include "cli/report.hpp"
#include "cli/run.hpp"
#include "cli/split.hpp"
#include "patchfold/plan.hpp"
#include "patchfold/version.hpp"

namespace patchfold::cli {
namespace {

constexpr const char* help_text =
    "patchfold cuts tensors into blocks and patches and puts them back, as ONNX, OpenVINO, TensorFlow, PyTorch and Keras "
    "do.\n"
    "\n"
    "Usage: patchfold ops [OP]                                        list the operators, or show one\n"
    "       patchfold run OP INPUT... [--ARGUMENT VALUE]... -o OUT    run an operator from file to file\n"
    "       patchfold split PICTURE FOLDER --tile N [--overlap N]     cut a picture of any size into tiles\n"
    "       patchfold merge FOLDER OUT                                put tiles together again, without seams\n"
    "       patchfold bench [PROBLEM]... [--threads N,..]             measure how fast operators run\n"
    "       patchfold explain OP --shape N,.. [--ARGUMENT VALUE]...   show what an operator does to a shape\n"
    "       patchfold errors [CODE]                                   list the codes of errors, or what to do about one\n"
    "       patchfold --help, --version\n"
    "\n"
    "INPUT and OUT are .npy files or pictures (.png, .jpg, .tif; H x W x C, with --chw C x H x W).\n"
    "`patchfold COMMAND --help` and `patchfold run OP --help` list all options.\n"
    "Exit code: 0 done, 1 failed, 2 wrong usage.\n"
    "\n"
    "Examples:\n"
    "  patchfold run unfold image.npy --kernel_size 3,3 --padding 1 -o columns.npy\n"
    "  patchfold run fold columns.npy --output_size 16,16 --kernel_size 3,3 --padding 1 -o image.npy\n"
    "  patchfold run space_to_depth photo.png --block 2,2 --layout channels_last --as float32 -o blocks.npy\n"
    "  patchfold split photo.png tiles --tile 512 --overlap 64\n"
    "  patchfold merge tiles photo-again.png\n"
    "  patchfold explain unfold --shape 1,3,8,8 --kernel_size 3,3 --padding 1\n";

constexpr const char* commands = "ops, run, split, merge, explain, bench or errors";

/// Reports an error and returns the exit code; `in_words`: while the command line is read.
int report(const Error& error, bool in_words) {
  print_error(error);
  return exit_code(error.code(), in_words);
}

/// A command that reads its words first: what is wrong there is usage, and what is wrong later is not. `command` returns the
/// exit code.
template <class Request>
int run_request(Request (*parse)(const std::vector<std::string>&), int (*command)(const Request&),
                const std::vector<std::string>& words) {
  Request request;
  try {
    request = parse(words);
  } catch (const Error& error) {
    return report(error, true);
  }
  if (!request.help.empty()) {
    print(request.help);
    return done;
  }
  set_num_threads(request.threads);
  return command(request);
}

int run(const RunRequest& request) {
  run_operator(request);
  return done;
}
int split(const SplitRequest& request) {
  run_split(request);
  return done;
}
int merge(const MergeRequest& request) {
  run_merge(request);
  return done;
}

/// A command that reads no files: whatever is wrong stands on the command line.
int run_on_words(void (*command)(const std::vector<std::string>&), const std::vector<std::string>& words) {
  try {
    command(words);
    return done;
  } catch (const Error& error) {
    return report(error, true);
  }
}

int run_command(const std::vector<std::string>& words) {
  if (words.empty()) {
    print(help_text);
    fail_usage("", "", "a command is needed", "", commands);
  }
  const std::string& command = words.front();
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  if (command == "run") return run_request(parse_run, run, rest);
  if (command == "explain") return run_on_words(run_explain, rest);
  if (command == "split") return run_request(parse_split, split, rest);
  if (command == "merge") return run_request(parse_merge, merge, rest);
  if (command == "bench") return run_on_words(run_bench, rest);
  if (command == "ops")
    run_ops(rest);
  else if (command == "errors")
    run_errors(rest);
  else if (command == "--help" || command == "-h" || command == "help")
    print(help_text);
  else if (command == "--version")
    print("patchfold " PATCHFOLD_VERSION_STRING "\n");
  else
    fail_usage("", command, "is not a command", "", commands);
  return done;
}

}  // namespace

int run_program(const std::vector<std::string>& words) {
  try {
    return run_command(words);
  } catch (const Error& error) {
    return report(error, false);
  } catch (const std::bad_alloc&) {
    print_error("out of memory", describe(ErrorCode::out_of_memory).name);
  } catch (const std::exception& error) {
    print_error(error.what());
  }
  return failed;
}

}  // namespace patchfold::cli
