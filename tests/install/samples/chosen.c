/* SPDX-License-Identifier: Apache-2.0 */
/* Runs unfold and fold with a library that was built with these two operators only, and for float32 only. Checks the errors
 * of operators that are left out. */
#include <patchfold/patchfold.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void expect(int holds, const char* what) {
  if (!holds) fprintf(stderr, "not so: %s (%s)\n", what, pf_last_error());
  failures += !holds;
}

static pf_status run(const char* op, const pf_attribute* attributes, int32_t count, pf_dtype dtype, void* from,
                     const int64_t* from_shape, void* to, const int64_t* to_shape) {
  const pf_tensor input = {from, from_shape, NULL, 3, dtype, 0}, output = {to, to_shape, NULL, 3, dtype, 0};
  return pf_run(op, attributes, count, &input, 1, &output, NULL);
}

int main(void) {
  static float image[2 * 6 * 6], again[2 * 6 * 6], columns[18 * 36];
  const int64_t shape[] = {2, 6, 6}, column_shape[] = {1, 18, 36}, batch_shape[] = {1, 2, 6, 6};
  const int64_t three[] = {3, 3}, one[] = {1, 1}, size[] = {6, 6};
  for (int i = 0; i < 72; ++i) image[i] = (float)(i % 7);
  const pf_attribute attributes[] = {pf_integers("kernel_size", three, 2), pf_integers("padding", one, 2),
                                     pf_integers("output_size", size, 2)};
  const pf_tensor images = {image, batch_shape, NULL, 4, PF_DTYPE_FLOAT32, 0};
  const pf_tensor sums = {again, batch_shape, NULL, 4, PF_DTYPE_FLOAT32, 0};
  const pf_tensor matrix = {columns, column_shape, NULL, 3, PF_DTYPE_FLOAT32, 0};

  expect(pf_run("unfold", attributes, 2, &images, 1, &matrix, NULL) == PF_OK, "unfold runs");
  expect(pf_run("fold", attributes, 3, &matrix, 1, &sums, NULL) == PF_OK, "fold runs");
  for (int i = 0; i < 72; ++i) { /* a pixel lies in as many patches as the image has pixels in the 3 x 3 around it */
    const int y = i / 6 % 6, x = i % 6;
    const int rows = 3 - (y == 0) - (y == 5), all = rows * (3 - (x == 0) - (x == 5));
    expect(again[i] == image[i] * (float)all, "fold adds what unfold copied");
  }

  static double wide[2 * 6 * 6];
  const int64_t block[] = {2, 2}, deep[] = {8, 3, 3};
  const pf_attribute blocks = pf_integers("block", block, 2);
  expect(run("space_to_depth", &blocks, 1, PF_DTYPE_FLOAT32, image, shape, again, deep) == PF_ERROR_UNKNOWN_OPERATOR,
         "another operator is refused");
  expect(strstr(pf_last_error(), "left out of this build") && strstr(pf_last_error(), "unfold"), "and the error says why");
  expect(
      run("torch.fold", attributes, 3, PF_DTYPE_FLOAT32, columns, column_shape, again, shape) == PF_ERROR_UNKNOWN_OPERATOR,
      "another dialect is refused");
  expect(run("onnx.DepthToSpace-13", &blocks, 1, PF_DTYPE_FLOAT32, image, shape, again, deep) == PF_ERROR_UNKNOWN_OPERATOR &&
             strstr(pf_last_error(), "left out of this build"),
         "so is an older version of an operator");
  const pf_tensor wides = {wide, batch_shape, NULL, 4, PF_DTYPE_FLOAT64, 0};
  static double wide_columns[18 * 36];
  const pf_tensor wide_matrix = {wide_columns, column_shape, NULL, 3, PF_DTYPE_FLOAT64, 0};
  expect(pf_run("unfold", attributes, 2, &wides, 1, &wide_matrix, NULL) == PF_ERROR_DTYPE, "another type is refused");
  expect(strstr(pf_last_error(), "left out of this build") && strstr(pf_last_error(), "float32"), "and the error says why");
  expect(pf_run("fold", attributes, 3, &wide_matrix, 1, &wides, NULL) == PF_ERROR_DTYPE, "in sums, too");
  char* text = NULL;
  expect(pf_explain("unfold", attributes, 2, &images, 1, NULL, &text) == PF_ERROR_UNKNOWN_OPERATOR && text == NULL &&
             strstr(pf_last_error(), "PATCHFOLD_WITH_EXPLAIN"),
         "an explanation is refused, with the option that it needs");
  expect(pf_operator_count() == 2, "the table lists what is there");
  printf("%d operators, %d instruction sets, best %s\n", (int)pf_operator_count(), (int)pf_instruction_set_count(),
         pf_instruction_set_name(0));
  return failures == 0 ? 0 : 1;
}
