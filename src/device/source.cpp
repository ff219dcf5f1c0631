// SPDX-License-Identifier: Apache-2.0
#include "device/driver.hpp"
#include "device/embedded.hpp"

namespace patchfold::device {

std::string source_of(const Variant& variant) {
  std::string text;
  const auto define = [&](const char* name, int value) {
    text += std::string("#define ") + name + " " + std::to_string(value) + "\n";
  };
  const auto add = [&](auto... names) { (text.append(text_of_kernels(names)), ...); };
  const bool counts = variant.kernel == Kernel::mean || variant.kernel == Kernel::count;
  if (variant.is_wide) define("PF_WIDE", 1);
  if (counts || variant.dtype == DType::float64) define("PF_DOUBLE", 1);
  add("front", "params", "half", "common");
  switch (variant.kernel) {
    case Kernel::move: define("PF_MOVE", variant.unit); break;
    case Kernel::brick: define("PF_BRICK", variant.unit); break;
    case Kernel::sum: define("PF_SUM", static_cast<int>(variant.dtype)); [[fallthrough]];
    case Kernel::mean:
    case Kernel::count: add("taps");
  }
  if (!counts) add("elements", "units");
  add(counts ? "mean" : variant.kernel == Kernel::move ? "move" : variant.kernel == Kernel::brick ? "brick" : "sum");
  return text;
}

}  // namespace patchfold::device
