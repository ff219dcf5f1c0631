// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/extract_map.cpp"
#include "kernels/extract_map.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "kernels/blocks-inl.hpp"
#include "kernels/targets-inl.hpp"
#include "kernels/targets.hpp"
#include "tensor/held.hpp"

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The destination of columns. Columns that are written past the cache are first put together in a buffer, at their offsets within
/// lines, and then written as whole lines. A line is written some time after it was put together: by then its bytes are in the
/// cache, so no load waits, and stores to memory never pause.
class Columns {
 public:
  static constexpr std::int64_t most = 2048;  ///< bytes of one piece

  explicit Columns(const ExtractMaps& maps) : at_(maps.dst), end_(maps.dst_end), is_past_(maps.store == Store::past_cache) {
    if (!is_past_) return;
    held_ = begin_ = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at_) % line_bytes);
    at_ -= begin_;
  }

  /// Returns the address for the next `bytes` bytes, at most `most`; the caller may write one vector beyond them.
  HWY_INLINE std::byte* next(std::int64_t bytes) {
    if (is_past_) return buffer_ + held_;
    return end_ - at_ >= bytes + line_bytes ? at_ : buffer_;
  }
  HWY_INLINE void advance(std::int64_t bytes) {
    if (is_past_) {
      held_ += bytes;
      if (held_ - left_ >= lag + line_bytes) write_lines((held_ - lag) / line_bytes * line_bytes);
      if (held_ > size - most - line_bytes) restart();
      return;
    }
    if (end_ - at_ < bytes + line_bytes) std::memcpy(at_, buffer_, static_cast<std::size_t>(bytes));
    at_ += bytes;
  }
  void finish() {
    if (!is_past_) return;
    restart();
    if (held_ > begin_) std::memcpy(at_ + begin_, buffer_ + begin_, static_cast<std::size_t>(held_ - begin_));
  }

 private:
  static constexpr std::int64_t lag = 1024, size = 3 * most + lag;

  /// Writes the lines of the buffer up to the offset `until`. Bytes at the beginning of the first line may belong to other data,
  /// and are not written.
  HWY_NOINLINE void write_lines(std::int64_t until) {
    if (begin_ > 0 && until > left_) {
      std::memcpy(at_ + begin_, buffer_ + begin_, static_cast<std::size_t>(line_bytes - begin_));
      begin_ = 0;
      left_ += line_bytes;
    }
    const hn::CappedTag<std::uint8_t, line_bytes> d;
    constexpr auto step = static_cast<std::int64_t>(hn::MaxLanes(d));
    for (; left_ < until; left_ += line_bytes)
      for (std::int64_t i = 0; i < line_bytes; i += step)
        hn::Stream(hn::Load(d, reinterpret_cast<const std::uint8_t*>(buffer_ + left_ + i)), d,
                   reinterpret_cast<std::uint8_t*>(at_ + left_ + i));
  }

  /// Writes all whole lines, and moves the rest of the buffer to its front.
  HWY_NOINLINE void restart() {
    write_lines(held_ / line_bytes * line_bytes);
    if (left_ == 0) return;
    std::memcpy(buffer_, buffer_ + left_, line_bytes);
    at_ += left_;
    held_ -= left_;
    left_ = 0;
  }

  alignas(64) std::byte buffer_[size + line_bytes];
  std::byte* at_;  // past the cache: the destination of the buffer's first byte
  std::byte* end_;
  bool is_past_;
  std::int64_t begin_ = 0;  // bytes of the buffer's first line that belong to other data
  std::int64_t held_ = 0;   // bytes in the buffer
  std::int64_t left_ = 0;   // bytes of the buffer that are written
};

template <class T>
struct ExtractMapOf {
#if HWY_TARGET == HWY_SCALAR
  static constexpr std::int64_t lanes = 4, mask_bytes = 1;
  static constexpr std::int64_t bytes = lanes * static_cast<std::int64_t>(sizeof(T));

  struct Vector {
    T lane[lanes];
  };
  using Mask = std::uint8_t;
  static Vector load(const std::byte* at) {
    Vector v;
    std::memcpy(&v, at, sizeof v);
    return v;
  }
  static Mask mask_at(const std::uint8_t* at) {
    return *at;
  }
  static Vector masked(Mask mask, Vector v, const Vector& fill) {
    for (int i = 0; i < lanes; ++i)
      if ((mask >> i & 1) == 0) v.lane[i] = fill.lane[i];
    return v;
  }
  static void store(const Vector& v, std::byte* to) {
    std::memcpy(to, &v, sizeof v);
  }
#else
  using D = hn::CappedTag<T, line_bytes / sizeof(T)>;
  using Vector = hn::Vec<D>;
  using Mask = hn::Mask<D>;
  static constexpr std::int64_t lanes = hn::MaxLanes(D());
  static constexpr std::int64_t bytes = lanes * static_cast<std::int64_t>(sizeof(T));
  static constexpr std::int64_t mask_bytes = lanes < 8 ? 1 : lanes / 8;

