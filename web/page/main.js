// SPDX-License-Identifier: Apache-2.0
// The page. It has one state; each change draws everything again and puts the state into the link.
import { controls } from "./controls.js";
import { make, renew, toClipboard } from "./dom.js";
import { Engine, size } from "./engine.js";
import { look, numbers } from "./model.js";
import { panels } from "./panels/index.js";
import { complete, defaults, fromHash, inputShape, toHash } from "./state.js";

const $ = (id) => document.getElementById(id);
let state = complete({}).state;
let engine = null;
let shownPanel = null; // what the open panel's show() returned
let ready;
const whenReady = new Promise((resolve) => (ready = resolve));

function say(text) {
  $("said").textContent = text;
}

/** Changes fields of the state, draws the page, and puts the state into the link. */
function change(changes, { focus = null, quiet = false } = {}) {
  const { state: next, faults } = complete({ ...state, ...changes });
  state = next;
  try {
    history.replaceState(null, "", toHash(state));
  } catch {
    // Browsers refuse too many changes of the link in a short time; the next change will bring it up to date.
  }
  draw({ faults, focus, controlsToo: !quiet });
}

function theme() {
  document.documentElement.dataset.theme = state.theme;
  $("theme").value = state.theme;
}

function drawTabs() {
  const tabs = panels.map(({ name, title }) =>
    make(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${name}`,
        "aria-selected": String(name === state.panel),
        "aria-controls": "panel",
        tabindex: name === state.panel ? "0" : "-1",
        onclick: () => change({ panel: name }, { focus: { tab: name } }),
      },
      title,
    ),
  );
  renew($("tabs"), tabs);
  $("panel").setAttribute("aria-labelledby", `tab-${state.panel}`);
}

/** Returns an element that shows an error of the engine: its message, and nearby problems that the engine takes. */
function refusal(error) {
  const box = make("div", { class: "refused", id: "refused" }, make("h2", {}, "The library refuses this"), make("p", { id: "error-text" }, error.message));
  if (error.nearby) box.append(make("pre", { id: "error-nearby", tabindex: "0", "aria-label": "What is wrong, and what would be right" }, error.nearby));
  return box;
}

function draw({ faults = [], focus = null, controlsToo = true } = {}) {
  theme();
  const active = document.activeElement?.id;
  if (controlsToo) renew($("controls"), controls(state, inputShape({ ...state, input: null }), change));
  drawTabs();
  $("faults").replaceChildren(...faults.map((fault) => make("p", { class: "fault" }, fault)));
  const panel = panels.find(({ name }) => name === state.panel) ?? panels[0];
  const holder = make("div");
  $("arguments").hidden = $("call").hidden = panel.alone;
  const model = look(engine, state);
  if (state.chosen && model.trace && state.chosen.index >= size(state.chosen.side === "image" ? model.imageShape : model.columnsShape)) {
    change({ chosen: null }, { focus });
    return;
  }
  $("call").textContent = model.call;
  shownPanel = null;
  if (model.error && !panel.free) {
    holder.append(refusal(model.error));
    say(model.error.message);
  } else {
    shownPanel = panel.show(holder, { state, model, engine, change, say, numbers: (other) => numbers(engine, other) }) ?? null;
  }
  renew($("panel"), [...holder.childNodes]);
  if (focus?.tab) $(`tab-${focus.tab}`).focus();
  else if (focus) shownPanel?.focus?.(focus);
  else if (active && active !== document.activeElement?.id) $(active)?.focus({ preventScroll: true });
}

function listen() {
  $("tabs").addEventListener("keydown", (event) => {
    const at = panels.findIndex(({ name }) => name === state.panel);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: panels.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const { name } = panels[(next + panels.length) % panels.length];
    change({ panel: name }, { focus: { tab: name } });
  });
  $("controls").addEventListener("submit", (event) => event.preventDefault());
  $("skip").addEventListener("click", (event) => {
    event.preventDefault(); // a jump would change the hash, where the state is
    $("panel").focus();
  });
  $("theme").addEventListener("change", (event) => change({ theme: event.target.value }));
  $("reset").addEventListener("click", () => {
    change({ ...structuredClone(defaults), theme: state.theme });
    say("Everything has its default again.");
  });
  $("copy-link").addEventListener("click", async () => {
    const worked = await toClipboard(location.href);
    say(worked ? "The link is copied; it carries everything that is set." : "The browser did not let the link be copied: copy it from the address bar.");
    $("copy-link").textContent = worked ? "Link copied" : "Copy it from the address bar";
    setTimeout(() => ($("copy-link").textContent = "Copy link"), 2000);
  });
  window.addEventListener("hashchange", () => {
    const { state: next, faults } = fromHash(location.hash);
    if (JSON.stringify(next) === JSON.stringify(state) && !faults.length) return;
    state = next;
    draw({ faults });
  });
}

async function start() {
  const { state: first, faults } = fromHash(location.hash);
  state = first;
  theme();
  $("arguments").open = matchMedia("(min-width: 56rem)").matches; // open beside the picture; a phone shows the picture first
  engine = await Engine.load();
  listen();
  draw({ faults });
  $("version").textContent = `patchfold ${engine.version}.`;
  document.documentElement.dataset.ready = "yes";
  performance.mark("patchfold-ready");
  ready();
}

// For tests and the browser's console; state.js describes these functions.
const once = (work) => (...given) => whenReady.then(() => work(...given));
const stateOf = (other) => (other === null ? state : complete(other).state);
window.patchfoldPage = {
  numbers: once((other = null) => numbers(engine, stateOf(other))),
  get state() {
    return structuredClone(state);
  },
  set: once((changes) => change(changes)),
  trace: once((other = null) => {
    const model = look(engine, stateOf(other));
    return model.error ? { error: model.error.message } : { trace: Array.from(model.trace), geometry: model.geometry };
  }),
  run: once((problem, values) => engine.run(problem, values)),
};

start().catch((error) => {
  $("panel").replaceChildren(make("p", { role: "alert" }, `The library could not be started: ${error.message}. It needs Chrome or Edge 98, Firefox 113, Safari 16.4, or newer.`));
});
