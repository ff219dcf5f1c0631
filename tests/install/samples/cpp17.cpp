// SPDX-License-Identifier: Apache-2.0
// Uses the C interface in a project in C++17.
#include <patchfold/patchfold.h>

#include <cstdio>

static_assert(__cplusplus == 201703L, "the library has changed the standard of the project");

int main() {
  std::printf("patchfold %s\n", pf_version_string());
  return pf_version() == PF_VERSION ? 0 : 1;
}
