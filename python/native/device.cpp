// SPDX-License-Identifier: Apache-2.0
#include "python/native/device.hpp"

#include <atomic>
#include <optional>

#include "patchfold/device.h"
#include "python/native/interpreter_lock.hpp"
#include "src/base/fail.hpp"
#include "src/capi/plan.hpp"

namespace patchfold::python {
namespace {

/// The functions of the library patchfold_device, and the driver that they use.
struct Library {
  decltype(&pf_plan_run_on) run_on;
  decltype(&pf_last_error_part) error_part;
  pf_device_kind kind;
};
std::atomic<const Library*> loaded = nullptr;

/// Uses the library whose functions have these addresses, from now on.
void use_library(std::uintptr_t run_on, std::uintptr_t error_part, pf_device_kind kind) {
  // Other threads may still read the former object, so it is never deleted.
  loaded = new Library{reinterpret_cast<decltype(&pf_plan_run_on)>(run_on),
                       reinterpret_cast<decltype(&pf_last_error_part)>(error_part), kind};
}

/// Returns the library, which is loaded if need be. The calling thread holds the interpreter's lock.
const Library& library() {
  if (const Library* known = loaded) return *known;
  or_stop([] { return nb::module_::import_("patchfold._arrays.cuda").attr("load")(); });
  return *loaded.load();
}

/// Enqueues a plan; returns the error, if there is one.
std::optional<Error::Parts> enqueue(const Library& library, const Plan& plan, std::string_view op, void* stream,
                                    const void* src, void* dst) {
  const pf_plan planned{plan, nullptr};
  const pf_status status = library.run_on(&planned, library.kind, stream, src, 0, dst, 0);
  if (status == PF_OK) return std::nullopt;
  const auto part = [&](int which) { return std::string(library.error_part(which)); };
  const ErrorCode code = status < PF_OK ? ErrorCode::executor : static_cast<ErrorCode>(status - 1);
  return Error::Parts{
      code, std::string(op), part(PF_PART_ARGUMENT), part(PF_PART_RULE), part(PF_PART_GIVEN), part(PF_PART_EXPECTED)};
}

std::string place_of(const Location& location) {
  return location.is_device() ? "CUDA device " + std::to_string(location.cuda) : "the processor's memory";
}

/// Returns a stream's handle. CUDA's default stream has two, 0 and 1.
std::uintptr_t number_of(const Location& location) {
  const auto number = reinterpret_cast<std::uintptr_t>(location.stream);
  return number == 0 ? 1 : number;
}

}  // namespace

void check_same_location(std::string_view op, std::string_view data, const Location& src, const Location& dst) {
  if (src.cuda != dst.cuda)
    throw Error({ErrorCode::type, std::string(op), "out", "must lie where " + std::string(data) + " lies", place_of(dst),
                 place_of(src)});
  if (src.is_device() && number_of(src) != number_of(dst))
    throw Error({ErrorCode::type, std::string(op), "out", "must be used on the same stream as " + std::string(data),
                 std::to_string(number_of(dst)), std::to_string(number_of(src))});
}

void run_plan(const Plan& plan, std::string_view op, const Location& location, const void* src, void* dst) {
  if (!location.is_device() && !runs_on_host()) {
    Status status = Status::ok;
    {
      const Unlocked unlocked;
      status = plan.run(src, dst);
    }
    return throw_if_failed(status, op, "out");
  }
  const Library& device = library();
  std::optional<Error::Parts> error;
  {
    const Unlocked unlocked;
    error = enqueue(device, plan, op, location.stream, src, dst);
  }
  if (error) throw Error(*std::move(error));
}

void run_on_device(const Plan& plan, std::string_view op, void* stream, const void* src, void* dst) {
  const Library* device = loaded;
  if (device == nullptr) {
    const Locked locked;
    device = &library();
  }
  if (auto error = enqueue(*device, plan, op, stream, src, dst)) throw Error(*std::move(error));
}

bool runs_on_host() noexcept {
  const Library* const device = loaded;
  return device != nullptr && device->kind == PF_DEVICE_HOST;
}

void bind_device(nb::module_& module) {
  module.def("use_device_library", &use_library, nb::arg("run_on"), nb::arg("error_part"), nb::arg("kind"));
}

}  // namespace patchfold::python
