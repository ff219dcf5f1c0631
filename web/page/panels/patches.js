// SPDX-License-Identifier: Apache-2.0
// The panel with the image on one side and columns or blocks on the other; it shows where each element comes from and
// goes to.
import { choice, field, make } from "../dom.js";
import { size } from "../engine.js";
import { Grid } from "../grid.js";
import { coordinates, placeInColumns, positionNumber } from "../model.js";
import { sides } from "../tables.js";

const sentence = (shape, index) => `[${coordinates(shape, index).join(", ")}]`;
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

/** Returns what the page says about an element: {text, image, columns, patch, pads}. All but `text` list the cells to
 * mark. */
export function tell(model, side, index) {
  const { geometry, trace, uses, imageShape, columnsShape } = model;
  const values = { image: model.image.values, columns: model.columns.values };
  if (side === "image") {
    const added = (place) => model.step === undefined || positionNumber(geometry, placeInColumns(geometry, place).position) < model.step;
    const all = uses.list(index);
    const places = all.filter(added);
    const names = places.slice(0, 6).map((place) => sentence(columnsShape, place));
    const more = places.length > 6 ? ` and ${places.length - 6} more` : "";
    const value = `image${sentence(imageShape, index)} = ${values.image[index]}`;
    let text = `${value} is in no patch`;
    if (places.length) {
      const verb = geometry.extracts ? "goes to" : geometry.sums ? `is the ${!model.means ? "sum" : places.length < all.length ? `sum divided by ${all.length}` : "mean"} of` : "comes from";
      text = `${value} ${verb} ${plural(places.length, "element")} of the ${geometry.blocks ? "blocks" : "columns"}: ${names.join(", ")}${more}`;
      if (places.length < all.length) text += ` (so far; ${all.length} at the end)`;
    } else if (all.length) {
      text = `${value}: no patch that touches it is added yet`;
    } else if (geometry.sums) {
      text = `${value}: no patch touches it`;
    }
    return { text, image: [index], columns: places, patch: [], mates: [], pads: [] };
  }
  const { tap, position } = placeInColumns(geometry, index);
  const at = geometry.axes.map((axis, i) => position[i] * axis.stride + tap[i] * axis.dilation - axis.pad_begin);
  const source = trace[index];
  const name = geometry.blocks ? "blocks" : "columns";
  const number = positionNumber(geometry, position);
  const part = geometry.blocks ? `offset (${tap.join(", ")}) of block ${number}` : `tap (${tap.join(", ")}) of patch ${number}`;
  const verb = geometry.extracts ? "comes from" : geometry.sums ? "is added to" : "goes to";
  const padding = geometry.extracts ? "is padding" : "falls on padding and is dropped";
  const text = `${name}${sentence(columnsShape, index)} = ${values.columns[index]}, ${part}, ${source < 0 ? padding : `${verb} image${sentence(imageShape, source)}`}`;
  const mates = matesOf(model, index);
  return {
    text,
    image: source < 0 ? [] : [source],
    columns: [index],
    patch: mates.map((mate) => trace[mate]).filter((each) => each >= 0),
    mates,
    pads: source < 0 ? padOf(model, index, at) : [],
  };
}

/** Returns the key by which Grid knows a cell of padding, at coordinates `at` in the batch and channel of a columns'
 * element. */
function padOf({ geometry, columnsShape }, index, at) {
  const inColumns = coordinates(columnsShape, index);
  const plane = geometry.shared.map(({ extent, image, columns }) => ({ axis: image.axis, at: Math.floor(inColumns[columns.axis] / columns.step) % extent }));
  const fixed = plane.filter(({ axis }) => !geometry.axes.some((each) => each.image_axis === axis));
  const [batch, channel] = fixed.sort((a, b) => a.axis - b.axis).map((each) => each.at);
  const slice = at.length === 3 ? at[0] : 0;
  return [`p${batch},${channel ?? 0},${slice}:${at.slice(-2)}`];
}

/** Returns the columns' elements of the same patch and channel, which differ only in their taps. */
function matesOf({ geometry, columnsShape }, index) {
  let mates = [coordinates(columnsShape, index)];
  const own = placeInColumns(geometry, index).tap;
  geometry.axes.forEach((axis, i) => {
    mates = mates.flatMap((at) =>
      Array.from({ length: axis.kernel }, (_, tap) => at.map((each, a) => (a === axis.tap.axis ? each + (tap - own[i]) * axis.tap.step : each))),
    );
  });
  const numberOf = (at) => at.reduce((number, each, a) => number * columnsShape[a] + each, 0);
  return mates.map(numberOf);
}

/** Returns a heat map: for each element of the image, the number of patches that use it. */
function coverage(model) {
  let most = 1;
  for (let i = 0; i < model.image.values.length; ++i) most = Math.max(most, model.uses.count(i));
  return { text: (index) => String(model.uses.count(index)), level: (index) => model.uses.count(index) / most };
}

/** The most elements of columns for which fold can be shown step by step. */
const MOST_STEPS = 1 << 16;

