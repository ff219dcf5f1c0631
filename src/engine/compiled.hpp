// SPDX-License-Identifier: Apache-2.0
// Problems that are ready to run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "engine/problem.hpp"
#include "kernels/stream.hpp"

namespace patchfold::engine {

/// A normalised problem and the strategy that runs it, with one derived class for each strategy. The work is cut into `rows`: the
/// smallest parts that can run in any order and at the same time, since each row writes destination elements of its own. Copies of
/// a Plan share one Compiled and run ranges of its rows, from several threads at once. A Compiled never changes after its
/// constructor; a run changes only the destination and scratch memory.
class Compiled {
 public:
  explicit Compiled(const Problem& problem) : problem_(problem) {}
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  virtual ~Compiled() = default;

  /// Runs the rows [first, last). `src` and `dst` are the tensors' data pointers. `scratch` must have scratch_per_piece()
  /// bytes, aligned to 64 bytes, and no other thread may use it during the call.
  virtual void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                        std::byte* scratch) const noexcept = 0;
  /// Runs rows whose source should lie in the cache already. Meanwhile a strategy may prefetch the lines of `ahead`, which
  /// later work reads.
  virtual void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last, std::byte* scratch,
                        kernels::Ahead&) const noexcept {
    run_rows(src, dst, first, last, scratch);
  }
  std::string describe() const;

  const Problem& problem() const noexcept { return problem_; }
  std::int64_t rows() const noexcept { return rows_; }
  double bytes() const noexcept { return bytes_; }
  std::int64_t scratch_per_piece() const noexcept { return scratch_per_piece_; }
  /// Returns the number of pieces that a run on `threads` threads is cut into.
  std::int64_t pieces(int threads) const noexcept;
  /// Returns the number of pieces that may need scratch memory at the same time.
  std::int64_t scratch_parts(int threads) const noexcept;
  /// Returns the bytes of scratch memory, of any alignment, that a run on `threads` threads needs.
  std::size_t scratch_bytes(int threads) const noexcept;

  std::string_view strategy{};  ///< name of the row of the strategy table that made this object

 protected:
  /// Writes a line "name      value" for each choice of the strategy.
  virtual void describe_choices(std::ostream& out) const;

  Problem problem_;
  std::int64_t rows_ = 0;               ///< number of rows of work
  double bytes_ = 0;                    ///< bytes that a run reads and writes, roughly
  std::int64_t scratch_per_piece_ = 0;  ///< bytes, a multiple of 64
};

/// Returns the normalised problem with a strategy, ready for a Plan. Throws Error(limit), which names `op`, if more than
/// max_axes dims and windows remain.
std::shared_ptr<const Compiled> compile(const Problem& problem, std::string_view op);

}  // namespace patchfold::engine
