// SPDX-License-Identifier: Apache-2.0
import { columns, exactSums, exceeds, image, spatial } from "./problem.js";
import { body, call, counted, list, program, slices, tuple } from "./python.js";
import { likeTorch, writer } from "./steps.js";

const write = {
  reshape: (x, { shape }) => `keras.ops.reshape(${x}, ${tuple(shape)})`,
  transpose: (x, { order }) => `keras.ops.transpose(${x}, ${tuple(order)})`,
  crop: (x, step) => `${x}${slices(step)}`,
  pad: (x, { pads, mode }) => `keras.ops.pad(${x}, ${list(pads)}${mode === "constant" ? "" : `, mode="${mode}"`})`,
};

/** Returns whether Keras's extract_patches gives the result. This function pads only by a rule, and computes with
 * convolutions. */
function extracts({ axes, cuts, rule, stride, dilation, dtype, layout, filled }) {
  if (cuts !== "unfold" || axes === 1 || layout !== "channels_last" || filled !== "constant") return false;
  const ruled = rule === "valid" || rule === "same_upper" || axes === 3;
  return ruled && dtype.startsWith("float") && (stride.every((step) => step === 1) || dilation.every((step) => step === 1));
}

function own(problem) {
  const { axes, cuts, kernel, stride, dilation, filled, layout, mode, rule } = problem;
  if (cuts === "unfold" && (axes === 3 || extracts(problem))) {
    const given = [tuple(kernel), `strides=${tuple(stride)}`, ...(dilation.every((step) => step === 1) ? [] : [`dilation_rate=${tuple(dilation)}`])];
    const same = rule === "same_upper" && filled === "constant";
    return {
      takes: image("channels_last", spatial(axes)), gives: columns(axes, { layout: "channels_last", order: "kernel", flat: false }), pads: same,
      call: (x, into, indent) => ({ text: call("keras.ops.image.extract_patches", [x, ...given, `padding="${same ? "same" : "valid"}"`, 'data_format="channels_last"'], indent) }),
    };
  }
  if (cuts === "unfold" || cuts === "fold") return likeTorch(problem, "keras.ops");
  const square = axes === 2 && mode === "blocks_first" && kernel[0] === kernel[1] && kernel[0] > 1;
  if (square && (cuts === "space_to_depth" || cuts === "depth_to_space"))
    return { call: (x) => ({ text: `keras.ops.${cuts}(${x}, ${kernel[0]}, data_format="${layout}")` }) };
  return null;
}

function why(problem) {
  const { axes, cuts, dtype, filled, stride, dilation, pads, mean } = problem;
  if (axes === 3 && cuts === "fold") return "keras.ops.fold takes two spatial axes.";
  if (axes === 3 && !dtype.startsWith("float")) return "keras.ops.image.extract_patches takes no integers: choose float32 or float64.";
  if (axes === 3 && dilation.some((step) => step !== 1) && stride.some((step) => step !== 1))
    return "keras.ops.image.extract_patches takes no dilation together with a stride.";
  if (pads.some((pair) => Math.min(...pair) < 0)) return "Keras crops no image on the way to its patches.";
  if (!["constant", "reflect", "symmetric"].includes(filled)) return `keras.ops.pad has no mode for ${filled}: choose another padding.`;
  if (exceeds(problem, ["reflect", "symmetric"])) return `keras.ops.pad takes no ${filled} padding that is larger than the image.`;
  if (mean && !dtype.startsWith("float")) return "A mean of integers is a floating-point number in Keras: choose float32 or float64.";
  if (cuts === "fold" && !exactSums(problem)) return "keras.ops.fold adds in the order of its backend, so the last bits differ.";
  return "";
}

export const keras = writer(why, own, (problem, steps) => {
  const lines = body(problem, steps, write, `x = ${counted(problem, "np")}`, "fold(x) / keras.ops.maximum(fold(keras.ops.ones_like(x)), 1)");
  return program("import keras", "import numpy as np", "", lines, "print(result)");
});
