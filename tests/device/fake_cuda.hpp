// SPDX-License-Identifier: Apache-2.0
// Stand-ins for CUDA's driver and for NVRTC, as the libraries libcuda.so.1, libnvrtc.so.12 and libnvrtc.so.13. They follow the rules that
// the real ones check: contexts, streams, modules and the memory of devices. A kernel is run by a function of the test.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace patchfold::testing {

struct FakeContext {
  int device = 0;
  unsigned long long id = ++made;
  static inline unsigned long long made = 0;
};
struct FakeStream {
  FakeContext* context = nullptr;
};
struct FakeModule {
  FakeContext* context = nullptr;
  std::string kernel{};  ///< its only kernel; empty: it has all
};
struct FakeFunction {
  FakeContext* context = nullptr;
  std::string kernel{};
};
struct FakeMemory {
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
  int device = 0;
  FakeContext* context = nullptr;  ///< that allocated it; null: memory of a pool, which every context can use
};

/// What the driver knows, and what it was asked for.
struct FakeCuda {
  std::vector<FakeContext*> current{};   ///< the stack of the thread's contexts
  std::map<int, FakeContext> primary{};  ///< of each device, once retained
  std::vector<FakeMemory> memory{};      ///< of devices
  int capture_mode = 0;                  ///< global
  std::vector<std::string> loaded{};     ///< the kernels of modules, in order
  bool compiles = true;                  ///< whether NVRTC compiles what it gets
  bool takes_images = true;              ///< whether the driver loads modules
  int version = 13000;                   ///< of the driver
  int compiler = 0;                      ///< the major version of the NVRTC that compiled last
  std::vector<std::string> options{};    ///< of the last compilation
  std::function<int(const std::string& kernel, unsigned groups, unsigned threads, void** params)> launch{};
};

/// Returns the driver's state, of the process.
FakeCuda& fake_cuda();

}  // namespace patchfold::testing