function steps(state, model, change) {
  const count = model.positions;
  const step = model.step ?? count;
  const go = (value) => change({ step: Math.max(0, Math.min(count, value)) });
  const told = make("output", { for: "step", id: "step-count" }, `${step} of ${count}`);
  // Draws the page again only when the slider is released, since a new slider could not be dragged on.
  const pulled = (event) => (told.textContent = `${event.target.value} of ${count}`);
  const slider = make("input", { id: "step", type: "range", min: 0, max: count, value: step, oninput: pulled, onchange: (event) => go(Number(event.target.value)) });
  return make(
    "div",
    { class: "bar", role: "group", "aria-label": "Fold step by step" },
    make("button", { type: "button", id: "step-first", onclick: () => go(0) }, "Start"),
    make("button", { type: "button", id: "step-back", onclick: () => go(step - 1), disabled: step <= 0 }, "Back"),
    make("button", { type: "button", id: "step-next", onclick: () => go(step + 1), disabled: step >= count }, "Add a patch"),
    field("Patches added", slider),
    told,
  );
}

export const title = "Elements";

export function show(holder, { state, model, change, say }) {
  if (model.large) {
    const { data, output } = model.geometry;
    holder.append(make("p", {}, `From [${data.join(", ")}] to [${output.join(", ")}]: too many elements to draw. The panels Picture and Cost show these shapes; smaller ones are drawn here.`));
    return;
  }
  const { geometry } = model;
  if (model.imageShape.length !== state.shape.length || size(model.imageShape) === 0) {
    holder.append(make("p", {}, `From [${geometry.data.join(", ")}] to [${geometry.output.join(", ")}]: only images of one batch axis and with elements are drawn here. The panels Picture and Cost show these shapes.`));
    return;
  }
  const view = state.view;
  const numberField = (name, label, most) =>
    field(label, make("input", { id: `view-${name}`, type: "number", min: 0, max: most - 1, value: Math.min(view[name], most - 1), onchange: (event) => change({ view: { ...view, [name]: Math.max(0, Math.min(most - 1, Math.floor(Number(event.target.value)) || 0)) }, chosen: null }) }));
  const [batch, channels, ...spatial] = state.shape;
  const bar = make("div", { class: "bar" }, field("Show", choice("show", ["numbers", "coverage"], view.show, (value) => change({ view: { ...view, show: value } }), { numbers: "numbers", coverage: "how often each is used" })));
  if (batch > 1) bar.append(numberField("batch", "Batch", batch));
  if (channels > 1) bar.append(numberField("channel", "First channel", channels));
  if (spatial.length === 3) bar.append(numberField("slice", "First slice", spatial[0]));
  holder.append(bar);
  if (geometry.sums && model.columns.values.length <= MOST_STEPS) holder.append(steps(state, model, change));

  const told = make("p", { class: "told", id: "told" });
  holder.append(told);
  const drawn = sides(state, model);
  const grids = {};
  const apply = (side, index, aloud) => {
    const marks = side === null ? { text: "", image: [], columns: [], patch: [], mates: [], pads: [] } : tell(model, side, index);
    told.textContent = marks.text || "Point at an element, or press Tab and the arrow keys, to see where it comes from. A click or Enter keeps it.";
    if (aloud) say(marks.text);
    grids.image.mark("patch", marks.patch);
    grids.image.mark("linked", [...marks.image, ...marks.pads]);
    grids.columns.mark("patch", marks.mates);
    grids.columns.mark("linked", marks.columns);
    for (const each of ["image", "columns"]) grids[each].mark("chosen", each === side ? [index] : []);
  };
  const rest = () => (state.chosen ? apply(state.chosen.side, state.chosen.index, false) : apply(null));
  const pick = (side, index, how) => {
    if (how === "click") {
      const same = state.chosen?.side === side && state.chosen.index === index;
      change({ chosen: same ? null : { side, index } }, { focus: { side, index } });
    } else {
      apply(side, index, how === "focus");
    }
  };
  const heat = view.show === "coverage" ? coverage(model) : null;
  const columnsName = geometry.blocks ? "Blocks" : "Columns";
  const title = (name, shape) => `${name} [${shape.join(", ")}]`;
  const options = { dtype: state.dtype, pick, leave: rest };
  grids.image = new Grid("image", drawn.image, { ...options, values: model.image.values, heat, label: title("Image", model.imageShape) });
  grids.columns = new Grid("columns", drawn.columns, { ...options, values: model.columns.values, heat: null, label: title(columnsName, model.columnsShape) });
  const arrow = make("p", { class: "arrow", "aria-hidden": "true" }, geometry.extracts ? "→" : "←");
  holder.append(make("div", { class: "sides tensors" }, grids.image.element, arrow, grids.columns.element));
  if (geometry.sums && model.step) {
    const added = [];
    model.columns.values.forEach((_, i) => {
      if (positionNumber(geometry, placeInColumns(geometry, i).position) === model.step - 1) added.push(i);
    });
    grids.columns.mark("added", added);
    grids.image.mark("added", added.map((i) => model.trace[i]).filter((each) => each >= 0));
  }
  rest();
  return { focus: ({ side, index }) => grids[side].focus(index) };
}
