// SPDX-License-Identifier: Apache-2.0
// Uses the C and C++ interfaces in a program that is compiled without exceptions and without type information.
#include <patchfold/patchfold.h>

#include <cstdio>
#include <cstring>
#include <patchfold/patchfold.hpp>

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
  // The library throws an exception inside, and must return a status.
  const pf_status status = pf_output_shape("unfold", &attribute, 1, &input, 1, found, &rank);
  std::printf("%s: %s\n", pf_status_name(status), pf_last_error());
  if (status != PF_ERROR_VALUE || std::strcmp(pf_last_error_part(PF_PART_ARGUMENT), "kernel_size") != 0) return 1;

  namespace pf = patchfold;
  float columns[4] = {};
  const pf::Unfold unfold{.kernel_size = {2, 2}};
  const pf::Planning wrong = pf::try_plan(unfold, pf::view(image, {1, 1, 2, 2}), pf::view(columns, {1, 2, 2}));
  std::printf("%s\n", wrong.message.c_str());
  const pf::Planning right = pf::try_plan(unfold, pf::view(image, {1, 1, 2, 2}), pf::view(columns, {1, 4, 1}));
  if (wrong.error != pf::ErrorCode::shape || !right || right.plan.run(image, columns) != pf::Status::ok) return 1;

  const pf::Attempt refused = pf::attempt([&] { pf::run(unfold, pf::view(image, {1, 1, 2, 2}), pf::view(columns, {4})); });
  const pf::Attempt made = pf::attempt([&] { pf::run(unfold, pf::view(image, {1, 1, 2, 2}), pf::view(columns, {1, 4, 1})); });
  std::printf("%s\n", refused.message.c_str());
  return refused.error == pf::ErrorCode::shape && made ? 0 : 1;
}
