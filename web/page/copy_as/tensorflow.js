// SPDX-License-Identifier: Apache-2.0
import { columns, exactSums, exceeds, image, padsOf, spatial } from "./problem.js";
import { body, call, counted, list, program, slices } from "./python.js";
import { asPicture, twoOf, writer } from "./steps.js";

const MODES = { constant: "CONSTANT", reflect: "REFLECT", symmetric: "SYMMETRIC" };

const write = {
  reshape: (x, { shape }) => `tf.reshape(${x}, ${list(shape)})`,
  transpose: (x, { order }) => `tf.transpose(${x}, ${list(order)})`,
  crop: (x, step) => `${x}${slices(step)}`,
  pad: (x, { pads, mode }) => `tf.pad(${x}, ${list(pads)}${mode === "constant" ? "" : `, mode="${MODES[mode]}"`})`,
};

/** Returns whether these pads are those that TensorFlow's SAME gives. */
function isSame({ extents, kernel, stride, dilation, pads, positions, axes }) {
  return pads.every(([begin, end], axis) => {
    const [first, last] = padsOf("same_upper", extents[axis], kernel[axis], stride[axis], dilation[axis], axes === 3);
    return begin === first && end === last && positions[axis] === Math.ceil(extents[axis] / stride[axis]);
  });
}

/** Writes the call that extracts patches. */
function patches(problem, x, padding, indent) {
  const { axes, kernel, stride, dilation } = problem;
  const whole = (values) => list([1, ...twoOf(values, 1), 1]);
  if (axes === 3) return call("tf.raw_ops.ExtractVolumePatches", [`input=${x}`, `ksizes=${whole(kernel)}`, `strides=${whole(stride)}`, `padding="${padding}"`], indent);
  return call("tf.image.extract_patches", [x, `sizes=${whole(kernel)}`, `strides=${whole(stride)}`, `rates=${whole(dilation)}`, `padding="${padding}"`], indent);
}

function own(problem) {
  const { axes, batch, channels, extents, cuts, pads, filled, layout, kernel, mode, rule, dtype } = problem;
  const takes = asPicture(problem, image("channels_last", spatial(axes)));
  const grid = columns(axes, { layout: "channels_last", order: "kernel", flat: false });
  const gives = axes === 1 ? [grid[0], ["o"], ...grid.slice(1)] : grid;
  if (cuts === "unfold") {
    const none = pads.flat().every((value) => value === 0);
    const padding = !none && filled === "constant" && rule !== null && isSame(problem) ? "SAME" : "VALID";
    return { takes, gives, pads: padding === "SAME", call: (x, into, indent) => ({ text: patches(problem, x, padding, indent) }) };
  }
  if (cuts === "fold") {
    const shape = list([batch, ...twoOf(extents, 1), channels]);
    const given = list([[0, 0], ...(axes === 1 ? [[0, 0]] : []), ...pads, [0, 0]]);
    const zero = pads.flat().every((value) => value === 0);
    return {
      takes: gives, gives: takes, pads: true,
      call: (x, into, indent) => ({
        before: [
          `zeros = tf.zeros(${shape}, tf.${dtype})`,
          "with tf.GradientTape() as tape:",
          "    tape.watch(zeros)",
          ...(zero ? [] : [`    padded = tf.pad(zeros, ${given})`]),
          `    patches = ${patches(problem, zero ? "zeros" : "padded", "VALID", `${indent}    `)}`,
          "# TensorFlow has no fold: it is the gradient of the patches.",
        ],
        text: `tape.gradient(patches, zeros, output_gradients=${x})`,
      }),
    };
  }
  if (layout !== "channels_last") return null;
  if (cuts === "space_to_batch" && pads.every((pair) => Math.min(...pair) >= 0))
    return { call: (x) => ({ text: `tf.space_to_batch(${x}, block_shape=${list(kernel)}, paddings=${list(pads)})` }) };
  if (cuts === "batch_to_space") return { call: (x) => ({ text: `tf.batch_to_space(${x}, block_shape=${list(kernel)}, crops=${list(pads)})` }) };
  const square = axes === 2 && mode === "blocks_first" && kernel[0] === kernel[1] && kernel[0] > 1;
  return square ? { call: (x) => ({ text: `tf.nn.${cuts}(${x}, ${kernel[0]})` }) } : null;
}

function why(problem) {
  const { axes, cuts, dtype, filled, dilation } = problem;
  if (axes === 3 && dilation.some((step) => step !== 1)) return "TensorFlow's ExtractVolumePatches takes no dilation.";
  if (!(filled in MODES)) return `tf.pad has no mode for ${filled}: choose another padding.`;
  if (exceeds(problem, ["reflect", "symmetric"])) return `tf.pad takes no ${filled} padding that is larger than the image.`;
  if (cuts === "fold" && !dtype.startsWith("float"))
    return "TensorFlow has no fold, and the gradient of its patches takes no integers: choose float32 or float64.";
  if (cuts === "fold" && !exactSums(problem))
    return "TensorFlow has no fold, and the gradient of its patches adds in an order of its own, so the last bits differ.";
  return "";
}

export const tensorflow = writer(why, own, (problem, steps) => {
  const lines = body(problem, steps, write, `x = tf.constant(${counted(problem, "np")})`, "fold(x) / tf.maximum(fold(tf.ones_like(x)), 1)");
  return program("import numpy as np", "import tensorflow as tf", "", lines, "print(result)");
});
