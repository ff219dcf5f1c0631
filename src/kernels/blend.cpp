// SPDX-License-Identifier: Apache-2.0
// Weighted sums of rows. Sums are vectors of float64. Means of 8-bit elements are first made in float32, which is exact enough for
// nearly all of them. Plain loops make rows that are shorter than a vector.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/blend.cpp"
#include "kernels/blend.hpp"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/blend_elements-inl.hpp"
#include "kernels/blend_scalar.hpp"
#include "kernels/stream.hpp"
#include "kernels/targets-inl.hpp"
#include "kernels/targets.hpp"
#include "tensor/held.hpp"

#undef PATCHFOLD_EACH
#ifdef __clang__
#define PATCHFOLD_EACH _Pragma("unroll")
#else
#define PATCHFOLD_EACH _Pragma("GCC unroll 8")
#endif

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

Blend RowsOf(DType, DType, bool) {
  return nullptr;
}
Blend LinesOf(DType, bool) {
  return nullptr;
}
Blend FoldingRowsOf(Fold step, bool is_short) {
  return folding_rows_scalar(step, is_short);
}

void Normalise(const RawWeights& w) {
  for (std::int64_t r = 0; r < w.rows; ++r)
    for (std::int64_t j = 0; j < w.count; ++j) normalise_one(w, r, j);
}

#else

void Normalise(const RawWeights& w) {
  using D = hn::ScalableTag<double>;
  constexpr D d;
  constexpr std::int64_t lanes = hn::MaxLanes(D());
  const auto from = [&](std::int64_t i, std::int64_t r, std::int64_t j) {
    return w.terms[i].from + r * w.terms[i].pitch + j;
  };
  for (std::int64_t r = 0; r < w.rows; ++r) {
    std::int64_t j = 0;
    for (; j + lanes <= w.count; j += lanes) {
      auto sum = hn::LoadU(d, from(0, r, j));
      for (std::int64_t i = 1; i < w.terms_count; ++i) sum = hn::Add(sum, hn::LoadU(d, from(i, r, j)));
      const auto one = hn::Set(d, 1);
      const auto inverse = hn::Div(one, hn::IfThenElse(hn::Eq(sum, hn::Zero(d)), one, sum));
      for (std::int64_t i = 0; i < w.terms_count; ++i)
        hn::StoreU(hn::Mul(hn::LoadU(d, from(i, r, j)), inverse), d, w.to + i * w.term_pitch + r * w.count + j);
    }
    for (; j < w.count; ++j) normalise_one(w, r, j);
  }
}

/// The number of vectors that are made together, so that the addresses and weights of a term are looked up once for all of them.
constexpr int vectors_of_block = 4;

template <class T>
HWY_INLINE T* row_of(const BlendRows& b, std::int64_t r) {
  return reinterpret_cast<T*>(b.dst + r * b.pitch);
}

/// Calls block(j, number) for groups of `number` vectors that cover a row, where j is the first element of a group and `number` is
/// a constant: vectors_of_block or 1. The last group may overlap the group before it. `count` must be at least `lanes`.
template <class Block>
HWY_INLINE void each_block(std::int64_t count, std::int64_t lanes, const Block& block) {
  std::int64_t j = 0;
  for (; j + vectors_of_block * lanes <= count; j += vectors_of_block * lanes)
    block(j, std::integral_constant<int, vectors_of_block>());
  for (; j < count; j += lanes) block(std::min(j, count - lanes), std::integral_constant<int, 1>());
}

template <class T>
HWY_INLINE const T* elements_of(const BlendTerm& term, std::int64_t r, std::int64_t j) {
  return reinterpret_cast<const T*>(term.elements + r * term.pitch) + j;
}
HWY_INLINE double scale_of(const BlendTerm& term, std::int64_t r) {
  return term.scales ? term.scale * term.scales[r] : term.scale;
}
template <class T>
HWY_INLINE void fetch(const T* elements, const BlendTerm& term, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += line_bytes)
    hwy::Prefetch(reinterpret_cast<const std::byte*>(elements) + i + term.ahead);
}

/// Makes weighted sums in float64, and stores them as elements of type To, which is From or double.
template <class From, class To>
struct Weighted {
  using D = hn::ScalableTag<double>;
  using V = hn::Vec<D>;
  using Type = Elements<From, D>;
  using Raw = typename Type::Raw;
  using RawV = hn::Vec<hn::Rebind<Raw, D> >;
  using Bits = hwy::MakeUnsigned<Raw>;
  using Out = typename Elements<To, D>::Raw;
  static constexpr std::int64_t lanes = hn::MaxLanes(D());

