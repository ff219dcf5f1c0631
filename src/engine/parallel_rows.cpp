// SPDX-License-Identifier: Apache-2.0
#include "engine/parallel_rows.hpp"

#include <algorithm>

#include "engine/floats.hpp"
#include "engine/sharing.hpp"

namespace patchfold::engine {

Status parallel_rows(std::int64_t rows, double bytes,
                     void (*work)(void* context, std::int64_t first, std::int64_t last) noexcept, void* context,
                     Executor& executor) noexcept {
  if (rows <= 0) return Status::ok;
  /// The data of one call that all its pieces share.
  struct Call {
    decltype(work) run;
    void* context;
    std::int64_t rows;
    std::int64_t pieces;

    void run_piece(std::int64_t piece) const noexcept {
      const auto [first, last] = rows_of_piece(piece, pieces, rows);
      const DefaultFloats floats;
      run(context, first, last);
    }
  } call{work, context, rows, piece_count(std::max(1, executor.threads()), rows, bytes)};
  if (call.pieces == 1) {
    call.run_piece(0);
    return Status::ok;
  }
  const auto body = [](void* given, std::int64_t piece) noexcept { static_cast<const Call*>(given)->run_piece(piece); };
  return executor.run(call.pieces, body, &call) ? Status::ok : Status::executor_failed;
}

}  // namespace patchfold::engine
