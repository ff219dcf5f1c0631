// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/weigh.cpp"
#include "kernels/weigh.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/targets-inl.hpp"
#include "kernels/targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Weighs one element. The sum is unsigned, so that it wraps.
HWY_INLINE std::uint8_t weigh_one(const std::uint8_t* src, std::int64_t pitch, const std::int32_t* weights,
                                  std::int64_t taps, int bits) {
  std::uint32_t sum = std::uint32_t{1} << (bits - 1);
  for (std::int64_t k = 0; k < taps; ++k) sum += static_cast<std::uint32_t>(weights[k]) * src[k * pitch];
  return static_cast<std::uint8_t>(std::clamp(static_cast<std::int32_t>(sum) >> bits, 0, 255));
}

void Weigh(std::byte* to, const std::byte* from, std::int64_t pitch, std::int64_t count, const std::int32_t* weights,
           std::int64_t taps, int bits) {
  auto* dst = reinterpret_cast<std::uint8_t*>(to);
  const auto* src = reinterpret_cast<const std::uint8_t*>(from);
  std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  using D = hn::ScalableTag<std::int32_t>;
  using Bytes = hn::Rebind<std::uint8_t, D>;
  constexpr std::int64_t lanes = HWY_MAX_BYTES / 4;
  constexpr int vectors = 4;  // sums side by side hide the latency of the multiplication
  const D d;
  const Bytes bytes;
  const auto half = hn::Set(d, std::int32_t{1} << (bits - 1));
  const auto add_taps = [&](auto& sums, int used) HWY_ATTR {
    for (int v = 0; v < used; ++v) sums[v] = half;
    for (std::int64_t k = 0; k < taps; ++k) {
      const auto weight = hn::Set(d, weights[k]);
      const std::uint8_t* row = src + k * pitch + i;
      for (int v = 0; v < used; ++v)
        sums[v] = hn::Add(sums[v], hn::Mul(weight, hn::PromoteTo(d, hn::LoadU(bytes, row + v * lanes))));
    }
    for (int v = 0; v < used; ++v)
      hn::StoreU(hn::DemoteTo(bytes, hn::ShiftRightSame(sums[v], bits)), bytes, dst + i + v * lanes);
  };
  hn::Vec<D> sums[vectors];
  for (; i + vectors * lanes <= count; i += vectors * lanes) add_taps(sums, vectors);
  for (; i + lanes <= count; i += lanes) add_taps(sums, 1);
#endif
  for (; i < count; ++i) dst[i] = weigh_one(src + i, pitch, weights, taps, bits);
}

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace patchfold::kernels {

HWY_EXPORT(Weigh);
HWY_EXPORT(target);

void weigh(std::byte* dst, const std::byte* src, std::int64_t pitch, std::int64_t count, const std::int32_t* weights,
           std::int64_t taps, int bits) noexcept {
  HWY_DYNAMIC_DISPATCH(Weigh)(dst, src, pitch, count, weights, taps, bits);
}

const char* weigh_target() noexcept {
  return HWY_DYNAMIC_DISPATCH(target)();
}

}  // namespace patchfold::kernels
#endif
