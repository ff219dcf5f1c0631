// SPDX-License-Identifier: Apache-2.0
// The panel "Which order is my array?": finds how another program made columns of an image, from the pasted numbers of
// both.
import { field, make } from "../dom.js";
import { size } from "../engine.js";
import { stepsOf } from "../model.js";
import { MOST_TEXT } from "../state.js";
import { TRIED, parseArray, search } from "../search.js";

export const title = "Which order?";
export const free = true;
export const alone = true;

const MOST = 4096;
let last = null; // the last search, kept so that drawing the page again does not repeat it

function searched(engine, which, arrays) {
  const key = JSON.stringify([which.image, which.columns]);
  if (last?.key !== key) last = { key, found: search(engine, arrays.image, arrays.columns) };
  return last.found;
}

/** Returns values as the text of nested lists. */
export function nested({ shape, values }) {
  const build = (axis, offset) => {
    const step = stepsOf(shape)[axis];
    return Array.from({ length: shape[axis] }, (_, i) => (axis === shape.length - 1 ? values[offset + i] : build(axis + 1, offset + i * step)));
  };
  return JSON.stringify(build(0, 0)).replaceAll("],", "],\n").replaceAll(",", ", ").replaceAll(", \n", ",\n");
}

/** Returns an example: an image, and its columns in an order that the page does not tell. */
function example(engine) {
  const shape = [2, 4, 6];
  const image = { shape, values: Array.from({ length: size(shape) }, (_, i) => i) };
  const made = engine.run("unfold float64 1x2x4x6 kernel_size=2,3 stride=2,3 order=kernel", image.values);
  return { image: nested(image), columns: nested({ shape: made.shape.slice(1), values: made.values }) };
}

export function show(holder, { state, engine, change, say }) {
  const { which } = state;
  const area = (name, label, hint) => {
    const control = make("textarea", { id: `which-${name}`, spellcheck: "false", onchange: taken });
    control.value = which[name];
    return field(label, control, hint);
  };
  const valueOf = (name) => document.getElementById(`which-${name}`).value;
  const taken = () => {
    for (const [name, label] of [["image", "Image"], ["columns", "Columns"]]) {
      const { length } = valueOf(name);
      if (length > MOST_TEXT) {
        document.getElementById("which-answer").replaceChildren(make("p", { class: "fault" }, `${label}: the text has ${length} characters; at most ${MOST_TEXT} are read here: take a smaller array, or patchfold.explain_order in Python.`));
        return;
      }
    }
    change({ which: { image: valueOf("image"), columns: valueOf("columns") } }, { quiet: true });
  };
  holder.append(
    make("p", {}, "Paste an image and the columns or blocks that somebody made of it. The page tries operators, orders and geometries until one makes exactly these numbers. An image whose numbers all differ gives a sure answer."),
    make("div", { class: "fields" }, area("image", "Image", "such as print(image.tolist())"), area("columns", "Columns or blocks", "such as print(columns.tolist())")),
    make(
      "div",
      { class: "bar" },
      make("button", { type: "button", id: "which-example", onclick: () => change({ which: example(engine) }) }, "Fill in an example"),
      make("button", { type: "button", id: "which-clear", onclick: () => change({ which: { image: "", columns: "" } }) }, "Clear"),
    ),
  );
  holder.append(make("p", { class: "note", id: "which-tried" }, TRIED));
  const answer = make("div", { id: "which-answer", role: "status" });
  holder.append(answer);
  if (!which.image.trim() || !which.columns.trim()) return;
  const arrays = {};
  for (const [name, label] of [["image", "Image"], ["columns", "Columns"]]) {
    try {
      arrays[name] = parseArray(which[name]);
      if (arrays[name].values.length > MOST) throw new Error(`${arrays[name].values.length} numbers; at most ${MOST} are compared here: patchfold.explain_order in Python takes more`);
    } catch (error) {
      answer.append(make("p", { class: "fault" }, `${label}: ${error.message}.`));
    }
  }
  if (answer.childElementCount) return;
  const { answers, tried, complete } = searched(engine, which, arrays);
  const shapes = `Image [${arrays.image.shape.join(", ")}], columns [${arrays.columns.shape.join(", ")}].`;
  answer.append(make("p", { class: "note" }, `${shapes} ${tried} candidates were run.`));
  if (!answers.length) {
    const text = complete ? "No operator here makes these columns of this image." : "None was found in the time that the page takes; patchfold.explain_order in Python looks further.";
    const strangers = new Set(arrays.image.values);
    const foreign = arrays.columns.values.find((value) => value !== 0 && !strangers.has(value));
    answer.append(make("p", { id: "which-none" }, `${text}${foreign === undefined ? "" : ` The columns hold ${foreign}, which the image has not.`}`));
    return;
  }
  if (answers.length > 1) answer.append(make("p", {}, `${answers.length} answers fit: these numbers do not tell them apart. An image of different numbers would.`));
  for (const { text, notes, state: setting } of answers)
    answer.append(make("section", { class: "snippet", "aria-label": text }, make("pre", { class: "answer", tabindex: "0", "aria-label": "Answer" }, text), make("p", {}, notes.join("; ")), make("button", { type: "button", class: "show-answer", onclick: () => { change({ ...setting, panel: "patches" }, { focus: { tab: "patches" } }); say("The answer is shown on the image."); } }, "Show it on the image")));
}
