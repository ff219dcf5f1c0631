// SPDX-License-Identifier: Apache-2.0
// The panels, in the order of their tabs. Each has show(holder, {state, model, engine, change, say, numbers}). A panel
// with `free` works even if the engine refuses the form's call; one with `alone` does not depend on the form.
import * as copy from "./copy.js";
import * as cost from "./cost.js";
import * as orders from "./orders.js";
import * as patches from "./patches.js";
import * as picture from "./picture.js";
import * as seams from "./seams.js";
import * as which from "./which.js";

export const panels = Object.entries({ patches, orders, which, seams, cost, picture, copy }).map(([name, { title, show, free = false, alone = false }]) => ({ name, title, show, free, alone }));
