// SPDX-License-Identifier: Apache-2.0
// The panel with a picture that is cut into overlapping tiles, changed by a function with flaws at their borders, and
// merged.
import { choice, field, make, markup } from "../dom.js";
import { EngineError } from "../engine.js";
import { FLAWS, difference, drawnPicture, flaw, readPicture, wanted } from "../flaws.js";
import { parseList } from "../controls.js";
import { complete } from "../state.js";

export const title = "Seams";
export const free = true;
export const alone = true;

const WINDOWS = ["ones", "linear", "hann", "cosine", "gaussian", "tukey", "hamming"];
const REDUCTIONS = ["max", "min", "first", "last", "center"];
const WAYS = [...WINDOWS.map((window) => ({ window, reduce: "mean" })), { window: "standard", reduce: "sum" }, ...REDUCTIONS.map((reduce) => ({ window: "standard", reduce }))];
let own = null; // the picture from the user's file, which is not part of the state

/** The largest cost of one drawing, and of the whole comparison, in elements of tiles; each takes about a second. */
const MOST = { drawn: 4e6, compared: 1e7 };
const EACH_TILE = 512; // the cost of a tile besides its elements

/** Returns the number of tiles, and the cost of one merge of them. */
function workOf({ size, tile, overlap }) {
  const tiles = size.reduce((product, extent, i) => {
    const step = tile[i] - overlap[i];
    return product * (step < 1 ? 1 : Math.max(0, Math.ceil((extent - tile[i]) / step)) + 1); // the engine refuses a step below 1
  }, 1);
  return { tiles, cost: size[0] * size[1] + tiles * (tile[0] * tile[1] + EACH_TILE) };
}

/** Returns a sentence that refuses too many tiles and proposes other settings; null if `times` merges cost `most` at
 * most. */
export function tooMuch(seams, most = MOST.drawn, times = 1) {
  const fits = (other) => times * workOf({ ...seams, ...other }).cost <= most;
  if (fits({})) return null;
  const { tiles } = workOf(seams);
  const given = `${times > 1 ? `${times} merges of ` : ""}${tiles} tiles of ${seams.tile.join(" × ")}, which overlap by ${seams.overlap.join(" × ")}, would take this page too long`;
  const choices = [];
  for (const part of [4, 2, 1, 0]) choices.push({ tile: seams.tile, overlap: seams.tile.map((extent, i) => Math.min(seams.overlap[i], Math.floor((extent * part) / 5))) });
  for (const extent of [16, 32, 64, 96, 128]) choices.push({ tile: [extent, extent], overlap: [extent / 4, extent / 4] });
  const other = choices.find(fits);
  if (!other) return `${given}: choose a smaller picture.`;
  const tile = other.tile === seams.tile ? "" : `a tile of ${other.tile.join(", ")} and `;
  return `${given}: choose ${tile}an overlap of ${other.overlap.join(", ")}.`;
}

const pictureOf = (seams) => own ?? drawnPicture(seams.size);

/** Returns a canvas that shows a picture. colour(i) gives red, green and blue of pixel i, from 0 to 1. */
function canvas([height, width], colour, label, id) {
  const element = make("canvas", { width, height, role: "img", "aria-label": label, id });
  const context = element.getContext("2d");
  const pixels = context.createImageData(width, height);
  for (let i = 0; i < width * height; ++i) {
    const rgb = colour(i);
    for (let c = 0; c < 3; ++c) pixels.data[4 * i + c] = rgb[c] * 255;
    pixels.data[4 * i + 3] = 255;
  }
  context.putImageData(pixels, 0, 0);
  return element;
}

const colours = (values, count) => (i) => [values[i], values[count + i], values[2 * count + i]];
/** Returns the colour of a level from 0 to 1: dark blue, green, yellow, which can be told apart without red and
 * green. */
const heat = (level) => {
  const stops = [[0.27, 0, 0.33], [0.13, 0.57, 0.55], [0.99, 0.91, 0.14]];
  const at = Math.max(0, Math.min(1, level)) * 2;
  const low = Math.min(1, Math.floor(at));
  return stops[low].map((each, i) => each + (stops[low + 1][i] - each) * (at - low));
};

/** Returns the merge of a picture's tiles, and how far it is from the result that tiles should give. */
export function stitched(engine, picture, seams) {
  const strength = seams.strength / 100;
  const result = engine.merge(picture, seams, flaw(seams.flaw, strength));
  // A flaw reaches at most a quarter of the tile inward.
  const margins = seams.tile.map((extent, i) => Math.min(Math.ceil(extent / 4), Math.floor(picture.size[i] / 4)));
  return { ...result, error: difference(result.values, wanted(picture, seams.flaw, strength), picture.size, margins) };
}

/** Returns the weight of one tile at each pixel of a mean: the merge in which this tile is 1 and all others are 0. */
function weightOf(engine, picture, seams, index) {
  const plain = { channels: 1, size: picture.size, values: new Float32Array(picture.size[0] * picture.size[1]) };
  return engine.merge(plain, { ...seams, reduce: "mean" }, (values, tile) => values.fill(tile.index === index ? 1 : 0)).values;
}

const percent = (error) => `${error === 0 ? 0 : (error * 100).toPrecision(2)} %`;

function compared(engine, picture, seams) {
  const holder = make("div", { class: "gallery", id: "gallery" });
  const count = picture.size[0] * picture.size[1];
  for (const each of WAYS) {
    const name = each.reduce === "mean" ? `mean, ${each.window}` : each.reduce;
    try {
      const { values, error } = stitched(engine, picture, { ...seams, ...each });
      holder.append(make("figure", {}, canvas(picture.size, colours(values, count), `Merged with ${name}; differs by ${percent(error)}`), make("figcaption", {}, `${name}: ${percent(error)}`)));
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      holder.append(make("figure", {}, make("p", {}, error.message), make("figcaption", {}, name)));
    }
  }
  return holder;
}

