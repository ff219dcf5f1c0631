// SPDX-License-Identifier: Apache-2.0
#include "patchfold/explain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"

namespace patchfold::cli {
namespace {

constexpr const char* explain_help =
    "Shows what an operator does to a tensor of one shape: arguments, shapes and their formulas, the patches over the\n"
    "padded image, how often each element is used, which element comes from which, and the order inside a patch in every\n"
    "system. --plan shows how the library runs it, --svg draws it. If the operator refuses the shape or an argument, it\n"
    "says what would be right. No file is read.\n"
    "\n"
    "Usage: patchfold explain OP --shape N,.. [--dtype TYPE] [--ARGUMENT VALUE]... [--plan | --svg] [--json]\n"
    "       patchfold explain OP TYPE SHAPE [ARGUMENT=VALUE]... [--plan | --svg] [--json]\n"
    "       patchfold explain tiling --shape N,.. --tile N [--overlap N] [OPTION]... [--svg]\n"
    "\n"
    "The second form is a problem as benchmarks and bug reports write it, in one word or in several; for the neutral\n"
    "operators k, s, d and p stand for kernel_size, stride, dilation and padding. The third form shows where tiles lie.\n"
    "`patchfold ops` lists the operators; `patchfold explain OP --help` lists the arguments of one.\n"
    "\n"
    "Examples:\n"
    "  patchfold explain unfold --shape 1,3,8,8 --kernel_size 3,3 --padding 1\n"
    "  patchfold explain \"openvino.Col2Im f32 1x4x9 output_size=4,4 kernel_size=2,2\"\n"
    "  patchfold explain unfold f32 1x3x8x8 k3x3 p1 --svg\n"
    "  patchfold explain tiling --shape 3,1000,700 --tile 256 --overlap 32\n";

JsonObject json(const Argument& argument, const ArgumentSpec& spec) {
  std::string value = to_string(argument.value);
  if (spec.kind == ArgumentKind::boolean) value = value == "1" ? "true" : "false";
  return JsonObject().add("name", spec.name).add("value", value);
}

JsonObject json(const SpatialAxis& axis) {
  return JsonObject()
      .add("extent", axis.extent)
      .add("kernel", axis.kernel)
      .add("stride", axis.stride)
      .add("dilation", axis.dilation)
      .add("pad_begin", axis.pad_begin)
      .add("pad_end", axis.pad_end)
      .add("positions", axis.positions);
}

JsonObject json(const ProblemText& problem, ExplainOptions options) {
  const OperatorSpec& op = find_operator(problem.op);
  const Geometry geometry = op.bind(problem.arguments).lower(op.data_input.empty() ? Dims{} : problem.shape).geometry;
  const auto argument = [&](const Argument& each) {
    const auto spec = std::ranges::find_if(op.arguments, [&](const ArgumentSpec& candidate) {
      return candidate.name == each.name || candidate.old_name == each.name;
    });
    return json(each, *spec);
  };
  return JsonObject()
      .add("command", "explain")
      .add("operator", op.name)
      .add("problem", to_string(problem))
      .add("arguments", JsonText{json_list(problem.arguments, argument)})
      .add("dtype", name_of(problem.dtype))
      .add("input", geometry.has_data ? std::optional(geometry.data) : std::nullopt)
      .add("output", geometry.output)
      .add("extracts", geometry.extracts())
      .add("sums", geometry.sums)
      .add("taps", geometry.taps)
      .add("positions", geometry.positions)
      .add("axes", JsonText{json_list(geometry.axes, [](const SpatialAxis& axis) { return json(axis); })})
      .add("text", explain(problem, options));
}

/// The options that choose the form of an explanation.
struct Form {
  bool plan = false, svg = false, json = false;

