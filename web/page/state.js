// SPDX-License-Identifier: Apache-2.0
// The state of the page: one plain object, which a link holds as a whole. Everything that the page shows follows from
// it.
//
// Fields. All of them are always present; `defaults` shows them. `complete` adds missing fields and replaces wrong ones
// by defaults.
//   operator   the operator that runs: unfold, fold, extract_patches, space_to_depth, depth_to_space, space_to_batch
//              or batch_to_space.
//   dialect    patchfold (the neutral operators), torch, onnx, tensorflow, openvino, keras. `offers` says which operators a
//              dialect has.
//   shape      the image, [batch, channels, spatial..] whatever the layout, with 1 to 3 spatial axes, extents 1 to 4096. fold,
//              depth_to_space and batch_to_space make this image; the others take it.
//   layout     channels_first or channels_last: the layout of image and columns. `layoutOf(state)` is the layout in effect,
//              since a dialect may leave no choice.
//   kernel     extents of a patch or block, one for each spatial axis, 1 to 64
//   stride     step between patches, one for each spatial axis, 1 to 64. Block operators ignore it.
//   dilation   step between taps, one for each spatial axis, 1 to 64. Block operators ignore it.
//   padding    [[begin, end], ..], one pair for each spatial axis, 0 to 64: pads of the image; crops for batch_to_space.
//              Read if padding_rule is explicit. Operators that take no pads ignore it: space_to_depth, depth_to_space, and
//              extract_patches but for patchfold.
//   padding_rule  explicit, valid, same_upper (TensorFlow's SAME, Keras's same), same_lower. extract_patches of tensorflow,
//              openvino and keras takes rules only: explicit counts as valid. unfold, fold and blocks of other dialects than
//              patchfold take explicit pads only: a rule counts as pads of 0.
//   padding_mode  one of PADDING_MODES: the elements outside the image; unfold and extract_patches of patchfold
//   order      channel or kernel: the slow index inside a patch; unfold and fold of patchfold
//   positions  flat or grid: one axis for all patches, or one for each spatial axis; unfold and fold of patchfold
//   mode       blocks_first (ONNX DCR, TensorFlow) or depth_first (ONNX CRD, torch): channels of space_to_depth and
//              depth_to_space of patchfold and openvino, and of depth_to_space of onnx. Others leave no choice.
//   reduce     sum or mean: fold of patchfold
//   dtype      one of DTYPES
//   input      null, or a shape of the operator's input that does not follow from `shape`, to see an error
//   chosen     null, or {side: "image" | "columns", index}: an element, by its number in row-major order of that tensor as it lies
//   view       {batch, channel, slice, show}: the shown part of a large image, counted from 0; show: numbers, coverage
//   step       null, or the number of patches that fold has added
//   panel      the open panel: patches, orders, which, seams, cost, picture, copy
//   theme      auto, light, dark
//   which      {image, columns}: pasted numbers, as text
//   seams      {size: [height, width], tile: [h, w], overlap: [h, w], tail, window, reduce, flaw, strength, show}: the picture in
//              tiles. tail: shift, pad, partial, drop, error, shift_or_pad. window: standard, ones, linear, hann, cosine,
//              gaussian, tukey, hamming. reduce: standard, mean, sum, max, min, first, last, center. flaw, what the function
//              does wrong at the borders of its tiles: vignette, brightness, blur, none; strength: 0 to 100. show: result,
//              coverage, weight, error.
//
// The numbers: element i of the operator's input, in row-major order as it lies, is i + 1 (i % 250 + 1 for uint8).
// `window.patchfoldPage.numbers(state)` resolves to what the page shows for a state (or for null: its own):
//   {input: {shape, values}, output: {shape, values}, call}   values: flat lists in row-major order; call: the problem as text
//   {error: text}                                              where the engine refuses it
// `inputShape(state)` and `inputValues(state)` are these inputs without the page.

