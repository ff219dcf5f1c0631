// SPDX-License-Identifier: Apache-2.0
// CUDA, through the driver's library libcuda that comes with the driver of a GPU. The declarations are those of CUDA's
// driver interface, as far as they are used. Kernels come from this library, if nvcc compiled them when it was built;
// otherwise from NVRTC, if the process has it or the system finds it; at last from PTX of this library.
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "device/driver.hpp"
#include "device/embedded.hpp"
#include "tensor/lasting.hpp"

namespace patchfold::device {
namespace {

using Status = int;
using Handle = void*;  // CUcontext, CUmodule, CUfunction, CUstream
using Address = std::uint64_t;

constexpr int capability_major = 75, capability_minor = 76;
constexpr int pointer_context = 1, pointer_on_device = 3, pointer_ordinal = 9;
constexpr int relaxed_capture = 2;

/// The functions of the driver.
struct Functions {
  Finder find;
  Status (*init)(unsigned flags) = find("cuInit");
  Status (*version)(int* version) = find("cuDriverGetVersion");
  Status (*current)(Handle* context) = find("cuCtxGetCurrent");
  Status (*device)(int* device) = find("cuCtxGetDevice");
  Status (*attribute)(int* value, int attribute, int device) = find("cuDeviceGetAttribute");
  Status (*push)(Handle context) = find("cuCtxPushCurrent_v2");
  Status (*pop)(Handle* context) = find("cuCtxPopCurrent_v2");
  Status (*retain_primary)(Handle* context, int device) = find("cuDevicePrimaryCtxRetain");
  Status (*stream_context)(Handle stream, Handle* context) = find("cuStreamGetCtx");
  Status (*capture_mode)(int* mode) = find("cuThreadExchangeStreamCaptureMode");
  Status (*pointer_attribute)(void* value, int attribute, Address pointer) = find("cuPointerGetAttribute");
  Status (*load)(Handle* module, const void* image) = find("cuModuleLoadData");
  Status (*function)(Handle* function, Handle module, const char* name) = find("cuModuleGetFunction");
  Status (*launch)(Handle function, unsigned x, unsigned y, unsigned z, unsigned threads_x, unsigned threads_y,
                   unsigned threads_z, unsigned shared, Handle stream, void** params, void** extra) = find("cuLaunchKernel");
  Status (*error_name)(Status status, const char** name) = find("cuGetErrorName");
  Status (*context_id)(Handle context, unsigned long long* id) = Finder(find)("cuCtxGetId");  // null before CUDA 12
};

std::string described(const Functions& cuda, const char* function, Status status) {
  const char* name = nullptr;
  cuda.error_name(status, &name);
  return std::string(function) + ": " + (name != nullptr ? name : "error " + std::to_string(status));
}

const Functions& functions() {
  return lasting([] {
    void* const library =
        load_driver("cuda", "the driver of CUDA must be installed", {"libcuda.so.1", "libcuda.so", "nvcuda.dll"});
    const Functions f{Finder(library)};
    if (!f.find.found_all()) refuse("cuda", "the driver must have the functions of CUDA 11 or newer", "");
    if (const Status status = f.init(0); status != 0)
      refuse("cuda", "the driver must find a GPU", described(f, "cuInit", status));
    return f;
  });
}

std::string described(const char* function, Status status) {
  return described(functions(), function, status);
}
void check(Status status, const char* function) {
  if (status != 0) refuse("cuda", "the driver must accept every call", described(function, status));
}

/// Makes a context the current one until the end of the scope.
class Current {
 public:
  explicit Current(Handle context) { check(functions().push(context), "cuCtxPushCurrent"); }
  ~Current() {
    Handle popped = nullptr;
    functions().pop(&popped);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
};

/// Lets this thread load modules and their functions while a stream is captured, until the end of the scope.
class Relaxed {
 public:
  Relaxed() { functions().capture_mode(&mode_); }
  ~Relaxed() { functions().capture_mode(&mode_); }
  Relaxed(const Relaxed&) = delete;
  Relaxed& operator=(const Relaxed&) = delete;

