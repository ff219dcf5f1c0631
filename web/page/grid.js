// SPDX-License-Identifier: Apache-2.0
// Tables of a tensor in the document: cells that react to pointer and keyboard and can be marked.
import { make } from "./dom.js";
import { shown } from "./half.js";

/** The drawing of a tensor's tables. text(cell) gives the text of a cell, shade(cell) its heat from 0 to 1, or null
 * for none. */
export class Grid {
  #cells = new Map(); // each cell by the number of its element; a cell of padding by "p", its plane and its coordinates
  #focused = null;

  /** side: "image" or "columns". The grid calls pick(side, index, how); `how` is "hover", "focus" or "click". */
  constructor(side, { tables, notes }, { values, dtype, heat, pick, leave, label }) {
    this.side = side;
    this.element = make("div", { class: `tensor ${side}` });
    this.element.append(make("h2", {}, label), make("p", { class: "note" }, notes.length ? `Shown: ${notes.join("; ")}.` : ""));
    const holder = make("div", { class: "tables" });
    for (const table of tables) holder.append(this.#draw(table, values, dtype, heat));
    this.element.append(holder);
    for (const [type, how] of Object.entries({ pointerover: "hover", click: "click", focusin: "focus" }))
      holder.addEventListener(type, (event) => {
        const cell = event.target.closest?.("td[data-index]");
        if (!cell || (how === "hover" && event.pointerType === "touch")) return;
        if (how === "focus") this.#rove(cell);
        pick(side, Number(cell.dataset.index), how);
      });
    holder.addEventListener("pointerleave", leave);
    holder.addEventListener("keydown", (event) => this.#move(event, pick));
    const first = holder.querySelector("td[data-index]");
    if (first) this.#rove(first);
  }

  #draw(table, values, dtype, heat) {
    const head = make("tr", { role: "row" }, make("td", { role: "presentation" }), ...table.columns.map((c) => make("th", { role: "columnheader", scope: "col" }, String(c))));
    const body = table.cells.map((row, r) =>
      make("tr", { role: "row" }, make("th", { role: "rowheader", scope: "row" }, String(table.rows[r])), ...row.map((cell) => this.#cell(cell, table.place, values, dtype, heat))),
    );
    return make(
      "div",
      { class: "scroll" },
      make("table", { role: "grid", "aria-readonly": "true", "aria-label": table.caption }, make("caption", {}, table.caption.replace(/^\w+: /, "")), make("thead", { role: "rowgroup" }, head), make("tbody", { role: "rowgroup" }, ...body)),
    );
  }

  #cell({ index, pad, at }, place, values, dtype, heat) {
    if (pad) {
      const cell = make("td", { role: "gridcell", class: "pad", "aria-label": "padding" }, "·");
      this.#cells.set(`p${place}:${at}`, cell);
      return cell;
    }
    const cell = make("td", { role: "gridcell", tabindex: "-1", "data-index": index }, heat ? heat.text(index) : shown(values[index], dtype));
    if (heat) {
      const level = heat.level(index);
      cell.style.setProperty("--heat", level.toFixed(3));
      cell.classList.add("heat");
      if (level > 0.55) cell.classList.add("hot");
    }
    this.#cells.set(index, cell);
    return cell;
  }

  /** Makes a cell the only one that the Tab key reaches; the arrow keys reach the others. */
  #rove(cell) {
    this.#focused?.setAttribute("tabindex", "-1");
    cell.setAttribute("tabindex", "0");
    this.#focused = cell;
  }

  #move(event, pick) {
    const cell = event.target.closest("td[data-index]");
    if (!cell) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      pick(this.side, Number(cell.dataset.index), "click");
      return;
    }
    const directions = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -Infinity], End: [0, Infinity] };
    const direction = directions[event.key];
    if (!direction) return;
    event.preventDefault();
    const rows = [...this.element.querySelectorAll("tbody tr")];
    const at = rows.indexOf(cell.parentElement);
    const cells = (row) => [...row.children].slice(1);
    const column = cells(cell.parentElement).indexOf(cell);
    let next = null;
    if (Math.abs(direction[1]) === Infinity) {
      const own = cells(cell.parentElement).filter((each) => each.dataset.index !== undefined);
      next = direction[1] < 0 ? own[0] : own.at(-1);
    } else {
      for (let r = at + direction[0], c = column + direction[1]; r >= 0 && r < rows.length && c >= 0; r += direction[0], c += direction[1]) {
        const candidate = cells(rows[r])[Math.min(c, cells(rows[r]).length - 1)];
        if (direction[0] === 0 && c >= cells(rows[r]).length) break;
        if (candidate?.dataset.index !== undefined) {
          next = candidate;
          break;
        }
      }
    }
    next?.focus();
  }

  /** Gives the class `name` to the cells of these elements, and takes it from all other cells. */
  mark(name, indices) {
    this.element.querySelectorAll(`.${name}`).forEach((cell) => cell.classList.remove(name));
    for (const index of indices) this.#cells.get(index)?.classList.add(name);
  }

  /** Gives the keyboard's focus to the cell of an element, if it is drawn. */
  focus(index) {
    this.#cells.get(index)?.focus({ preventScroll: true });
  }
}
