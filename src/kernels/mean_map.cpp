// SPDX-License-Identifier: Apache-2.0
// Makes means by the programs of sum_map.hpp: sums in the accumulators of kernels/mean.hpp, divided by SumProgram::counts.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/mean_map.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/mean_lanes-inl.hpp"
#include "kernels/mean_scalar.hpp"
#include "kernels/sum_map-inl.hpp"
#include "kernels/sum_map.hpp"
#include "kernels/targets-inl.hpp"
#include "kernels/targets.hpp"
#include "tensor/held.hpp"

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

template <class T>
struct MeanMapLanes {
  using One = MeanOf<T>;
  using Sum = typename One::Accumulator;
  static constexpr std::int64_t size = sizeof(T);

  static Sum nothing() { return One::nothing; }
  static void add(Sum& sum, const std::byte* at) {
    T element;
    std::memcpy(&element, at, sizeof(T));
    One::add(sum, element);
  }
  static void finish(const Sum& sum, std::int64_t lane, const SumProgram& program, const SumMap& map, std::byte* to) {
    T mean;
    *map.certain &= One::store(sum, program.counts[lane], mean);
    std::memcpy(to, &mean, sizeof(T));
  }
};

#else

template <class T>
struct LanesOf {
  using Type = MeanLanes<T>;
};
template <std::integral T>
requires(sizeof(T) <= 2) struct LanesOf<T> {
  using Type = ShortLanes<T>;
};
template <std::integral T>
requires(sizeof(T) == 8) struct LanesOf<T> {
  using Type = LongLanes<T>;
};

template <class T>
struct MeanMapLanes : LanesOf<T>::Type {
  using Type = typename LanesOf<T>::Type;
  static constexpr std::int64_t size = sizeof(typename Type::Raw);
  static constexpr std::int64_t sum_size = sizeof(typename Type::Sums) / hn::MaxLanes(typename Type::D());
  static constexpr bool finishes_in_place = false;
  static constexpr bool takes_steps_to_finish = true;

  static HWY_INLINE void finish(typename Type::Sums sums, std::int64_t lane, const SumProgram& program, const SumMap& map,
                                std::byte* to) {
    Type::store(sums, program.counts + lane, to, *map.certain);
  }
};

#endif

const SumMapKernel* MeanMapKernelOf(DType dtype) {
  return visit_held(dtype, []<class T>(std::type_identity<T>) -> const SumMapKernel* {
    if constexpr (std::is_void_v<AveragedAs<T>>)
      return nullptr;
    else
      return sum_map_kernel_for<MeanMapLanes<AveragedAs<T>>>();
  });
}

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace patchfold::kernels {

HWY_EXPORT(MeanMapKernelOf);

const SumMapKernel& mean_map_kernel(DType dtype) noexcept {
  return *HWY_DYNAMIC_DISPATCH(MeanMapKernelOf)(dtype);
}

HWY_EXPORT(target);

const char* mean_map_target() noexcept {
  return HWY_DYNAMIC_DISPATCH(target)();
}

}  // namespace patchfold::kernels
#endif
