// SPDX-License-Identifier: Apache-2.0
// Finds the operator, order and geometry that turn one array into another: the engine runs each candidate, and all
// elements of the results are compared.
import { listed, pairs } from "./call.js";
import { EngineError, size } from "./engine.js";
import { coordinates, stepsOf } from "./model.js";

/** Returns the numbers and brackets of a pasted text, without the words around them, such as names of types and
 * dtype=.. */
function bareOf(text) {
  const printed = text.match(/<tf\.Tensor:.*?numpy=([^]*)>\s*$/);
  let bare = (printed ? printed[1] : text)
    .replace(/\b(?:[A-Za-z_]\w*\.)*(?:array|tensor|Tensor|Array)\b/g, " ")
    .replace(/,?\s*\bshape\s*=\s*\([^)]*\)/g, " ")
    .replace(/,?\s*\b(?:dtype|device|grad_fn|requires_grad|weak_type|shape)\s*=\s*(?:<[^>]*>|"[^"]*"|'[^']*'|[^,)\]\s]*)/g, " ");
  // A matrix of MATLAB, [1 2; 3 4], has semicolons between its rows.
  const matlab = bare.match(/^\s*(?:\w+\s*=\s*)?\[([^[\]{}()]*;[^[\]{}()]*)\]\s*;?\s*$/);
  if (matlab) return `[${matlab[1].split(";").filter((row) => row.trim()).map((row) => `[${row.replace(/\.\.\.\s*\n/g, " ")}]`).join("")}]`;
  bare = bare.replace(/;\s*$/, "");
  // C's braces and Python's parentheses are read as brackets, except parentheses around one list or one number.
  if (!bare.includes("[")) {
    if (bare.includes("{")) bare = bare.replaceAll("{", "[").replaceAll("}", "]");
    else if (/\([^)]*,/.test(bare)) bare = bare.replaceAll("(", "[").replaceAll(")", "]");
  } else if (/[[,(]\s*\([^()[\]]*,/.test(bare)) {
    bare = bare.replaceAll("(", "[").replaceAll(")", "]");
  }
  return bare;
}

/** Returns a pasted array as {shape, values}: nested lists, rows of numbers, or an array as NumPy, torch, TensorFlow
 * or JAX prints it. */
export function parseArray(text) {
  if (text.includes("...")) throw new Error("this is abbreviated (...): print all of it, with numpy.set_printoptions(threshold=100000)");
  const bare = bareOf(text);
  const tokens = bare.match(/[[\](){}]|[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?|nan|inf)|[^\s,;]+/gi) ?? [];
  if (!tokens.length) throw new Error("paste numbers: nested lists, or what NumPy prints");
  const values = [];
  const number = (token) => {
    const value = /nan$/i.test(token) ? NaN : /inf$/i.test(token) ? (token[0] === "-" ? -Infinity : Infinity) : Number(token);
    if (Number.isNaN(value) && !/nan$/i.test(token)) throw new Error(`“${token.slice(0, 20)}” is no number: paste nested lists, such as print(array.tolist())`);
    values.push(value);
  };
  if (!tokens.some((token) => "[{".includes(token))) {
    const rows = bare.split("\n").filter((row) => row.trim());
    const counts = rows.map((row) => row.replace(/[()]/g, " ").split(/[\s,;]+/).filter(Boolean).length);
    if (counts.some((count) => count !== counts[0])) throw new Error(`rows differ in length: ${counts.slice(0, 8).join(", ")}`);
    tokens.filter((token) => !"()".includes(token)).forEach(number);
    return { shape: rows.length === 1 ? [counts[0]] : [rows.length, counts[0]], values };
  }
  const shape = [];
  const counts = [];
  const close = () => {
    const depth = counts.length - 1;
    const count = counts.pop();
    if (shape[depth] === undefined) shape[depth] = count;
    if (shape[depth] !== count) throw new Error(`lists of different lengths at depth ${depth + 1}: ${shape[depth]} and ${count}`);
  };
  for (const token of tokens) {
    if ("({)}".includes(token)) continue;
    if (token === "[") {
      if (counts.length) ++counts[counts.length - 1];
      counts.push(0);
    } else if (token === "]") {
      if (!counts.length) throw new Error("a ] has no [");
      close();
    } else {
      if (!counts.length) throw new Error(`“${token.slice(0, 20)}” stands outside the lists: paste the numbers alone, such as print(array.tolist())`);
      number(token);
      ++counts[counts.length - 1];
    }
  }
  if (counts.length) throw new Error(`${counts.length} of the [ are not closed`);
  if (size(shape) !== values.length) throw new Error("numbers and lists stand side by side");
  return { shape, values };
}

/** Returns what the axes of an image may mean, as [{what, layout, shape}]; `shape` always has batch and channels. */
function readings(shape) {
  const [a, b, c, d, e] = shape;
  const first = (what, ...full) => ({ what, layout: "channels_first", shape: full });
  const last = (what, ...full) => ({ what, layout: "channels_last", shape: full });
  switch (shape.length) {
    case 1: return [first("(W)", 1, 1, a)];
    case 2: return [first("(H, W)", 1, 1, a, b), first("(C, W)", 1, a, b)];
    case 3: return [first("(C, H, W)", 1, a, b, c), last("(H, W, C)", 1, a, b, c), first("(N, C, W)", a, b, c), first("(D, H, W)", 1, 1, a, b, c)];
    case 4: return [first("(N, C, H, W)", a, b, c, d), last("(N, H, W, C)", a, b, c, d), first("(C, D, H, W)", 1, a, b, c, d)];
    case 5: return [first("(N, C, D, H, W)", a, b, c, d, e), last("(N, D, H, W, C)", a, b, c, d, e)];
    default: return [];
  }
}

/** Returns an array with its axes permuted: axis i of the result is axis order[i] of the array. */
function transposed({ shape, values }, order) {
  const target = order.map((axis) => shape[axis]);
  const steps = stepsOf(shape);
  return {
    shape: target,
    values: Array.from({ length: values.length }, (_, i) => values[coordinates(target, i).reduce((offset, each, axis) => offset + each * steps[order[axis]], 0)]),
  };
}

/** The most answers to find, where several unfolds make the same columns. */
const MOST_ANSWERS = 4;

const PADS = [[0, 0], [1, 1], [2, 2], [3, 3], [0, 1], [1, 0], [1, 2], [2, 1]];
const MOST_KERNEL = 16;
const MOST_DILATION = 3;
const BLOCK = { least: 2, most: 8 };

/** The sentence in which the page says what search() tries. */
export const TRIED = `Tried are: unfold with kernels to ${MOST_KERNEL}, strides to 4 or the kernel, dilation to ${MOST_DILATION} and zero pads of ${PADS.map((pair) => pair.join(":")).join(", ")} on each axis, in the orders channel, kernel and MATLAB's, or a row for each patch; space_to_depth and depth_to_space in both modes and space_to_batch without pads, with blocks of ${BLOCK.least} to ${BLOCK.most} that are the same on every axis. Other blocks, batch_to_space and fold of blocks are not: patchfold.explain_order in Python finds them.`;

/** Returns the settings to try along one axis, the plain ones first. */
function settingsOf(extent) {
  const result = [];
  for (const [begin, end] of PADS)
    for (let dilation = 1; dilation <= MOST_DILATION; ++dilation)
      for (let kernel = 1; kernel <= Math.min(MOST_KERNEL, extent + begin + end); ++kernel) {
        const reach = dilation * (kernel - 1) + 1;
        if (reach > extent + begin + end || (kernel === 1 && (dilation > 1 || begin + end > 0)) || begin >= reach || end >= reach) continue;
        for (let stride = 1; stride <= Math.max(4, kernel) && stride <= 16; ++stride) {
          const count = Math.floor((extent + begin + end - reach) / stride) + 1;
          if (count === 1 && stride > 1) continue; // a single position has no stride
          result.push({ kernel, stride, dilation, pads: [begin, end], count });
        }
      }
  return result;
}

const nameOf = (setting) => `${setting.kernel} ${setting.stride} ${setting.dilation} ${setting.pads}`;

/** Yields combinations of one setting for each axis whose taps times positions are `product`; those with the same
 * setting on all axes come first. */
function* combinations(spatial, product) {
  const lists = spatial.map(settingsOf);
  const weight = (settings) => settings.reduce((total, each) => total * each.kernel * each.count, 1);
  const named = lists.map((list) => new Map(list.map((each) => [nameOf(each), each])));
  for (const name of named[0].keys()) {
    const equal = named.map((settings) => settings.get(name));
    if (equal.every(Boolean) && weight(equal) === product) yield equal;
  }
  // Settings are grouped by kernel times count, so that only those that can give the product are combined.
  const weighed = lists.map((list) => grouped(list));
  function* rest(axis, left, chosen) {
    if (axis === lists.length) {
      if (left === 1 && !chosen.every((each) => nameOf(each) === nameOf(chosen[0]))) yield chosen;
      return;
    }
    for (const [size, settings] of weighed[axis])
      if (left % size === 0) for (const setting of settings) yield* rest(axis + 1, left / size, [...chosen, setting]);
  }
  if (lists.length > 1) yield* rest(0, product, []);
}

function grouped(list) {
  const groups = new Map();
  for (const each of list) {
    const size = each.kernel * each.count;
    if (!groups.has(size)) groups.set(size, []);
    groups.get(size).push(each);
  }
  return groups;
}

const python = (values) => `(${values.join(", ")}${values.length === 1 ? "," : ""})`;
const same = (a, b) => a.length === b.length && a.every((value, i) => value === b[i] || (Number.isNaN(value) && Number.isNaN(b[i])));

/** Returns {answers: [{text, notes, state}], tried, complete}, after at most `limit` milliseconds. image, columns:
 * {shape, values}. */
export function search(engine, image, columns, limit = 3000) {
  const end = performance.now() + limit;
  const answers = [];
  let tried = 0;
  const total = columns.values.length;
  // The products of extents of the columns' first axes: where one axis of the columns may end and the next one begin.
  const borders = new Set([1]);
  columns.shape.reduce((product, each) => (borders.add(product * each), product * each), 1);

  const attempt = (problem, source) => {
    ++tried;
    try {
      const geometry = engine.geometry(problem);
      return size(geometry.output) === total ? engine.run(problem, source.values, geometry) : null;
    } catch (error) {
      if (error instanceof EngineError) return null;
      throw error;
    }
  };
  /** Compares the columns with an output in two orders of its axes: (batch, entries, positions..), and with the
   * entries last. */
  const compare = (output, describe) => {
    const rank = output.shape.length;
    const arrangements = [
      { order: [...output.shape.keys()], tokens: false },
      { order: [0, ...Array.from({ length: rank - 2 }, (_, i) => i + 2), 1], tokens: true },
    ];
    for (const { order, tokens } of arrangements) {
      if (tokens && (output.shape[1] === 1 || size(output.shape.slice(2)) === 1)) continue; // both orders are the same
      if (same(transposed(output, order).values, columns.values)) answers.push(describe(tokens));
    }
  };

  for (const reading of readings(image.shape)) {
    const rank = reading.shape.length;
    const source = { shape: reading.shape, values: image.values };
    const canonical = reading.layout === "channels_first" ? source : transposed(source, [0, rank - 1, ...Array.from({ length: rank - 2 }, (_, i) => i + 1)]);
    const [batch, channels, ...spatial] = canonical.shape;
    const base = { shape: canonical.shape, layout: "channels_first", dialect: "patchfold", input: null, chosen: null };
    const found = (text, notes, state) => ({ text, notes: [`image read as ${reading.what}`, ...notes], state: { ...base, ...state } });
    const shape = canonical.shape.join("x");

    for (let block = BLOCK.least; block <= BLOCK.most && performance.now() < end; ++block) {
      const kernel = spatial.map(() => block);
      const k = listed(kernel);
      const setting = { kernel, stride: spatial.map(() => 1), dilation: spatial.map(() => 1), padding: spatial.map(() => [0, 0]) };
      const divides = spatial.every((extent) => extent % block === 0);
      for (const mode of ["blocks_first", "depth_first"]) {
        for (const operator of ["space_to_depth", "depth_to_space"]) {
          if (operator === "space_to_depth" ? !divides : channels % block ** spatial.length !== 0) continue;
          const output = attempt(`${operator} float64 ${shape} block=${k} mode=${mode}`, canonical);
          if (!output) continue;
          const state = { ...setting, operator, mode, ...(operator === "depth_to_space" ? { shape: output.shape } : {}) };
          compare(output, (tokens) => found(`patchfold.${operator}(image, ${block}, mode='${mode}')`, [ELSEWHERE[mode], ...(tokens ? ["channels last"] : [])], state));
        }
      }
      const output = divides && attempt(`space_to_batch float64 ${shape} block=${k}`, canonical);
      if (output) compare(output, (tokens) => found(`patchfold.space_to_batch(image, ${block})`, tokens ? ["channels last"] : [], { ...setting, operator: "space_to_batch" }));
    }
    const before = answers.length;
    if (total % (batch * channels) !== 0) continue;
    for (const settings of combinations(spatial, total / (batch * channels))) {
      if (performance.now() >= end || answers.length >= before + MOST_ANSWERS) break;
      const kernel = settings.map((each) => each.kernel);
      const entries = channels * size(kernel);
      const places = settings.reduce((product, each) => product * each.count, 1);
      if (size(kernel) === 1) continue;
      if (!borders.has(batch * entries) && !borders.has(batch * places)) continue;
      const [stride, dilation] = ["stride", "dilation"].map((name) => settings.map((each) => each[name]));
      const padding = settings.map((each) => each.pads);
      const rest = `stride=${listed(stride)} dilation=${listed(dilation)} padding=${pairs(padding)}`;
      for (const order of channels === 1 ? ["channel"] : ["channel", "kernel"]) {
        const output = attempt(`unfold float64 ${shape} kernel_size=${listed(kernel)} ${rest} order=${order}`, canonical);
        if (!output) continue;
        const pads = padding.every((pair) => pair[0] === 0 && pair[1] === 0) ? "" : `, padding=${python(padding.map(python))}`;
        const dilated = dilation.every((each) => each === 1) ? "" : `, dilation=${python(dilation)}`;
        const text = `patchfold.unfold(image, ${python(kernel)}, stride=${python(stride)}${dilated}${pads}, order='${order}')`;
        compare(output, (tokens) => found(text, [ELSEWHERE[order], ...(tokens ? ["a row for each patch (tokens): the entries are the last axis"] : [])], { operator: "unfold", kernel, stride, dilation, padding, padding_rule: "explicit", padding_mode: "constant", order, positions: "flat" }));
      }
      if (kernel.length > 1 && size(kernel) > Math.max(...kernel)) {
        const turned = transposed(canonical, [0, 1, ...Array.from({ length: spatial.length }, (_, i) => spatial.length + 1 - i)]);
        const back = (values) => values.slice().reverse();
        const problem = `unfold float64 ${turned.shape.join("x")} kernel_size=${listed(back(kernel))} stride=${listed(back(stride))} dilation=${listed(back(dilation))} padding=${pairs(back(padding))}`;
        const output = attempt(problem, turned);
        if (output) compare(output, () => found(`patchfold.unfold(image.T, ${python(back(kernel))}, stride=${python(back(stride))})`, ["as MATLAB's im2col: rows of the image run fastest"], { operator: "unfold", kernel: back(kernel), stride: back(stride), dilation: back(dilation), padding: back(padding), padding_rule: "explicit", padding_mode: "constant", order: "channel", positions: "flat", shape: turned.shape }));
      }
    }
  }
  const seen = new Set();
  const distinct = answers.filter(({ text, notes }) => !seen.has(text + notes) && seen.add(text + notes));
  return { answers: distinct, tried, complete: performance.now() < end };
}
