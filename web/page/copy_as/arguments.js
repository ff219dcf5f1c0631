// SPDX-License-Identifier: Apache-2.0
// Writes patchfold's own call for a state: the operator's name in the operator table, and its arguments.
import { argumentsOf, operatorName } from "../call.js";
import { product } from "./problem.js";

const all = (value) => (text) => text.split(",").every((part) => part === "" || part === value || part === `${value}:${value}`);
const word = (value) => (text) => text === value;
const WINDOW = { stride: all("1"), dilation: all("1"), padding: all("0") };
/** For each operator and argument, a test whether a value is the default. */
const DEFAULTS = {
  unfold: { ...WINDOW, padding_mode: word("constant"), layout: word("channels_first"), order: word("channel"), positions: word("flat") },
  fold: { ...WINDOW, reduce: word("sum"), layout: word("channels_first"), order: word("channel"), positions: word("flat") },
  space_to_depth: { mode: word("blocks_first"), layout: word("channels_first") },
  depth_to_space: { mode: word("blocks_first"), layout: word("channels_first") },
  space_to_batch: { padding: all("0"), layout: word("channels_first") },
  batch_to_space: { crops: all("0"), layout: word("channels_first") },
  "torch.unfold": WINDOW, "torch.fold": WINDOW, "keras.unfold": WINDOW, "keras.fold": WINDOW,
  "keras.extract_patches": { dilation_rate: all("1"), padding: word("valid"), data_format: word("channels_last") },
  "onnx.Col2Im": { dilations: all("1"), strides: all("1"), pads: all("0") },
  "onnx.DepthToSpace": { mode: word("DCR") },
  "openvino.Col2Im": { dilations: all("1"), strides: all("1"), pads_begin: all("0"), pads_end: all("0") },
  "tensorflow.SpaceToDepth": { data_format: word("NHWC") }, "tensorflow.DepthToSpace": { data_format: word("NHWC") },
};

/** Returns {op, given: [[name, text]]}. `given` has the arguments that differ from their defaults, in the form of the
 * command line. */
export function callOf({ state }) {
  const op = operatorName(state);
  const left = DEFAULTS[op] ?? {};
  const given = Object.entries(argumentsOf(state)).filter(([name, text]) => !left[name]?.(text));
  return { op, given: given.map(([name, text]) => [name, shortened(op, name, text)]) };
}

/** Writes pads as one number for each axis if both ends of every axis are equal: neutral operators take this form
 * too. */
function shortened(op, name, text) {
  const ends = text.split(",").map((part) => part.split(":"));
  const both = !op.includes(".") && ["padding", "crops"].includes(name) && ends.length > 1 && ends.every(([begin, end]) => begin === end);
  return both ? ends.map(([begin]) => begin).join(",") : text;
}

/** Returns a value as {kind, value}: a number, a list, a list of pairs, or a word. */
export function valueOf(text) {
  if (/^\d+$/.test(text)) return { kind: "number", value: text };
  if (/^[\d,]+$/.test(text)) return { kind: "list", value: text.split(",").filter((part) => part !== "") };
  if (/^[\d:,]+$/.test(text)) return { kind: "pairs", value: text.split(",").map((pair) => pair.split(":")) };
  return { kind: "word", value: text };
}

/** Returns a name in snake case: space_to_batch_nd for "SpaceToBatchND", col2im for "Col2Im". */
export const snake = (name) => name.replace(/ND$/, "Nd").replace(/([a-z])([A-Z])/g, "$1_$2").replace(/2_/g, "2").toLowerCase();
/** Returns a name in Pascal case: PixelShuffle for "pixel_shuffle". */
export const pascal = (name) => name.split("_").map((part) => part[0].toUpperCase() + part.slice(1)).join("");

/** Returns the result's shape. */
export const resultShape = ({ to, sizes }) => to.map((group) => product(group.map((atom) => sizes[atom])));

/** The element types in C and C++: their name in the language, their name in the header, and printf's format for a
 * number. */
export const C_TYPES = {
  float32: { name: "float", code: "FLOAT32", format: "%.9g" },
  float64: { name: "double", code: "FLOAT64", format: "%.17g" },
  int32: { name: "int32_t", code: "INT32", format: "%d" },
  int64: { name: "int64_t", code: "INT64", format: "%lld" },
  uint8: { name: "uint8_t", code: "UINT8", format: "%d" },
};
export const NO_HALF = "C and C++ have no 16-bit floating-point type that every compiler knows: choose float32.";
/** Returns the C expression of element i of the input. */
export const element = ({ dtype, count }) => (dtype === "uint8" && count > 250 ? "i % 250 + 1" : "i + 1");

/** Returns `before`, the items and `after` on one line; if that would be long, with a line for each item. */
export function listed(before, items, after) {
  const line = `${before}${items.join(", ")}${after}`;
  return line.length <= 118 ? line : `${before}\n${items.map((item) => `      ${item},\n`).join("")}  ${after}`;
}
