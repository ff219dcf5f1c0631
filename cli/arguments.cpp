// SPDX-License-Identifier: Apache-2.0
// CLI11 reads the words of `patchfold run` in two steps. First it reads the common options up to the operator's name; then,
// with the operator's own options added, all later words.
#include "cli/arguments.hpp"

#include <filesystem>

#include "cli/command.hpp"
#include "cli/inputs.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "cli/text.hpp"
#include "formats/file.hpp"
#include "formats/picture.hpp"

namespace patchfold::cli {
namespace {

constexpr const char* run_usage = "patchfold run OP INPUT... [--ARGUMENT VALUE]... -o OUT";
constexpr const char* run_footer =
    "`patchfold ops` lists the operators; `patchfold run OP --help` lists the arguments of one.\n"
    "Exit code: 0 done, 1 failed, 2 wrong usage.";

/// Values of options as texts, which are converted after parsing.
struct Texts {
  std::string dtype{};
  std::string as{};
  std::string format{};
};

void add_common(Command& command, RunRequest& request, Texts& texts) {
  command.completes(command.option("-o,--output", request.output, "OUT",
                                   "where the result goes: .npy, .png, .jpg or .tif; - for standard output"),
                    Completion::file);
  add_format(command, texts.format);
  command.choices(command.option("--dtype", texts.dtype, "TYPE",
                                 "what .npy elements are that NumPy calls V1, V2, u1 or u2: bfloat16, float8_.."),
                  dtype_names());
  command.choices(command.option("--as", texts.as, "TYPE",
                                 "convert the data to this type on the way in; rounds, clips to what integers hold"),
                  dtype_names());
  command.flag("--chw", request.chw, "pictures are C x H x W instead of H x W x C; the layout follows them");
  command.flag("--batch", request.batch, "pictures have a batch axis in front: 1 x H x W x C, with --chw 1 x C x H x W");
  request.picture.add_to(command);
  command.option("--page", request.page, 0, 1 << 16, "N", "the page of a TIFF file that has several, from 0");
  command.option("--level", request.level, 0, 64, "N",
                 "of a TIFF file: 1 for its largest smaller copy (overview), 2 for the next, ..");
  add_threads(command, request.threads);
  add_reporting(command, request.reporting);
}

/// Returns how the data at a path is read: as a stream, a picture or an array.
Source::Kind kind_of_source(const std::string& path) {
  if (formats::standard_descriptor(path, 0) >= 0) return Source::Kind::stream;
  return formats::is_picture_path(path) ? Source::Kind::picture : Source::Kind::array;
}

/// Returns the operator with this name.
const OperatorSpec& operator_of(const std::string& name) {
  if (name.starts_with('-')) fail_usage("run", name, "an operator's name comes before its options");
  try {
    return find_operator(name);
  } catch (const Error&) {
    std::error_code ignored;
    if (std::filesystem::is_directory(name, ignored))
      fail_usage("run", name, "is a folder, but the name of an operator comes first", "",
                 "patchfold run OP INPUT... -o OUT, or for ONNX node tests python -m patchfold.onnx FOLDER...");
    if (std::filesystem::exists(name, ignored))
      fail_usage("run", name, "is a file, but the name of an operator comes first", "", "patchfold run OP INPUT... -o OUT");
    throw;
  }
}

/// Takes the files that follow the data input as those shape inputs that no option gives, in the operator's order.
void assign_inputs(const std::vector<std::string>& paths, const OperatorOptions& options, RunRequest& request) {
  const OperatorSpec& op = *request.op;
  auto path = paths.begin();
  if (!op.data_input.empty()) {
    if (path == paths.end())
      throw Error({ErrorCode::missing, std::string(op.name), std::string(op.data_input), "is required", "", "a file"});
    request.data = {*path, kind_of_source(*path)};
    ++path;
  }
  for (std::size_t i = 0; i < op.arguments.size() && path != paths.end(); ++i)
    if (op.arguments[i].is_input && !options.given(i)) request.shape_inputs.push_back({&op.arguments[i], *path++});
  if (path != paths.end()) fail_usage(op.name, *path, "is one input too many");
}

void check_files(RunRequest& request, const Texts& texts) {
  const auto name = request.op->name;
  if (request.output.empty())
    fail_usage(name, "-o", "is required", "", "a path that ends in .npy, .png, .jpg or .tif, or - for standard output");
  request.format = format_of_output(name, "-o", request.output, texts.format);
  const bool picture_in = request.data.kind == Source::Kind::picture;
  const bool is_stream = request.data.kind == Source::Kind::stream;
  const bool picture_out = request.format != formats::FileFormat::npy;
  if (picture_in && request.dtype) fail_usage(name, "--dtype", "does not apply to pictures", "", "--as, which converts");
  if (request.data.kind == Source::Kind::none && request.as)
    fail_usage(name, "--as", "needs data to convert", "", "--dtype");
  request.picture.check(name, request.format, request.output);
  if (request.page && !picture_in && !is_stream) fail_usage(name, "--page", "applies to pictures only");
  if (request.level != 0 && !picture_in && !is_stream) fail_usage(name, "--level", "applies to pictures only");
  if (picture_in || picture_out || is_stream) return;
  if (request.chw) fail_usage(name, "--chw", "applies to pictures only");
  if (request.batch) fail_usage(name, "--batch", "applies to pictures only");
}

/// Reads the words of `patchfold run OP`.
struct OperatorCommand {
  OperatorCommand(RunRequest& request, Texts& texts)
      : command(std::string(request.op->doc), text_of("patchfold run ", request.op->name)), options(command, *request.op) {
    const OperatorSpec& op = *request.op;
    command.usage(
        text_of("patchfold run ", op.name, op.data_input.empty() ? " " : " INPUT... ", "[--ARGUMENT VALUE]... -o OUT"));
    command.footer(text_of(value_forms, "\n\nExample: ", example_of(op).command));
    add_common(command, request, texts);
  }

