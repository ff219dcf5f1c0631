// SPDX-License-Identifier: Apache-2.0
// Interleaving within registers, and loads at the ends of memory. This file is included once for each instruction set.
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/features.hpp"

#if defined(PATCHFOLD_KERNELS_BLOCKS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PATCHFOLD_KERNELS_BLOCKS_INL
#undef PATCHFOLD_KERNELS_BLOCKS_INL
#else
#define PATCHFOLD_KERNELS_BLOCKS_INL
#endif

#ifdef __clang__
#define PATCHFOLD_UNROLL _Pragma("unroll")
#define PATCHFOLD_UNROLL_BY_4 _Pragma("unroll 4")
#else
#define PATCHFOLD_UNROLL _Pragma("GCC unroll 64")
#define PATCHFOLD_UNROLL_BY_4 _Pragma("GCC unroll 4")
#endif

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Returns what load() makes of the `bytes` bytes at `at`; bytes outside [begin, end) are not read and count as zero.
template <std::int64_t bytes, class Load>
HWY_INLINE auto load_within(const std::byte* at, const std::byte* begin, const std::byte* end, const Load& load) {
  if (at >= begin && at + bytes <= end) return load(at);
  alignas(64) std::byte copy[bytes] = {};
  const std::byte* from = std::max(at, begin);
  const std::byte* to = std::min(at + bytes, end);
  if (from < to) std::memcpy(copy + (from - at), from, static_cast<std::size_t>(to - from));
  return load(copy);
}

#if HWY_TARGET != HWY_SCALAR

/// Sets `low` and `high` to the lower and the upper half of the sequence a0 b0 a1 b1 ..
template <class D, class V = hn::Vec<D>>
HWY_INLINE void zip(D d, V a, V b, V& low, V& high) {
  const V lower = hn::InterleaveLower(d, a, b);
  const V upper = hn::InterleaveUpper(d, a, b);
  constexpr std::size_t bytes = hn::MaxLanes(D()) * sizeof(hn::TFromD<D>);
  if constexpr (bytes <= 16) {
    low = lower;
    high = upper;
  } else if constexpr (bytes == 32) {
    low = hn::ConcatLowerLower(d, upper, lower);
    high = hn::ConcatUpperUpper(d, upper, lower);
  } else {
    const hn::Repartition<std::uint64_t, D> wide;
    alignas(64) static constexpr std::uint64_t blocks[8] = {0, 1, 4, 5, 2, 3, 6, 7};
    const auto order = hn::SetTableIndices(wide, blocks);
    low = hn::BitCast(d, hn::TableLookupLanes(hn::BitCast(wide, hn::ConcatLowerLower(d, upper, lower)), order));
    high = hn::BitCast(d, hn::TableLookupLanes(hn::BitCast(wide, hn::ConcatUpperUpper(d, upper, lower)), order));
  }
}

/// Splits the sequence in v[0], v[1], .. so that v[r] holds the elements r, r + ways, r + 2 * ways, ..
template <int ways, class D, class V = hn::Vec<D>>
HWY_INLINE void deinterleave(D d, V* v) {
  if constexpr (ways > 1) {
    V even[ways / 2], odd[ways / 2];
    PATCHFOLD_UNROLL for (int i = 0; i < ways / 2; ++i) {
      even[i] = hn::ConcatEven(d, v[2 * i + 1], v[2 * i]);
      odd[i] = hn::ConcatOdd(d, v[2 * i + 1], v[2 * i]);
    }
    deinterleave<ways / 2>(d, even);
    deinterleave<ways / 2>(d, odd);
    PATCHFOLD_UNROLL for (int i = 0; i < ways / 2; ++i) {
      v[2 * i] = even[i];
      v[2 * i + 1] = odd[i];
    }
  }
}

/// Joins the streams in v[0], v[1], .. to one sequence, the inverse of deinterleave(). There are 2^w vectors of 2^l lanes,
/// so the index of an element has w + l bits. A split into even and odd lanes rotates these bits by one place. If one
/// instruction picks every second lane of two vectors, l splits join the streams. Otherwise the streams are zipped w times.
template <int ways, class D, class V = hn::Vec<D>>
HWY_INLINE void interleave(D d, V* v) {
  constexpr std::size_t lanes = hn::MaxLanes(D());
  constexpr bool picks = has_avx512(HWY_TARGET) && sizeof(hn::TFromD<D>) > 1 && lanes * sizeof(hn::TFromD<D>) == 64;
  if constexpr (picks && ways > 2) {
    PATCHFOLD_UNROLL for (std::size_t round = lanes; round > 1; round /= 2) {
      V even[ways / 2], odd[ways / 2];
      PATCHFOLD_UNROLL for (int i = 0; i < ways / 2; ++i) {
        even[i] = hn::ConcatEven(d, v[2 * i + 1], v[2 * i]);
        odd[i] = hn::ConcatOdd(d, v[2 * i + 1], v[2 * i]);
      }
      PATCHFOLD_UNROLL for (int i = 0; i < ways / 2; ++i) {
        v[i] = even[i];
        v[ways / 2 + i] = odd[i];
      }
    }
  } else if constexpr (ways > 1) {
    V even[ways / 2], odd[ways / 2];
    PATCHFOLD_UNROLL for (int i = 0; i < ways / 2; ++i) {
      even[i] = v[2 * i];
      odd[i] = v[2 * i + 1];
    }
    interleave<ways / 2>(d, even);
    interleave<ways / 2>(d, odd);
    PATCHFOLD_UNROLL for (int i = 0; i < ways / 2; ++i) zip(d, even[i], odd[i], v[2 * i], v[2 * i + 1]);
  }
}

/// Loads three vectors, a0 a1 .., b0 b1 .. and c0 c1 .., from a sequence a0 b0 c0 a1 b1 c1 .. at any address.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void load_three(D d, const std::byte* from, V& a, V& b, V& c) {
  hn::LoadInterleaved3(d, reinterpret_cast<const hn::TFromD<D>*>(from), a, b, c);
}

/// Stores three vectors as the sequence a0 b0 c0 a1 b1 c1 ..
template <class D, class V = hn::Vec<D>>
HWY_INLINE void store_three(D d, V a, V b, V c, std::byte* to) {
  hn::StoreInterleaved3(a, b, c, d, reinterpret_cast<hn::TFromD<D>*>(to));
}

#endif

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
