// SPDX-License-Identifier: Apache-2.0
// "Copy as": the page's problem as a complete program of each system.
import { jax } from "./jax.js";
import { keras } from "./keras.js";
import { onnx } from "./onnx.js";
import { openvino } from "./openvino.js";
import { patchfoldC } from "./patchfold_c.js";
import { patchfoldCommand } from "./patchfold_command.js";
import { patchfoldCpp } from "./patchfold_cpp.js";
import { patchfoldPython } from "./patchfold_python.js";
import { problemOf } from "./problem.js";
import { tensorflow } from "./tensorflow.js";
import { torch } from "./torch.js";

const SYSTEMS = [
  ["PyTorch", "python", torch],
  ["TensorFlow", "python", tensorflow],
  ["ONNX", "python", onnx],
  ["OpenVINO", "python", openvino],
  ["JAX", "python", jax],
  ["Keras", "python", keras],
  ["patchfold in Python", "python", patchfoldPython],
  ["patchfold in C++", "cpp", patchfoldCpp],
  ["patchfold in C", "c", patchfoldC],
  ["patchfold on the command line", "sh", patchfoldCommand],
];

/**
 * Returns [{name, language, text, why}] for a state, always of all systems in the same order. `text` is a program that makes
 * the page's input (1, 2, 3, ..), stores the page's output in `result` and prints it. If the system or patchfold refuses the
 * problem, text is "" and `why` is a sentence; otherwise why is "". language: python, cpp, c or sh.
 */
export function copyAs(state) {
  const problem = problemOf(state);
  return SYSTEMS.map(([name, language, write]) => {
    const { text = "", why = "" } = problem.why ? { why: problem.why } : write(problem);
    return { name, language, text, why };
  });
}
