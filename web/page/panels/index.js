// SPDX-License-Identifier: Apache-2.0
// The panels in their order. Each has show(holder, {state, model, engine, change, say, numbers}); `free` ones do not need the call of
// the form to be right, `alone` ones have nothing to do with the form.
import * as copy from "./copy.js";
import * as cost from "./cost.js";
import * as orders from "./orders.js";
import * as patches from "./patches.js";
import * as picture from "./picture.js";
import * as seams from "./seams.js";
import * as which from "./which.js";

export const panels = Object.entries({ patches, orders, which, seams, cost, picture, copy }).map(([name, { title, show, free = false, alone = false }]) => ({ name, title, show, free, alone }));
