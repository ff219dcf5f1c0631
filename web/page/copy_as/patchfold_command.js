// SPDX-License-Identifier: Apache-2.0
import { callOf } from "./arguments.js";
import { counted } from "./python.js";

export function patchfoldCommand(problem) {
  const { op, given } = callOf(problem);
  const options = given.map(([name, text]) => ` --${name} ${text}`).join("");
  return {
    text: `python3 -c 'import numpy as np; np.save("x.npy", ${counted(problem, "np")})'
patchfold run ${op} x.npy${options} -o result.npy
python3 -c 'import numpy as np; print(np.load("result.npy"))'
`,
  };
}
