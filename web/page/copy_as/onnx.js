// SPDX-License-Identifier: Apache-2.0
import { columns, exactSums, exceeds, image, product, spatial } from "./problem.js";
import { counted, list, program } from "./python.js";
import { writer } from "./steps.js";

const TYPES = { float32: "FLOAT", float64: "DOUBLE", float16: "FLOAT16", int32: "INT32", int64: "INT64", uint8: "UINT8" };
const begins = (pads) => [...pads.map(([begin]) => begin), ...pads.map(([, end]) => end)];
const text = (value) => (typeof value === "string" ? `"${value}"` : Array.isArray(value) ? list(value) : `${value}`);

/** The functions that write a node: its kind, its constants by name, its attributes. `runs`: the element types that
 * ONNX Runtime takes. */
const write = {
  reshape: ({ shape }) => ({ kind: "Reshape", constants: { shape: list(shape) } }),
  transpose: ({ order }) => ({ kind: "Transpose", attributes: { perm: order } }),
  pad: ({ pads, mode }) => ({ kind: "Pad", constants: { pads: list(begins(pads)) }, attributes: mode === "constant" ? {} : { mode } }),
  crop: ({ begins: starts, shape }) => ({ kind: "Slice", constants: { starts: list(starts), ends: list(starts.map((begin, axis) => begin + shape[axis])) } }),
};

const differing = (entries) => Object.fromEntries(entries.filter(([, values, standard]) => !values.every((value) => value === standard)).map(([name, values]) => [name, values]));

function own(problem) {
  const { axes, channels, cuts, pads, extents, kernel, stride, dilation, filled, layout, mode } = problem;
  const whole = image("channels_first", spatial(axes));
  const set = (padded) => differing([["dilations", dilation, 1], ["pads", padded ? begins(pads) : [0], 0], ["strides", stride, 1]]);
  if (cuts === "unfold") {
    const padded = filled === "constant" && pads.every((pair) => Math.min(...pair) >= 0);
    const taps = product(kernel);
    const eye = `np.tile(np.eye(${taps}, dtype=x.dtype).reshape(${[taps, 1, ...kernel].join(", ")}), ${list([channels, ...whole.slice(1).map(() => 1)])})`;
    return {
      takes: whole, gives: columns(axes, { flat: false }), pads: padded,
      call: () => ({ kind: "Conv", constants: { taps: eye }, attributes: { group: channels, ...set(padded) }, runs: ["float32"] }),
    };
  }
  if (cuts === "fold") {
    return {
      takes: columns(axes), gives: whole, pads: true,
      call: () => ({
        kind: "Col2Im", constants: { image_shape: list(extents), block_shape: list(kernel) }, attributes: set(true), runs: axes === 2 ? ["float32"] : [],
      }),
    };
  }
  if (axes !== 2 || layout !== "channels_first" || kernel[0] !== kernel[1]) return null;
  const runs = ["float32", "float64", "uint8"];
  if (cuts === "depth_to_space")
    return { call: () => ({ kind: "DepthToSpace", attributes: { blocksize: kernel[0], mode: mode === "blocks_first" ? "DCR" : "CRD" }, runs }) };
  if (cuts === "space_to_depth" && mode === "blocks_first") return { call: () => ({ kind: "SpaceToDepth", attributes: { blocksize: kernel[0] }, runs }) };
  return null;
}

function why(problem) {
  const { cuts, dtype, filled, mean } = problem;
  if (cuts === "unfold" && !dtype.startsWith("float")) return "ONNX has no operator that cuts patches, and its Conv, which can, takes no integers: choose float32.";
  if (!["constant", "edge", "reflect", "wrap"].includes(filled)) return `ONNX's Pad has no mode for ${filled}: choose another padding.`;
  if (exceeds(problem, ["reflect", "wrap"])) return `ONNX's Pad takes no ${filled} padding that is larger than the image.`;
  if (mean) return "ONNX's Col2Im adds and takes no mean: divide its result by the Col2Im of ones.";
  if (cuts === "fold" && dtype === "float16" && !exactSums(problem)) return "Runtimes of ONNX round sums of float16 each in a way of its own: choose float32.";
  return "";
}

export const onnx = writer(why, own, (problem, steps) => {
  const { dtype, cuts } = problem;
  const constants = [];
  const nodes = [];
  const used = new Map();
  const fresh = (name) => {
    used.set(name, (used.get(name) ?? 0) + 1);
    return used.get(name) === 1 ? name : `${name}_${used.get(name)}`;
  };
  let input = "x";
  let runtime = true;
  steps.forEach((step, index) => {
    const { kind, constants: given = {}, attributes = {}, runs } = step.op === "call" ? step.call() : write[step.op](step);
    const inputs = [input, ...Object.entries(given).map(([name, value]) => {
      const unique = fresh(name);
      constants.push(`    "${unique}": ${value},`);
      return unique;
    })];
    const output = index === steps.length - 1 ? "result" : fresh(step.into === "result" ? "whole" : step.into);
    const settings = Object.entries(attributes).map(([name, value]) => `, ${name}=${text(value)}`).join("");
    nodes.push(`    helper.make_node("${kind}", ${list(inputs.map(text))}, ["${output}"]${settings}),`);
    if (runs && !runs.includes(dtype)) runtime = false;
    input = output;
  });
  const type = `TensorProto.${TYPES[dtype]}`;
  return program(
    "import numpy as np", runtime ? "import onnxruntime" : null, "from onnx import TensorProto, helper, numpy_helper",
    runtime ? null : "from onnx.reference import ReferenceEvaluator", "",
    `x = ${counted(problem, "np")}`,
    cuts === "unfold" ? "# ONNX has no operator that cuts patches: a convolution with a one for each tap copies them." : null,
    "nodes = [", nodes, "]",
    constants.length ? ["constants = {", ...constants, "}"] : null,
    "graph = helper.make_graph(", '    nodes, "patches",',
    `    [helper.make_tensor_value_info("x", ${type}, x.shape)],`,
    `    [helper.make_tensor_value_info("result", ${type}, None)],`,
    constants.length ? "    [numpy_helper.from_array(np.array(value), name) for name, value in constants.items()]," : null,
    ")",
    'model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)',
    runtime
      ? 'result = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]'
      : 'result = ReferenceEvaluator(model).run(None, {"x": x})[0]  # ONNX Runtime has no kernel for this',
    "print(result)",
  );
});