export const OPERATORS = ["unfold", "fold", "extract_patches", "space_to_depth", "depth_to_space", "space_to_batch", "batch_to_space"];
export const DIALECTS = ["patchfold", "torch", "onnx", "tensorflow", "openvino", "keras"];
export const BLOCKS = ["space_to_depth", "depth_to_space", "space_to_batch", "batch_to_space"];
export const PADDING_MODES = ["constant", "edge", "reflect", "symmetric", "wrap"];
export const DTYPES = ["float32", "float64", "float16", "int32", "int64", "uint8"];
export const PANELS = ["patches", "orders", "which", "seams", "cost", "picture", "copy"];
const OFFERED = {
  unfold: ["patchfold", "torch", "keras"],
  fold: ["patchfold", "torch", "onnx", "openvino", "keras"],
  extract_patches: ["patchfold", "tensorflow", "openvino", "keras"],
  space_to_depth: ["patchfold", "torch", "onnx", "tensorflow", "openvino"],
  depth_to_space: ["patchfold", "torch", "onnx", "tensorflow", "openvino"],
  space_to_batch: ["patchfold", "tensorflow", "openvino"],
  batch_to_space: ["patchfold", "tensorflow", "openvino"],
};

/** Returns the dialects that have an operator. */
export const dialectsOf = (operator) => OFFERED[operator];
export const offers = (dialect, operator) => OFFERED[operator].includes(dialect);

/** The most characters of a pasted text: 4096 numbers, each with all digits of a float64 and spaces around it. */
export const MOST_TEXT = 200_000;

/** Rules for values: a test, the text that says what is allowed, and the default: the first word, or the least
 * integer. */
const integer = (low, high, standard = low) => ({ check: (v) => Number.isInteger(v) && v >= low && v <= high, says: `an integer from ${low} to ${high}`, standard });
const word = (...words) => ({ check: (v) => words.includes(v), says: `one of ${words.join(", ")}`, standard: words[0] });
const text = (most) => ({ check: (v) => typeof v === "string" && v.length <= most, says: `text of at most ${most} characters`, standard: "" });
const list = (entry, least, most, standard) => ({
  check: (v) => Array.isArray(v) && v.length >= least && v.length <= most && v.every((each) => entry.check(each)),
  says: `a list of ${least === most ? least : `${least} to ${most}`} entries, each ${entry.says}`,
  standard,
});
const record = (fields) => ({ fields, standard: Object.fromEntries(Object.entries(fields).map(([name, { standard }]) => [name, standard])) });
const optional = (inner) => ({ optional: inner, standard: null });

const schema = record({
  version: word(1),
  operator: word(...OPERATORS),
  dialect: word(...DIALECTS),
  shape: list(integer(1, 4096), 3, 5, [1, 2, 5, 6]),
  layout: word("channels_first", "channels_last"),
  kernel: list(integer(1, 64), 1, 3, [3, 3]),
  stride: list(integer(1, 64), 1, 3, [2, 2]),
  dilation: list(integer(1, 64), 1, 3, [1, 1]),
  padding: list(list(integer(0, 64), 2, 2), 1, 3, [[1, 1], [1, 1]]),
  padding_rule: word("explicit", "valid", "same_upper", "same_lower"),
  padding_mode: word(...PADDING_MODES),
  order: word("channel", "kernel"),
  positions: word("flat", "grid"),
  mode: word("blocks_first", "depth_first"),
  reduce: word("sum", "mean"),
  dtype: word(...DTYPES),
  input: optional(list(integer(0, 1 << 20), 0, 8)),
  chosen: optional(record({ side: word("image", "columns"), index: integer(0, 2 ** 31) })),
  view: record({ batch: integer(0, 4095), channel: integer(0, 4095), slice: integer(0, 4095), show: word("numbers", "coverage") }),
  step: optional(integer(0, 2 ** 31)),
  panel: word(...PANELS),
  theme: word("auto", "light", "dark"),
  which: record({ image: text(MOST_TEXT), columns: text(MOST_TEXT) }),
  seams: record({
    size: list(integer(16, 1024), 2, 2, [192, 256]),
    tile: list(integer(1, 1024), 2, 2, [96, 96]),
    overlap: list(integer(-1024, 1023), 2, 2, [32, 32]),
    tail: word("shift", "pad", "partial", "drop", "error", "shift_or_pad"),
    window: word("standard", "ones", "linear", "hann", "cosine", "gaussian", "tukey", "hamming"),
    reduce: word("standard", "mean", "sum", "max", "min", "first", "last", "center"),
    flaw: word("vignette", "brightness", "blur", "none"),
    strength: integer(0, 100, 50),
    show: word("result", "coverage", "weight", "error"),
  }),
});
export const defaults = Object.freeze(schema.standard);

