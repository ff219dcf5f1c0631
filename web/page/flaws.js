// SPDX-License-Identifier: Apache-2.0
// Pictures, and functions whose results for neighbouring tiles differ where the tiles meet. A picture is {channels: 3,
// size: [h, w], values: Float32Array}, one channel after the other, with numbers from 0 to 1.

/** Returns a drawn picture with a sky, hills, a sun and a fence: seams show in flat parts, slopes and lines. */
export function drawnPicture([height, width]) {
  const values = new Float32Array(3 * height * width);
  const plane = height * width;
  for (let y = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x) {
      const u = x / width;
      const v = y / height;
      let colour = [0.45 + 0.3 * v, 0.62 + 0.2 * v, 0.85];
      if (Math.hypot(u - 0.72, (v - 0.28) * (height / width)) < 0.09) colour = [0.98, 0.86, 0.45];
      if (v > 0.55 + 0.1 * Math.sin(u * 6.3)) colour = [0.3, 0.52, 0.35];
      if (v > 0.7 + 0.06 * Math.cos(u * 9 + 1)) colour = [0.42, 0.6, 0.28];
      if (v > 0.62 && v < 0.86 && (x % 24 < 3 || (y % 28 < 3 && v > 0.66))) colour = [0.55, 0.4, 0.3];
      colour.forEach((each, c) => (values[c * plane + y * width + x] = each));
    }
  }
  return { channels: 3, size: [height, width], values };
}

/** Returns the picture in a file, made smaller if its longer side has more than `most` pixels. */
export async function readPicture(file, most = 512) {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, most / Math.max(bitmap.width, bitmap.height));
  const width = Math.max(16, Math.round(bitmap.width * scale));
  const height = Math.max(16, Math.round(bitmap.height * scale));
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d");
  context.drawImage(bitmap, 0, 0, width, height);
  const { data } = context.getImageData(0, 0, width, height);
  const values = new Float32Array(3 * width * height);
  for (let i = 0; i < width * height; ++i) for (let c = 0; c < 3; ++c) values[c * width * height + i] = data[4 * i + c] / 255;
  return { channels: 3, size: [height, width], values };
}

/** Returns, for each pixel, the mean of (2r + 1)^2 pixels around it. Pixels outside count as 0, as in a convolution
 * with zero padding. */
function blurred(values, [channels, height, width], radius) {
  const along = (source, count, step, lines, lineStep, plane) => {
    const result = new Float32Array(source.length);
    for (let c = 0; c < channels; ++c) {
      for (let line = 0; line < lines; ++line) {
        const base = c * plane + line * lineStep;
        let sum = 0;
        for (let i = 0; i < Math.min(radius, count); ++i) sum += source[base + i * step];
        for (let i = 0; i < count; ++i) {
          if (i + radius < count) sum += source[base + (i + radius) * step];
          if (i - radius - 1 >= 0) sum -= source[base + (i - radius - 1) * step];
          result[base + i * step] = sum / (2 * radius + 1);
        }
      }
    }
    return result;
  };
  const plane = height * width;
  return along(along(values, width, 1, height, width, plane), height, width, width, 1, plane);
}

export const FLAWS = {
  vignette: "darker towards its border",
  brightness: "brightness differs from tile to tile",
  blur: "blur that takes the outside for black",
  none: "none: it returns its tile",
};

/** Returns a function that turns a tile's values, with {shape: [c, h, w], index}, into new values. strength: 0 to 1. */
export function flaw(name, strength) {
  if (name === "brightness") return (values, { index }) => values.map((each) => each + strength * 0.5 * (((index * 7919) % 17) / 16 - 0.5));
  if (name === "blur") return (values, { shape }) => (strength === 0 ? values : blurred(values, shape, Math.max(1, Math.round((strength * Math.min(shape[1], shape[2])) / 8))));
  if (name === "vignette") {
    return (values, { shape: [, height, width] }) => {
      const edges = (n) => Float64Array.from({ length: n }, (_, i) => Math.max(0, 1 - (4 * Math.min(i + 0.5, n - i - 0.5)) / n));
      const [rows, columns] = [edges(height), edges(width)];
      return values.map((each, i) => each * (1 - strength * Math.max(rows[Math.floor(i / width) % height], columns[i % width])));
    };
  }
  return (values) => values;
}

/** Returns the result that tiles should give: the function's result for the whole picture, where no tiles meet. */
export function wanted(picture, name, strength) {
  if (name !== "blur") return picture.values;
  return flaw(name, strength)(picture.values, { shape: [picture.channels, ...picture.size], index: 0 });
}

/** Returns the root of the mean squared difference of two pictures, without margins of `rows` and `columns`. At the
 * picture's own border there is only one tile, and no merge helps. */
export function difference(a, b, [height, width], [rows, columns]) {
  let sum = 0;
  let count = 0;
  for (let i = 0; i < a.length; ++i) {
    const x = i % width;
    const y = Math.floor(i / width) % height;
    if (y < rows || y >= height - rows || x < columns || x >= width - columns) continue;
    sum += (a[i] - b[i]) ** 2;
    ++count;
  }
  return Math.sqrt(sum / Math.max(1, count));
}