  static HWY_INLINE Vector load(const std::byte* at) {
    return hn::LoadU(D(), reinterpret_cast<const T*>(at));
  }
  static HWY_INLINE Mask mask_at(const std::uint8_t* at) {
    return hn::LoadMaskBits(D(), at);
  }
  static HWY_INLINE Vector masked(Mask mask, Vector v, Vector fill) {
    return hn::IfThenElse(mask, v, fill);
  }
  static HWY_INLINE void store(Vector v, std::byte* to) {
    hn::StoreU(v, D(), reinterpret_cast<T*>(to));
  }
#endif

  /// Loads a vector, but reads only its bytes in [begin, end).
  static Vector load_in(const ExtractMaps& maps, const std::byte* at) {
    return load_within<bytes>(at, maps.begin, maps.end, [](const std::byte* from) HWY_ATTR { return load(from); });
  }

  static HWY_NOINLINE void fill_bytes(std::int64_t left, Vector fill, Columns& columns) {
    while (left > 0) {
      const std::int64_t here = std::min(left, Columns::most);
      std::byte* to = columns.next(here);
      for (std::int64_t i = 0; i < here; i += bytes) store(fill, to + i);
      columns.advance(here);
      left -= here;
    }
  }

  /// Returns whether whole vectors of the rows reach beyond the readable bytes.
  static bool reaches_edge(const ExtractStep& step, const std::byte* at, const ExtractMaps& maps) {
    const std::int64_t last = (step.rows - 1) * step.pitch, width = (step.row_bytes + bytes - 1) / bytes * bytes;
    return maps.begin - at > std::min<std::int64_t>(0, last) || maps.end - at < std::max<std::int64_t>(0, last) + width;
  }

  static HWY_NOINLINE void copy_at_edge(const ExtractStep& step, const std::byte* at, const std::uint8_t* masks, Vector fill,
                                        const ExtractMaps& maps, Columns& columns) {
    for (std::int64_t row = 0; row < step.rows; ++row, at += step.pitch)
      for (std::int64_t i = 0; i < step.row_bytes; i += bytes) {
        const Vector v = load_in(maps, at + i);
        const std::int64_t here = std::min(bytes, step.row_bytes - i);
        store(masks == nullptr ? v : masked(mask_at(masks + i / bytes * mask_bytes), v, fill), columns.next(here));
        columns.advance(here);
      }
  }

  /// Copies rows of a few vectors; the last vector may be partial.
  template <int vectors, bool is_masked>
  static HWY_NOINLINE void copy_short(const ExtractStep& step, const std::byte* at, const std::uint8_t* masks, Vector fill,
                                      Columns& columns) {
    if (step.rows == 1) {
      std::byte* to = columns.next(step.row_bytes);
      PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v) {
        const Vector value = load(at + v * bytes);
        store(is_masked ? masked(mask_at(masks + v * mask_bytes), value, fill) : value, to + v * bytes);
      }
      columns.advance(step.row_bytes);
      return;
    }
    Mask mask[vectors];
    PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v) mask[v] = mask_at(is_masked ? masks + v * mask_bytes : no_mask);
    each_row(step, at, columns, [&](const std::byte* from, std::byte* to) HWY_ATTR {
      PATCHFOLD_UNROLL for (int v = 0; v < vectors; ++v) {
        const Vector value = load(from + v * bytes);
        store(is_masked ? masked(mask[v], value, fill) : value, to + v * bytes);
      }
    });
  }

#if HWY_TARGET != HWY_SCALAR
  /// Copies rows that fit into the lower half or quarter of a vector, by stores of this size: shorter stores cross lines less
  /// often.
  template <class Part, bool is_masked>
  static HWY_NOINLINE void copy_narrow(const ExtractStep& step, const std::byte* at, const std::uint8_t* masks,
                                       hn::Vec<Part> fill, Columns& columns) {
    const Part d;
    const auto mask = hn::LoadMaskBits(d, is_masked ? masks : no_mask);
    each_row(step, at, columns, [&](const std::byte* from, std::byte* to) HWY_ATTR {
      const auto value = hn::LoadU(d, reinterpret_cast<const T*>(from));
      hn::StoreU(is_masked ? hn::IfThenElse(mask, value, fill) : value, d, reinterpret_cast<T*>(to));
    });
  }
