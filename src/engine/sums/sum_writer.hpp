// SPDX-License-Identifier: Apache-2.0
// Writes rows of sums to the image.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/stream.hpp"
#include "kernels/sum.hpp"

namespace patchfold::engine {

/// Strides along a row for which phases can be interleaved (arbitrary).
inline constexpr std::int64_t most_phases = 32;

/// Writes finished rows of sums from scratch memory to the image. In scratch memory each phase of a row lies apart: phases
/// are interleaved on the way. Rows that lie side by side leave together, as whole cache lines.
struct SumWriter {
  std::int64_t phases = 1;
  std::int64_t element = 1;      ///< bytes
  std::int64_t row_bytes = 0;    ///< of the image
  std::int64_t phase_pitch = 0;  ///< bytes from phase to phase of a row of sums
  std::int64_t sums_pitch = 0;   ///< and from row to row
  std::int64_t joined_rows = 0;  ///< whose phases are interleaved at once; 0: there is one phase
  kernels::Store store = kernels::Store::plain;
  const kernels::SumKernel* onto = nullptr;  ///< adds the rows to what is there, in place of writing them

  /// Chooses `joined_rows` for bands of so many rows.
  void plan(std::int64_t band_rows) noexcept;
  /// Bytes that `joined` needs below.
  std::int64_t joined_bytes() const noexcept;
  /// Writes rows `pitch` bytes apart. `end`: of the scratch memory that holds both sums and `joined`.
  void write(std::byte* dst, std::int64_t pitch, std::int64_t rows, const std::byte* sums, std::byte* joined,
             const std::byte* end, kernels::Ahead& ahead) const noexcept;

 private:
  void join(std::byte* to, const std::byte* sums, std::int64_t rows) const noexcept;
};

}  // namespace patchfold::engine
