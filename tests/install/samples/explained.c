/* SPDX-License-Identifier: Apache-2.0 */
/* Prints an explanation, with a library that has explanations. */
#include <patchfold/patchfold.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  const int64_t shape[] = {1, 5};
  const pf_tensor image = {NULL, shape, NULL, 2, PF_DTYPE_FLOAT32, 0};
  const pf_attribute kernel = pf_text("kernel_size", "3,");
  char* text = NULL;
  if (pf_explain("unfold", &kernel, 1, &image, 1, NULL, &text) != PF_OK || strstr(text, "unfold") == NULL) {
    fprintf(stderr, "%s\n", pf_last_error());
    return 1;
  }
  pf_text_destroy(text);
  return 0;
}
