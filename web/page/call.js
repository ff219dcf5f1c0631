// SPDX-License-Identifier: Apache-2.0
// Writes a state's call as a problem: one line of text, which the engine reads.
import { inputShape, layoutOf, modeOf, paddingOf } from "./state.js";

const flat = (values) => values.join(",");
/** Writes a list. A comma after a single entry shows that it is a list, not one number for all axes. */
export const listed = (values) => (values.length === 1 ? `${values[0]},` : flat(values));
export const pairs = (padding) => (typeof padding === "string" ? padding : padding.map(([begin, end]) => `${begin}:${end}`).join(","));

const PADDING_WORDS = { valid: "VALID", same_upper: "SAME", same_lower: "same_lower" };
const KERAS_PADDING = { valid: "valid", same_upper: "same", same_lower: "same_lower" };

/** Writes pads for torch, whose pads are the same at both ends. Other pads become pairs, which the engine refuses
 * with a reason. */
const symmetric = (padding) => (padding.every(([begin, end]) => begin === end) ? listed(padding.map(([begin]) => begin)) : pairs(padding));
const ends = (padding, i) => padding.map((pair) => pair[i]);
/** Writes one number for all axes. Unequal numbers become a list, which the engine refuses with a reason. */
const square = (kernel) => (kernel.every((each) => each === kernel[0]) ? String(kernel[0]) : flat(kernel));

const windows = (state) => ({
  kernel_size: listed(state.kernel),
  stride: listed(state.stride),
  dilation: listed(state.dilation),
});
const spatial = (state) => state.shape.slice(2);
const formatOf = (state) => (layoutOf(state) === "channels_first" ? "NCHW" : "NHWC");

function patchfold(state) {
  const { operator, kernel } = state;
  const layout = layoutOf(state);
  const padding = paddingOf(state);
  switch (operator) {
    case "unfold":
    case "fold":
      return {
        ...(operator === "fold" ? { output_size: listed(spatial(state)) } : {}),
        ...windows(state),
        padding: pairs(padding),
        ...(operator === "unfold" ? { padding_mode: state.padding_mode } : { reduce: state.reduce }),
        layout,
        order: state.order,
        positions: state.positions,
      };
    case "extract_patches":
      return { ...windows(state), padding: pairs(padding), padding_mode: state.padding_mode, layout, order: "kernel", positions: "grid" };
    case "space_to_batch":
      return { block: listed(kernel), padding: pairs(padding), layout };
    case "batch_to_space":
      return { block: listed(kernel), crops: pairs(padding), layout };
    default:
      return { block: listed(kernel), mode: state.mode, layout };
  }
}

function torch(state) {
  if (state.operator === "space_to_depth") return { downscale_factor: square(state.kernel) };
  if (state.operator === "depth_to_space") return { upscale_factor: square(state.kernel) };
  const sizes = state.operator === "fold" ? { output_size: listed(spatial(state)) } : {};
  return { ...sizes, ...windows(state), padding: symmetric(paddingOf(state)) };
}

function onnx(state) {
  if (state.operator === "space_to_depth") return { blocksize: square(state.kernel) };
  if (state.operator === "depth_to_space") return { blocksize: square(state.kernel), mode: modeOf(state) === "blocks_first" ? "DCR" : "CRD" };
  const padding = paddingOf(state);
  return {
    image_shape: listed(spatial(state)),
    block_shape: listed(state.kernel),
    dilations: listed(state.dilation),
    pads: flat([...ends(padding, 0), ...ends(padding, 1)]),
    strides: listed(state.stride),
  };
}

function tensorflow(state) {
  const { operator, kernel } = state;
  const whole = (values) => flat([1, ...values, 1]);
  switch (operator) {
    case "extract_patches": {
      const shared = { ksizes: whole(kernel), strides: whole(state.stride), padding: PADDING_WORDS[paddingOf(state)] };
      // TensorFlow's operator for volumes has no rates. Rates other than 1 are written all the same, so that the engine
      // refuses them.
      return kernel.length === 3 && state.dilation.every((each) => each === 1) ? shared : { ...shared, rates: whole(state.dilation) };
    }
    case "space_to_batch":
      return { block_shape: listed(kernel), paddings: pairs(paddingOf(state)) };
    case "batch_to_space":
      return { block_shape: listed(kernel), crops: pairs(paddingOf(state)) };
    default:
      return { block_size: square(kernel), data_format: formatOf(state) };
  }
}

