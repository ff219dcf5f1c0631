// SPDX-License-Identifier: Apache-2.0
#include "fake_cuda.hpp"

#include <cstdint>
#include <cstring>
#include <deque>

namespace patchfold::testing {

FakeCuda& fake_cuda() {
  static FakeCuda cuda;
  return cuda;
}

namespace {

constexpr int invalid_value = 1, no_memory = 2, invalid_image = 200, invalid_context = 201, invalid_handle = 400,
              not_found = 500;
constexpr int relaxed_capture = 2;

FakeCuda& cuda() {
  return fake_cuda();
}

}  // namespace
}  // namespace patchfold::testing

using namespace patchfold::testing;

// Objects live as long as the process, as the contexts and modules of a driver that nobody destroys.
extern "C" {

int cuInit(unsigned flags) {
  return flags == 0 ? 0 : invalid_value;
}
int cuDriverGetVersion(int* version) {
  *version = cuda().version;
  return 0;
}
int cuCtxGetId(FakeContext* context, unsigned long long* id) {
  *id = context->id;
  return 0;
}
int cuCtxGetCurrent(FakeContext** context) {
  *context = cuda().current.empty() ? nullptr : cuda().current.back();
  return 0;
}
int cuCtxGetDevice(int* device) {
  if (cuda().current.empty()) return invalid_context;
  *device = cuda().current.back()->device;
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  if (attribute != 75 && attribute != 76) return invalid_value;  // the compute capability is 9.0
  *value = attribute == 75 ? 9 : 0;
  return 0;
}
int cuCtxPushCurrent_v2(FakeContext* context) {
  if (context == nullptr) return invalid_context;
  cuda().current.push_back(context);
  return 0;
}
int cuCtxPopCurrent_v2(FakeContext** context) {
  if (cuda().current.empty()) return invalid_context;
  *context = cuda().current.back();
  cuda().current.pop_back();
  return 0;
}
int cuDevicePrimaryCtxRetain(FakeContext** context, int device) {
  *context = &cuda().primary[device];
  (*context)->device = device;
  return 0;
}
int cuStreamGetCtx(FakeStream* stream, FakeContext** context) {
  *context = stream->context;
  return 0;
}
int cuThreadExchangeStreamCaptureMode(int* mode) {
  std::swap(*mode, cuda().capture_mode);
  return 0;
}
int cuPointerGetAttribute(void* value, int attribute, std::uint64_t pointer) {
  constexpr int context = 1, on_device = 3, ordinal = 9;
  for (const FakeMemory& each : cuda().memory) {
    const auto begin = reinterpret_cast<std::uintptr_t>(each.begin);
    if (pointer < begin || pointer >= begin + each.bytes) continue;
    if (attribute == ordinal) std::memcpy(value, &each.device, sizeof each.device);
    if (attribute == context) std::memcpy(value, &each.context, sizeof each.context);
    if (attribute != on_device) return attribute == ordinal || attribute == context ? 0 : invalid_value;
    if (cuda().current.empty()) return invalid_context;
    if (each.context != nullptr && each.context != cuda().current.back()) return invalid_value;
    std::memcpy(value, &pointer, sizeof pointer);
    return 0;
  }
  return invalid_value;
}
int cuModuleLoadData(FakeModule** module, const void* image) {
  constexpr std::string_view made_by_nvrtc = "kernel ";
  if (cuda().current.empty()) return invalid_context;
  if (cuda().capture_mode != relaxed_capture) return no_memory;  // a capture of a stream would break off
  if (!cuda().takes_images) return invalid_image;
  const char* const text = static_cast<const char*>(image);
  const bool one = std::strncmp(text, made_by_nvrtc.data(), made_by_nvrtc.size()) == 0;
  static std::deque<FakeModule> modules;
  *module = &modules.emplace_back(FakeModule{cuda().current.back(), one ? text + made_by_nvrtc.size() : ""});
  cuda().loaded.push_back((*module)->kernel);
  return 0;
}
int cuModuleGetFunction(FakeFunction** function, const FakeModule* module, const char* name) {
  if (module == nullptr || cuda().current.empty() || module->context != cuda().current.back()) return invalid_handle;
  if (cuda().capture_mode != relaxed_capture) return no_memory;  // drivers load a function when it is first asked for
  if (!module->kernel.empty() && module->kernel != name) return not_found;
  static std::deque<FakeFunction> functions;
  *function = &functions.emplace_back(FakeFunction{module->context, name});
  return 0;
}
int cuLaunchKernel(const FakeFunction* function, unsigned x, unsigned y, unsigned z, unsigned threads_x, unsigned threads_y,
                   unsigned threads_z, unsigned shared, FakeStream* stream, void** params, void** extra) {
  if (x == 0 || y != 1 || z != 1 || threads_x == 0 || threads_x > 256 || threads_y != 1 || threads_z != 1)
    return invalid_value;
  if (shared != 0 || extra != nullptr || cuda().current.empty()) return invalid_value;
  FakeContext* const context = cuda().current.back();
  const bool is_default = reinterpret_cast<std::uintptr_t>(stream) <= 2;
  if (function->context != context || (!is_default && stream->context != context)) return invalid_handle;
  return cuda().launch(function->kernel, x, threads_x, params);
}
int cuGetErrorName(int status, const char** name) {
  static const std::map<int, const char*> names{
      {invalid_value, "CUDA_ERROR_INVALID_VALUE"},   {no_memory, "CUDA_ERROR_OUT_OF_MEMORY"},
      {invalid_image, "CUDA_ERROR_INVALID_IMAGE"},   {invalid_context, "CUDA_ERROR_INVALID_CONTEXT"},
      {invalid_handle, "CUDA_ERROR_INVALID_HANDLE"}, {not_found, "CUDA_ERROR_NOT_FOUND"}};
  const auto found = names.find(status);
  *name = found != names.end() ? found->second : nullptr;
  return found != names.end() ? 0 : invalid_value;
}

}  // extern "C"
