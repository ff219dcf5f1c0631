// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/panel.cpp"
#include "kernels/panel.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/lanes-inl.hpp"
#include "kernels/panel-inl.hpp"
#include "kernels/targets-inl.hpp"
#include "kernels/targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
template <class T>
using Lanes = Summand<T>;
#endif

const PanelKernel* PanelKernelOf(DType dtype) {
  return visit(dtype, []<class T>(std::type_identity<T>) -> const PanelKernel* {
    if constexpr (std::is_void_v<SummedAs<T>>)
      return nullptr;
    else
      return kernel_for<Lanes<SummedAs<T>>>();
  });
}

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace patchfold::kernels {

HWY_EXPORT(PanelKernelOf);

const PanelKernel& panel_kernel(DType dtype) noexcept {
  return *HWY_DYNAMIC_DISPATCH(PanelKernelOf)(dtype);
}

HWY_EXPORT(target);

const char* panel_target() noexcept {
  return HWY_DYNAMIC_DISPATCH(target)();
}

}  // namespace patchfold::kernels
#endif
