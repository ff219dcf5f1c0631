// SPDX-License-Identifier: Apache-2.0
// Makes and changes elements of the document.

/** Returns an element: make("button", {type: "button", class: "x", onclick: f}, "text", child, ..). Functions become
 * listeners. */
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

/** Controls and the elements that hold them, which renew() keeps. */
const KEPT = "form, section, .fields, .field, .bar, input, select, textarea, button";
const LISTENERS = ["onclick", "onchange", "oninput", "onsubmit"];

/** Returns the key by which renew() knows an element again: its id, or the id of the first element inside. */
const keyOf = (element) => element.id || element.querySelector?.("[id]")?.id;
const stays = (element, fresh) => element.tagName === fresh.tagName && element.matches(KEPT) && keyOf(fresh) && keyOf(element) === keyOf(fresh);

function update(element, fresh) {
  for (const { name } of [...element.attributes]) if (!fresh.hasAttribute(name)) element.removeAttribute(name);
  for (const { name, value } of [...fresh.attributes]) if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  for (const name of LISTENERS) element[name] = fresh[name];
  if (element.matches("textarea, input:not([type=file])")) {
    if (element.value !== fresh.value) element.value = fresh.value;
  } else if (element.tagName === "SELECT") {
    const { value } = fresh;
    if (element.innerHTML !== fresh.innerHTML) element.replaceChildren(...fresh.childNodes);
    element.value = value;
  } else if (element.tagName !== "INPUT") {
    renew(element, [...fresh.childNodes]);
  }
}

/** Replaces an element's children. A control stays the same element, and gets the values and listeners of the new
 * one. Leaving a field draws the page again, and the control that gets the focus or the click must still be there. */
export function renew(parent, children) {
  let next = parent.firstChild;
  for (const child of children) {
    let kept = null;
    if (child instanceof Element) for (kept = next; kept && !(kept instanceof Element && stays(kept, child)); ) kept = kept.nextSibling;
    if (!kept) {
      parent.insertBefore(child instanceof Node ? child : document.createTextNode(child), next);
      continue;
    }
    while (next !== kept) {
      const gone = next;
      next = next.nextSibling;
      gone.remove();
    }
    update(kept, child);
    next = kept.nextSibling;
  }
  while (next) {
    const gone = next;
    next = next.nextSibling;
    gone.remove();
  }
}

/** Returns a select element with these words; `labels` gives other labels to some of them. */
export function choice(id, words, value, onchange, labels = {}) {
  const select = make("select", { id, onchange: (event) => onchange(event.target.value) });
  select.append(...words.map((word) => make("option", { value: word, selected: word === value }, labels[word] ?? word)));
  return select;
}

/** Returns an element with markup from the engine, such as SVG. */
export function markup(text) {
  const holder = make("div", { class: "picture" });
  holder.innerHTML = text;
  return holder;
}

let counter = 0;
/** Returns a label together with its control, which gets an id if it has none. */
export function field(text, control, hint) {
  if (!control.id) control.id = `field-${++counter}`;
  const hintId = hint ? `${control.id}-hint` : null;
  if (hintId) control.setAttribute("aria-describedby", hintId);
  return make("div", { class: "field" }, make("label", { for: control.id }, text), control, hint ? make("small", { id: hintId }, hint) : null);
}

/** Copies text to the clipboard. Returns whether that worked. A page opened from the disk may need the browser's older
 * interface for copying. */
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
