// SPDX-License-Identifier: Apache-2.0
// The steps before and after a system's own function that make its result the page's: pads, crops, and changes of the
// axes' order.
import { columns, image, product, spatial } from "./problem.js";
import { call, keywords, axes as numbers, tuple } from "./python.js";

const NAMES = { 1: ["x"], 2: ["y", "x"], 3: ["z", "y", "x"] };
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** Returns groups as text for a comment: "(N, C*ky*kx, L)". */
export function named(groups, axes) {
  const name = (atom) => {
    if (!/\d/.test(atom)) return atom === "o" ? "1" : atom;
    const letter = { i: "", k: "k", l: "l" }[atom[0]];
    return atom[0] === "i" ? { x: "W", y: "H", z: "D" }[NAMES[axes][atom[1]]] : letter + NAMES[axes][atom[1]];
  };
  const one = (group) => (group.length > 1 && group.every((atom) => atom[0] === "l") ? "L" : group.map(name).join("*"));
  return `(${groups.map(one).join(", ")})`;
}

const lengthOf = (group, sizes) => product(group.map((atom) => sizes[atom]));

/** Returns the steps from some groups to others: a reshape, a transpose and a reshape, without those that change
 * nothing. */
export function rearranged(from, to, sizes) {
  if (same(from, to)) return [];
  const held = (groups) => groups.map((group) => group.filter((atom) => atom !== "o"));
  const target = held(to).flat();
  // Atoms that are neighbours before and after are moved as one.
  const runs = [];
  for (const group of held(from))
    group.forEach((atom, index) => {
      const last = runs.at(-1);
      const follows = index > 0 && target[target.indexOf(last.at(-1)) + 1] === atom && joined(to, last.at(-1), atom);
      if (follows) last.push(atom);
      else runs.push([atom]);
    });
  const order = runs.map((_, index) => index).sort((a, b) => target.indexOf(runs[a][0]) - target.indexOf(runs[b][0]));
  const lengths = runs.map((run) => lengthOf(run, sizes));
  const steps = [];
  if (!same(runs, from)) steps.push({ op: "reshape", shape: lengths });
  if (order.some((run, index) => run !== index)) steps.push({ op: "transpose", order });
  if (!same(order.map((run) => runs[run]), to)) steps.push({ op: "reshape", shape: to.map((group) => lengthOf(group, sizes)) });
  // Without a transpose between them, the two reshapes are one.
  return steps.length === 2 && steps[0].op === "reshape" && steps[1].op === "reshape" ? [steps[1]] : steps;
}
const joined = (groups, a, b) => groups.some((group) => group.includes(a) && group.includes(b));

const axisOf = (groups, axis) => groups.findIndex((group) => group.length === 1 && group[0] === `i${axis}`);
const padding = (groups, pads) => groups.map((_, index) => pads[pads.findIndex((_, axis) => axisOf(groups, axis) === index)] ?? [0, 0]);
const zero = (pairs) => pairs.flat().every((value) => value === 0);

/**
 * Returns a problem's steps in a system, each as {op, into, comment?, ..}; `into` names the variable. `own` describes
 * the system's function: {takes, gives: groups, pads: whether it pads or crops itself, call: data for the writer}.
 * Without `own`, blocks are cut by reshapes.
 */
