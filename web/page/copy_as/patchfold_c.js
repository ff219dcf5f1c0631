// SPDX-License-Identifier: Apache-2.0
import { C_TYPES, NO_HALF, callOf, element, listed, resultShape } from "./arguments.js";
import { product } from "./problem.js";

export function patchfoldC(problem) {
  const type = C_TYPES[problem.dtype];
  if (!type) return { why: NO_HALF };
  const { op, given } = callOf(problem);
  const shape = resultShape(problem);
  const count = product(shape);
  const attributes = given.map(([name, text]) => `pf_text("${name}", "${text}")`);
  const shown = problem.dtype === "int64" ? "(long long)result[i]" : "result[i]";
  return {
    text: `#include <patchfold/patchfold.h>
#include <stdio.h>

int main(void) {
  static ${type.name} x[${problem.count}], result[${count}];
  const int64_t x_shape[] = {${problem.input.join(", ")}}, result_shape[] = {${shape.join(", ")}};
  for (int i = 0; i < ${problem.count}; ++i) x[i] = (${type.name})(${element(problem)});

${listed("  const pf_attribute arguments[] = {", attributes, "};")}
  const pf_tensor input = {x, x_shape, NULL, ${problem.input.length}, PF_DTYPE_${type.code}, 0};
  const pf_tensor output = {result, result_shape, NULL, ${shape.length}, PF_DTYPE_${type.code}, 0};
  if (pf_run("${op}", arguments, ${attributes.length}, &input, 1, &output, NULL) != PF_OK) {
    fprintf(stderr, "%s\\n", pf_last_error());
    return 1;
  }
  for (int i = 0; i < ${count}; ++i) printf("${type.format}\\n", ${shown});
  return 0;
}
`,
  };
}
