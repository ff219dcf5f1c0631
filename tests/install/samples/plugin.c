/* SPDX-License-Identifier: Apache-2.0 */
/* A library with default visibility, into which patchfold's static library is linked. */
#include <patchfold/patchfold.h>
#include <stdio.h>

/* Returns the number of patches that cover the middle pixel, as the fold of ones, or -1 after an error. */
double plugin_meeting(void) {
  const int64_t shape[] = {1, 4, 12}, size[] = {5, 4}, two[] = {2, 2};
  float columns[4 * 12], image[5 * 4];
  for (int i = 0; i < 4 * 12; ++i) columns[i] = 1;
  const int64_t image_shape[] = {1, 1, 5, 4};
  const pf_tensor input = {columns, shape, NULL, 3, PF_DTYPE_FLOAT32, 0};
  const pf_tensor output = {image, image_shape, NULL, 4, PF_DTYPE_FLOAT32, 0};
  const pf_attribute attributes[] = {pf_integers("output_size", size, 2), pf_integers("kernel_size", two, 2)};
  if (pf_run("fold", attributes, 2, &input, 1, &output, NULL) != PF_OK) {
    fprintf(stderr, "%s\n", pf_last_error());
    return -1;
  }
  return image[2 * 4 + 1];
}
