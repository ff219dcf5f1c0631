// SPDX-License-Identifier: Apache-2.0
// The panel with the call as a program of each system.
import { copyAs } from "../copy_as/index.js";
import { make, toClipboard } from "../dom.js";

export const title = "Copy as";

export function show(holder, { state, say }) {
  holder.append(make("p", {}, "Each is a whole program, which makes the input that this page shows, and prints the output that it shows."));
  for (const { name, language, text, why } of copyAs(state)) {
    const section = make("section", { class: "snippet", "aria-label": name }, make("h2", {}, name));
    holder.append(section);
    if (why) {
      section.append(make("p", {}, why));
      continue;
    }
    const button = make("button", {
      type: "button",
      id: `copy-${name.replace(/[^A-Za-z]+/g, (run) => (run.includes("+") ? "-cpp" : "-"))}`,
      "data-copy": name,
      onclick: async () => {
        const worked = await toClipboard(text);
        button.textContent = worked ? "Copied" : "Select it by hand";
        say(worked ? `The ${name} code is copied.` : "The browser did not let the code be copied.");
        setTimeout(() => (button.textContent = `Copy ${name}`), 2000);
      },
    }, `Copy ${name}`);
    section.append(button, make("pre", { tabindex: "0", "aria-label": `${name} code`, "data-language": language }, text));
  }
}
