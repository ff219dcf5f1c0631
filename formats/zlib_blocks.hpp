// SPDX-License-Identifier: Apache-2.0
// One zlib stream (RFC 1950) whose parts are compressed by several threads.
#pragma once

#include <zlib.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "formats/file.hpp"
#include "patchfold/plan.hpp"

namespace patchfold::formats {

/// Compresses each part separately, with the 32 KB before the part as its dictionary. A part ends at a whole byte, so the joined
/// parts form one stream, hardly longer than one made in one piece. If a sample of a part hardly gets shorter by matches, as in
/// photographs, only runs of repeated bytes are looked for. The bytes do not depend on the number of threads.
class ZlibBlocks {
 public:
  static constexpr std::size_t window = 1 << 15;
  static constexpr std::size_t part = 1 << 18;
  /// A sink may overwrite this many bytes before and after the bytes that it gets, for example with the frame of a PNG chunk.
  static constexpr std::size_t room_before = 8;
  static constexpr std::size_t room_after = 4;

  /// Takes the next bytes of the stream, and their CRC-32.
  using Sink = std::function<void(std::span<std::byte> bytes, std::uint32_t crc)>;

  /// Begins the stream for `total` bytes of data, at least 1. Throws Error(out_of_memory).
  ZlibBlocks(std::int64_t total, Executor& executor, Subject subject);
  ZlibBlocks(const ZlibBlocks&) = delete;
  ZlibBlocks& operator=(const ZlibBlocks&) = delete;
  ~ZlibBlocks();

  /// Returns the number of parts that are compressed at the same time.
  std::size_t at_once() const noexcept { return slots_.size(); }
  /// Compresses the next bytes. The last `window` bytes of earlier calls, or all if there are fewer, must lie in memory
  /// before `bytes`. Throws the exceptions of the sink, and Error(executor) if the executor refused.
  void compress(std::span<const std::byte> bytes, const Sink& sink);

 private:
  class Deflater;
  struct Slot;
  void compress_part(Slot& slot, const std::byte* data, std::size_t size, std::size_t before, bool is_last) noexcept;

  std::int64_t total_;
  std::int64_t done_ = 0;
  Executor& executor_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::uint32_t adler_ = 1;
};

}  // namespace patchfold::formats