function openvino(state) {
  const { operator, kernel } = state;
  switch (operator) {
    case "fold": {
      const padding = paddingOf(state);
      return {
        output_size: listed(spatial(state)),
        kernel_size: listed(kernel),
        strides: listed(state.stride),
        dilations: listed(state.dilation),
        pads_begin: listed(ends(padding, 0)),
        pads_end: listed(ends(padding, 1)),
      };
    }
    case "extract_patches":
      return { sizes: listed(kernel), strides: listed(state.stride), rates: listed(state.dilation), auto_pad: paddingOf(state) };
    case "space_to_batch":
    case "batch_to_space": {
      const names = operator === "space_to_batch" ? ["pads_begin", "pads_end"] : ["crops_begin", "crops_end"];
      const padding = paddingOf(state);
      return {
        block_shape: flat([1, 1, ...kernel]),
        [names[0]]: flat([0, 0, ...ends(padding, 0)]),
        [names[1]]: flat([0, 0, ...ends(padding, 1)]),
      };
    }
    default:
      return { block_size: square(kernel), blocks_mode: state.mode };
  }
}

function keras(state) {
  if (state.operator === "extract_patches") {
    return {
      size: listed(state.kernel),
      strides: listed(state.stride),
      dilation_rate: listed(state.dilation),
      padding: KERAS_PADDING[paddingOf(state)],
      data_format: layoutOf(state),
    };
  }
  const sizes = state.operator === "fold" ? { output_size: listed(spatial(state)) } : {};
  return { ...sizes, ...windows(state), padding: symmetric(paddingOf(state)) };
}

const NAMES = {
  patchfold: { extract_patches: "unfold" },
  torch: { space_to_depth: "torch.pixel_unshuffle", depth_to_space: "torch.pixel_shuffle", unfold: "torch.unfold", fold: "torch.fold" },
  onnx: { fold: "onnx.Col2Im", space_to_depth: "onnx.SpaceToDepth", depth_to_space: "onnx.DepthToSpace" },
  tensorflow: {
    extract_patches: "tensorflow.ExtractImagePatches",
    space_to_depth: "tensorflow.SpaceToDepth",
    depth_to_space: "tensorflow.DepthToSpace",
    space_to_batch: "tensorflow.SpaceToBatchND",
    batch_to_space: "tensorflow.BatchToSpaceND",
  },
  openvino: {
    fold: "openvino.Col2Im",
    extract_patches: "openvino.ExtractImagePatches",
    space_to_depth: "openvino.SpaceToDepth",
    depth_to_space: "openvino.DepthToSpace",
    space_to_batch: "openvino.SpaceToBatch",
    batch_to_space: "openvino.BatchToSpace",
  },
  keras: { unfold: "keras.unfold", fold: "keras.fold", extract_patches: "keras.extract_patches" },
};
const ARGUMENTS = { patchfold, torch, onnx, tensorflow, openvino, keras };

/** Returns the operator's name in the operator table: "unfold", "torch.fold", .. */
export function operatorName(state) {
  if (state.dialect === "tensorflow" && state.operator === "extract_patches" && state.kernel.length === 3) return "tensorflow.ExtractVolumePatches";
  return NAMES[state.dialect][state.operator] ?? state.operator;
}

/** Returns the arguments as {name: text}, in the form of the command line. */
export const argumentsOf = (state) => ARGUMENTS[state.dialect](state);

/** Returns a problem such as "unfold float32 1x2x5x6 kernel_size=3,3". The values of the second argument replace those of
 * the state. */
export function callText(state, { dtype = state.dtype, shape = inputShape(state), ...more } = {}) {
  const given = Object.entries({ ...argumentsOf(state), ...more }).map(([name, value]) => `${name}=${value}`);
  return [operatorName(state), dtype, shape.length ? shape.join("x") : "scalar", ...given].join(" ");
}
