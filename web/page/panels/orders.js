// SPDX-License-Identifier: Apache-2.0
// The panel with the order of a patch's elements in each system, found by running the system's operator on one patch of
// numbers.
import { listed } from "../call.js";
import { make } from "../dom.js";
import { EngineError, size } from "../engine.js";
import { coordinates } from "../model.js";

/** The most elements of a patch that are listed. */
const MOST = 64;

// web/bundle.py replaces ELSEWHERE by an object: for each order, the calls of other systems that have it.
const SYSTEMS = [
  ...["channel", "kernel"].map((order) => ({ name: `${ELSEWHERE[order]}; patchfold order=${order}`, call: (k) => ({ op: "unfold", kernel_size: k, order }) })),
  ...["blocks_first", "depth_first"].map((mode) => ({ name: `${ELSEWHERE[mode]}; patchfold mode=${mode}`, call: (k) => ({ op: "space_to_depth", block: k, mode }) })),
  { name: "MATLAB im2col (columns of the image run fastest), channels one after the other", call: (k) => ({ op: "unfold", kernel_size: k, order: "channel" }), transposed: true },
];

const problem = ({ op, ...given }, shape) => [op, "int32", shape.join("x"), ...Object.entries(given).map(([name, value]) => `${name}=${value}`)].join(" ");

/** Returns [{name, entries}]: for each system, the elements {channel, tap} of a patch in its order. */
export function ordersOf(engine, channels, kernel) {
  const shape = [1, channels, ...kernel];
  return SYSTEMS.map(({ name, call, transposed }) => {
    const turned = transposed ? kernel.slice().reverse() : kernel;
    const turnedShape = [1, channels, ...turned];
    // The patch's numbers; for a system that counts spatial axes in reverse, of a patch with these axes reversed.
    const numbers = Array.from({ length: size(shape) }, (_, i) => {
      if (!transposed) return i;
      const [, channel, ...at] = coordinates(turnedShape, i);
      return [channel, ...at.reverse()].reduce((number, each, axis) => number * shape[axis + 1] + each, 0);
    });
    const { values } = engine.run(problem(call(listed(turned)), turnedShape), numbers);
    return { name, entries: values.map((value) => coordinates(shape, value)).map(([, channel, ...tap]) => ({ channel, tap })) };
  });
}

export const title = "Orders";
export const free = true;

export function show(holder, { state, engine }) {
  const channels = state.shape[1];
  const count = channels * size(state.kernel);
  holder.append(make("p", {}, `One patch or block of ${state.kernel.join(" × ")} with ${channels} channel${channels === 1 ? "" : "s"}: which element comes first, second, .. in each system. A letter is a channel, numbers are the place in the patch.`));
  if (count > MOST) {
    holder.append(make("p", {}, `A patch has ${count} elements; at most ${MOST} are listed. Choose fewer channels or a smaller kernel.`));
    return;
  }
  let systems;
  try {
    systems = ordersOf(engine, channels, state.kernel);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    holder.append(make("p", { role: "alert" }, error.message));
    return;
  }
  const letter = (channel) => (channel < 26 ? String.fromCharCode(97 + channel) : `c${channel} `);
  const shown = ({ channel, tap }) => `${letter(channel)}${tap.join(tap.some((each) => each > 9) ? "," : "")}`;
  const head = make("tr", {}, make("th", { scope: "col" }, "System"), ...Array.from({ length: count }, (_, i) => make("th", { scope: "col" }, String(i))));
  const nameOf = ({ channel, tap }) => `${channel}:${tap.join(",")}`;
  const rows = systems.map(({ name, entries }) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, name),
      ...entries.map((entry) =>
        make(
          "td",
          {
            style: `--channel: var(--channel-${entry.channel % 4})`,
            "data-entry": nameOf(entry),
            tabindex: "0",
            onfocus: () => mark(nameOf(entry)),
            onblur: () => mark(null),
            onpointerenter: () => mark(nameOf(entry)),
          },
          shown(entry),
        ),
      ),
    ),
  );
  const table = make("table", { class: "orders", id: "orders" }, make("caption", {}, "Order inside a patch"), make("thead", {}, head), make("tbody", {}, ...rows));
  const mark = (entry) => table.querySelectorAll("td").forEach((cell) => cell.classList.toggle("linked", cell.dataset.entry === entry));
  table.addEventListener("pointerleave", () => mark(null));
  holder.append(make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Orders of all systems" }, table));
}