function completed(rule, value, standard, path, faults) {
  if (rule.optional) {
    if (value === undefined || value === null) return null;
    const before = faults.length;
    const result = completed(rule.optional, value, null, path, faults);
    return faults.length > before ? null : result;
  }
  if (!rule.fields) {
    if (value === undefined && standard !== undefined) return structuredClone(standard);
    if (path === "version" && !rule.check(value)) {
      faults.push(`this link was made by another version of the page (version ${(JSON.stringify(value) ?? "none").slice(0, 60)} of links, here ${standard}); what this page knows of it is shown`);
      return standard;
    }
    if (rule.check(value)) return structuredClone(value);
    faults.push(`${path} must be ${rule.says}; given ${(JSON.stringify(value) ?? "nothing").slice(0, 60)}`);
    return structuredClone(standard);
  }
  if (value === undefined) value = {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    faults.push(`${path || "the state"} must be an object`);
    value = {};
  }
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(rule.fields, name)) faults.push(`${path ? `${path}.` : ""}${name} is no field of the state`);
  }
  const result = {};
  for (const [name, inner] of Object.entries(rule.fields)) {
    result[name] = completed(inner, Object.hasOwn(value, name) ? value[name] : undefined, standard?.[name], path ? `${path}.${name}` : name, faults);
  }
  return result;
}

/** Returns {state, faults}: the state of a value, with defaults for missing and wrong fields, and a text about each
 * wrong field. */
export function complete(value) {
  const faults = [];
  const state = completed(schema, value, defaults, "", faults);
  const axes = state.shape.length - 2;
  for (const name of ["kernel", "stride", "dilation", "padding"]) {
    const given = state[name];
    if (given.length !== axes) {
      if (value && Object.hasOwn(value, name)) faults.push(`${name} must have ${axes} entries, one for each spatial axis; given ${given.length}`);
      state[name] = withAxes(given, axes);
    }
  }
  if (!offers(state.dialect, state.operator)) {
    faults.push(`${state.dialect} has no ${state.operator}; it is shown for ${OFFERED[state.operator][0]}`);
    state.dialect = OFFERED[state.operator][0];
  }
  return { state, faults };
}

/** Returns a list with an entry for each axis: the last entries of `values`; if there are too few, after copies of
 * the first one. */
export function withAxes(values, axes) {
  const result = values.slice(-axes);
  while (result.length < axes) result.unshift(structuredClone(values[0]));
  return result;
}

// Returns the fields that differ from the defaults, since a link holds no others.
function differing(value, standard) {
  if (value === null || typeof value !== "object" || Array.isArray(value) || standard === null) return value;
  const result = {};
  for (const [name, inner] of Object.entries(value)) {
    if (JSON.stringify(inner) !== JSON.stringify(standard?.[name])) result[name] = differing(inner, standard?.[name] ?? null);
  }
  return result;
}

/** Returns the part of a link that holds the state: "#" and a text. */
export function toHash(state) {
  const shown = differing(state, defaults);
  return Object.keys(shown).length ? `#${encodeURIComponent(JSON.stringify(shown))}` : "#";
}

