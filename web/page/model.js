// SPDX-License-Identifier: Apache-2.0
// What the page shows of a state, computed by the engine.
import { EngineError, size } from "./engine.js";
import { callText } from "./call.js";
import { inputValues, layoutOf } from "./state.js";

/** The most elements of a tensor that the page draws. */
export const MOST = 1 << 20;

/** Returns the distances between neighbours along each axis of a row-major tensor. */
export function stepsOf(shape) {
  const steps = new Array(shape.length).fill(1);
  for (let i = shape.length - 2; i >= 0; --i) steps[i] = steps[i + 1] * shape[i + 1];
  return steps;
}

/** Returns the coordinates of element `index` of a row-major tensor. */
export const coordinates = (shape, index) => stepsOf(shape).map((step, i) => Math.floor(index / step) % shape[i]);

/** Returns the tap and the position, along each axis, of an element of the columns, from the engine's geometry. */
export function placeInColumns(geometry, index) {
  const at = coordinates(geometry.columns, index);
  const part = ({ axis, step }, extent) => (extent === 1 ? 0 : Math.floor(at[axis] / step) % extent);
  return {
    tap: geometry.axes.map((axis) => part(axis.tap, axis.kernel)),
    position: geometry.axes.map((axis) => part(axis.position, axis.positions)),
  };
}

/** Returns the number of a position, row-major over the axes, which is the order of the patches. */
export const positionNumber = (geometry, position) =>
  geometry.axes.reduce((number, axis, i) => number * axis.positions + position[i], 0);

/** Returns {list, count}: list(i) is the ascending list of the columns' elements that hold element i of the image;
 * count(i) its length. */
function inverse(trace, count) {
  const starts = new Int32Array(count + 1);
  for (const source of trace) if (source >= 0) ++starts[source + 1];
  for (let i = 0; i < count; ++i) starts[i + 1] += starts[i];
  const next = starts.slice();
  const all = new Int32Array(starts[count]);
  trace.forEach((source, i) => {
    if (source >= 0) all[next[source]++] = i;
  });
  return { list: (i) => Array.from(all.subarray(starts[i], starts[i + 1])), count: (i) => starts[i + 1] - starts[i] };
}

/** Returns a geometry with only the spatial axes. OpenVINO's blocks have an extent along the channels too, which is 1
 * on this page. */
function inSpace(geometry, layout) {
  const channelAxis = layout === "channels_first" ? 1 : geometry.image.length - 1;
  const isChannel = (axis) => axis.image_axis === channelAxis && axis.kernel === 1;
  const channels = geometry.axes.filter(isChannel).map((axis) => ({ extent: axis.extent, image: { axis: channelAxis, step: 1 }, columns: axis.position }));
  return { ...geometry, axes: geometry.axes.filter((axis) => !isChannel(axis)), shared: [...geometry.shared, ...channels] };
}

/** Returns {call, geometry, input, output, image, columns, trace, uses, ..}; {call, error} if the engine refuses
 * it; or {call, geometry, large: true} if a tensor is too large to draw. */
export function look(engine, state) {
  const call = callText(state);
  try {
    const geometry = inSpace(engine.geometry(call), layoutOf(state));
    const { data, output, image, columns } = geometry;
    if (Math.max(size(data), size(output)) > MOST) return { call, geometry, large: true };
    const input = { shape: data, values: inputValues(state) };
    const full = engine.run(call, input.values, geometry);
    const trace = engine.trace(call, geometry);
    const positions = geometry.axes.reduce((product, axis) => product * axis.positions, 1);
    const model = { call, geometry, input, output: full, trace, positions, uses: inverse(trace, size(image)) };
    model.image = geometry.extracts ? input : full;
    model.columns = geometry.extracts ? full : input;
    model.imageShape = image;
    model.columnsShape = columns;
    model.means = state.operator === "fold" && state.dialect === "patchfold" && state.reduce === "mean";
    if (geometry.sums && state.step !== null) {
      model.step = Math.min(state.step, positions);
      model.image = engine.run(call, partOf(model, model.step), geometry);
    }
    return model;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { call, error };
  }
}

/** Returns the values of the columns, with 0 in all patches from number `patches` on. */
export function partOf({ geometry, input }, patches) {
  return input.values.map((value, i) => (positionNumber(geometry, placeInColumns(geometry, i).position) < patches ? value : 0));
}

/** Returns the numbers of a state, as state.js describes them. */
export function numbers(engine, state) {
  const model = look(engine, { ...state, step: null });
  if (model.error) return { error: model.error.message };
  if (model.large) return { error: `a tensor has more than ${MOST} elements` };
  return { input: model.input, output: model.output, call: model.call };
}

/** Returns how many bytes the operator's data and its output take. */
export function bytesOfCall(geometry, element) {
  return { data: size(geometry.data) * element, output: size(geometry.output) * element };
}

