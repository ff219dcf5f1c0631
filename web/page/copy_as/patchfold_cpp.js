// SPDX-License-Identifier: Apache-2.0
import { C_TYPES, NO_HALF, callOf, element, listed, pascal, valueOf } from "./arguments.js";

const WORDS = {
  "": { layout: "Layout", order: "Order", positions: "Positions", mode: "DepthMode", reduce: "FoldReduce", padding_mode: "PaddingMode", padding: "Padding", crops: "Padding" },
  onnx: { mode: "onnx::Mode" },
  openvino: { auto_pad: "openvino::AutoPad", blocks_mode: "openvino::BlocksMode" },
  tensorflow: { padding: "tensorflow::PaddingType", data_format: "tensorflow::DataFormat" },
  keras: { padding: "keras::PaddingType", data_format: "keras::DataFormat" },
};
// In C++ designated initialisers must follow the order of the struct's fields.
const FIRST = ["output_size", "image_shape", "kernel_size", "block_shape", "ksizes", "sizes", "size", "block", "blocksize", "block_size", "blocks_mode"];
const LATER = {
  torch: ["dilation", "padding", "stride"],
  keras: ["dilation", "padding", "stride", "strides", "dilation_rate"],
  onnx: ["dilations", "pads", "strides"],
};
const NEUTRAL = ["stride", "strides", "dilation", "dilations", "rates", "auto_pad", "padding", "pads_begin", "pads_end", "crops_begin", "crops_end", "crops", "paddings",
  "padding_mode", "mode", "layout", "order", "positions", "reduce", "data_format"];

function value(dialect, name, text) {
  const { kind, value: given } = valueOf(text);
  if (kind === "word") return `${WORDS[dialect][name]}::${given}`;
  if (kind === "list") return `{${given.join(", ")}}`;
  return kind === "pairs" ? `{${given.map((pair) => `Pads{${pair.join(", ")}}`).join(", ")}}` : given;
}

export function patchfoldCpp(problem) {
  const type = C_TYPES[problem.dtype];
  if (!type) return { why: NO_HALF };
  const { op, given } = callOf(problem);
  const [dialect, name] = op.includes(".") ? op.split(".") : ["", op];
  const order = [...FIRST, ...(dialect === "keras" && name === "extract_patches" ? ["strides", "dilation_rate", "padding", "data_format"] : LATER[dialect] ?? NEUTRAL), ...NEUTRAL];
  const fields = given.slice().sort((a, b) => order.indexOf(a[0]) - order.indexOf(b[0])).map(([argument, text]) => `.${argument} = ${value(dialect, argument, text)}`);
  const struct = `${dialect ? `${dialect}::` : ""}${name.includes("_") || /^[a-z]/.test(name) ? pascal(name) : name}`;
  const shown = problem.dtype === "int64" ? "static_cast<long long>(value)" : "value";
  return {
    text: `#include <cstdint>
#include <cstdio>
#include <patchfold/patchfold.hpp>
#include <vector>

int main() {
  using namespace patchfold;
  const Dims shape = {${problem.input.join(", ")}};
  std::vector<${type.name}> x(${problem.count});
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<${type.name}>(${element(problem)});

${listed(`  const ${struct} op{`, fields, "};")}
  const Dims result_shape = op.output_shape(shape);
  std::vector<${type.name}> result(static_cast<std::size_t>(element_count(result_shape)));
  run(op, view(x.data(), shape), view(result.data(), result_shape));
  for (const ${type.name} value : result) std::printf("${type.format}\\n", ${shown});
}
`,
  };
}
