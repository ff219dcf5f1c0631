// SPDX-License-Identifier: Apache-2.0
// A problem made ready: rows of work that can be run in any order, each writing destination elements of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/problem.hpp"
#include "patchfold/plan.hpp"

namespace patchfold::engine {

class Compiled {
 public:
  explicit Compiled(const Problem& problem) : problem_(problem) {}
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  virtual ~Compiled() = default;

  /// Runs all rows in pieces that `executor`, which has `threads` threads, may run at the same time. `scratch` has at least
  /// scratch_bytes(threads) bytes.
  Status run(const void* src, void* dst, std::span<std::byte> scratch, Executor& executor, int threads) const noexcept;
  std::size_t scratch_bytes(int threads) const noexcept;
  std::string describe() const;

  /// For plans that are made of others.
  void run_some(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* scratch) const noexcept {
    run_rows(src, dst, first, last, scratch);
  }
  std::int64_t rows() const noexcept { return rows_; }
  double bytes() const noexcept { return bytes_; }
  std::int64_t scratch_per_piece() const noexcept { return scratch_per_piece_; }

  std::string_view strategy{};  ///< name of the row of the strategy table that made this

 protected:
  /// Runs the rows [first, last). `src` and `dst` are the tensors' data pointers; `scratch` is aligned to 64 bytes.
  virtual void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                        std::byte* scratch) const noexcept = 0;
  /// Adds lines "name      value" for what the strategy decided.
  virtual void describe_choices(std::ostream& out) const;

  Problem problem_;
  std::int64_t rows_ = 0;               ///< of work
  double bytes_ = 0;                    ///< that a run reads and writes, roughly
  std::int64_t scratch_per_piece_ = 0;  ///< bytes, a multiple of 64
  /// Runs in place of this one where the destination does not begin a line; null if that makes no difference.
  std::unique_ptr<const Compiled> misaligned_{};

 private:
  struct Call;
  /// Executor::Body for a Call.
  static void run_piece(void* context, std::int64_t piece) noexcept;
  std::int64_t pieces(int threads) const noexcept;
  std::int64_t scratch_parts(int threads) const noexcept;
};

/// Normalises the problem and chooses a strategy. Throws Error; `op` is named in it.
std::shared_ptr<const Compiled> compile(const Problem& problem, std::string_view op);

}  // namespace patchfold::engine
