// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/panel_means.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/panel-inl.hpp"
#include "kernels/panel.hpp"

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Emulated vectors clip infinities when they narrow.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

const PanelKernel* MeanPanelKernelOf(DType) {
  return nullptr;
}

#else

/// float32 in float64, for means.
struct MeanLanes {
  using Element = float;
  using D = hn::ScalableTag<double>;
  using V = hn::Vec<D>;
  using Narrow32 = hn::Rebind<float, D>;
  static HWY_INLINE V load(const std::byte* at) {
    return hn::PromoteTo(D(), hn::LoadU(Narrow32(), reinterpret_cast<const float*>(at)));
  }
  /// The same as a sum, since the product is exact; processors that add and convert in one place multiply in another.
  static HWY_INLINE V add(V sum, V value) { return hn::MulAdd(value, hn::Set(D(), 1), sum); }
};

const PanelKernel* MeanPanelKernelOf(DType dtype) {
  return dtype == DType::float32 || dtype == DType::complex64 ? kernel_for<MeanLanes>() : nullptr;
}

#endif

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace patchfold::kernels {

HWY_EXPORT(MeanPanelKernelOf);

const PanelKernel* mean_panel_kernel(DType dtype) noexcept {
  return HWY_DYNAMIC_DISPATCH(MeanPanelKernelOf)(dtype);
}

}  // namespace patchfold::kernels
#endif