/** Returns {state, faults} for the part of a link that toHash() makes. */
export function fromHash(hash) {
  const carried = hash.replace(/^#/, "");
  if (!carried) return complete({});
  let value;
  try {
    value = JSON.parse(decodeURIComponent(carried));
  } catch {
    const { state } = complete({});
    return { state, faults: ["the link is damaged: what stands behind its # is no JSON; the page shows its defaults"] };
  }
  return complete(value);
}

/** Returns the layout in effect: that of the state, unless the dialect fixes it. */
export function layoutOf({ dialect, operator, layout }) {
  if (dialect === "patchfold") return layout;
  if (dialect === "tensorflow") return operator === "space_to_depth" || operator === "depth_to_space" ? layout : "channels_last";
  if (dialect === "keras") return operator === "extract_patches" ? layout : "channels_first";
  return "channels_first";
}

/** Returns the padding in effect: [[begin, end], ..] or a rule, "valid", "same_upper" or "same_lower". */
export function paddingOf(state) {
  const none = state.kernel.map(() => [0, 0]);
  if (state.operator === "space_to_depth" || state.operator === "depth_to_space") return none;
  if (state.dialect === "patchfold") return state.padding_rule === "explicit" ? state.padding : state.padding_rule;
  if (state.operator === "extract_patches") return state.padding_rule === "explicit" ? "valid" : state.padding_rule;
  return state.padding_rule === "explicit" ? state.padding : none;
}

/** Returns the mode of a block operator in effect: that of the state, unless the dialect fixes it. */
export function modeOf({ dialect, operator, mode }) {
  if (dialect === "torch") return "depth_first";
  if (dialect === "tensorflow" || (dialect === "onnx" && operator === "space_to_depth")) return "blocks_first";
  return mode;
}

const laid = (layout, batch, channels, spatial) =>
  layout === "channels_first" ? [batch, channels, ...spatial] : [batch, ...spatial, channels];

/** Returns the shape of the operator's input: `input` of the state if given, else the one that follows from the
 * image. Where a division leaves a rest, the quotient is rounded down: the engine checks the shape again and refuses
 * it. */
export function inputShape(state) {
  if (state.input !== null) return state.input.slice();
  const { operator, shape, kernel } = state;
  const [batch, channels, ...spatial] = shape;
  const layout = layoutOf(state);
  const taps = kernel.reduce((product, each) => product * each, 1);
  if (operator === "depth_to_space") return laid(layout, batch, channels * taps, spatial.map((n, i) => Math.floor(n / kernel[i])));
  if (operator === "batch_to_space") {
    const crops = paddingOf(state);
    const cropped = typeof crops === "string" ? kernel.map(() => [0, 0]) : crops;
    return laid(layout, batch * taps, channels, spatial.map((n, i) => Math.floor((n + cropped[i][0] + cropped[i][1]) / kernel[i])));
  }
  if (operator === "fold") {
    const grid = positionsOf(state);
    const flat = state.dialect !== "patchfold" || state.positions === "flat";
    const places = flat ? [grid.reduce((product, each) => product * each, 1)] : grid;
    return laid(layout, batch, channels * taps, places);
  }
  return laid(layout, batch, channels, spatial);
}

/** Returns the number of patches along each spatial axis. */
export function positionsOf(state) {
  const padding = paddingOf(state);
  return state.shape.slice(2).map((extent, i) => {
    if (padding === "same_upper" || padding === "same_lower") return Math.ceil(extent / state.stride[i]);
    const [begin, end] = padding === "valid" ? [0, 0] : padding[i];
    const reach = state.dilation[i] * (state.kernel[i] - 1) + 1;
    return Math.max(0, Math.floor((extent + begin + end - reach) / state.stride[i]) + 1);
  });
}

/** Returns the values of the operator's input, in row-major order. */
export function inputValues(state) {
  const count = inputShape(state).reduce((product, each) => product * each, 1);
  return Array.from({ length: count }, (_, i) => (state.dtype === "uint8" ? (i % 250) + 1 : i + 1));
}
