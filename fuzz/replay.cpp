// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target over files, in builds without libFuzzer.
//
//   TARGET [--megabytes N] [--seconds N] FOLDER_OR_FILE...
//
// A file that asks for more than N megabytes at once, or takes longer than N seconds, ends the program.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <vector>

#include "fuzz/target.hpp"
#include "patchfold/plan.hpp"
#include "tests/sanitizers.hpp"

#ifdef PATCHFOLD_ADDRESS_SANITIZER
// As in sanitizer/allocator_interface.h, which GCC does not install.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void*, std::size_t),
                                                         void (*free_hook)(const volatile void*));
#endif

namespace {

std::size_t most_bytes = SIZE_MAX;

void check_size(std::size_t size) {
  if (size <= most_bytes) return;
  std::fprintf(stderr, "too much memory: %zu bytes at once\n", size);
  std::abort();
}

[[maybe_unused]] void* allocate(std::size_t size, std::size_t alignment) {
  check_size(size);
  void* memory = nullptr;
  if (::posix_memalign(&memory, std::max(alignment, sizeof(void*)), std::max<std::size_t>(size, 1)) != 0)
    throw std::bad_alloc();
  return memory;
}

void stop(int) {
  constexpr char text[] = "too much time\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, sizeof text - 1);
  std::_Exit(1);
}

}  // namespace

// The address sanitizer defines these operators itself, and calls a hook for every allocation instead. A target with
// PATCHFOLD_FUZZ_OWN_MEMORY limits memory itself.
#if !defined(PATCHFOLD_FUZZ_OWN_MEMORY) && !defined(PATCHFOLD_ADDRESS_SANITIZER)
// All other forms of new and delete call these two. Inlining delete would make g++ 14 warn of a mismatch with new.
void* operator new(std::size_t size) {
  return allocate(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
#endif

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;  // absolute, since a target may change to a folder of its own
  unsigned seconds = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--megabytes") == 0 && i + 1 < argc) {
      most_bytes = std::strtoull(argv[++i], nullptr, 10) << 20;
      continue;
    }
    if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
      seconds = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
      continue;
    }
    if (!std::filesystem::is_directory(argv[i])) {
      files.push_back(std::filesystem::absolute(argv[i]));
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::absolute(argv[i])))
      files.push_back(entry.path());
  }
#ifdef PATCHFOLD_ADDRESS_SANITIZER
  __sanitizer_install_malloc_and_free_hooks([](const volatile void*, std::size_t size) { check_size(size); },
                                            [](const volatile void*) {});
#endif
  std::sort(files.begin(), files.end());
  std::signal(SIGALRM, stop);
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
    if (!stream) {
      std::fprintf(stderr, "cannot read %s\n", file.c_str());
      return 1;
    }
    std::printf("%s\n", file.filename().c_str());
    std::fflush(stdout);  // the last printed name then is that of the input that crashes
    ::alarm(seconds);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  std::printf("%zu inputs\ninstruction sets: %s\n", files.size(), patchfold::instruction_sets().front().c_str());
  return files.empty() ? 1 : 0;
}
