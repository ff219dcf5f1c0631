// SPDX-License-Identifier: Apache-2.0
#include "patchfold/explain.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/fail.hpp"
#include "dialects/text.hpp"
#include "explain/elements.hpp"
#include "explain/lines.hpp"
#include "explain/patches.hpp"
#include "explain/picture.hpp"
#include "explain/subject.hpp"

namespace patchfold {
namespace explaining {

std::optional<ArgumentValue> value_in_force(const Subject& subject, const ArgumentSpec& argument) {
  for (const Argument& given : subject.given)
    if (dialects::find_argument(subject.op, given.name) == &argument) return given.value;
  if (argument.default_text.empty()) return std::nullopt;
  return parse_value(subject.op, argument, argument.default_text);
}

namespace {

Plan plan_of(const Subject& subject) {
  const auto tensor = [&](const Dims& shape) {
    return TensorView{nullptr, shape, contiguous_strides(shape, subject.element_size), subject.dtype, subject.element_size};
  };
  return subject.lowering.plan(tensor(subject.input()), tensor(subject.output()));
}

void write_head(Text& text, const Subject& subject, bool with_definition) {
  const ProblemText problem{std::string(subject.op.name), subject.dtype, subject.element_size, subject.input(),
                            subject.given};
  text.line(std::string(subject.op.name) + ": " + std::string(subject.op.doc), 2);
  if (with_definition) text.line("  definition: " + std::string(subject.op.definition));
  text.line("  problem: " + to_string(problem));
}

void write_arguments(Text& text, const Subject& subject) {
  if (subject.op.arguments.empty()) return;
  text.section("Arguments");
  std::vector<std::vector<std::string>> rows;
  for (const ArgumentSpec& spec : subject.op.arguments) {
    const bool given = std::ranges::any_of(
        subject.given, [&](const Argument& each) { return dialects::find_argument(subject.op, each.name) == &spec; });
    const auto value = value_in_force(subject, spec);
    std::string written = value ? to_string(*value) : "-";
    if (spec.kind == ArgumentKind::boolean) written = written == "1" ? "true" : "false";
    rows.push_back({std::string(spec.name), written,
                    given   ? "given"
                    : value ? "default"
                            : "left out",
                    std::string(spec.doc)});
  }
  text.table(rows);
}

void write_shapes(Text& text, const Subject& subject) {
  text.section("Shapes, " + (subject.dtype == DType::opaque ? "opaque elements" : std::string(name_of(subject.dtype))) +
               " of " + counted(static_cast<std::int64_t>(subject.element_size), "byte"));
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](std::string_view name, const Dims& shape) {
    const std::int64_t count = element_count(shape);
    rows.push_back({std::string(name), to_string(shape), counted(count, "element"),
                    bytes(count * static_cast<std::int64_t>(subject.element_size))});
  };
  if (subject.has_input()) add(subject.op.data_input, subject.input());
  add("output", subject.output());
  text.table(rows);
  const auto in = static_cast<double>(element_count(subject.input())),
             out = static_cast<double>(element_count(subject.output()));
  if (subject.has_input() && in > 0 && out > 0 && in != out)
    text.line("  the output has " + number(out / in) + " times as many elements");
  for (const AxisFormula& line : output_formulas(subject)) text.line("  " + line.axis + ": " + line.formula);
}

void write_traffic(Text& text, const Subject& subject) {
  text.section("Bytes and roof");
  for (const std::string& line : traffic_lines(subject)) text.line("  " + line);
}

void write_plan(Text& text, const Plan& plan) {
  text.section("Plan: how this library runs it");
  for (const std::string& line : lines_of(plan.describe())) text.line("  " + line, 12);
}

/// Returns whether elements are few enough to be visited one by one. Without a data input, the taps of all patches count as input.
bool is_small(const Subject& subject) {
  const Geometry& geometry = subject.geometry();
  const std::optional<std::int64_t> read =
      subject.has_input() ? element_count(subject.input()) : checked_mul(geometry.taps, geometry.positions);
  return read && *read <= explain_limit && element_count(subject.output()) <= explain_limit;
}

/// Returns the description of the picture that screen readers read.
std::string description_of_picture(const Subject& subject) {
  const Geometry& geometry = subject.geometry();
  std::string text = std::string(subject.op.doc) + " ";
  if (subject.has_input()) text += std::string(subject.op.data_input) + " " + to_string(subject.input()) + ", ";
  text += "output " + to_string(subject.output()) + ". ";
  for (const AxisFormula& line : output_formulas(subject)) text += line.axis + ": " + line.formula + ". ";
  for (const SpatialAxis& axis : geometry.axes)
    text += "Axis " + std::to_string(axis.image_axis) + " of the image: extent " + std::to_string(axis.extent) +
            ", kernel " + std::to_string(axis.kernel) + ", stride " + std::to_string(axis.stride) + ", dilation " +
            std::to_string(axis.dilation) + ", pads " + std::to_string(axis.pad_begin) + " and " +
            std::to_string(axis.pad_end) + ", " + counted(axis.positions, "position") + ". ";
  for (const PatchOrder& order : patch_vector(subject, 0).orders)
    if (order.ours) text += "Elements of a patch in the order of " + std::string(order.system) + ". ";
  return text;
}

Subject subject_of(const OperatorSpec& op, std::span<const Argument> arguments, const Dims& data_shape, DType dtype,
                   std::size_t element_size) {
  return {op,
          {arguments.begin(), arguments.end()},
          op.bind(arguments).lower(op.data_input.empty() ? Dims{} : data_shape),
          dtype,
          dtype == DType::opaque ? element_size : size_of(dtype)};
}

}  // namespace
}  // namespace explaining

