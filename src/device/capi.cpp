// SPDX-License-Identifier: Apache-2.0
#include "capi/guard.hpp"
#include "capi/plan.hpp"
#include "patchfold/device.h"
#include "patchfold/device.hpp"

pf_status pf_plan_run_on(const pf_plan* plan, pf_device_kind kind, void* stream, const void* src, int64_t src_offset,
                         void* dst, int64_t dst_offset) {
  using namespace patchfold;
  return capi::guarded([&] {
    if (plan == nullptr) throw Error({ErrorCode::missing, "pf_plan_run_on", "plan", "must not be NULL", "", ""});
    const pf_plan& known = *plan;
    if (kind < PF_DEVICE_HOST || kind > PF_DEVICE_OPENCL)
      throw Error({ErrorCode::value, std::string(known.spec->name), "kind", "must be a pf_device_kind", kind, ""});
    run_on({static_cast<DeviceKind>(kind), stream}, known.plan, {src, src_offset}, {dst, dst_offset});
  });
}
