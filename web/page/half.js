// SPDX-License-Identifier: Apache-2.0
// Converts float16 to numbers and back: browsers before 2025 have no arrays of float16.
const single = new Float32Array(1);
const bits = new Uint32Array(single.buffer);

/** Returns the 16 bits of the float16 that is nearest to a number; of two equally near ones, the even one. */
export function toHalf(value) {
  const magnitude = Math.abs(value);
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  if (Number.isNaN(value)) return 0x7e00;
  if (magnitude >= 65520) return sign | 0x7c00;
  const exponent = magnitude < 2 ** -14 ? -14 : Math.floor(Math.log2(magnitude));
  const step = 2 ** (exponent - 10);
  const scaled = magnitude / step;
  const below = Math.floor(scaled);
  const above = scaled - below;
  const rounded = above > 0.5 || (above === 0.5 && below % 2 === 1) ? below + 1 : below;
  // A mantissa that overflows adds 1 to the exponent, as it should.
  return sign | (rounded + (magnitude < 2 ** -14 ? 0 : (exponent + 14) * 1024));
}

export function fromHalf(half) {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 31;
  const mantissa = half & 1023;
  if (exponent === 31) return mantissa ? NaN : sign * Infinity;
  return exponent === 0 ? sign * mantissa * 2 ** -24 : sign * (mantissa + 1024) * 2 ** (exponent - 25);
}

/** Returns the shortest text that stands for a number in its type. */
export function shown(value, dtype) {
  if (dtype === "float32" || dtype === "float16") {
    single[0] = value;
    if (bits[0] === 0x80000000) return "-0";
  }
  if (Number.isInteger(value)) return Math.abs(value) < 1e7 ? String(value) : value.toExponential(3);
  return Number.isFinite(value) ? String(Number(value.toPrecision(4))) : String(value).replace("Infinity", "inf").replace("NaN", "nan");
}