std::string explain(const OperatorSpec& op, std::span<const Argument> arguments, const Dims& data_shape, DType dtype,
                    std::size_t element_size, ExplainOptions options) {
  using namespace explaining;
  const Subject subject = subject_of(op, arguments, data_shape, dtype, element_size);
  const Plan plan = plan_of(subject);
  Text text;
  write_head(text, subject, options.plan || subject.op.dialect != "neutral");
  write_arguments(text, subject);
  write_shapes(text, subject);
  write_windows(text, subject);
  write_patches(text, subject);
  if (!is_small(subject)) {
    text.section("Coverage and order: shown for at most " + std::to_string(explain_limit) +
                 (subject.has_input() ? " elements on each side" : " elements and as many taps of all patches") +
                 "; a smaller shape shows them");
  } else {
    const Findings findings = find(subject);
    write_coverage(text, subject, findings);
    if (element_count(subject.output()) > 0) write_matrix(text, subject, findings);
    if (element_count(subject.output()) > 0) write_order(text, subject, findings);
  }
  write_vector(text, subject);
  write_traffic(text, subject);
  if (options.plan) write_plan(text, plan);
  return text.take();
}

std::string explain(const ProblemText& problem, ExplainOptions options) {
  return explain(find_operator(problem.op), problem.arguments, problem.shape, problem.dtype, problem.element_size, options);
}

std::string explain_svg(const ProblemText& problem) {
  using namespace explaining;
  const OperatorSpec& op = find_operator(problem.op);
  const Subject subject = subject_of(op, problem.arguments, problem.shape, problem.dtype, problem.element_size);
  (void)plan_of(subject);
  Svg svg(std::string(op.name) + " of " + to_string(subject.has_input() ? subject.input() : subject.output()),
          description_of_picture(subject));
  double y = draw_head(svg, Svg::margin, subject);
  y = draw_grids(svg, y, subject);
  y = draw_vector(svg, y, subject);
  y = draw_matrix(svg, y, subject);
  return svg.take(y + Svg::margin);
}

}  // namespace patchfold
