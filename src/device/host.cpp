// SPDX-License-Identifier: Apache-2.0
// Runs the kernels on the calling thread: the threads of a group one after the other, phase by phase.
#include "device/host.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "device/params.hpp"
#include "engine/floats.hpp"
#include "kernels/half.hpp"

#define PF_HOST
#include "device/kernels/front.h"

namespace patchfold::device {

static_assert(PF_FLOAT64 == static_cast<int>(DType::float64) && PF_BOOLEAN == static_cast<int>(DType::boolean) &&
              PF_UINT8 == static_cast<int>(DType::uint8) && PF_FLOAT16 == static_cast<int>(DType::float16));
static_assert(PF_EDGE == static_cast<int>(PaddingMode::edge) && PF_REFLECT == static_cast<int>(PaddingMode::reflect) &&
              PF_SYMMETRIC == static_cast<int>(PaddingMode::symmetric) && PF_WRAP == static_cast<int>(PaddingMode::wrap));

namespace {

struct Quad {
  u32 words[4];
};
using kernels::bfloat16_to_float;
using kernels::float16_to_float;
using kernels::float_to_bfloat16;
using kernels::float_to_float16;
using kernels::half::as_float;
using kernels::half::as_uint;
using std::rint;
double as_double(u64 bits) {
  return std::bit_cast<double>(bits);
}
u64 as_bits(double value) {
  return std::bit_cast<u64>(value);
}

}  // namespace

namespace narrow {
namespace {
#include "device/kernels/every.h"
}  // namespace
}  // namespace narrow

#undef NAME
#define NAME(name) JOIN(name, _64)
#define PF_WIDE
namespace wide {
namespace {
#include "device/kernels/every.h"
}  // namespace
}  // namespace wide

void run_on_host(const Launch& launch, const std::byte* src, std::byte* dst) noexcept {
  const engine::DefaultFloats floats;
  const auto* from = reinterpret_cast<const u8*>(src) + launch.src_offset;
  auto* to = reinterpret_cast<u8*>(dst) + launch.dst_offset;
  const auto run = [&]<class Params>(void (*kernel)(const u8*, u8*, const Params*, u64), std::type_identity<Params>) {
    Params params;
    std::memcpy(&params, launch.params.data(), sizeof params);
    for (std::int64_t group = 0; group < launch.groups; ++group) kernel(from, to, &params, static_cast<u64>(group));
  };
#define RUN(width, kernel, Params) return run(&width::kernel, std::type_identity<width::Params>())
#define EITHER(kernel, Params)            \
  if (launch.variant.is_wide)             \
    RUN(wide, JOIN(kernel, _64), Params); \
  else                                    \
    RUN(narrow, JOIN(kernel, _32), Params)
#define UNITS_OF(space, kernel, Params)              \
  switch (launch.variant.unit) {                     \
    case 1: EITHER(space##1 ::kernel##1, Params);    \
    case 2: EITHER(space##2 ::kernel##2, Params);    \
    case 4: EITHER(space##4 ::kernel##4, Params);    \
    case 8: EITHER(space##8 ::kernel##8, Params);    \
    default: EITHER(space##16 ::kernel##16, Params); \
  }
  switch (launch.variant.kernel) {
    case Kernel::move: UNITS_OF(move_, move_, Move)
    case Kernel::brick: UNITS_OF(brick_, brick_, Brick)
    case Kernel::mean: EITHER(mean, Combine);
    case Kernel::count: EITHER(count, Combine);
    case Kernel::sum: break;
  }
  switch (launch.variant.dtype) {
    case DType::boolean: EITHER(sum_0::sum_bool, Combine);
    case DType::uint8: EITHER(sum_5::sum_uint8, Combine);
    case DType::uint16: EITHER(sum_6::sum_uint16, Combine);
    case DType::uint32: EITHER(sum_7::sum_uint32, Combine);
    case DType::uint64: EITHER(sum_8::sum_uint64, Combine);
    case DType::float16: EITHER(sum_9::sum_float16, Combine);
    case DType::bfloat16: EITHER(sum_10::sum_bfloat16, Combine);
    case DType::float32: EITHER(sum_11::sum_float32, Combine);
    default: EITHER(sum_12::sum_float64, Combine);
  }
}

}  // namespace patchfold::device
