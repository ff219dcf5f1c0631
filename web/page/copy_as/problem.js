// SPDX-License-Identifier: Apache-2.0
// A state's problem in terms that every system has: names of axes, extents, and pads as numbers.
//
// An axis of a tensor is a group of atoms. An axis that counts several indices, such as C*K, is a group of several
// atoms. The atoms: N batch, C channel, i0.. coordinates of the image, k0.. taps (or offsets in a block), l0..
// positions (or blocks), o an axis of length 1.
import { BLOCKS, inputShape, layoutOf, modeOf, paddingOf, positionsOf } from "../state.js";

export const product = (values) => values.reduce((all, each) => all * each, 1);
const each = (axes, name) => Array.from({ length: axes }, (_, axis) => `${name}${axis}`);
const alone = (atoms) => atoms.map((atom) => [atom]);

/** Returns the groups of an image: batch, then the channels before or after the groups `spatial`. */
export const image = (layout, spatial, channels = ["C"]) =>
  layout === "channels_first" ? [["N"], channels, ...spatial] : [["N"], ...spatial, channels];
/** Returns the groups of the spatial axes of an image; `axes` is their number. */
export const spatial = (axes) => alone(each(axes, "i"));
export const taps = (axes) => each(axes, "k");
/** Returns the groups of columns: channels and taps in the given order, and positions on one axis or on several. */
export const columns = (axes, { layout = "channels_first", order = "channel", flat = true } = {}) =>
  image(layout, flat ? [each(axes, "l")] : alone(each(axes, "l")), order === "channel" ? ["C", ...taps(axes)] : [...taps(axes), "C"]);

/** Returns the pads [begin, end] that a rule gives along one axis. */
export function padsOf(rule, extent, kernel, stride, dilation, inward) {
  if (rule === "valid") return [0, 0];
  const total = (Math.ceil(extent / stride) - 1) * stride + (kernel - 1) * dilation + 1 - extent;
  if (total < 0 && !inward) return [0, 0];
  const less = Math.trunc(total / 2);
  return rule === "same_lower" ? [total - less, less] : [less, total - less];
}

const square = (values) => values.every((value) => value === values[0]);
const BY_RULE = ["tensorflow", "openvino", "keras"];

/** Returns a sentence that says why the dialect's operator refuses a state; "" if the operator takes it. */
function refusal(state, pads, positions) {
  const { dialect, operator, shape, kernel, dilation } = state;
  const axes = shape.length - 2;
  const blocks = operator.endsWith("_depth") || operator.startsWith("depth_");
  if (state.input !== null && JSON.stringify(state.input) !== JSON.stringify(inputShape({ ...state, input: null })))
    return "The input has a shape of its own here, which does not follow from the image.";
  const one = ["torch", "keras"].includes(dialect) && ["unfold", "fold"].includes(operator);
  if (one && pads.some(([begin, end]) => begin !== end)) return `${dialect}.${operator} takes one pad for both ends of an axis.`;
  if (one && axes !== 2 && dialect === "keras") return "keras.ops takes two spatial axes here.";
  if (dialect === "openvino" && ["fold", "extract_patches"].includes(operator) && axes !== 2)
    return `OpenVINO's ${operator === "fold" ? "Col2Im" : "ExtractImagePatches"} takes two spatial axes.`;
  if (operator === "extract_patches" && dialect !== "patchfold") {
    if (axes === 1) return `${dialect} extracts patches of two spatial axes${dialect === "openvino" ? "" : " or three"}.`;
    if (dialect !== "openvino" && state.padding_rule === "same_lower") return `${dialect} has no same_lower.`;
    if (dialect === "tensorflow" && axes === 3 && dilation.some((step) => step !== 1))
      return "TensorFlow's ExtractVolumePatches takes no dilation.";
  }
  if (blocks && dialect !== "patchfold") {
    if (!square(kernel)) return `${dialect}'s blocks are as long on every axis.`;
    if (axes !== 2 && dialect !== "openvino") return `${dialect}'s ${operator} takes two spatial axes.`;
    if (dialect === "tensorflow" && kernel[0] < 2) return "TensorFlow's blocks are at least 2 long.";
  }
  if (operator === "batch_to_space" && dialect === "patchfold" && state.padding_rule.startsWith("same"))
    return "Crops are numbers: a rule needs the image, which is not there yet.";
  if (BLOCKS.includes(operator)) {
    const whole = shape.slice(2).every((extent, axis) => (extent + pads[axis][0] + pads[axis][1]) % kernel[axis] === 0);
    if (!whole) return "The image is not cut into whole blocks.";
  } else if (positions.includes(0)) return "The image is smaller than a patch.";
  return "";
}

