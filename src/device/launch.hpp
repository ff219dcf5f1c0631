// SPDX-License-Identifier: Apache-2.0
// Turns a problem into the launch of one kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/problem.hpp"

namespace patchfold::device {

/// The kernels of kernels/.
enum class Kernel : std::uint8_t { move, brick, sum, mean, count };

/// A kernel for units of one size or elements of one type, and for one width of Index.
struct Variant {
  Kernel kernel = Kernel::move;
  int unit = 0;                  ///< bytes; of move and brick
  DType dtype = DType::boolean;  ///< of sum: the type for which sums of the elements are compiled
  bool is_wide = false;

  /// Returns the kernel's name, such as "move_4_32".
  std::string name() const;
  friend bool operator==(const Variant&, const Variant&) = default;
};

/// The numbers that a measurement may change. They change no result.
struct Tuning {
  int threads_of_copies = 256;
  int threads_of_sums = 128;
  int side_bytes = 128;    ///< bytes side by side that a brick has at least, in the source and in the destination
  int brick_bytes = 8192;  ///< that a brick has at least, if the tensors allow it
  int read_bytes = 16;     ///< the most bytes of a chunk that a thread of a brick reads
  int write_bytes[5] = {4, 8, 16, 16, 16};  ///< and writes, for units of 1, 2, 4, 8 and 16 bytes
};
extern Tuning tuning;

/// One launch: `groups` groups of `threads` threads, with the bytes of a Params.
struct Launch {
  Variant variant{};
  std::int64_t groups = 0;
  int threads = 0;
  std::int64_t src_offset = 0;  ///< bytes from the data pointers to the kernel's pointers
  std::int64_t dst_offset = 0;
  std::size_t size = 0;
  alignas(8) std::array<std::byte, 4000> params;
};

/// Returns the launch that makes a problem in normal form with at least one element. `src` and `dst` are the addresses of
/// the data pointers; only their alignment matters. is_wide: whether to use 64-bit indices even if the problem does not need
/// them.
Launch launch_of(const engine::Problem& problem, std::uint64_t src, std::uint64_t dst, bool is_wide = false);

}  // namespace patchfold::device
