// SPDX-License-Identifier: Apache-2.0
import { callOf, snake, valueOf } from "./arguments.js";
import { call, counted, program, tuple } from "./python.js";

function literal(text) {
  const { kind, value } = valueOf(text);
  if (kind === "word") return `"${value}"`;
  if (kind === "list") return tuple(value);
  return kind === "pairs" ? `[${value.map(tuple).join(", ")}]` : value;
}

export function patchfoldPython(problem) {
  const { op, given } = callOf(problem);
  const [dialect, name] = op.includes(".") ? op.split(".") : ["", op];
  const values = given.map(([argument, text]) => `${argument}=${literal(text)}`);
  const module = dialect ? `patchfold.${dialect}` : "patchfold";
  // patchfold.torch takes tensors of torch.
  const [library, imported] = dialect === "torch" ? ["torch", "import torch"] : ["np", "import numpy as np"];
  const imports = dialect === "torch" ? [`import ${module}`, imported] : [imported, `import ${module}`];
  return {
    text: program(imports, "", `x = ${counted(problem, library)}`, `result = ${call(`${module}.${snake(name)}`, ["x", ...values])}`, "print(result)"),
  };
}