  /// Writes `vectors` vectors of row r to dst, beginning with element j.
  template <int vectors, bool past_cache>
  static HWY_INLINE void block(const BlendRows& b, Out* dst, std::int64_t r, std::int64_t j, bool keep_equal) {
    const D d;
    const hn::Rebind<Raw, D> from;
    const hn::Rebind<Bits, D> bits;
    V sums[vectors];
    RawV firsts[vectors];
    hn::Vec<decltype(bits)> differences[vectors];
    const auto add = [&](const BlendTerm& term, auto is_first) HWY_ATTR {
      const Raw* elements = elements_of<Raw>(term, r, j);
      const double* weights = term.weights + r * term.weights_pitch + j;
      const auto scale = hn::Set(d, scale_of(term, r));
      fetch(elements, term, vectors * lanes * static_cast<std::int64_t>(sizeof(Raw)));
      PATCHFOLD_EACH for (int v = 0; v < vectors; ++v) {
        const auto raw = hn::LoadU(from, elements + v * lanes);
        const auto weight = hn::Mul(scale, hn::LoadU(d, weights + v * lanes));
        const auto product = hn::Mul(Type::widen(raw), weight);
        if constexpr (is_first()) {
          sums[v] = product;
          firsts[v] = raw;
          differences[v] = hn::Set(bits, keep_equal ? Bits{0} : Bits{1});
        } else {
          sums[v] = hn::Add(sums[v], product);
          differences[v] = hn::Or(differences[v], hn::Xor(hn::BitCast(bits, raw), hn::BitCast(bits, firsts[v])));
        }
      }
    };
    add(b.terms[0], std::true_type());
    for (std::int64_t i = 1; i < b.terms_count; ++i) add(b.terms[i], std::false_type());
    PATCHFOLD_EACH for (int v = 0; v < vectors; ++v) {
      V sum = sums[v];
      // The compiler chooses the order of operands, which decides sign and payload of a computed NaN; the quiet NaN replaces
      // such a NaN.
      if constexpr (Type::is_float)
        sum = hn::IfThenElse(hn::Eq(sum, sum), sum, hn::Set(d, std::numeric_limits<double>::quiet_NaN()));
      if constexpr (std::is_same_v<From, To>) {
        const auto is_equal = hn::RebindMask(from, hn::Eq(differences[v], hn::Zero(bits)));
        const auto result = hn::IfThenElse(is_equal, firsts[v], Type::narrow(sum));
        if constexpr (past_cache)
          hn::Stream(result, from, dst + v * lanes);
        else
          hn::StoreU(result, from, dst + v * lanes);
      } else {
        const hn::Rebind<std::uint64_t, D> wide;
        const auto is_equal = hn::RebindMask(d, hn::Eq(widen_bits(wide, differences[v]), hn::Zero(wide)));
        V first = Type::widen(firsts[v]);
        // NaNs of small types keep only their sign, as in base/small_float.hpp.
        if constexpr (SmallFloat<From>)
          first = hn::IfThenElse(hn::Eq(first, first), first,
                                 hn::CopySign(hn::Set(d, std::numeric_limits<double>::quiet_NaN()), first));
        hn::StoreU(hn::IfThenElse(is_equal, first, sum), d, dst + v * lanes);
      }
    }
  }

  template <bool past_cache>
  static HWY_INLINE void row(const BlendRows& b, std::int64_t r, bool keep_equal) {
    Out* dst = row_of<Out>(b, r);
    each_block(b.count, lanes,
               [&](std::int64_t j, auto number) { block<number(), past_cache>(b, dst + j, r, j, keep_equal); });
  }
  static void rows(const BlendRows& b, bool keep_equal) {
    if (b.count < lanes) return weighted_rows_scalar(Type::dtype, Elements<To, D>::dtype, keep_equal)(b);
    for (std::int64_t r = 0; r < b.rows; ++r) row<false>(b, r, keep_equal);
  }
};

/// Makes one step of means of float32. Vectors never overlap, since dst is read and written.
template <Fold step, bool is_short>
struct Folding {
  using D = hn::ScalableTag<double>;
  using Words = hn::RebindToUnsigned<D>;
  using Half = hn::Rebind<std::uint32_t, D>;
  using Low = std::conditional_t<is_short, std::uint16_t, std::uint32_t>;
  using Lows = hn::Rebind<Low, D>;
  using Type = Elements<float, D>;
  static constexpr std::int64_t lanes = hn::MaxLanes(D());
  static constexpr bool has_sums = step == Fold::add || step == Fold::finish;
  static constexpr bool makes_elements = step == Fold::finish || step == Fold::whole;

