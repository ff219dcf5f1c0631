// SPDX-License-Identifier: Apache-2.0
// NVRTC of the major version FAKE_NVRTC. Machine code for the stand-in for the driver is "kernel " and the kernel's name.
#include <cstring>

#include "fake_cuda.hpp"

using patchfold::testing::fake_cuda;

namespace {
constexpr int compilation_failed = 6;
constexpr char log_text[] = "error: no such register";
}  // namespace

extern "C" {

int nvrtcCreateProgram(std::string** program, const char* text, const char* name, int, const char* const*,
                       const char* const*) {
  const bool has_kernel = std::strstr(text, "KERNEL(") != nullptr;
  *program = new std::string(has_kernel ? std::string("kernel ") + name : "");
  return 0;
}
int nvrtcCompileProgram(const std::string* program, int count, const char* const* options) {
  fake_cuda().compiler = FAKE_NVRTC;
  fake_cuda().options.assign(options, options + count);
  return fake_cuda().compiles && !program->empty() ? 0 : compilation_failed;
}
int nvrtcGetCUBINSize(const std::string* program, std::size_t* size) {
  *size = program->size() + 1;
  return 0;
}
int nvrtcGetCUBIN(const std::string* program, char* code) {
  std::memcpy(code, program->c_str(), program->size() + 1);
  return 0;
}
int nvrtcGetProgramLogSize(const std::string*, std::size_t* size) {
  *size = sizeof log_text;
  return 0;
}
int nvrtcGetProgramLog(const std::string*, char* text) {
  std::memcpy(text, log_text, sizeof log_text);
  return 0;
}
int nvrtcDestroyProgram(std::string** program) {
  delete *program;
  *program = nullptr;
  return 0;
}

}  // extern "C"
