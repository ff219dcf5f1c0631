// SPDX-License-Identifier: Apache-2.0
// Tests the shared library in a program that is not linked to it, but loads and unloads it.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "at_once.hpp"
#include "patchfold/patchfold.h"

namespace patchfold::testing {
namespace {

class Library {
 public:
  Library() : handle_(::dlopen(PATCHFOLD_LIBRARY, RTLD_NOW | RTLD_LOCAL)) {}
  ~Library() {
    if (handle_) ::dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  bool is_loaded() const { return handle_ != nullptr; }
  template <class F>
  F* find(F*, const char* name) const {
    return reinterpret_cast<F*>(::dlsym(handle_, name));
  }

 private:
  void* handle_;
};
#define FIND(library, function) (library).find(static_cast<decltype(&function)>(nullptr), #function)

/// Makes a large call, and a call that fails; returns the fault, if any.
std::optional<std::string> call(const Library& library) {
  const std::int64_t image_shape[] = {1, 8, 64, 64}, columns_shape[] = {1, 8, 4096};
  std::vector<float> image(8 * 64 * 64, 2.0f), columns(image.size());
  const pf_tensor input{image.data(), image_shape, nullptr, 4, PF_DTYPE_FLOAT32, 0};
  const pf_tensor output{columns.data(), columns_shape, nullptr, 3, PF_DTYPE_FLOAT32, 0};
  const pf_attribute kernel = pf_text("kernel_size", "1,1");
  if (FIND(library, pf_run)("unfold", &kernel, 1, &input, 1, &output, nullptr) != PF_OK)
    return FIND(library, pf_last_error)();
  if (columns != image) return "wrong columns";
  if (FIND(library, pf_run)("none", &kernel, 1, &input, 1, &output, nullptr) != PF_ERROR_UNKNOWN_OPERATOR)
    return "found an operator of that name";
  return std::nullopt;
}

TEST(SharedLibrary, IsLoadedUsedAndLetGoAgainAndAgain) {
  for (int n = 0; n < 20; ++n) {
    const Library library;
    ASSERT_TRUE(library.is_loaded()) << ::dlerror();
    ASSERT_EQ(call(library), std::nullopt) << n;
  }
}

TEST(SharedLibrary, IsLoadedAndLetGoByThreadsThatGoOn) {
  // When these threads end, they free their last errors and scratch memory, long after they unloaded the library.
  const auto wrong = at_once(4, [](int) -> std::optional<std::string> {
    for (int n = 0; n < 10; ++n) {
      const Library library;
      if (!library.is_loaded()) return ::dlerror();
      if (auto one = call(library)) return one;
    }
    return std::nullopt;
  });
  EXPECT_EQ(wrong, std::nullopt);
}

}  // namespace
}  // namespace patchfold::testing