  static HWY_INLINE hn::Vec<Words> load_low(const Low* low) {
    const auto lower = hn::LoadU(Lows(), low);
    if constexpr (is_short) return hn::ShiftLeft<16>(hn::PromoteTo(Words(), hn::PromoteTo(Half(), lower)));
    if constexpr (!is_short) return hn::PromoteTo(Words(), lower);
  }
  static HWY_INLINE hn::Vec<D> to_48_bits(hn::Vec<D> number) {
    const auto bits = hn::BitCast(Words(), number);
    const auto half = hn::Add(hn::And(hn::ShiftRight<16>(bits), hn::Set(Words(), 1)), hn::Set(Words(), 0x7fff));
    return hn::BitCast(D(), hn::And(hn::Add(bits, half), hn::Set(Words(), ~std::uint64_t{0xffff})));
  }

  template <int vectors>
  static HWY_INLINE void block(const BlendRows& b, std::int64_t r, std::int64_t j) {
    const D d;
    auto* dst = row_of<std::uint32_t>(b, r) + j;
    Low* low = step == Fold::whole ? nullptr : reinterpret_cast<Low*>(b.low + r * b.low_pitch) + j;
    hn::Vec<D> sums[vectors];
    if constexpr (has_sums) PATCHFOLD_EACH for (int v = 0; v < vectors; ++v) {
        const auto upper = hn::ShiftLeft<32>(hn::PromoteTo(Words(), hn::LoadU(Half(), dst + v * lanes)));
        sums[v] = hn::BitCast(d, hn::Or(upper, load_low(low + v * lanes)));
      }
    const auto add = [&](const BlendTerm& term, auto is_first, bool is_last) HWY_ATTR {
      const float* elements = elements_of<float>(term, r, j);
      const double* weights = term.weights + r * term.weights_pitch + j;
      const auto scale = hn::Set(d, scale_of(term, r));
      fetch(elements, term, vectors * lanes * static_cast<std::int64_t>(sizeof(float)));
      PATCHFOLD_EACH for (int v = 0; v < vectors; ++v) {
        const auto value = Type::widen(hn::LoadU(hn::Rebind<float, D>(), elements + v * lanes));
        const auto product = hn::Mul(value, hn::Mul(scale, hn::LoadU(d, weights + v * lanes)));
        sums[v] = is_first() ? product : hn::Add(sums[v], product);
        if (is_short && !is_first() && !(makes_elements && is_last)) sums[v] = to_48_bits(sums[v]);
      }
    };
    add(b.terms[0], std::bool_constant<!has_sums>(), b.terms_count == 1);
    for (std::int64_t i = 1; i < b.terms_count; ++i) add(b.terms[i], std::false_type(), i + 1 == b.terms_count);
    if constexpr (is_short && makes_elements)
      if (b.inverse != nullptr) PATCHFOLD_EACH for (int v = 0; v < vectors; ++v)
          sums[v] = hn::Mul(sums[v], hn::LoadU(d, b.inverse + r * b.inverse_pitch + j + v * lanes));
    // The bits of a NaN depend on whether all elements are equal, so vectors with NaNs are made element by element.
    PATCHFOLD_EACH for (int v = 0; v < vectors; ++v) {
      if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Eq(sums[v], sums[v])))) {
        for (std::int64_t lane = 0; lane < lanes; ++lane) fold_one(step, is_short, b, r, j + v * lanes + lane);
        continue;
      }
      if constexpr (makes_elements) {
        hn::StoreU(hn::BitCast(Half(), Type::narrow(sums[v])), Half(), dst + v * lanes);
      } else {
        const auto bits = hn::BitCast(Words(), sums[v]);
        hn::StoreU(hn::TruncateTo(Half(), hn::ShiftRight<32>(bits)), Half(), dst + v * lanes);
        hn::StoreU(hn::TruncateTo(Lows(), hn::ShiftRight<is_short ? 16 : 0>(bits)), Lows(), low + v * lanes);
      }
    }
  }

  static void rows(const BlendRows& b) {
    for (std::int64_t r = 0; r < b.rows; ++r) {
      std::int64_t j = 0;
      for (; j + vectors_of_block * lanes <= b.count; j += vectors_of_block * lanes) block<vectors_of_block>(b, r, j);
      for (; j + lanes <= b.count; j += lanes) block<1>(b, r, j);
      for (; j < b.count; ++j) fold_one(step, is_short, b, r, j);
    }
  }
};

