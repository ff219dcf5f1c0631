// SPDX-License-Identifier: Apache-2.0
// What ONNX Runtime calls after it has loaded the library.
#include <deque>
#include <mutex>
#include <new>

#include "plugins/onnxruntime/definitions.hpp"
#include "plugins/onnxruntime/kernel.hpp"

namespace patchfold::plugins::ort {
namespace {

/// The domain with all operators, made once: sessions refer to it as long as they live.
Status* domain_of(const Api& api, Domain** domain) {
  static std::mutex lock;
  static Domain* made = nullptr;
  static std::deque<Operator>& operators = *new std::deque<Operator>;
  const std::lock_guard<std::mutex> guard(lock);
  if (made == nullptr) {
    if (operators.empty()) {
      for (const Definition& definition : definitions()) operators.emplace_back(definition, api);
    }
    Domain* fresh = nullptr;
    if (Status* status = api.create_domain("patchfold", &fresh)) return status;
    for (const Operator& each : operators) {
      if (Status* status = api.domain_add(fresh, &each)) return status;
    }
    made = fresh;
  }
  *domain = made;
  return nullptr;
}

}  // namespace
}  // namespace patchfold::plugins::ort

extern "C" __attribute__((visibility("default"))) patchfold::plugins::ort::Status* RegisterCustomOps(
    patchfold::plugins::ort::SessionOptions* options, const patchfold::plugins::ort::ApiBase* base) {
  using namespace patchfold::plugins::ort;
  const Api* api = base->api(api_version);
  if (api == nullptr) {
    // Only the functions of the first version are there to say so.
    const Api* old = base->api(1);
    const std::string text = std::string("patchfold: needs ONNX Runtime 1.17 or newer; this is ") + base->version();
    return old == nullptr ? nullptr : old->create_status(not_implemented, text.c_str());
  }
  try {
    Domain* domain = nullptr;
    if (Status* status = domain_of(*api, &domain)) return status;
    return api->add_domain(options, domain);
  } catch (const std::bad_alloc&) {
    return api->create_status(fail, "patchfold: an allocation failed");
  }
}
