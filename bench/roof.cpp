// SPDX-License-Identifier: Apache-2.0
#include "bench/roof.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/roof.cpp"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace patchfold::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<std::uint64_t>;
using V = hn::Vec<D>;

constexpr std::size_t line = 64;

/// Adds up the whole cache lines of a range and returns the sum, so that the compiler keeps all loads. The loop keeps four
/// sums, so that an addition need not wait for the one before it.
template <bool prefetched>
V read_range(const std::byte* at, std::size_t bytes, std::size_t ahead, V sum) {
  const D d;
  const std::size_t step = hn::Lanes(d) * sizeof(std::uint64_t);
  V second = hn::Zero(d), third = hn::Zero(d), fourth = hn::Zero(d);
  const auto load = [&](std::size_t offset) { return hn::Load(d, reinterpret_cast<const std::uint64_t*>(at + offset)); };
  std::size_t i = 0;
  for (; i + 4 * line <= bytes; i += 4 * line) {
    if constexpr (prefetched)
      for (std::size_t k = 0; k < 4; ++k) hwy::Prefetch(at + i + ahead + k * line);
    for (std::size_t k = 0; k < 4 * line; k += 4 * step) {
      sum = hn::Add(sum, load(i + k));
      second = hn::Add(second, load(i + k + step));
      third = hn::Add(third, load(i + k + 2 * step));
      fourth = hn::Add(fourth, load(i + k + 3 * step));
    }
  }
  for (; i < bytes; i += step) sum = hn::Add(sum, load(i));
  return hn::Add(hn::Add(sum, second), hn::Add(third, fourth));
}

template <bool past_cache>
void write_range(std::byte* at, std::size_t bytes) {
  const D d;
  const std::size_t step = hn::Lanes(d) * sizeof(std::uint64_t);
  const V value = hn::Set(d, 0x3f8000003f800000u);
  for (std::size_t i = 0; i < bytes; i += step) {
    auto* to = reinterpret_cast<std::uint64_t*>(at + i);
    if constexpr (past_cache)
      hn::Stream(value, d, to);
    else
      hn::Store(value, d, to);
  }
}

/// Returns the offset, a whole number of cache lines, at which part `i` of `count` begins.
std::size_t cut(std::size_t bytes, std::size_t i, std::size_t count) {
  return static_cast<std::size_t>(static_cast<unsigned __int128>(bytes / line) * i / count) * line;
}

template <bool past_cache, bool prefetched>
std::uint64_t stream_part(const Streaming& way, const std::byte* read, std::size_t read_bytes, std::byte* written,
                          std::size_t write_bytes) {
  const auto streams = static_cast<std::size_t>(way.streams);
  const std::size_t in = cut(read_bytes, 1, streams);
  const std::size_t out = cut(write_bytes, 1, streams);
  const std::size_t steps = std::max<std::size_t>(1, (std::max(in, out) + way.step - 1) / way.step);
  V sum = hn::Zero(D());
  for (std::size_t step = 0; step < steps; ++step) {
    const std::size_t read_from = cut(in, step, steps), read_to = cut(in, step + 1, steps);
    const std::size_t write_from = cut(out, step, steps), write_to = cut(out, step + 1, steps);
    for (std::size_t s = 0; s < streams; ++s) {
      sum = read_range<prefetched>(read + s * in + read_from, read_to - read_from, way.prefetch, sum);
      write_range<past_cache>(written + s * out + write_from, write_to - write_from);
    }
  }
  // Streams the bytes that are left after the last of the `streams` equal parts.
  sum = read_range<false>(read + streams * in, cut(read_bytes, 1, 1) - streams * in, 0, sum);
  write_range<past_cache>(written + streams * out, cut(write_bytes, 1, 1) - streams * out);
  if (past_cache) hwy::FlushStream();
  return hn::GetLane(hn::SumOfLanes(D(), sum));
}

