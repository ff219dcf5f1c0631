// SPDX-License-Identifier: Apache-2.0
// The function that ONNX Runtime calls when it has loaded the plug-in.
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "plugins/onnxruntime/kernel.hpp"

namespace patchfold::plugins::ort {
namespace {

/// Returns the operators of the domain "patchfold". docs/runtimes.md lists their inputs and attributes.
const std::vector<Definition>& definitions() {
  static const std::vector<Definition> all = {
      {"Im2Col",
       "unfold",
       {},
       {{"block_shape", "kernel_size"},
        {"strides", "stride"},
        {"dilations", "dilation"},
        {"pads", "padding", Argument::Pairs::begins_ends}}},
      {"Col2Im", "onnx.Col2Im", {{"image_shape"}, {"block_shape"}}, {{"dilations"}, {"pads"}, {"strides"}}},
      {"ExtractImagePatches", "tensorflow.ExtractImagePatches", {}, {{"ksizes"}, {"strides"}, {"rates"}, {"padding"}}},
      {"SpaceToBatch", "openvino.SpaceToBatch", {{"block_shape"}, {"pads_begin"}, {"pads_end"}}, {}},
      {"BatchToSpace", "openvino.BatchToSpace", {{"block_shape"}, {"crops_begin"}, {"crops_end"}}, {}},
      {"SpaceToDepth", "onnx.SpaceToDepth", {}, {{"blocksize"}, {"mode"}}},
      {"DepthToSpace", "onnx.DepthToSpace", {}, {{"blocksize"}, {"mode"}}},
  };
  return all;
}

/// The operators that one ONNX Runtime got, and the domain that holds them.
struct Registered {
  std::deque<Operator> operators;
  Domain* domain = nullptr;
};

/// Returns the domain with all operators, which is made once for each ONNX Runtime in the process, since sessions refer to it as
/// long as they live.
Status* domain_of(const Api& api, Domain** domain) {
  static std::mutex lock;
  static std::map<const Api*, Registered>& all = *new std::map<const Api*, Registered>;
  const std::lock_guard<std::mutex> guard(lock);
  Registered& own = all[&api];
  if (own.domain == nullptr) {
    own.operators.clear();  // left by an earlier call that failed
    for (const Definition& definition : definitions()) own.operators.emplace_back(definition, api);
    Domain* fresh = nullptr;
    if (Status* status = api.create_domain("patchfold", &fresh)) return status;
    for (const Operator& each : own.operators) {
      if (Status* status = api.domain_add(fresh, &each)) {
        api.release_domain(fresh);
        return status;
      }
    }
    own.domain = fresh;
  }
  *domain = own.domain;
  return nullptr;
}

}  // namespace
}  // namespace patchfold::plugins::ort

extern "C" __attribute__((visibility("default"))) patchfold::plugins::ort::Status* RegisterCustomOps(
    patchfold::plugins::ort::SessionOptions* options, const patchfold::plugins::ort::ApiBase* base) {
  using namespace patchfold::plugins::ort;
  const Api* api = base->api(api_version);
  // An older ONNX Runtime does not have this version; the functions of version 1 suffice to report the error.
  const Api* speaker = api == nullptr ? base->api(1) : api;
  if (speaker == nullptr) return nullptr;
  try {
    if (api == nullptr) {
      const std::string text = std::string("patchfold: needs ONNX Runtime 1.17 or newer; this is ") + base->version();
      return speaker->create_status(not_implemented, text.c_str());
    }
    Domain* domain = nullptr;
    if (Status* status = domain_of(*api, &domain)) return status;
    return api->add_domain(options, domain);
  } catch (const std::exception& error) {
    return speaker->create_status(fail, error.what());
  } catch (...) {
    return speaker->create_status(fail, "patchfold: an unknown error");
  }
}
