// SPDX-License-Identifier: Apache-2.0
// The panel with the library's explanation, as a picture and as text.
import { make, markup } from "../dom.js";

export const title = "Picture";

export function show(holder, { model, engine }) {
  const text = make("pre", { id: "explained", tabindex: "0", "aria-label": "The explanation as text" }, engine.explain(model.call));
  holder.append(markup(engine.picture(model.call)), make("details", {}, make("summary", {}, "As text"), text));
}