#endif

  /// Calls copy(from, to) for each row of a step.
  template <class Copy>
  static HWY_INLINE void each_row(const ExtractStep& step, const std::byte* at, Columns& columns, Copy&& copy) {
    const std::int64_t pitch = step.pitch, row_bytes = step.row_bytes;
    const std::int64_t most = step.rows * row_bytes <= Columns::most ? step.rows : Columns::most / row_bytes;
    for (std::int64_t rows = step.rows; rows > 0;) {
      const std::int64_t here = std::min(rows, most);
      std::byte* to = columns.next(here * row_bytes);
      for (std::int64_t row = 0; row < here; ++row, at += pitch, to += row_bytes) copy(at, to);
      columns.advance(here * row_bytes);
      rows -= here;
    }
  }

  template <bool is_masked>
  static HWY_INLINE void copy(const ExtractStep& step, const std::byte* at, const std::uint8_t* masks, Vector fill,
                              Columns& columns) {
#if HWY_TARGET != HWY_SCALAR
    if constexpr (bytes >= 32) {
      using Half = hn::Half<D>;
      using Quarter = hn::Half<Half>;
      const auto half = hn::LowerHalf(Half(), fill);
      if (step.rows > 1 && step.row_bytes <= bytes / 4)
        return copy_narrow<Quarter, is_masked>(step, at, masks, hn::LowerHalf(Quarter(), half), columns);
      if (step.rows > 1 && step.row_bytes <= bytes / 2)
        return copy_narrow<Half, is_masked>(step, at, masks, half, columns);
    }
#endif
    switch ((step.row_bytes + bytes - 1) / bytes) {
      case 1: return copy_short<1, is_masked>(step, at, masks, fill, columns);
      case 2: return copy_short<2, is_masked>(step, at, masks, fill, columns);
      case 4: return copy_short<4, is_masked>(step, at, masks, fill, columns);
      default: return copy_long<is_masked>(step, at, masks, fill, columns);
    }
  }

  template <bool is_masked>
  static HWY_NOINLINE void copy_long(const ExtractStep& step, const std::byte* at, const std::uint8_t* masks, Vector fill,
                                     Columns& columns) {
    for (std::int64_t row = 0; row < step.rows; ++row, at += step.pitch)
      for (std::int64_t i = 0; i < step.row_bytes; i += Columns::most) {
        const std::int64_t here = std::min(Columns::most, step.row_bytes - i);
        std::byte* to = columns.next(here);
        const std::byte* from = at + i;
        const std::uint8_t* lanes_of = masks + i / bytes * mask_bytes;
        for (std::int64_t k = 0; k < here; k += bytes, lanes_of += mask_bytes)
          store(is_masked ? masked(mask_at(lanes_of), load(from + k), fill) : load(from + k), to + k);
        columns.advance(here);
      }
  }

  static void extract(const ExtractProgram& program, const ExtractMaps& maps) {
    const Vector fill = load(maps.fill->data());
    Columns columns(maps);
    const std::byte* map = maps.src;
    for (std::int64_t k = 0; k < maps.count; ++k, map += maps.src_step) {
      const bool is_inside = maps.begin - map <= program.low && maps.end - map >= program.high;
      for (const ExtractStep& step : program.steps) {
        const std::byte* at = map + step.offset;
        if (step.masks == ExtractStep::none)
          fill_bytes(step.rows * step.row_bytes, fill, columns);
        else if (!is_inside && reaches_edge(step, at, maps))
          copy_at_edge(step, at, step.masks < 0 ? nullptr : program.masks + step.masks, fill, maps, columns);
        else if (step.masks < 0)
          copy<false>(step, at, no_mask, fill, columns);
        else
          copy<true>(step, at, program.masks + step.masks, fill, columns);
      }
    }
    columns.finish();
    if (maps.store == Store::past_cache) finish_stores();
  }

  static constexpr std::uint8_t no_mask[16] = {};
  static constexpr ExtractMapKernel kernel{lanes, sizeof(T), mask_bytes, extract};
};

/// Returns whether this build holds elements of one T, or of two T of 8 bytes each.
template <class T>
consteval bool holds_lanes() {
  constexpr std::size_t size = sizeof(T);
  return std::ranges::any_of(dtypes(), [](DType dtype) {
    return holds(dtype) && (size_of(dtype) == 0 || size_of(dtype) == size || (size == 8 && size_of(dtype) == 16));
  });
}

template <class T>
const ExtractMapKernel* kernel_if_held() {
  if constexpr (holds_lanes<T>())
    return &ExtractMapOf<T>::kernel;
  else
    return nullptr;
}

const ExtractMapKernel* ExtractMapKernelOf(std::int64_t lane_size) {
  switch (lane_size) {
    case 1: return kernel_if_held<std::uint8_t>();
    case 2: return kernel_if_held<std::uint16_t>();
    case 4: return kernel_if_held<std::uint32_t>();
    default: return kernel_if_held<std::uint64_t>();
  }
}

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace patchfold::kernels {

HWY_EXPORT(ExtractMapKernelOf);

const ExtractMapKernel* extract_map_kernel(std::int64_t lane_size) noexcept {
  return HWY_DYNAMIC_DISPATCH(ExtractMapKernelOf)(lane_size);
}

HWY_EXPORT(target);

const char* extract_map_target() noexcept {
  return HWY_DYNAMIC_DISPATCH(target)();
}

}  // namespace patchfold::kernels
#endif
