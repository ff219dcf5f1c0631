// SPDX-License-Identifier: Apache-2.0
// Tensors as tables: which elements stand in each row and column. This file does not touch the document.
import { coordinates, stepsOf } from "./model.js";
import { layoutOf } from "./state.js";

/** The most rows and columns of a table, and the most tables of one tensor. */
const MOST_ROWS = 28;
const MOST_COLUMNS = 36;
const MOST_TABLES = 12;

/** Returns the part [from, to) of the axis [low, high) that is shown: all of it, or `most` places around `wanted`. */
function windowOf(low, high, most, wanted) {
  if (high - low <= most) return [low, high];
  const from = Math.max(low, Math.min(high - most, (wanted ?? low) - Math.floor(most / 2)));
  return [from, from + most];
}

const range = ([from, to]) => Array.from({ length: to - from }, (_, i) => from + i);

/** Returns {tables, notes}: a tensor (batch, channels, spatial..) as planes, each with a frame of padding. A cell is
 * {index}, or {pad: true} outside the tensor. */
export function planes(shape, { layout, pads, view, wanted, name, allBatches = false }) {
  const axes = shape.map((_, i) => i);
  const channelAxis = layout === "channels_first" ? 1 : shape.length - 1;
  const spatialAxes = axes.filter((axis) => axis !== 0 && axis !== channelAxis);
  const [rowAxis, columnAxis] = spatialAxes.length === 1 ? [null, spatialAxes[0]] : spatialAxes.slice(-2);
  const outer = spatialAxes.slice(0, Math.max(0, spatialAxes.length - 2));
  const steps = stepsOf(shape);
  const at = wanted === null ? null : coordinates(shape, wanted);
  const padsOf = (axis) => pads?.[spatialAxes.indexOf(axis)] ?? [0, 0];
  const spanOf = (axis, most) => {
    const [begin, end] = padsOf(axis);
    return windowOf(-begin, shape[axis] + end, most, at?.[axis]);
  };
  const rows = rowAxis === null ? [0] : range(spanOf(rowAxis, MOST_ROWS));
  const columns = range(spanOf(columnAxis, MOST_COLUMNS));
  const notes = [];
  const say = (what, shown, axis) => {
    const [begin, end] = padsOf(axis);
    if (shown.length < shape[axis] + begin + end) notes.push(`${what} ${shown[0]} to ${shown.at(-1)} of ${shape[axis]}`);
  };
  if (rowAxis !== null) say("rows", rows, rowAxis);
  say("columns", columns, columnAxis);

  // Planes are ordered by batch, then channel, then slice. An image shows the planes of one batch.
  const outerExtent = outer.length ? shape[outer[0]] : 1;
  const begin = at ?? [];
  const first = [begin[0] ?? view.batch, begin[channelAxis] ?? view.channel, outer.length ? (begin[outer[0]] ?? view.slice) : 0];
  const [batch, channel, slice] = first.map((each, i) => Math.min(each, [shape[0], shape[channelAxis], outerExtent][i] - 1));
  const each = shape[channelAxis] * outerExtent;
  const count = allBatches ? shape[0] * each : each;
  const own = (allBatches ? batch * each : 0) + channel * outerExtent + slice;
  // The wanted plane stands in the middle; if none is wanted, the first plane of `view` comes first.
  const from = Math.max(0, Math.min(count - MOST_TABLES, at ? own - Math.floor(MOST_TABLES / 2) : allBatches ? 0 : own));
  const shown = range([from, Math.min(count, from + MOST_TABLES)]);
  if (shown.length < count) notes.push(`planes ${from} to ${shown.at(-1)} of ${count}`);
  const tables = shown.map((number) => {
    const place = [allBatches ? Math.floor(number / each) : batch, Math.floor(number / outerExtent) % shape[channelAxis], number % outerExtent];
    const base = place[0] * steps[0] + place[1] * steps[channelAxis] + (outer.length ? place[2] * steps[outer[0]] : 0);
    const inside = (axis, i) => axis === null || (i >= 0 && i < shape[axis]);
    return {
      caption: `${name}: batch ${place[0]}, channel ${place[1]}${outer.length ? `, slice ${place[2]}` : ""}`,
      place,
      rows: rowAxis === null ? [""] : rows,
      columns,
      cells: rows.map((r) =>
        columns.map((c) =>
          inside(rowAxis, r) && inside(columnAxis, c)
            ? { index: base + (rowAxis === null ? 0 : r * steps[rowAxis]) + c * steps[columnAxis] }
            : { pad: true, at: rowAxis === null ? [c] : [r, c] },
        ),
      ),
    };
  });
  return { tables, notes };
}

/** Returns the columns as one matrix: a row for each element of a patch, a column for each patch. */
export function matrix(shape, { layout, view, wanted, name }) {
  const entryAxis = layout === "channels_first" ? 1 : shape.length - 1;
  const places = shape.map((_, i) => i).filter((axis) => axis !== 0 && axis !== entryAxis);
  const steps = stepsOf(shape);
  const count = places.reduce((product, axis) => product * shape[axis], 1);
  const numberOf = (at) => places.reduce((number, axis) => number * shape[axis] + at[axis], 0);
  const at = wanted === null ? null : coordinates(shape, wanted);
  const batch = at?.[0] ?? Math.min(view.batch, shape[0] - 1);
  const rows = range(windowOf(0, shape[entryAxis], MOST_ROWS, at?.[entryAxis]));
  const columns = range(windowOf(0, count, MOST_COLUMNS, at ? numberOf(at) : undefined));
  const notes = [];
  if (rows.length < shape[entryAxis]) notes.push(`entries ${rows[0]} to ${rows.at(-1)} of ${shape[entryAxis]}`);
  if (columns.length < count) notes.push(`patches ${columns[0]} to ${columns.at(-1)} of ${count}`);
  const offsetOf = (number) => {
    let offset = 0;
    for (let i = places.length - 1; i >= 0; --i) {
      offset += (number % shape[places[i]]) * steps[places[i]];
      number = Math.floor(number / shape[places[i]]);
    }
    return offset;
  };
  return {
    tables: [
      {
        caption: `${name}: batch ${batch}; a row for each entry of a patch, a column for each patch`,
        place: [batch],
        rows,
        columns,
        cells: rows.map((r) => columns.map((c) => ({ index: batch * steps[0] + r * steps[entryAxis] + offsetOf(c) }))),
      },
    ],
    notes,
  };
}

/** Returns the tables of both sides, image and columns. */
export function sides(state, model) {
  const layout = layoutOf(state);
  const { geometry, trace, uses } = model;
  const chosen = state.chosen;
  const frame = state.padding_mode === "constant" || geometry.sums;
  const pads = frame ? geometry.axes.map((axis) => [Math.max(0, axis.pad_begin), Math.max(0, axis.pad_end)]) : null;
  let image = chosen?.side === "image" ? chosen.index : null;
  let columns = chosen?.side === "columns" ? chosen.index : null;
  if (columns !== null && trace[columns] >= 0) image = trace[columns];
  if (chosen?.side === "image" && uses.count(image) > 0) columns = uses.list(image)[0];
  const shared = { layout, view: state.view };
  return {
    image: planes(model.imageShape, { ...shared, pads, wanted: image, name: "image" }),
    columns: geometry.blocks
      ? planes(model.columnsShape, { ...shared, wanted: columns, name: "blocks", allBatches: true })
      : matrix(model.columnsShape, { ...shared, wanted: columns, name: "columns" }),
  };
}