export function stepsOf(problem, own) {
  const { axes, from, to, sizes, pads, extents, cuts, filled } = problem;
  const steps = [];
  const add = (into, list, groups) => list.forEach((step, index) =>
    steps.push({ ...step, into, ...(groups && index === list.length - 1 ? { comment: named(groups, axes) } : {}) }));
  const padded = { ...sizes };
  extents.forEach((extent, axis) => (padded[`i${axis}`] = extent + pads[axis][0] + pads[axis][1]));
  const pad = (groups) => (zero(pads) ? [] : [{ op: "pad", pads: padding(groups, pads), mode: filled, shape: groups.map((group) => lengthOf(group, sizes)) }]);
  const crop = (groups) => zero(pads) ? [] : [{
    op: "crop",
    begins: groups.map((_, index) => padding(groups, pads)[index][0]),
    shape: groups.map((group) => lengthOf(group, sizes)),
    cropped: groups.map((_, index) => !same(padding(groups, pads)[index], [0, 0])),
  }];
  const blocked = (groups) => groups.map((group) => (group[0][0] === "i" ? [`l${group[0][1]}`, `k${group[0][1]}`] : group));

  if (cuts === "unfold") {
    add("image", rearranged(from, own.takes, sizes), own.takes);
    if (!own.pads) add("image", pad(own.takes));
    steps.push({ op: "call", call: own.call, into: "columns", comment: named(own.gives, axes) });
    add("result", rearranged(own.gives, to, sizes), to);
  } else if (cuts === "fold") {
    add("columns", rearranged(from, own.takes, sizes), own.takes);
    steps.push({ op: "call", call: own.call, into: "image", comment: named(own.gives, axes) });
    if (!own.pads) add("image", crop(own.gives));
    add("result", rearranged(own.gives, to, sizes), to);
  } else if (own) {
    steps.push({ op: "call", call: own.call, into: "result" });
  } else if (cuts === "batch_to_space") {
    add("image", rearranged(from, blocked(to), padded), to);
    add("result", crop(to));
  } else {
    const deep = cuts === "depth_to_space";
    if (!deep) add("image", pad(from));
    add("result", deep ? rearranged(from, blocked(to), sizes) : rearranged(blocked(from), to, sizes), to);
  }
  if (!steps.length) steps.push({ op: "reshape", shape: to.map((group) => lengthOf(group, sizes)), into: "result" });
  // The last step's variable is named `result`.
  const last = steps.at(-1);
  for (const step of steps) if (step.into === last.into && step !== last) step.into = "result";
  Object.assign(last, { into: "result", comment: named(to, axes) });
  return steps;
}

/** Returns the groups for a function with two spatial axes: a signal becomes a picture of one row. */
export function asPicture({ axes }, groups) {
  if (axes !== 1) return groups;
  const index = groups.findIndex((group) => group[0] === "i0");
  return index < 0 ? groups : [...groups.slice(0, index), ["o"], ...groups.slice(index)];
}
/** Returns numbers for a function with two spatial axes: a signal's number gets `first` before it. */
export const twoOf = (values, first) => (values.length === 1 ? [first, ...values] : values);

/** Returns the module's unfold or fold with torch's arguments: two spatial axes, and one pad for both ends of an
 * axis. */
export function likeTorch(problem, module) {
  const { axes, cuts, pads, extents, kernel, stride, dilation, filled } = problem;
  const picture = asPicture(problem, image("channels_first", spatial(axes)));
  const symmetric = pads.every(([begin, end]) => begin === end && begin >= 0);
  const padded = symmetric && (cuts === "fold" || filled === "constant");
  const one = padded ? twoOf(pads.map(([begin]) => begin), 0) : [0];
  const size = twoOf(extents.map((extent, axis) => extent + (symmetric ? 0 : pads[axis][0] + pads[axis][1])), 1);
  const given = [
    ...(cuts === "fold" ? [`output_size=${tuple(size)}`] : []), `kernel_size=${numbers(twoOf(kernel, 1))}`,
    ...keywords([["dilation", twoOf(dilation, 1), 1], ["padding", one, 0], ["stride", twoOf(stride, 1), 1]]),
  ];
  const [takes, gives] = cuts === "fold" ? [columns(axes), picture] : [picture, columns(axes)];
  return { takes, gives, pads: padded, call: (x, into, indent) => ({ text: call(`${module}.${cuts}`, [x, ...given], indent) }) };
}

/**
 * Returns the writer of a system: a function of a problem that returns {text}, or {why}, the reason why there is no
 * program. why(problem) gives this reason, or ""; it is not called for block operators, which every system can write.
 * own(problem) describes the system's function for stepsOf(). write(problem, steps) writes the program.
 */
export const writer = (why, own, write) => (problem) => {
  const reason = problem.blocks ? "" : why(problem);
  return reason ? { why: reason } : { text: write(problem, stepsOf(problem, own(problem))) };
};
