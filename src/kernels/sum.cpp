// SPDX-License-Identifier: Apache-2.0
// Compiled once for each instruction set. Contiguous rows go through vectors, strided ones through a scalar loop.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sum.cpp"
#include "kernels/sum.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/elements.hpp"
#include "kernels/targets-inl.hpp"
#include "kernels/targets.hpp"
#include "tensor/lasting.hpp"

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
template <class T>
void save(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

/// `parts` is 2 for complex numbers: the real and the imaginary part are summed alike.
template <class T, int parts>
struct Sum {
  using Type = Summand<T>;
  using Element = typename Type::Element;
  using Accumulator = typename Type::Accumulator;
  static constexpr std::int64_t element_size = parts * sizeof(Element);
  static constexpr std::int64_t accumulator_size = parts * sizeof(Accumulator);

  static void add_contiguous(std::byte* accumulators, const std::byte* src, std::int64_t count) {
    std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    if constexpr (std::is_arithmetic_v<T>) {
      const hn::ScalableTag<Accumulator> tag;
      const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
      auto* sums = reinterpret_cast<Accumulator*>(accumulators);
      const auto* elements = reinterpret_cast<const Accumulator*>(src);
      for (; i + lanes <= count; i += lanes)
        hn::StoreU(hn::Add(hn::LoadU(tag, sums + i), hn::LoadU(tag, elements + i)), tag, sums + i);
    }
#endif
    for (; i < count; ++i) add_one(accumulators + i * sizeof(Accumulator), src + i * sizeof(Element));
  }

  static void add_one(std::byte* accumulator, const std::byte* src) {
    save(accumulator, Type::plus(load<Accumulator>(accumulator), Type::widen(load<Element>(src))));
  }

  static void add(std::byte* accumulators, const std::byte* src, std::int64_t src_stride, std::int64_t count) noexcept {
    if (src_stride == element_size) return add_contiguous(accumulators, src, count * parts);
    for (std::int64_t i = 0; i < count; ++i, src += src_stride, accumulators += accumulator_size)
      for (int part = 0; part < parts; ++part)
        add_one(accumulators + part * sizeof(Accumulator), src + part * sizeof(Element));
  }

  static Accumulator ones(std::int64_t count) {
    // From 2^digits on another one changes nothing.
    if constexpr (std::is_floating_point_v<Accumulator>)
      return static_cast<Accumulator>(std::min(count, std::int64_t{1} << std::numeric_limits<Accumulator>::digits));
    else if constexpr (std::is_same_v<T, Boolean>)
      return count != 0;
    else
      return static_cast<Accumulator>(count);
  }

  static void count(std::byte* accumulators, const std::int64_t* counts, std::int64_t factor, std::int64_t count) noexcept {
    for (std::int64_t i = 0; i < count; ++i, accumulators += accumulator_size) {
      save(accumulators, ones(counts[i] * factor));
      if (parts == 2) save(accumulators + sizeof(Accumulator), Accumulator{});
    }
  }

  static void store(std::byte* dst, std::int64_t dst_stride, const std::byte* accumulators, std::int64_t count) noexcept {
    if (std::is_same_v<Element, Accumulator> && dst_stride == element_size) {
      std::memcpy(dst, accumulators, static_cast<std::size_t>(count * element_size));
      return;
    }
    for (std::int64_t i = 0; i < count; ++i, dst += dst_stride, accumulators += accumulator_size)
      for (int part = 0; part < parts; ++part)
        save(dst + part * sizeof(Element), Type::narrow(load<Accumulator>(accumulators + part * sizeof(Accumulator))));
  }

  static void store_add(std::byte* dst, std::int64_t dst_stride, const std::byte* accumulators,
                        std::int64_t count) noexcept {
    for (std::int64_t i = 0; i < count; ++i, dst += dst_stride, accumulators += accumulator_size)
      for (int part = 0; part < parts; ++part) {
        std::byte* to = dst + part * sizeof(Element);
        const Element sum = Type::narrow(load<Accumulator>(accumulators + part * sizeof(Accumulator)));
        save(to, Type::narrow(Type::plus(Type::widen(load<Element>(to)), Type::widen(sum))));
      }
  }

  static constexpr SumKernel kernel{accumulator_size, add, count, store, store_add};
};

const SumKernel* kernel_of(DType dtype) {
  return visit(dtype, []<class T>(std::type_identity<T>) -> const SumKernel* {
    if constexpr (std::is_void_v<SummedAs<T>>)
      return nullptr;
    else
      return &Sum < SummedAs<T>, ComplexNumber<T> ? 2 : 1 > ::kernel;
  });
}

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace patchfold::kernels {

static_assert(std::ranges::all_of(dtypes(), [](DType dtype) {
  return visit(dtype, []<class T>(std::type_identity<T>) { return !std::is_void_v<SummedAs<T>>; }) == is_summable(dtype);
}));

HWY_EXPORT(kernel_of);

const SumKernel& sum_kernel(DType dtype) noexcept {
  return *HWY_DYNAMIC_DISPATCH(kernel_of)(dtype);
}

namespace {

/// Asked for once: asking Highway again would undo a choice. What the compiler takes for granted is always there: Highway
/// leaves NEON out on processors without AES, which no kernel uses.
const std::vector<std::int64_t>& targets() {
  return lasting([] {
    std::vector<std::int64_t> found;
    for (std::int64_t left = (hwy::SupportedTargets() | HWY_STATIC_TARGET) & HWY_TARGETS; left != 0; left &= left - 1)
      found.push_back(left & -left);
    return found;
  });
}

}  // namespace

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const std::int64_t target : targets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

bool use_instruction_set(std::string_view name) {
  std::int64_t chosen = 0;
  for (const std::int64_t target : targets())
    if (name.empty() || hwy::TargetName(target) == name) chosen |= target;
  if (chosen == 0) return false;
  hwy::GetChosenTarget().Update(chosen);
  return true;
}

HWY_EXPORT(target);

const char* sum_target() noexcept {
  return HWY_DYNAMIC_DISPATCH(target)();
}

}  // namespace patchfold::kernels
#endif