template <bool is_short>
Blend folding_rows_of(Fold step) {
  constexpr Blend rows[] = {&Folding<Fold::begin, is_short>::rows, &Folding<Fold::add, is_short>::rows,
                            &Folding<Fold::finish, is_short>::rows, &Folding<Fold::whole, is_short>::rows};
  return rows[static_cast<int>(step)];
}
Blend FoldingRowsOf(Fold step, bool is_short) {
  return is_short ? folding_rows_of<true>(step) : folding_rows_of<false>(step);
}

/// Makes means of 8-bit elements: sums of float32, or of float64 if a float32 sum is too near to the middle between two
/// integers.
template <class From>
struct Means8 {
  using D = hn::ScalableTag<float>;
  using V = hn::Vec<D>;
  using Type = Elements<From, D>;
  using Raw = typename Type::Raw;
  static constexpr std::int64_t lanes = hn::MaxLanes(D());
  static constexpr std::int64_t most_terms = 256;

  template <int vectors>
  static HWY_INLINE void block(const BlendRows& b, std::int64_t r, std::int64_t j) {
    const D d;
    const hn::Rebind<Raw, D> from;
    V sums[vectors];
    hn::Vec<decltype(from)> seen[vectors];
    const auto add = [&](const BlendTerm& term, auto is_first) HWY_ATTR {
      const Raw* elements = elements_of<Raw>(term, r, j);
      const auto scale = hn::Set(d, static_cast<float>(scale_of(term, r)));
      fetch(elements, term, vectors * lanes);
      PATCHFOLD_EACH for (int v = 0; v < vectors; ++v) {
        const auto raw = hn::LoadU(from, elements + v * lanes);
        const auto weight = hn::Mul(scale, hn::LoadU(d, term.rough + j + v * lanes));
        const auto product = hn::Mul(Type::widen(raw), weight);
        sums[v] = is_first() ? product : hn::Add(sums[v], product);
        if constexpr (std::is_same_v<From, Boolean>) seen[v] = is_first() ? raw : hn::Or(seen[v], raw);
      }
    };
    add(b.terms[0], std::true_type());
    for (std::int64_t i = 1; i < b.terms_count; ++i) add(b.terms[i], std::false_type());
    // A product of a scale, a weight and an element is rounded four times, and the sum of m products m - 1 times more. The weights
    // of an element add up to 1. So a sum differs by less than (m + 4) * 2^-24 * 2^8 from the sum in float64.
    const auto limit = hn::Set(d, 0.5F - static_cast<float>(b.terms_count + 4) * 0x1p-16F);
    Raw* dst = row_of<Raw>(b, r) + j;
    // The sum of `magic` and a number below 2^22 has the nearest whole number in its low bits.
    const auto magic = hn::Set(d, 0x1.8p23F);
    V rests[vectors];
    V worst = hn::Zero(d);
    PATCHFOLD_EACH for (int v = 0; v < vectors; ++v) {
      const auto moved = hn::Add(sums[v], magic);
      rests[v] = hn::Abs(hn::Sub(sums[v], hn::Sub(moved, magic)));
      // If all elements are equal, the result has their bits. Only booleans have several bit patterns for one number.
      if constexpr (std::is_same_v<From, Boolean>)
        rests[v] = hn::IfThenElse(hn::Gt(Elements<std::uint8_t, D>::widen(seen[v]), hn::Set(d, 1)), magic, rests[v]);
      worst = hn::Max(worst, rests[v]);
      const hn::RebindToUnsigned<D> words;
      const auto bytes = hn::U8FromU32(hn::And(hn::BitCast(words, moved), hn::Set(words, 0xff)));
      hn::StoreU(hn::BitCast(from, bytes), from, dst + v * lanes);
    }
    if (HWY_LIKELY(hn::AllTrue(d, hn::Lt(worst, limit)))) return;
    PATCHFOLD_EACH for (int v = 0; v < vectors; ++v) if (!hn::AllTrue(d, hn::Lt(rests[v], limit)))
        exact(b, r, j + v * lanes);
  }

  static HWY_NOINLINE void exact(const BlendRows& b, std::int64_t r, std::int64_t j) {
    using Exact = Weighted<From, From>;
    Raw* dst = row_of<Raw>(b, r) + j;
    for (std::int64_t v = 0; v < lanes; v += Exact::lanes) Exact::template block<1, false>(b, dst + v, r, j + v, true);
  }

