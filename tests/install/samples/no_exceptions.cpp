// SPDX-License-Identifier: Apache-2.0
// The C interface in a C++ program without exceptions and without type information.
#include <patchfold/patchfold.h>

#include <cstdio>
#include <cstring>

#if defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "this program is compiled with -fno-exceptions -fno-rtti"
#endif

int main() {
  const int64_t shape[] = {1, 2, 2}, zero[] = {0};
  float image[4] = {};
  const pf_tensor input = {image, shape, nullptr, 3, PF_DTYPE_FLOAT32, 0};
  const pf_attribute attribute = pf_integers("kernel_size", zero, 1);
  int64_t found[PF_MAX_RANK];
  int32_t rank = PF_MAX_RANK;
  // The library throws inside and must return.
  const pf_status status = pf_output_shape("unfold", &attribute, 1, &input, 1, found, &rank);
  std::printf("%s: %s\n", pf_status_name(status), pf_last_error());
  return status == PF_ERROR_VALUE && std::strcmp(pf_last_error_part(PF_PART_ARGUMENT), "kernel_size") == 0 ? 0 : 1;
}
