// SPDX-License-Identifier: Apache-2.0
#include "patchfold/device.hpp"

#include "device/driver.hpp"
#include "device/host.hpp"
#include "device/launch.hpp"
#include "engine/compiled.hpp"
#include "engine/overlap.hpp"

namespace patchfold {

void run_on(const Device& device, const Plan& plan, ConstDeviceData src, DeviceData dst) {
  const engine::Compiled* const compiled = plan.compiled().get();
  if (compiled == nullptr || compiled->rows() == 0) return;
  const engine::Problem& problem = compiled->problem();
  const bool reads = problem.own_source == nullptr;
  if (dst.base == nullptr || (reads && src.base == nullptr && problem.src_range.begin != problem.src_range.end))
    throw_if_failed(Status::null_data, "device");
  const auto* from = static_cast<const std::byte*>(src.base);
  auto* to = static_cast<std::byte*>(dst.base);
  // Memory objects of OpenCL have no addresses, but begin at multiples of 128 bytes; two of them share no memory.
  const bool is_opencl = device.kind == DeviceKind::opencl;
  const auto address_of = [&](const std::byte* base, std::int64_t offset) {
    return (is_opencl ? std::uint64_t{1} << 61 : reinterpret_cast<std::uintptr_t>(base)) +
           static_cast<std::uint64_t>(offset);
  };
  const std::uint64_t src_at = address_of(from, src.offset), dst_at = address_of(to, dst.offset);
  if (reads && (!is_opencl || src.base == dst.base) &&
      engine::overlap(problem, reinterpret_cast<const std::byte*>(src_at), reinterpret_cast<const std::byte*>(dst_at)))
    throw_if_failed(Status::overlap, "device", "dst");
  const auto launch = device::launch_of(problem, src_at, dst_at);
  const device::Memory source{reads ? const_cast<std::byte*>(from) : nullptr, src.offset + launch.src_offset},
      destination{to, dst.offset + launch.dst_offset};
  switch (device.kind) {
    case DeviceKind::host: return device::run_on_host(launch, from + src.offset, to + dst.offset);
    case DeviceKind::cuda: return device::run_on_cuda(launch, device.stream, source, destination);
    case DeviceKind::opencl: return device::run_on_opencl(launch, device.stream, source, destination);
  }
}

}  // namespace patchfold