  void add_to(Command& command) {
    command.flag("--plan", plan, "show how the library runs the operator, too");
    command.flag("--svg", svg, "print a picture, as SVG");
    command.flag("--json", json, "print JSON");
  }
};

void show(const ProblemText& problem, Form form) {
  if (form.svg && (form.plan || form.json))
    fail_usage("explain", "--svg", form.plan ? "does not show the plan" : "must not be given together with --json");
  try {
    if (form.svg) return print(explain_svg(problem));
    print(form.json ? json(problem, {.plan = form.plan}).text() + "\n" : explain(problem, {.plan = form.plan}));
  } catch (const Error& error) {
    // Standard output gets the explanation of a refused problem; standard error gets the error itself.
    if (!form.json && !form.svg && error.code() != ErrorCode::file_write) print(explain_error(problem));
    throw;
  }
}

/// Reads the words of `patchfold explain OP`.
struct ExplainCommand {
  explicit ExplainCommand(const OperatorSpec& spec)
      : op(spec), command(std::string(op.doc), fmt::format("patchfold explain {}", op.name)), options(command, op) {
    const Example example = example_of(op);
    const std::string shape_option =
        op.data_input.empty() ? "" : fmt::format(" --shape {}", fmt::join(example.shape.begin(), example.shape.end(), ","));
    command.usage(fmt::format("patchfold explain {} {}[--dtype TYPE] [--ARGUMENT VALUE]...", op.name,
                              op.data_input.empty() ? "" : "--shape N,.. "));
    command.footer(
        fmt::format("{}\n\nExample: patchfold explain {}{}{}", value_forms, op.name, shape_option, example.options));
    if (!op.data_input.empty())
      shape_given = command.option("--shape", shape, "N,..", fmt::format("extents of {}; required", op.data_input));
    command.choices(command.option("--dtype", dtype, "TYPE", "element type; default float32"), dtype_names());
    form.add_to(command);
  }

  const OperatorSpec& op;
  std::string shape{}, dtype{};
  Form form{};
  std::optional<Command::Option> shape_given{};
  Command command;
  OperatorOptions options;
};

void explain_with_options(const OperatorSpec& op, const std::vector<std::string>& words) {
  ExplainCommand all(op);
  if (const std::string help = all.options.parse(words); !help.empty()) return print(help);
  Dims extents;
  if (all.shape_given) {
    if (!all.command.given(*all.shape_given))
      throw Error({ErrorCode::missing, std::string(op.name), "--shape", "is required", "",
                   fmt::format("the extents of {}: N,..", op.data_input)});
    extents = std::get<Dims>(parse_value(op, {.name = "--shape", .kind = ArgumentKind::integers}, all.shape));
  }
  const DType type = parse_dtype("explain", "--dtype", all.dtype).value_or(DType::float32);
  show({std::string(op.name), type, size_of(type), extents, all.options.arguments()}, all.form);
}

}  // namespace

std::vector<OptionInfo> explain_options(const OperatorSpec& op) {
  return ExplainCommand(op).command.options();
}

std::vector<OptionInfo> explain_options() {
  Form form;
  Command command("", "patchfold explain");
  form.add_to(command);
  return command.options();
}

void run_explain(const std::vector<std::string>& words) {
  if (words.empty()) {
    print(explain_help);
    fail_usage("explain", "", "needs an operator", "", "patchfold explain OP --shape N,..");
  }
  const std::string& first = words.front();
  if (first == "--help" || first == "-h") return print(explain_help);
  if (first.starts_with('-')) fail_usage("explain", first, "an operator's name comes before its options");
  if (first == "tiling") return run_explain_tiling({words.begin() + 1, words.end()});
  std::vector<std::string> plain = words;
  Form form;
  form.json = std::erase(plain, "--json") > 0;
  form.plan = std::erase(plain, "--plan") > 0;
  form.svg = std::erase(plain, "--svg") > 0;
  const bool problem = first.find(' ') != std::string::npos || (plain.size() > 1 && !plain[1].starts_with('-'));
  if (problem)
    show(parse_problem(fmt::format("{}", fmt::join(plain, " "))), form);
  else
    explain_with_options(find_operator(first), {words.begin() + 1, words.end()});
}

}  // namespace patchfold::cli
