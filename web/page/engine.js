// SPDX-License-Identifier: Apache-2.0
// The engine for JavaScript: takes text and typed arrays, returns objects, and throws EngineError.
import load from "engine";
import { fromHalf, toHalf } from "./half.js";

/** An error of the engine: its text as `message`, its `code` and `argument`, and `nearby`, text about problems that
 * the engine takes. */
export class EngineError extends Error {
  constructor({ text, code, argument, nearby }) {
    super(text);
    this.name = "EngineError";
    Object.assign(this, { code, argument, nearby });
  }
}

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  float16: Uint16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
};

/** Returns how many bytes an element of this type takes. */
export const bytesOf = (dtype) => ARRAYS[dtype].BYTES_PER_ELEMENT;

function encoded(values, dtype) {
  const Kind = ARRAYS[dtype];
  if (values instanceof Kind && dtype !== "float16") return values;
  if (dtype === "float16") return Kind.from(values, toHalf);
  return dtype === "int64" ? Kind.from(values, (each) => BigInt(each)) : Kind.from(values);
}

function decoded(array, dtype) {
  if (dtype === "float16") return Array.from(array, fromHalf);
  return dtype === "int64" ? Array.from(array, Number) : Array.from(array);
}

export class Engine {
  #module;

  /** Returns the engine, loaded from the document, which holds it compressed. */
  static async load() {
    const text = atob(document.getElementById("engine").textContent);
    const packed = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) packed[i] = text.charCodeAt(i);
    const unpacked = new Response(packed).body.pipeThrough(new DecompressionStream("gzip"));
    const engine = new Engine();
    engine.#module = await load({ wasmBinary: await new Response(unpacked).arrayBuffer() });
    return engine;
  }

  get version() {
    return this.#module.UTF8ToString(this.#module._page_version());
  }

  #answer(pointer) {
    const answer = JSON.parse(this.#module.UTF8ToString(pointer));
    if (answer.error) throw new EngineError(answer.error);
    return answer;
  }

  /** Returns the result of work(allocate). allocate(bytes) lends memory, which is freed when work ends. */
  #lend(work) {
    const lent = [];
    const allocate = (bytes) => {
      const pointer = this.#module._malloc(Math.max(1, bytes));
      if (pointer === 0) throw new EngineError({ text: `memory: ran out at ${bytes} bytes`, code: "out_of_memory" });
      lent.push(pointer);
      return pointer;
    };
    try {
      return work(allocate);
    } finally {
      lent.forEach((pointer) => this.#module._free(pointer));
    }
  }

  #text(name, text, ...rest) {
    const pointer = this.#module.stringToNewUTF8(text);
    try {
      return this.#answer(this.#module[name](pointer, ...rest));
    } finally {
      this.#module._free(pointer);
    }
  }

  #write(array, allocate) {
    const pointer = allocate(array.byteLength);
    this.#module.HEAPU8.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), pointer);
    return pointer;
  }

  #read(Kind, pointer, count) {
    return new Kind(this.#module.HEAPU8.slice(pointer, pointer + count * Kind.BYTES_PER_ELEMENT).buffer);
  }

  /** Returns the shapes and axes of a problem, in the form of json_of in engine.cpp. */
  geometry(problem) {
    return this.#text("_page_geometry", problem);
  }

  /** Returns the output as {shape, values}, for the input `values`. */
  run(problem, values, geometry = this.geometry(problem)) {
    const dtype = problem.split(" ")[1];
    return this.#lend((allocate) => {
      const count = size(geometry.output);
      const src = this.#write(encoded(values, dtype), allocate);
      const dst = allocate(count * bytesOf(dtype));
      this.#text("_page_run", problem, src, dst);
      return { shape: geometry.output, values: decoded(this.#read(ARRAYS[dtype], dst, count), dtype) };
    });
  }

  /** Returns the milliseconds that the fastest of several runs of a problem takes. */
  time(problem, geometry) {
    const dtype = problem.split(" ")[1];
    return this.#lend((allocate) => {
      const src = allocate(size(geometry.data) * bytesOf(dtype));
      const dst = allocate(size(geometry.output) * bytesOf(dtype));
      let best = Infinity;
      const end = performance.now() + 150;
      for (let i = 0; i < 200 && (i < 3 || performance.now() < end); ++i) {
        const started = performance.now();
        this.#text("_page_run", problem, src, dst);
        best = Math.min(best, performance.now() - started);
      }
      return best;
    });
  }

  /** Returns, for each element of the columns, the number of its element in the image, or -1 for padding. */
  trace(problem, geometry) {
    return this.#lend((allocate) => {
      const count = size(geometry.columns);
      const numbers = this.#write(Int32Array.from({ length: size(geometry.image) }, (_, i) => i), allocate);
      const columns = allocate(count * 4);
      this.#text("_page_trace", problem, numbers, columns);
      return this.#read(Int32Array, columns, count);
    });
  }

  explain(problem) {
    return this.#text("_page_explain", problem, 0).text;
  }

  picture(problem) {
    return this.#text("_page_explain", problem, 1).svg;
  }

  /** Returns {text, scratch}: the plan of a problem, and the bytes that one thread needs besides the tensors. */
  plan(problem) {
    return this.#text("_page_plan", problem);
  }

  /** Returns the merge of a picture's tiles, each changed by work(values, tile): {values, tiling, output, waiting,
   * reduce}. The picture is {channels, size: [h, w], values: Float32Array}; spec has tile, overlap, tail, window and
   * reduce. */
  merge(picture, spec, work) {
    const words = [picture.channels, ...picture.size, ...spec.tile, ...spec.overlap, spec.tail, spec.window, spec.reduce];
    const opened = this.#text("_page_tiles_open", words.join(" "));
    return this.#lend((allocate) => {
      const source = this.#write(picture.values, allocate);
      opened.tiling.tiles.forEach((tile, index) => {
        const { shape } = this.#answer(this.#module._page_tiles_cut(index, source, 0));
        this.#lend((allocateTile) => {
          const place = allocateTile(size(shape) * 4);
          this.#answer(this.#module._page_tiles_cut(index, source, place));
          const result = work(this.#read(Float32Array, place, size(shape)), { shape, tile, index });
          this.#write(result, () => place);
          this.#answer(this.#module._page_tiles_add(index, place));
        });
      });
      const output = allocate(size(opened.output) * 4);
      this.#answer(this.#module._page_tiles_finish(output));
      return { ...opened, values: this.#read(Float32Array, output, size(opened.output)) };
    });
  }

  /** Returns, for each element of the last merge's output, the number of tiles that cover it. */
  coverage(count) {
    return this.#lend((allocate) => {
      const pointer = allocate(count * 8);
      this.#answer(this.#module._page_tiles_coverage(pointer));
      return Array.from(this.#read(BigInt64Array, pointer, count), Number);
    });
  }

  /** Returns the tiling of the last merge as a picture, in SVG. */
  tilesPicture() {
    return this.#answer(this.#module._page_tiles_explain()).svg;
  }
}

/** Returns the number of elements of a shape. */
export function size(shape) {
  return shape.reduce((product, each) => product * each, 1);
}
