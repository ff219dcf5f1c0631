// SPDX-License-Identifier: Apache-2.0
// The panel about memory and time: exact bytes, a bound by the speed of memory, and runs in this page.
import { field, make } from "../dom.js";
import { bytesOf } from "../engine.js";
import { bytesOfCall } from "../model.js";

const UNITS = ["bytes", "KB", "MB", "GB", "TB", "PB"];

/** Returns a number with three digits, or with its whole part if that is longer, and without a power of ten. */
const short = (value) => (value >= 999.5 ? value.toFixed(0) : value.toPrecision(3));

/** Returns bytes as text, in units of 1024: "1.5 KB" for 1536. */
export function bytesShown(bytes) {
  let unit = 0;
  for (; bytes >= 1024 && unit < UNITS.length - 1; ++unit) bytes /= 1024;
  return `${unit === 0 ? bytes : short(bytes)} ${UNITS[unit]}`;
}

/** Returns seconds as text: "1.2 ms". */
export function timeShown(seconds) {
  for (const [scale, unit] of [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]]) if (seconds >= scale) return `${short(seconds / scale)} ${unit}`;
  return `${(seconds * 1e9).toPrecision(3)} ns`;
}

export const title = "Cost";

/** The most bytes of the tensors of a run in the page. */
const MOST_BYTES = 256 << 20;
const SPEED = 10;

export function show(holder, { state, model, engine, say }) {
  const { geometry } = model;
  const bytes = bytesOfCall(geometry, bytesOf(state.dtype));
  const plan = engine.plan(model.call);
  const [input, output] = geometry.extracts ? ["image", "columns"] : ["columns", "image"];
  const row = (name, value, id) => make("tr", {}, make("th", { scope: "row" }, name), make("td", { id }, value));
  const bound = make("td", { id: "cost-bound" });
  const speed = make("input", { id: "cost-speed", type: "number", min: 1, max: 10000, step: "any", value: SPEED, oninput: (event) => estimate(event.target.value) });
  const estimate = (given) => {
    const rate = Math.max(0.001, Number(given) || SPEED);
    bound.textContent = `at least ${timeShown((bytes.data + bytes.output) / (rate * 1e9))}`;
  };
  const measured = make("td", { id: "cost-measured" }, "not yet");
  const button = make(
    "button",
    {
      type: "button",
      id: "cost-run",
      disabled: bytes.data + bytes.output > MOST_BYTES,
      onclick: () => {
        try {
          const seconds = engine.time(model.call, geometry) / 1e3;
          measured.textContent = seconds > 0 ? timeShown(seconds) : "less than the browser's clock can tell";
        } catch (error) {
          measured.textContent = error.message; // there is too little memory
        }
        say(`Measured: ${measured.textContent}`);
      },
    },
    "Measure here",
  );
  holder.append(
    make(
      "table",
      { class: "facts" },
      make("caption", {}, "Memory and time of one call"),
      make(
        "tbody",
        {},
        row(`Input (${input})`, `[${geometry.data.join(", ")}], ${bytesShown(bytes.data)}`, "cost-input"),
        row(`Output (${output})`, `[${geometry.output.join(", ")}], ${bytesShown(bytes.output)}`, "cost-output"),
        row("Output by input", bytes.data ? `${short(bytes.output / bytes.data)} times` : "-", "cost-ratio"),
        row("Memory beside them", `${bytesShown(plan.scratch)} for each thread`, "cost-scratch"),
        make("tr", {}, make("th", { scope: "row" }, "Time, by the speed of memory"), bound),
        make("tr", {}, make("th", { scope: "row" }, "Time in this page, one thread"), measured),
      ),
    ),
    make("div", { class: "bar" }, field("Speed of memory in GB/s", speed), button),
    make("p", { class: "note" }, `The bound reads the input once and writes the output once. A built library is faster than this page: it has wider vectors and threads.${bytes.data + bytes.output > MOST_BYTES ? ` Shapes above ${bytesShown(MOST_BYTES)} are not run here.` : ""}`),
    make("details", {}, make("summary", {}, "How the library runs it"), make("pre", { tabindex: "0", "aria-label": "The plan" }, plan.text)),
  );
  estimate(SPEED);
}
