/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that fold of unfold gives each pixel, multiplied by the number of patches that cover the pixel. */
#include <stdio.h>

#include "patchfold/patchfold.h"

enum { channels = 2, height = 5, width = 6, pixels = height * width, taps = 9 };

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, pf_last_error());
  return 1;
}

int main(void) {
  const int64_t kernel[] = {3, 3}, pads[] = {1, 1, 1, 1}, output_size[] = {height, width};
  const pf_attribute attributes[] = {pf_integers("kernel_size", kernel, 2), pf_pairs("padding", pads, 2),
                                     pf_integers("output_size", output_size, 2)};
  const int64_t image_shape[] = {1, channels, height, width};
  float image[channels * pixels], again[channels * pixels], columns[channels * taps * pixels], coverage[pixels];
  const pf_tensor image_tensor = {image, image_shape, NULL, 4, PF_DTYPE_FLOAT32, sizeof(float)};
  const pf_tensor again_tensor = {again, image_shape, NULL, 4, PF_DTYPE_FLOAT32, sizeof(float)};
  const pf_tensor coverage_tensor = {coverage, output_size, NULL, 2, PF_DTYPE_FLOAT32, sizeof(float)};
  int64_t shape[PF_MAX_RANK];
  int32_t rank = PF_MAX_RANK;
  pf_tensor column_tensor = {columns, shape, NULL, 0, PF_DTYPE_FLOAT32, sizeof(float)};
  pf_plan* plan = NULL;

  for (int i = 0; i < channels * pixels; ++i) image[i] = (float)(i + 1);

  if (pf_output_shape("unfold", attributes, 2, &image_tensor, 1, shape, &rank) != PF_OK) return fail("output_shape");
  if (rank != 3 || shape[0] != 1 || shape[1] != channels * taps || shape[2] != pixels) return fail("shape");
  column_tensor.rank = rank;
  if (pf_run("unfold", attributes, 2, &image_tensor, 1, &column_tensor, NULL) != PF_OK) return fail("unfold");

  if (pf_plan_create("fold", attributes, 3, &column_tensor, 1, &again_tensor, &plan) != PF_OK) return fail("plan");
  if (pf_plan_run(plan, columns, again, NULL, 0, pf_serial_executor()) != PF_OK) return fail("fold");
  pf_plan_destroy(plan);

  if (pf_run("coverage", attributes, 3, NULL, 0, &coverage_tensor, NULL) != PF_OK) return fail("coverage");
  for (int i = 0; i < channels * pixels; ++i) {
    if (again[i] != image[i] * coverage[i % pixels]) return fail("fold(unfold(image)) is not image * coverage");
  }
  if (coverage[0] != 4 || coverage[width + 1] != 9) return fail("coverage counts wrong");
  return 0;
}