  static void rows(const BlendRows& b, bool keep_equal) {
    if (b.terms[0].rough == nullptr || !keep_equal || b.count < lanes || b.terms_count > most_terms)
      return Weighted<From, From>::rows(b, keep_equal);
    for (std::int64_t r = 0; r < b.rows; ++r)
      each_block(b.count, lanes, [&](std::int64_t j, auto number) { block<number()>(b, r, j); });
  }
};

/// Makes sums in float64 and stores them as float32.
template <class From>
void rows_to_float(const BlendRows& b, bool keep_equal) {
  using D = hn::ScalableTag<double>;
  constexpr std::int64_t lanes = hn::MaxLanes(D());
  constexpr std::int64_t part = 128;
  if (b.count < lanes) return weighted_rows_scalar(Elements<From, D>::dtype, DType::float32, keep_equal)(b);
  alignas(64) double sums[part];
  for (std::int64_t r = 0; r < b.rows; ++r)
    for (std::int64_t done = 0; done < b.count; done += part) {
      // The last part has at least one vector: a shorter part begins earlier and overlaps the previous one.
      const std::int64_t begin = std::min(done, b.count - lanes);
      const std::int64_t count = std::min(part, b.count - begin);
      using Exact = Weighted<From, double>;
      each_block(count, lanes, [&](std::int64_t j, auto number) {
        Exact::template block<number(), false>(b, sums + j, r, begin + j, keep_equal);
      });
      float* dst = row_of<float>(b, r) + begin;
      each_block(count, lanes, [&](std::int64_t j, auto number) {
        for (int v = 0; v < number(); ++v)
          hn::StoreU(Elements<float, D>::narrow(hn::LoadU(D(), sums + j + v * lanes)), hn::Rebind<float, D>(),
                     dst + j + v * lanes);
      });
    }
}

template <auto kernel>
Blend keeping(bool keep_equal) {
  if (keep_equal) return [](const BlendRows& b) { kernel(b, true); };
  return [](const BlendRows& b) { kernel(b, false); };
}

template <class T>
Blend rows_of(DType from, DType to, bool keep_equal) {
  if (to == DType::float64) return keeping<&Weighted<T, double>::rows>(keep_equal);
  if constexpr (sizeof(T) == 1)
    if (from == to) return keeping<&Means8<T>::rows>(keep_equal);
  if constexpr (sizeof(T) > 1)
    if (from == to) return keeping<&Weighted<T, T>::rows>(keep_equal);
  if (to == DType::float32) return keeping<&rows_to_float<T> >(keep_equal);
  return nullptr;
}

Blend RowsOf(DType from, DType to, bool keep_equal) {
  return visit_held(from, [&]<class T>(std::type_identity<T>) -> Blend {
    if constexpr (HasElements<T>)
      return rows_of<T>(from, to, keep_equal);
    else
      return nullptr;
  });
}

template <class T>
void lines(const BlendRows& b, bool keep_equal) {
  for (std::int64_t r = 0; r < b.rows; ++r) Weighted<T, T>::template row<true>(b, r, keep_equal);
}

template <class T>
Blend lines_of(bool keep_equal) {
  // A store past the cache writes at least 16 bytes.
  if constexpr (Weighted<T, T>::lanes * sizeof(T) < 16)
    return nullptr;
  else
    return keeping<&lines<T> >(keep_equal);
}

Blend LinesOf(DType dtype, bool keep_equal) {
  return dtype == DType::float32   ? lines_of<float>(keep_equal)
         : dtype == DType::float64 ? lines_of<double>(keep_equal)
                                   : nullptr;
}

#endif

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace patchfold::kernels {

HWY_EXPORT(RowsOf);
HWY_EXPORT(LinesOf);
HWY_EXPORT(FoldingRowsOf);
HWY_EXPORT(Normalise);

Blend weighted_lines(DType dtype, bool keep_equal) noexcept {
  return HWY_DYNAMIC_DISPATCH(LinesOf)(dtype, keep_equal);
}

Blend weighted_rows(DType from, DType to, bool keep_equal) noexcept {
  const Blend rows = HWY_DYNAMIC_DISPATCH(RowsOf)(from, to, keep_equal);
  return rows ? rows : weighted_rows_scalar(from, to, keep_equal);
}

Blend folding_rows(Fold step, bool is_short) noexcept {
  return HWY_DYNAMIC_DISPATCH(FoldingRowsOf)(step, is_short);
}

HWY_EXPORT(target);

void normalise(const RawWeights& weights) noexcept {
  HWY_DYNAMIC_DISPATCH(Normalise)(weights);
}

const char* blend_target() noexcept {
  return HWY_DYNAMIC_DISPATCH(target)();
}

}  // namespace patchfold::kernels
#endif
