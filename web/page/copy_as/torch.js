// SPDX-License-Identifier: Apache-2.0
import { exactSums, exceeds } from "./problem.js";
import { body, counted, program, slices, tuple } from "./python.js";
import { likeTorch, writer } from "./steps.js";

const MODES = { constant: "constant", edge: "replicate", reflect: "reflect", wrap: "circular" };

const write = {
  reshape: (x, { shape }) => `${x}.reshape(${shape.join(", ")})`,
  transpose: (x, { order }) => `${x}.permute(${order.join(", ")})`,
  crop: (x, step) => `${x}${slices(step)}`,
  // torch takes the pads of the last axis first. Modes other than constant need the pads of both axes of a picture.
  pad: (x, { pads, mode }) => {
    const first = mode === "constant" ? pads.findIndex(([begin, end]) => begin || end) : 2;
    const given = pads.slice(first).reverse().flat();
    return `F.pad(${x}, ${tuple(given)}${mode === "constant" ? "" : `, mode="${MODES[mode]}"`})`;
  },
};

function own(problem) {
  const { axes, cuts, kernel, layout, mode } = problem;
  if (cuts === "unfold" || cuts === "fold") return likeTorch(problem, "F");
  const shuffles = axes === 2 && layout === "channels_first" && mode === "depth_first" && kernel[0] === kernel[1];
  if (shuffles && cuts === "space_to_depth") return { call: (x) => ({ text: `F.pixel_unshuffle(${x}, ${kernel[0]})` }) };
  if (shuffles && cuts === "depth_to_space") return { call: (x) => ({ text: `F.pixel_shuffle(${x}, ${kernel[0]})` }) };
  return null;
}

function why(problem) {
  const { axes, cuts, dtype, filled, mean } = problem;
  if (axes > 2) return `torch.nn.functional.${cuts} takes two spatial axes.`;
  if (!dtype.startsWith("float")) return `torch.nn.functional.${cuts} takes no integers: choose float32 or float64.`;
  if (!(filled in MODES)) return `torch has no ${filled} padding: choose another padding.`;
  if (exceeds(problem, ["reflect", "wrap"])) return `torch takes no ${filled} padding that is larger than the image.`;
  if (cuts === "fold" && (dtype === "float16" || mean) && !exactSums(problem))
    return `torch rounds every step of a sum${mean ? " and the mean again" : ""}; patchfold rounds once, so the last bits differ.`;
  return "";
}

export const torch = writer(why, own, (problem, steps) => {
  const uses = (name) => steps.some((step) => step.op === "pad" || (step.op === "call" && step.call("", "", "").text.startsWith(name)));
  const lines = body(problem, steps, write, `x = ${counted(problem, "torch")}`, "fold(x) / fold(torch.ones_like(x)).clamp(min=1)", { chained: true });
  return program("import torch", uses("F.") ? "import torch.nn.functional as F" : null, "", lines, "print(result)");
});