 private:
  int mode_ = relaxed_capture;
};

/// NVRTC, the compiler in a library.
struct Compiler {
  Finder find;
  Status (*create)(Handle* program, const char* text, const char* name, int headers, const char* const* texts,
                   const char* const* names) = find("nvrtcCreateProgram");
  Status (*compile)(Handle program, int count, const char* const* options) = find("nvrtcCompileProgram");
  Status (*code_size)(Handle program, std::size_t* size) = find("nvrtcGetCUBINSize");
  Status (*code)(Handle program, char* code) = find("nvrtcGetCUBIN");
  Status (*log_size)(Handle program, std::size_t* size) = find("nvrtcGetProgramLogSize");
  Status (*log)(Handle program, char* text) = find("nvrtcGetProgramLog");
  Status (*destroy)(Handle* program) = find("nvrtcDestroyProgram");
};

/// Returns NVRTC, or the reason why there is none. A driver may refuse machine code of a later major version of CUDA than its
/// own, so a compiler of the driver's version is the first choice.
std::optional<Compiler> compiler(std::string& why) {
  int version = 0;
  check(functions().version(&version), "cuDriverGetVersion");
  void* library = nullptr;
  const auto find = [&](const std::string& name) {
    if (library == nullptr) library = system::load_library(name.c_str(), why);
  };
  for (int major = version / 1000; major > 11; --major) {
    find("libnvrtc.so." + std::to_string(major));
    find("nvrtc64_" + std::to_string(major) + "0_0.dll");
  }
  find("libnvrtc.so.11.2");
  find("libnvrtc.so");
  if (library == nullptr) return std::nullopt;
  const Compiler found{Finder(library)};
  if (found.find.found_all()) return found;
  why = "the library must have the functions of CUDA 11.1 or newer";
  return std::nullopt;
}

/// Compiles a kernel for an architecture such as 90; returns an empty vector and the reason if that is impossible.
std::vector<char> compiled(const Variant& variant, int architecture, std::string& why) {
  const auto nvrtc = compiler(why);
  if (!nvrtc) return {};
  const std::string text = source_of(variant), option = "--gpu-architecture=sm_" + std::to_string(architecture);
  const char* const options[] = {option.c_str(), "--std=c++17", "--fmad=false"};
  Handle program = nullptr;
  if (nvrtc->create(&program, text.c_str(), variant.name().c_str(), 0, nullptr, nullptr) != 0) return {};
  std::vector<char> code;
  std::size_t size = 0;
  if (nvrtc->compile(program, static_cast<int>(std::size(options)), options) == 0 && nvrtc->code_size(program, &size) == 0) {
    code.resize(size);
    if (nvrtc->code(program, code.data()) != 0) code.clear();
  }
  if (code.empty() && nvrtc->log_size(program, &size) == 0) {
    why.assign(size, '\0');
    nvrtc->log(program, why.data());
    why.resize(why.find_last_not_of(std::string_view("\n\0", 2)) + 1);
  }
  nvrtc->destroy(&program);
  return code;
}

/// Loads the module that has a kernel into the current context. `whole` is the module of this context that has every kernel,
/// or null until one is loaded.
Handle load(const Variant& variant, Handle& whole) {
  if (whole != nullptr) return whole;
  const Functions& cuda = functions();
  std::string reasons = cubins().empty() ? "this library was built without nvcc" : "";
  const auto add = [&](const char* what, const std::string& why) {
    reasons += (reasons.empty() ? "" : "; ") + std::string(what) + ": " + why;
  };
  const auto loaded = [&](const char* what, const auto& image) {
    Handle module = nullptr;
    if (image.empty()) return module;
    const Status status = cuda.load(&module, image.data());
    if (status == 0) return module;
    add(what, described("cuModuleLoadData", status));
    return Handle();
  };
  if ((whole = loaded("machine code from nvcc", cubins())) != nullptr) return whole;
  int device = 0, major = 0, minor = 0;
  check(cuda.device(&device), "cuCtxGetDevice");
  check(cuda.attribute(&major, capability_major, device), "cuDeviceGetAttribute");
  check(cuda.attribute(&minor, capability_minor, device), "cuDeviceGetAttribute");
  std::string why;
  const auto code = compiled(variant, 10 * major + minor, why);
  if (const Handle module = loaded("NVRTC", code)) return module;
  if (code.empty()) add("NVRTC", why);
  if ((whole = loaded("PTX from nvcc", ptx())) != nullptr) return whole;
  refuse("cuda", "kernels for compute capability " + std::to_string(major) + "." + std::to_string(minor) + " must be there",
         reasons);
}

/// Returns a number that names a context. A driver of CUDA 11 has only the handle, which a later context may have again.
std::uint64_t number_of(Handle context) {
  unsigned long long number = reinterpret_cast<std::uintptr_t>(context);
  if (functions().context_id != nullptr) check(functions().context_id(context, &number), "cuCtxGetId");
  return number;
}

/// Returns a kernel of the current context. Kernels are kept as long as the process lives.
Handle function_in(Handle context, const Variant& variant) {
  using Key = std::tuple<std::uint64_t, std::string>;
  static std::mutex mutex;
  static Lasting<std::map<Key, Handle>> kept;
  static Lasting<std::map<std::uint64_t, Handle>> whole;
  const std::uint64_t number = number_of(context);
  const std::string name = variant.name();
  const std::lock_guard lock(mutex);
  Handle& function = kept.value[{number, name}];
  if (function == nullptr) {
    const Relaxed relaxed;
    check(functions().function(&function, load(variant, whole.value[number]), name.c_str()), "cuModuleGetFunction");
  }
  return function;
}

/// Returns the number of the device that has this memory. Throws for other memory.
int device_of(const Memory& memory, const char* argument) {
  int ordinal = -1;
  const Status status = functions().pointer_attribute(&ordinal, pointer_ordinal, reinterpret_cast<Address>(memory.base));
  if (status != 0)
    refuse("cuda", std::string(argument) + " must be memory of a CUDA device", described("cuPointerGetAttribute", status));
  return ordinal;
}

/// Throws if kernels of the current context cannot use memory that another context allocated. Memory of a pool has no context.
void check_context(const Memory& memory, const char* argument, Handle current) {
  const Functions& cuda = functions();
  const auto address = reinterpret_cast<Address>(memory.base);
  Handle owner = nullptr;
  if (cuda.pointer_attribute(&owner, pointer_context, address) != 0 || owner == nullptr || owner == current) return;
  Address there = 0;
  if (const Status status = cuda.pointer_attribute(&there, pointer_on_device, address); status != 0)
    refuse("cuda", std::string(argument) + " must be memory that the stream's context can use",
           described("cuPointerGetAttribute", status));
}

/// Returns the context in which a stream runs. The streams 0, 1 and 2 are those of the current context, or, if the current
/// context is not one of the destination's device, of the device's primary context, which frameworks use.
Handle context_of(Handle stream, int device) {
  const Functions& cuda = functions();
  Handle context = nullptr;
  if (reinterpret_cast<std::uintptr_t>(stream) > 2) {
    check(cuda.stream_context(stream, &context), "cuStreamGetCtx");
    return context;
  }
  int current = -1;
  check(cuda.current(&context), "cuCtxGetCurrent");
  if (context != nullptr && cuda.device(&current) == 0 && current == device) return context;
  static std::mutex mutex;
  static Lasting<std::map<int, Handle>> primary;
  const std::lock_guard lock(mutex);
  Handle& kept = primary.value[device];
  if (kept == nullptr) check(cuda.retain_primary(&kept, device), "cuDevicePrimaryCtxRetain");
  return kept;
}

}  // namespace

void run_on_cuda(const Launch& launch, void* stream, Memory src, Memory dst) {
  const Functions& cuda = functions();
  const int device = device_of(dst, "dst");
  const Handle context = context_of(stream, device);
  const Current current(context);
  int running = -1;
  check(cuda.device(&running), "cuCtxGetDevice");
  for (const int other : {device, src.base == nullptr ? device : device_of(src, "src")})
    if (other != running)
      refuse("cuda", "src and dst must be memory of the stream's device " + std::to_string(running),
             "device " + std::to_string(other));
  check_context(dst, "dst", context);
  if (src.base != nullptr) check_context(src, "src", context);
  const auto groups = static_cast<unsigned>(launch.groups);
  if (launch.groups != groups || groups >> 31 != 0)
    refuse("cuda", "a problem must have fewer groups of threads", std::to_string(launch.groups));
  auto from = reinterpret_cast<Address>(src.base) + static_cast<Address>(src.offset);
  auto to = reinterpret_cast<Address>(dst.base) + static_cast<Address>(dst.offset);
  void* params[] = {&from, &to, const_cast<std::byte*>(launch.params.data())};
  check(cuda.launch(function_in(context, launch.variant), groups, 1, 1, static_cast<unsigned>(launch.threads), 1, 1, 0,
                    stream, params, nullptr),
        "cuLaunchKernel");
}

}  // namespace patchfold::device
