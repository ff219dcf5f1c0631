// SPDX-License-Identifier: Apache-2.0
// Sums and means of rows, compiled once for each instruction set. Contiguous rows use vectors, other rows a scalar loop.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/mean.cpp"
#include "kernels/mean.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "kernels/mean_lanes-inl.hpp"
#include "kernels/mean_scalar.hpp"
#include "kernels/targets-inl.hpp"
#include "kernels/targets.hpp"
#include "tensor/held.hpp"

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
T load_mean(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
template <class T>
void save_mean(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

#if HWY_TARGET == HWY_SCALAR

template <class T>
struct MeanLanes {
  static constexpr std::int64_t lanes = 0;
};

#endif

template <class T>
concept Vectorized = !(std::is_integral_v<T> && sizeof(T) == 8) && (MeanLanes<T>::lanes > 1);

/// Means of elements of type T; `parts` is 2 for complex numbers.
template <class T, int parts>
struct Mean {
  using One = MeanOf<T>;
  using Accumulator = typename One::Accumulator;
  static constexpr std::int64_t element_size = parts * sizeof(T);
  static constexpr std::int64_t accumulator_size = parts * sizeof(Accumulator);

  static void clear(std::byte* accumulators, std::int64_t count) noexcept {
    for (std::int64_t i = 0; i < count * parts; ++i)
      save_mean(accumulators + i * static_cast<std::int64_t>(sizeof(Accumulator)), Accumulator(One::nothing));
  }

  static void add_one(std::byte* accumulator, const std::byte* src) {
    auto sum = load_mean<Accumulator>(accumulator);
    One::add(sum, load_mean<T>(src));
    save_mean(accumulator, sum);
  }
  static void add(std::byte* accumulators, const std::byte* src, std::int64_t src_stride, std::int64_t count) noexcept {
    constexpr auto part_size = static_cast<std::int64_t>(sizeof(T)),
                   sum_size = static_cast<std::int64_t>(sizeof(Accumulator));
    if (src_stride != element_size) {
      for (std::int64_t i = 0; i < count; ++i, src += src_stride, accumulators += accumulator_size)
        for (int part = 0; part < parts; ++part) add_one(accumulators + part * sum_size, src + part * part_size);
      return;
    }
    count *= parts;
    if constexpr (Vectorized<T>) {
      using L = MeanLanes<T>;
      const std::int64_t last = count - L::lanes;
      if (last >= 0) {
        // The last vector is loaded before stores change the elements that it shares with the vectors before it.
        const auto added = [=](std::int64_t i) HWY_ATTR {
          return L::add(L::load_sums(accumulators + i * sum_size), L::load(src + i * part_size));
        };
        const auto end = added(last);
        for (std::int64_t i = 0; i < last; i += L::lanes) L::save_sums(added(i), accumulators + i * sum_size);
        return L::save_sums(end, accumulators + last * sum_size);
      }
    }
    for (std::int64_t i = 0; i < count; ++i) add_one(accumulators + i * sum_size, src + i * part_size);
  }

  static T mean_of(const std::byte* accumulators, std::int64_t i, const MeanRow& row, bool& certain) {
    constexpr auto part_size = static_cast<std::int64_t>(sizeof(T)),
                   sum_size = static_cast<std::int64_t>(sizeof(Accumulator));
    const double count = row.met[i] * row.others;
    auto mean = load_mean<T>(row.fill->data() + i % parts * part_size);
    if (count != 0) certain &= One::store(load_mean<Accumulator>(accumulators + i * sum_size), count, mean);
    return mean;
  }

#if HWY_TARGET != HWY_SCALAR
  /// Returns a vector of means, from element i on.
  static HWY_INLINE auto means_of(const std::byte* accumulators, std::int64_t i, const MeanRow& row, bool& certain) {
    using L = MeanLanes<T>;
    const typename L::D d;
    const hn::Rebind<typename L::Raw, typename L::D> raw;
    const auto met = hn::Mul(hn::LoadU(d, row.met + i), hn::Set(d, row.others));
    const auto none = hn::Eq(met, hn::Zero(d));
    if (HWY_LIKELY(hn::AllFalse(d, none)))
      return L::over(L::load_sums(accumulators + i * static_cast<std::int64_t>(sizeof(Accumulator))), met, certain);
    if (hn::AllTrue(d, none)) return hn::LoadU(raw, reinterpret_cast<const typename L::Raw*>(row.fill->data()));
    alignas(64) T means[L::lanes];
    for (std::int64_t k = 0; k < L::lanes; ++k) means[k] = mean_of(accumulators, i + k, row, certain);
    return hn::LoadU(raw, reinterpret_cast<const typename L::Raw*>(means));
  }
#endif

  static bool store(std::byte* dst, std::int64_t dst_stride, const std::byte* accumulators, std::int64_t count,
                    const MeanRow& row) noexcept {
    constexpr auto part_size = static_cast<std::int64_t>(sizeof(T));
    bool certain = true;
    count *= parts;
#if HWY_TARGET != HWY_SCALAR
    if constexpr (Vectorized<T>) {
      using L = MeanLanes<T>;
      const hn::Rebind<typename L::Raw, typename L::D> raw;
      const std::int64_t last = count - L::lanes;
      const auto at = [&](std::int64_t i) { return reinterpret_cast<typename L::Raw*>(dst + i * part_size); };
      if (dst_stride == element_size && last >= 0) {
        const auto end = means_of(accumulators, last, row, certain);
        for (std::int64_t i = 0; i < last; i += L::lanes) hn::StoreU(means_of(accumulators, i, row, certain), raw, at(i));
        hn::StoreU(end, raw, at(last));
        return certain;
      }
    }
#endif
    for (std::int64_t i = 0; i < count; ++i)
      save_mean(dst + i / parts * dst_stride + i % parts * part_size, mean_of(accumulators, i, row, certain));
    return certain;
  }

  static constexpr MeanKernel kernel{accumulator_size, clear, add, store};
};

const MeanKernel* mean_kernel_of(DType dtype) {
  return visit_held(dtype, []<class T>(std::type_identity<T>) -> const MeanKernel* {
    if constexpr (std::is_void_v<AveragedAs<T>>)
      return nullptr;
    else
      return &Mean < AveragedAs<T>, ComplexNumber<T> ? 2 : 1 > ::kernel;
  });
}

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace patchfold::kernels {

HWY_EXPORT(mean_kernel_of);

const MeanKernel& mean_kernel(DType dtype) noexcept {
  return *HWY_DYNAMIC_DISPATCH(mean_kernel_of)(dtype);
}

HWY_EXPORT(target);

const char* mean_target() noexcept {
  return HWY_DYNAMIC_DISPATCH(target)();
}

}  // namespace patchfold::kernels
#endif
