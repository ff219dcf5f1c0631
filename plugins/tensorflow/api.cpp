// SPDX-License-Identifier: Apache-2.0
#include "plugins/tensorflow/api.hpp"

#include <dlfcn.h>

#include <optional>
#include <type_traits>

namespace patchfold::plugins::tensorflow {
namespace {

void* loaded_tensorflow() {
  for (const char* name : {"libtensorflow_framework.so.2", "libtensorflow_cc.so.2"})
    if (void* const library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) return library;
  return nullptr;
}

std::optional<Api> lookup() {
  void* const library = loaded_tensorflow();
  if (library == nullptr) return std::nullopt;
  Api api{};
  bool complete = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    complete = complete && function != nullptr;
  };
#define PATCHFOLD_TENSORFLOW_FIND(name, ...) find(api.name, "TF_" #name);
  PATCHFOLD_TENSORFLOW_FUNCTIONS(PATCHFOLD_TENSORFLOW_FIND)
#undef PATCHFOLD_TENSORFLOW_FIND
  return complete ? std::optional(api) : std::nullopt;
}

}  // namespace

const Api* find_api() {
  static const std::optional<Api> api = lookup();
  return api ? &*api : nullptr;
}

}  // namespace patchfold::plugins::tensorflow
