// SPDX-License-Identifier: Apache-2.0
#include "cli/explain.hpp"

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/example.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "patchfold/explain.hpp"

namespace patchfold::cli {
namespace {

constexpr const char* explain_help =
    "Shows what an operator does to a tensor of one shape: arguments, shapes, positions, how often each element is used,\n"
    "which element comes from which, and the plan. No file is read.\n"
    "\n"
    "Usage: patchfold explain OP --shape N,.. [--dtype TYPE] [--ARGUMENT VALUE]...\n"
    "       patchfold explain OP TYPE SHAPE [ARGUMENT=VALUE]...\n"
    "\n"
    "The second form is a problem as benchmarks and bug reports write it, in one word or in several; for the neutral\n"
    "operators k, s, d and p stand for kernel_size, stride, dilation and padding.\n"
    "`patchfold ops` lists the operators; `patchfold explain OP --help` lists the arguments of one.\n"
    "\n"
    "Examples:\n"
    "  patchfold explain unfold --shape 1,3,8,8 --kernel_size 3,3 --padding 1\n"
    "  patchfold explain \"openvino.Col2Im f32 1x4x9 output_size=4,4 kernel_size=2,2\"\n"
    "  patchfold explain unfold f32 1x3x8x8 k3x3 p1\n";

void explain_with_options(const OperatorSpec& op, const std::vector<std::string>& words) {
  Command command(std::string(op.doc), fmt::format("patchfold explain {}", op.name));
  const Example example = example_of(op);
  const std::string shape_option =
      op.data_input.empty() ? "" : fmt::format(" --shape {}", fmt::join(example.shape.begin(), example.shape.end(), ","));
  command.usage(fmt::format("patchfold explain {} {}[--dtype TYPE] [--ARGUMENT VALUE]...", op.name,
                            op.data_input.empty() ? "" : "--shape N,.. "));
  command.footer(
      fmt::format("{}\n\nExample: patchfold explain {}{}{}", value_forms, op.name, shape_option, example.options));

  OperatorOptions options(command, op);
  std::string shape, dtype;
  std::optional<Command::Option> shape_given;
  if (!op.data_input.empty())
    shape_given = command.option("--shape", shape, "N,..", fmt::format("extents of {}; required", op.data_input));
  command.option("--dtype", dtype, "TYPE", "element type; default float32");
  if (const std::string help = options.parse(words); !help.empty()) return print(help);

  Dims extents;
  if (shape_given) {
    if (!command.given(*shape_given))
      throw Error({ErrorCode::missing, std::string(op.name), "--shape", "is required", "",
                   fmt::format("the extents of {}: N,..", op.data_input)});
    extents = std::get<Dims>(parse_value(op, {.name = "--shape", .kind = ArgumentKind::integers}, shape));
  }
  const DType type = parse_dtype("explain", "--dtype", dtype).value_or(DType::float32);
  print(explain(op, options.arguments(), extents, type));
}

}  // namespace

void run_explain(const std::vector<std::string>& words) {
  if (words.empty()) {
    print(explain_help);
    fail_usage("explain", "", "needs an operator", "", "patchfold explain OP --shape N,..");
  }
  const std::string& first = words.front();
  if (first == "--help" || first == "-h") return print(explain_help);
  if (first.starts_with('-')) fail_usage("explain", first, "an operator's name comes before its options");
  const bool problem = first.find(' ') != std::string::npos || (words.size() > 1 && !words[1].starts_with('-'));
  if (problem)
    print(explain(parse_problem(fmt::format("{}", fmt::join(words, " ")))));
  else
    explain_with_options(find_operator(first), {words.begin() + 1, words.end()});
}

}  // namespace patchfold::cli
