// SPDX-License-Identifier: Apache-2.0
import { columns, exactSums, exceeds, image, spatial } from "./problem.js";
import { call, counted, list, program, statements } from "./python.js";
import { asPicture, twoOf, writer } from "./steps.js";

const write = {
  reshape: (x, { shape }) => `ops.reshape(${x}, ${list(shape)}, special_zero=False)`,
  transpose: (x, { order }) => `ops.transpose(${x}, ${list(order)})`,
  pad: (x, { pads, mode }) => `ops.pad(${x}, ${list(pads.map(([begin]) => begin))}, ${list(pads.map(([, end]) => end))}, "${mode}")`,
};

function own(problem) {
  const { axes, cuts, pads, extents, kernel, stride, dilation, filled, layout, mode, rule } = problem;
  const takes = asPicture(problem, image("channels_first", spatial(axes)));
  const two = (values, first = 1) => list(twoOf(values, first));
  const [begins, ends] = [0, 1].map((side) => pads.map((pair) => pair[side]));
  if (cuts === "unfold") {
    const grid = columns(axes, { order: "kernel", flat: false });
    const ruled = rule !== null && rule !== "valid" && filled === "constant" && axes === 2 && pads.every(([begin, end]) => begin >= 0 && end >= 0);
    const given = [`sizes=${two(kernel)}`, `strides=${two(stride)}`, `rates=${two(dilation)}`, `auto_pad="${ruled ? rule : "valid"}"`];
    return {
      takes, gives: axes === 1 ? [...grid.slice(0, 2), ["o"], ...grid.slice(2)] : grid, pads: ruled,
      call: (x, into, indent) => ({ text: call("ops.extract_image_patches", [x, ...given], indent) }),
    };
  }
  if (cuts === "fold") {
    const given = [two(extents), two(kernel), ["strides", stride, 1], ["dilations", dilation, 1], ["pads_begin", begins, 0], ["pads_end", ends, 0]];
    const texts = given.flatMap((each) => (Array.isArray(each) ? (each[1].every((value) => value === each[2]) ? [] : [`${each[0]}=${two(each[1], each[2])}`]) : [each]));
    return { takes: columns(axes), gives: takes, pads: true, call: (x, into, indent) => ({ text: call("ops.col2im", [x, ...texts], indent) }) };
  }
  const square = layout === "channels_first" && kernel.every((extent) => extent === kernel[0]);
  if (square && (cuts === "space_to_depth" || cuts === "depth_to_space"))
    return { call: (x) => ({ text: `ops.${cuts}(${x}, "${mode}", ${kernel[0]})` }) };
  if (cuts !== "space_to_batch" && cuts !== "batch_to_space") return null;
  const around = (values, other) => list(layout === "channels_first" ? [other, other, ...values] : [other, ...values, other]);
  return { call: (x, into, indent) => ({ text: call(`ops.${cuts}`, [x, around(kernel, 1), around(begins, 0), around(ends, 0)], indent) }) };
}

function why(problem) {
  const { axes, cuts, dtype, filled, mean } = problem;
  if (axes === 3) return `OpenVINO's ${cuts === "fold" ? "Col2Im" : "ExtractImagePatches"} takes two spatial axes.`;
  if (mean) return "OpenVINO's Col2Im adds and takes no mean: divide its result by the Col2Im of ones.";
  if (!["constant", "edge", "reflect", "symmetric"].includes(filled)) return `OpenVINO's Pad has no mode for ${filled}: choose another padding.`;
  if (exceeds(problem, ["reflect", "symmetric"])) return `OpenVINO's Pad takes no ${filled} padding that is larger than the image.`;
  // OpenVINO's CPU plugin computes float64 as float32.
  if (cuts === "fold" && !exactSums(problem, { float16: 11, float64: 24 }))
    return `OpenVINO rounds ${dtype} in another way than patchfold, so the last bits differ: choose float32.`;
  return "";
}

export const openvino = writer(why, own, (problem, steps) => {
  // `result` names what the model returns, so the variable of its last node gets another name.
  const lines = statements(steps.map((step) => (step.into === "result" ? { ...step, into: "last" } : step)), write, { input: "parameter" });
  return program(
    "import numpy as np", "import openvino as ov", "from openvino import opset15 as ops", "",
    `x = ${counted(problem, "np")}`,
    "parameter = ops.parameter(x.shape, x.dtype)",
    lines,
    'model = ov.compile_model(ov.Model([last], [parameter]), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})',
    "result = model(x)[0]", "print(result)",
  );
});
