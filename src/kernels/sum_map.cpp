// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sum_map.cpp"
#include "kernels/sum_map.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/elements.hpp"
#include "kernels/lanes-inl.hpp"
#include "kernels/sum_map-inl.hpp"
#include "kernels/targets-inl.hpp"
#include "kernels/targets.hpp"
#include "tensor/held.hpp"

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

template <class T>
struct SumLanes {
  using One = Summand<T>;
  using Sum = typename One::Accumulator;
  using Element = typename One::Element;
  static constexpr std::int64_t size = sizeof(Element);

  static Sum nothing() { return Sum{}; }
  static void add(Sum& sum, const std::byte* at) {
    Element element;
    std::memcpy(&element, at, sizeof(Element));
    sum = One::plus(sum, One::widen(element));
  }
  static void finish(Sum sum, std::int64_t, const SumProgram&, const SumMap&, std::byte* to) {
    const Element element = One::narrow(sum);
    std::memcpy(to, &element, sizeof(Element));
  }
};

#else

template <class Type>
concept TakesStepsToRound = requires {
  requires Type::takes_steps_to_round;
};

template <class T>
struct SumLanes : Lanes<T> {
  using Type = Lanes<T>;
  using D = typename Type::D;
  using V = typename Type::V;
  using Sums = V;
  static constexpr std::int64_t size = sizeof(typename Type::Element);
  static constexpr std::int64_t sum_size = sizeof(hn::TFromD<D>);
  static constexpr bool finishes_in_place = sum_size == size;
  static constexpr bool takes_steps_to_finish = TakesStepsToRound<Type>;

  static HWY_INLINE Sums nothing() { return hn::Zero(D()); }
  static HWY_INLINE V masked(hn::Mask<D> mask, V value) { return hn::IfThenElseZero(mask, value); }
  static HWY_INLINE Sums load_sums(const std::byte* at) {
    return hn::LoadU(D(), reinterpret_cast<const hn::TFromD<D>*>(at));
  }
  static HWY_INLINE void save_sums(Sums sums, std::byte* at) { hn::StoreU(sums, D(), reinterpret_cast<hn::TFromD<D>*>(at)); }
  static HWY_INLINE void finish(Sums sums, std::int64_t, const SumProgram&, const SumMap&, std::byte* to) {
    Type::store(sums, to);
  }
};

#endif

const SumMapKernel* SumMapKernelOf(DType dtype) {
  return visit_held(dtype, []<class T>(std::type_identity<T>) -> const SumMapKernel* {
    if constexpr (std::is_void_v<SummedAs<T>>)
      return nullptr;
    else
      return sum_map_kernel_for<SumLanes<SummedAs<T>>>();
  });
}

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace patchfold::kernels {

HWY_EXPORT(SumMapKernelOf);

const SumMapKernel& sum_map_kernel(DType dtype) noexcept {
  return *HWY_DYNAMIC_DISPATCH(SumMapKernelOf)(dtype);
}

HWY_EXPORT(target);

const char* sum_map_target() noexcept {
  return HWY_DYNAMIC_DISPATCH(target)();
}

}  // namespace patchfold::kernels
#endif
