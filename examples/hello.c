/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts an image into overlapping 3 x 3 patches through the C interface. */
#include <patchfold/patchfold.h>
#include <stdio.h>

int main(void) {
  float image[2 * 4 * 5]; /* two channels, 4 x 5 pixels */
  for (int i = 0; i < 2 * 4 * 5; ++i) image[i] = (float)i;
  const int64_t image_shape[] = {2, 4, 5}, three[] = {3, 3}, one[] = {1, 1};
  const pf_tensor input = {image, image_shape, NULL, 3, PF_DTYPE_FLOAT32, 0};
  const pf_attribute attributes[] = {pf_integers("kernel_size", three, 2), pf_integers("padding", one, 2)};

  int64_t shape[PF_MAX_RANK];
  int32_t rank = PF_MAX_RANK;
  static float columns[18 * 20];
  if (pf_output_shape("unfold", attributes, 2, &input, 1, shape, &rank) == PF_OK) {
    const pf_tensor output = {columns, shape, NULL, rank, PF_DTYPE_FLOAT32, 0};
    if (pf_run("unfold", attributes, 2, &input, 1, &output, NULL) == PF_OK) {
      /* Row 4 holds the middle of every patch of the first channel, so it equals that channel. */
      printf("columns [%d, %d], row 4 ends with %g\n", (int)shape[0], (int)shape[1], (double)columns[4 * 20 + 19]);
      return columns[4 * 20 + 19] == image[19] ? 0 : 1;
    }
  }
  fprintf(stderr, "%s\n", pf_last_error());
  return 1;
}