  Command command;
  std::vector<std::string> paths{};
  Command::Option words = command.completes(
      command.words("INPUT", paths,
                    ".npy or picture, or - for standard input: the data, then shape inputs that no option gives"),
      Completion::file);
  OperatorOptions options;
};

void parse_operator(const std::vector<std::string>& words, RunRequest& request, Texts& texts) {
  const OperatorSpec& op = *request.op;
  OperatorCommand all(request, texts);
  request.help = all.options.parse(words);
  if (!request.help.empty()) return;
  request.arguments = all.options.arguments();
  for (const auto& [name, value] : request.arguments)
    if (const auto* flag = std::get_if<std::int64_t>(&value); name == "accumulate" && flag && *flag != 0)
      fail_usage(op.name, name, "does not apply to files: the output is always a new one", "true", "false");
  request.dtype = parse_dtype("run", "--dtype", texts.dtype);
  request.as = parse_dtype("run", "--as", texts.as);
  assign_inputs(all.paths, all.options, request);
  check_files(request, texts);
  if (request.data.kind != Source::Kind::stream) settle_layout(request);
  if (request.shape_inputs.empty()) request.bound = op.bind(request.arguments);
}

/// Reads the words of `patchfold run` up to the operator's name.
struct RunCommand {
  RunCommand() {
    command.usage(run_usage);
    command.footer(run_footer);
    add_common(command, request, texts);
    command.stop_at_unknown();
  }

  RunRequest request{};
  Texts texts{};
  Command command{"Runs one operator on a .npy file or a picture.", "patchfold run"};
};

}  // namespace

std::vector<OptionInfo> run_options() {
  return RunCommand().command.options();
}

std::vector<OptionInfo> run_options(const OperatorSpec& op) {
  RunRequest request;
  request.op = &op;
  Texts texts;
  return OperatorCommand(request, texts).command.options();
}

RunRequest parse_run(const std::vector<std::string>& words) {
  RunCommand first;
  RunRequest& request = first.request;
  request.help = first.command.parse(words);
  if (!request.help.empty()) return std::move(request);
  const std::vector<std::string> rest = first.command.remaining();
  if (rest.empty()) {
    print(first.command.help());
    fail_usage("run", "", "needs an operator", "", "patchfold run OP INPUT... -o OUT");
  }
  request.op = &operator_of(rest.front());
  parse_operator({rest.begin() + 1, rest.end()}, request, first.texts);
  return std::move(request);
}

}  // namespace patchfold::cli