std::uint64_t StreamPart(const Streaming& way, const std::byte* read, std::size_t read_bytes, std::byte* written,
                         std::size_t write_bytes) {
  if (way.past_cache)
    return way.prefetch ? stream_part<true, true>(way, read, read_bytes, written, write_bytes)
                        : stream_part<true, false>(way, read, read_bytes, written, write_bytes);
  return way.prefetch ? stream_part<false, true>(way, read, read_bytes, written, write_bytes)
                      : stream_part<false, false>(way, read, read_bytes, written, write_bytes);
}

void CopyPart(const std::byte* from, std::byte* to, std::size_t bytes) {
  const D d;
  const std::size_t step = hn::Lanes(d) * sizeof(std::uint64_t);
  for (std::size_t i = 0; i < bytes; i += line)
    for (std::size_t k = 0; k < line; k += step)
      hn::Stream(hn::Load(d, reinterpret_cast<const std::uint64_t*>(from + i + k)), d,
                 reinterpret_cast<std::uint64_t*>(to + i + k));
  hwy::FlushStream();
}

}  // namespace patchfold::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace patchfold::bench {
namespace {

HWY_EXPORT(StreamPart);
HWY_EXPORT(CopyPart);

constexpr std::size_t whole_line = 64;

std::size_t part_of(std::size_t bytes, int i, int threads) {
  return i == threads ? bytes
                      : bytes / whole_line * static_cast<std::size_t>(i) / static_cast<std::size_t>(threads) * whole_line;
}

template <class F>
void on_threads(int threads, Executor& executor, F&& part) {
  const auto body = [](void* context, std::int64_t i) noexcept { (*static_cast<F*>(context))(static_cast<int>(i)); };
  executor.run(threads, body, &part);
}

volatile std::uint64_t kept;  ///< takes the sums, so that the compiler keeps the loads

}  // namespace

std::vector<Streaming> streamings(std::size_t read_bytes) {
  std::vector<Streaming> ways;
  for (const bool past_cache : {true, false})
    for (const int streams : {1, 2, 4})
      for (const std::size_t step : {256, 1024, 4096, 16384})
        for (const std::size_t prefetch : {0, 512, 2048})
          if (prefetch == 0 || read_bytes > 0) ways.push_back({past_cache, streams, step, prefetch});
  return ways;
}

std::string describe(const Streaming& way) {
  return std::string(way.past_cache ? "non-temporal" : "plain") + " stores, " + std::to_string(way.streams) +
         (way.streams == 1 ? " stream, " : " streams, ") + std::to_string(way.step) + " bytes a step, " +
         (way.prefetch ? std::to_string(way.prefetch) + " bytes prefetched" : "no prefetch");
}

void stream(const Streaming& way, const std::byte* read, std::size_t read_bytes, std::byte* written, std::size_t write_bytes,
            int threads, Executor& executor) {
  on_threads(threads, executor, [&](int i) {
    const std::size_t in = part_of(read_bytes, i, threads), out = part_of(write_bytes, i, threads);
    kept = HWY_DYNAMIC_DISPATCH(StreamPart)(way, read + in, part_of(read_bytes, i + 1, threads) - in, written + out,
                                            part_of(write_bytes, i + 1, threads) - out);
  });
}

void copy_past_cache(const std::byte* from, std::byte* to, std::size_t bytes, int threads, Executor& executor) {
  on_threads(threads, executor, [&](int i) {
    const std::size_t begin = part_of(bytes, i, threads);
    const std::size_t size = (part_of(bytes, i + 1, threads) - begin) / whole_line * whole_line;
    HWY_DYNAMIC_DISPATCH(CopyPart)(from + begin, to + begin, size);
  });
}

void copy_by_library(const std::byte* from, std::byte* to, std::size_t bytes, int threads, Executor& executor) {
  on_threads(threads, executor, [&](int i) {
    const std::size_t begin = part_of(bytes, i, threads);
    std::memcpy(to + begin, from + begin, part_of(bytes, i + 1, threads) - begin);
  });
}

}  // namespace patchfold::bench
#endif
