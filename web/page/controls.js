// SPDX-License-Identifier: Apache-2.0
// The form: the state as fields, but only those that matter to the operator and its dialect.
import { choice, field, make } from "./dom.js";
import { BLOCKS, DIALECTS, DTYPES, OPERATORS, PADDING_MODES, complete, dialectsOf, withAxes } from "./state.js";

const NAMES = {
  unfold: "unfold (im2col)",
  fold: "fold (col2im)",
  extract_patches: "extract patches",
  space_to_depth: "space to depth",
  depth_to_space: "depth to space",
  space_to_batch: "space to batch",
  batch_to_space: "batch to space",
};
const DIALECT_NAMES = { patchfold: "patchfold", torch: "PyTorch", onnx: "ONNX", tensorflow: "TensorFlow", openvino: "OpenVINO", keras: "Keras" };
const INPUT_NAMES = { fold: "columns", depth_to_space: "blocks", batch_to_space: "batches" };

const written = (values) => values.map((value) => (Array.isArray(value) ? value.join(":") : value)).join(", ");

/** Returns the list in a text such as "3, 3" or "1:2, 0:1"; throws an Error that says what is wrong. */
export function parseList(text, pairs = false) {
  const words = text
    .replace(/[[\]()]/g, " ")
    .split(/[\s,x×]+/)
    .filter(Boolean);
  if (!words.length) throw new Error("write numbers, such as 3, 3");
  return words.map((word) => {
    const numbers = word.split(":").map((part) => (/^\d+$/.test(part) ? Number(part) : NaN));
    if (numbers.some(Number.isNaN) || numbers.length > (pairs ? 2 : 1)) throw new Error(`“${word}” is no ${pairs ? "number or pair such as 1:2" : "whole number"}`);
    if (!pairs) return numbers[0];
    return numbers.length === 2 ? numbers : [numbers[0], numbers[0]];
  });
}

/** For each field, the function that turns its text, and the state, into changes of the state. */
const readers = {
  shape: (text, state) => {
    const shape = parseList(text);
    const axes = Math.max(1, shape.length - 2);
    const lists = Object.fromEntries(["kernel", "stride", "dilation", "padding"].map((name) => [name, withAxes(state[name], axes)]));
    return { shape, ...lists, chosen: null, input: null };
  },
  input: (text) => ({ input: text.trim() === "" ? null : parseList(text), chosen: null }),
};
const listReader = (name) => (text, state) => {
  const axes = state.shape.length - 2;
  const values = parseList(text, name === "padding");
  return { [name]: values.length === 1 ? withAxes(values, axes) : values, chosen: null };
};

function textField(name, label, hint, value, state, change) {
  const input = make("input", {
    id: name,
    type: "text",
    inputmode: "text",
    value,
    onchange: (event) => {
      const say = (text) => {
        const error = document.getElementById(`${name}-fault`);
        error.textContent = text;
        event.target.setAttribute("aria-invalid", String(text !== ""));
      };
      try {
        const changes = (readers[name] ?? listReader(name))(event.target.value, state);
        const { faults } = complete({ ...state, ...changes });
        if (faults.length) throw new Error(faults.join("; "));
        say("");
        change(changes);
      } catch (error) {
        say(`${label}: ${error.message}`);
      }
    },
  });
  const holder = field(label, input, hint);
  input.setAttribute("aria-errormessage", `${name}-fault`);
  holder.append(make("small", { id: `${name}-fault`, class: "fault", role: "alert" }));
  return holder;
}

/** Returns the form for a state. The form calls change(changes) with new values of the state's fields. */
export function controls(state, derived, change) {
  const { operator, dialect } = state;
  const block = BLOCKS.includes(operator);
  const neutral = dialect === "patchfold";
  const extracting = operator === "unfold" || operator === "extract_patches";
  const select = (name, label, words, labels) =>
    field(label, choice(name, words, state[name], (value) => change({ [name]: value, chosen: null }), labels));
  const list = (name, label, hint) => textField(name, label, hint, written(state[name]), state, change);
  const fields = [
    field(
      "Operator",
      choice(
        "operator",
        OPERATORS,
        operator,
        (value) => change({ operator: value, dialect: dialectsOf(value).includes(dialect) ? dialect : dialectsOf(value)[0], chosen: null, step: null, input: null }),
        NAMES,
      ),
    ),
    field(
      "As in",
      choice("dialect", DIALECTS.filter((each) => dialectsOf(operator).includes(each)), dialect, (value) => change({ dialect: value, chosen: null, input: null }), DIALECT_NAMES),
    ),
    list("shape", "Image", "batch, channels, 1 to 3 extents"),
    list("kernel", block ? "Block" : "Kernel"),
  ];
  if (!block) fields.push(list("stride", "Stride"), list("dilation", "Dilation"));
  const deep = operator === "space_to_depth" || operator === "depth_to_space";
  const rules = neutral || operator === "extract_patches";
  const pads = !deep && (neutral || operator !== "extract_patches");
  if (rules && !deep) {
    const words = pads ? ["explicit", "valid", "same_upper", "same_lower"] : ["valid", "same_upper", "same_lower"];
    const value = pads || state.padding_rule !== "explicit" ? state.padding_rule : "valid";
    fields.push(field("Padding rule", choice("padding_rule", words, value, (rule) => change({ padding_rule: rule, chosen: null }), { explicit: "numbers" })));
  }
  if (pads && (state.padding_rule === "explicit" || !rules)) fields.push(list("padding", operator === "batch_to_space" ? "Crops" : "Pads", "3, or 1:2 for each axis"));
  if (neutral && extracting) fields.push(select("padding_mode", "Outside is", PADDING_MODES, { constant: "zero" }));
  if (neutral && (operator === "unfold" || operator === "fold")) {
    fields.push(select("order", "Order in a patch", ["channel", "kernel"], { channel: "channel first", kernel: "kernel first" }));
    fields.push(select("positions", "Positions", ["flat", "grid"], { flat: "on one axis", grid: "as a grid" }));
  }
  if (deep && (neutral || dialect === "openvino" || (dialect === "onnx" && operator === "depth_to_space"))) {
    const labels = { blocks_first: "blocks first (DCR)", depth_first: "depth first (CRD)" };
    fields.push(select("mode", "Mode", ["blocks_first", "depth_first"], labels));
  }
  if (neutral || (dialect === "tensorflow" && deep) || (dialect === "keras" && operator === "extract_patches"))
    fields.push(select("layout", "Layout", ["channels_first", "channels_last"], { channels_first: "channels first", channels_last: "channels last" }));
  if (neutral && operator === "fold") fields.push(select("reduce", "Where patches meet", ["sum", "mean"]));
  fields.push(select("dtype", "Type", DTYPES));
  if (INPUT_NAMES[operator]) {
    const given = state.input === null ? "" : written(state.input);
    const holder = textField("input", `Shape of ${INPUT_NAMES[operator]}`, `empty: ${written(derived)}, which follows`, given, state, change);
    fields.push(holder);
  }
  return fields;
}
