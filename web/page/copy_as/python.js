// SPDX-License-Identifier: Apache-2.0
// Writes Python: literals, the input, and a system's steps as statements.

export const WIDTH = 120;
export const tuple = (values) => `(${values.join(", ")}${values.length === 1 ? "," : ""})`;
export const list = (values) => `[${values.map((value) => (Array.isArray(value) ? list(value) : value)).join(", ")}]`;
/** Writes one number if all are equal, else a tuple. */
export const axes = (values) => (values.every((value) => value === values[0]) ? `${values[0]}` : tuple(values));

/** Writes `name=value` for each value that is not the default. */
export function keywords(entries) {
  return entries.filter(([, values, standard]) => !values.every((value) => value === standard)).map(([name, values]) => `${name}=${axes(values)}`);
}

/** Writes name(a, b, ..) on one line, or on several lines if it is long. */
export function call(name, given, indent = "") {
  const line = `${name}(${given.join(", ")})`;
  if (indent.length + line.length + 12 <= WIDTH) return line;
  return `${name}(\n${given.map((each) => `${indent}    ${each},\n`).join("")}${indent})`;
}

/** Writes an array of 1, 2, 3, .. in the input's shape. library: np, jnp or torch. */
export function counted({ count, dtype, input }, library, type = `${library}.${dtype}`) {
  const to = library === "torch" ? "to" : "astype";
  const reshaped = `.reshape(${input.join(", ")})`;
  if (dtype === "uint8" && count > 250) return `(${library}.arange(${count}) % 250 + 1).${to}(${type})${reshaped}`;
  if (dtype === "float16" && count > 2048) return `${library}.arange(1, ${count + 1}).${to}(${type})${reshaped}`;
  return `${library}.arange(1, ${count + 1}, dtype=${type})${reshaped}`;
}

const note = (line, comment) => (comment && line.length + comment.length + 5 <= WIDTH && !line.includes("\n") ? `${line}  # ${comment}` : line);

/**
 * Writes steps as statements. `write` has reshape, transpose, pad and crop, which turn (variable, step) into an
 * expression. With `chained`, reshape and transpose are methods that follow each other on one line. A call may need
 * statements before its own.
 */
export function statements(steps, write, { chained = false, indent = "", input = "x" } = {}) {
  const lines = [];
  let variable = input;
  let pending = null; // a chain of methods to which the next step may be added
  const flush = () => {
    if (pending) lines.push(note(`${indent}${pending.into} = ${pending.text}`, pending.comment));
    pending = null;
  };
  for (const step of steps) {
    const method = chained && (step.op === "reshape" || step.op === "transpose");
    if (method && pending && pending.into === step.into) {
      pending.text = write[step.op](pending.text, step);
      pending.comment = step.comment;
    } else {
      flush();
      if (step.op === "call") {
        const { before = [], text } = step.call(variable, step.into, indent);
        lines.push(...before.map((line) => indent + line));
        if (text) lines.push(note(`${indent}${step.into} = ${text}`, step.comment));
      } else {
        const text = write[step.op](variable, step);
        if (method) pending = { text, into: step.into, comment: step.comment };
        else lines.push(note(`${indent}${step.into} = ${text}`, step.comment));
      }
    }
    variable = step.into;
  }
  flush();
  return lines;
}

/** Writes the slices [begin:end, ..] of a crop. Axes that stay whole are ":", or left out at the end. */
export function slices({ begins, shape, cropped }) {
  const parts = begins.map((begin, axis) => (cropped[axis] ? `${begin || ""}:${begin + shape[axis]}` : ":"));
  while (parts.at(-1) === ":") parts.pop();
  return `[${parts.join(", ")}]`;
}

/**
 * Writes the input, the lines of `before`, and the steps as statements. For a mean, writes a function around the steps
 * of a fold, the input, and `quotient`: one fold divided by another.
 */
export function body({ mean }, steps, write, input, quotient, { before = [], ...options } = {}) {
  const lines = statements(steps, write, { ...options, indent: mean ? "    " : "" });
  if (!mean) return [input, ...before, ...lines];
  return ["", "def fold(x):", ...lines, "    return result", "", "", input, `result = ${quotient}  # the mean of the patches that meet`];
}

/** Returns the program: all parts but null, one below the other. */
export const program = (...parts) => `${parts.flat().filter((part) => part !== null).join("\n")}\n`;
