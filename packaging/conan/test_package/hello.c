/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the shape of unfold's result, through the C interface. */
#include <patchfold/patchfold.h>
#include <stdio.h>

int main(void) {
  float image[16] = {0};
  const int64_t image_shape[] = {1, 4, 4}, two[] = {2, 2};
  const pf_tensor input = {image, image_shape, NULL, 3, PF_DTYPE_FLOAT32, 0};
  const pf_attribute attribute = pf_integers("kernel_size", two, 2);
  int64_t shape[PF_MAX_RANK];
  int32_t rank = PF_MAX_RANK;
  if (pf_output_shape("unfold", &attribute, 1, &input, 1, shape, &rank) != PF_OK) {
    fprintf(stderr, "%s\n", pf_last_error());
    return 1;
  }
  printf("columns [%d, %d]\n", (int)shape[0], (int)shape[1]);
  return rank == 2 && shape[0] == 4 && shape[1] == 9 ? 0 : 1;
}