/**
 * Returns what every system needs to know. `cuts`: unfold, fold or the name of a block operator. `from`, `to`: the
 * groups of the page's input and result. `sizes`: the length of each atom. `why`: why the operator refuses the problem,
 * or "". `pads`: the pads of the image, or the crops.
 */
export function problemOf(state) {
  const { dialect, operator, dtype, kernel, stride, dilation } = state;
  const [batch, channels, ...extents] = state.shape;
  const axes = extents.length;
  const blocks = BLOCKS.includes(operator);
  const layout = layoutOf(state);
  const padding = paddingOf(state);
  const rule = typeof padding === "string" ? padding : null;
  const inward = dialect === "tensorflow" && axes === 3; // ExtractVolumePatches crops where the stride is above the kernel
  const step = blocks ? kernel : stride;
  const pads = rule === null ? padding : operator === "batch_to_space" ? kernel.map(() => [0, 0])
    : extents.map((extent, axis) => padsOf(rule, extent, kernel[axis], step[axis], blocks ? 1 : dilation[axis], inward));
  const positions = blocks
    ? extents.map((extent, axis) => Math.floor((extent + pads[axis][0] + pads[axis][1]) / kernel[axis]))
    : positionsOf(state);
  const patches = operator === "extract_patches";
  const neutral = dialect === "patchfold";
  const order = patches ? "kernel" : neutral ? state.order : "channel";
  const flat = !patches && (!neutral || state.positions === "flat");
  const sizes = { N: batch, C: channels, o: 1 };
  extents.forEach((extent, axis) => Object.assign(sizes, { [`i${axis}`]: extent, [`k${axis}`]: kernel[axis], [`l${axis}`]: positions[axis] }));

  const whole = image(layout, spatial(axes));
  const mode = modeOf(state);
  const places = alone(each(axes, "l"));
  const moved = operator.endsWith("batch") || operator.startsWith("batch")
    ? image(layout, places).map((group) => (group[0] === "N" ? [...taps(axes), "N"] : group))
    : image(layout, places, mode === "depth_first" ? ["C", ...taps(axes)] : [...taps(axes), "C"]);
  const other = blocks ? moved : columns(axes, { layout, order, flat });
  const makesImage = ["fold", "depth_to_space", "batch_to_space"].includes(operator);
  const input = inputShape(state);
  return {
    state, dialect, operator, dtype, axes, batch, channels, extents, kernel, stride, dilation, pads, rule, positions, layout, order,
    flat, mode, sizes, input,
    cuts: patches ? "unfold" : operator,
    blocks,
    byRule: patches && BY_RULE.includes(dialect),
    filled: ["unfold", "extract_patches"].includes(operator) && neutral ? state.padding_mode : "constant",
    mean: operator === "fold" && neutral && state.reduce === "mean",
    count: product(input),
    from: makesImage ? other : whole,
    to: makesImage ? whole : other,
    why: refusal(state, pads, positions),
  };
}

/** Returns whether an image is smaller than its pads, in one of the padding modes that read the image. */
export const exceeds = ({ filled, pads, extents }, modes) =>
  modes.includes(filled) && pads.some((pair, axis) => Math.max(...pair) + (filled === "reflect" ? 1 : 0) > extents[axis]);

const BITS = { float16: 11, float32: 24, float64: 53 };
/** Returns whether sums in the element type are the same in every order: exact sums are, and so are sums of integers,
 * which wrap. */
export function exactSums({ kernel, dtype, count }, bits = BITS) {
  return !(dtype in bits) || count * product(kernel) <= 2 ** bits[dtype];
}