export function show(holder, { state, engine, change, say }) {
  const { seams } = state;
  const set = (changes) => change({ seams: { ...seams, ...changes } });
  const select = (name, label, words, labels) => field(label, choice(`seams-${name}`, words, seams[name], (value) => set({ [name]: value }), labels));
  const numbers = (name, label) =>
    field(
      label,
      make("input", {
        id: `seams-${name}`,
        type: "text",
        value: seams[name].join(", "),
        onchange: (event) => {
          try {
            const values = parseList(event.target.value);
            const changed = { ...seams, [name]: values.length === 1 ? [values[0], values[0]] : values };
            const { faults } = complete({ ...state, seams: changed });
            if (faults.length) throw new Error(faults.join("; "));
            set(changed);
          } catch (error) {
            fault.textContent = `${label}: ${error.message}`;
          }
        },
      }),
    );
  const fault = make("p", { class: "fault", role: "alert", id: "seams-fault" });
  const file = make("input", {
    id: "seams-file",
    type: "file",
    accept: "image/*",
    onchange: async (event) => {
      const [chosen] = event.target.files;
      if (!chosen) return;
      try {
        own = await readPicture(chosen);
        say(`Your picture, ${own.size[1]} by ${own.size[0]} pixels here.`);
        set({ size: own.size });
      } catch {
        fault.textContent = `${chosen.name} is no picture that the browser reads.`;
      }
    },
  });
  holder.append(
    make(
      "form",
      { class: "fields", id: "seams-form", "aria-label": "Tiles", onsubmit: (event) => event.preventDefault() },
      numbers("tile", "Tile"),
      numbers("overlap", "Overlap"),
      select("tail", "End of the picture", ["shift", "pad", "partial", "drop", "error", "shift_or_pad"]),
      select("window", "Window", ["standard", ...WINDOWS], { standard: "standard (hann for means)" }),
      select("reduce", "Where tiles meet", ["standard", "mean", "sum", ...REDUCTIONS], { standard: "standard (mean)" }),
      select("flaw", "The function's fault", Object.keys(FLAWS), FLAWS),
      field("How strong", make("input", { id: "seams-strength", type: "range", min: 0, max: 100, value: seams.strength, onchange: (event) => set({ strength: Number(event.target.value) }) })),
      select("show", "Show", ["result", "coverage", "weight", "error"], { coverage: "how many tiles meet", weight: "weight of the middle tile", error: "difference" }),
      field("Your own picture", file, "stays in this page"),
      own ? make("button", { type: "button", id: "seams-drawn", onclick: () => { own = null; set({ size: [192, 256] }); } }, "Drawn picture again") : null,
    ),
    fault,
  );
  const picture = pictureOf(seams);
  const [height, width] = picture.size;
  const count = height * width;
  const cut = { ...seams, size: picture.size };
  const refused = tooMuch(cut);
  if (refused) {
    fault.textContent = refused;
    return;
  }
  let result;
  try {
    result = stitched(engine, picture, seams);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    fault.textContent = error.message;
    return;
  }
  const tiles = result.tiling.tiles.length;
  const target = wanted(picture, seams.flaw, seams.strength / 100);
  const [, outHeight, outWidth] = result.output;
  const drawings = {
    result: () => [colours(result.values, count), "The picture after its tiles were merged"],
    error: () => {
      let most = 1e-6;
      const far = (i) => Math.max(...[0, 1, 2].map((c) => Math.abs(result.values[c * count + i] - target[c * count + i])));
      for (let i = 0; i < count; ++i) most = Math.max(most, far(i));
      return [(i) => heat(far(i) / most), `Where the merge differs from what it should be, at most ${percent(most)}`];
    },
    coverage: () => {
      const counts = engine.coverage(count);
      const most = counts.reduce((a, b) => Math.max(a, b), 1);
      return [(i) => heat(counts[i] / most), `How many tiles give each element: at most ${most}`];
    },
    weight: () => {
      const weights = weightOf(engine, picture, seams, Math.floor(tiles / 2));
      return [(i) => heat(weights[i]), `The weight of tile ${Math.floor(tiles / 2)} in the mean, from 0 (dark) to 1`];
    },
  };
  const [colour, label] = drawings[seams.show]();
  holder.append(
    make("p", { class: "told", id: "seams-told" }, `${tiles} tiles, ${result.reduce}; the result differs by ${percent(result.error)} from what a function without borders gives (root of mean square, without the picture's own border).`),
    make(
      "div",
      { class: "sides" },
      make("figure", {}, canvas(picture.size, colours(picture.values, count), "The picture before", "seams-before"), make("figcaption", {}, "Before")),
      make("figure", {}, canvas([outHeight, outWidth], colour, label, "seams-after"), make("figcaption", { id: "seams-caption" }, label)),
    ),
    make("button", { type: "button", id: "seams-compare", onclick: (event) => {
      const refusedAll = tooMuch(cut, MOST.compared, WAYS.length);
      if (refusedAll) {
        fault.textContent = refusedAll;
        return;
      }
      const gallery = compared(engine, picture, seams);
      document.getElementById("gallery")?.remove();
      event.target.after(gallery);
      say(`${WAYS.length} ways to merge, each with its difference.`);
    } }, "Compare windows and reductions"),
  );
  if (seams.show !== "weight") holder.append(make("details", {}, make("summary", {}, "Where the tiles lie"), markup(engine.tilesPicture())));
}
