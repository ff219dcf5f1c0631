// SPDX-License-Identifier: Apache-2.0
// Elements of the document in one call.

/** make("button", {type: "button", class: "x", onclick: f}, "text", child, ..): attributes, and listeners as functions. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element[name] = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** A select with these words; `labels` may name some otherwise. */
export function choice(id, words, value, onchange, labels = {}) {
  const select = make("select", { id, onchange: (event) => onchange(event.target.value) });
  select.append(...words.map((word) => make("option", { value: word, selected: word === value }, labels[word] ?? word)));
  return select;
}

/** An SVG or other markup that the engine made. */
export function markup(text) {
  const holder = make("div", { class: "picture" });
  holder.innerHTML = text;
  return holder;
}

let counter = 0;
/** A label with its control; the control gets an id. */
export function field(text, control, hint) {
  if (!control.id) control.id = `field-${++counter}`;
  const hintId = hint ? `${control.id}-hint` : null;
  if (hintId) control.setAttribute("aria-describedby", hintId);
  return make("div", { class: "field" }, make("label", { for: control.id }, text), control, hint ? make("small", { id: hintId }, hint) : null);
}

/** Puts text on the clipboard; says whether that worked. A page from the disk may have to use the old way. */
export async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = make("textarea", { class: "hidden", readonly: true });
    area.value = text;
    document.body.append(area);
    area.select();
    const worked = document.execCommand("copy");
    area.remove();
    return worked;
  }
}
