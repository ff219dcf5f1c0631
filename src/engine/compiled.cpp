// SPDX-License-Identifier: Apache-2.0
#include "engine/compiled.hpp"

#include <algorithm>
#include <sstream>

#include "engine/floats.hpp"
#include "engine/scratch.hpp"
#include "engine/sharing.hpp"
#include "kernels/stream.hpp"

namespace patchfold::engine {
namespace {

/// Bytes from the beginning of a line to p.
std::int64_t past_line(const std::byte* p) noexcept {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p) % kernels::line_bytes);
}

}  // namespace

/// One run, as its pieces see it.
struct Compiled::Call {
  const Compiled& compiled;
  const std::byte* src;
  std::byte* dst;
  std::byte* scratch;
  std::int64_t pieces;
  ScratchParts parts;
};

void Compiled::run_piece(void* context, std::int64_t piece) noexcept {
  Call& call = *static_cast<Call*>(context);
  const Compiled& compiled = call.compiled;
  const auto [first, last] = rows_of_piece(piece, call.pieces, compiled.rows_);
  const std::int64_t part = call.parts.take();
  std::byte* const scratch = call.scratch + part * compiled.scratch_per_piece_;
  if (compiled.problem_.verb == Verb::combine_sum) {
    const DefaultFloats floats;
    compiled.run_rows(call.src, call.dst, first, last, scratch);
  } else {
    compiled.run_rows(call.src, call.dst, first, last, scratch);
  }
  call.parts.give_back(part);
}

std::int64_t Compiled::pieces(int threads) const noexcept {
  return piece_count(threads, rows_, bytes_);
}

std::int64_t Compiled::scratch_parts(int threads) const noexcept {
  return scratch_per_piece_ == 0 ? 0 : std::clamp<std::int64_t>(threads, 1, std::min(pieces(threads), ScratchParts::most));
}

std::size_t Compiled::scratch_bytes(int threads) const noexcept {
  const std::int64_t bytes = scratch_parts(threads) * scratch_per_piece_;
  return std::max(static_cast<std::size_t>(bytes == 0 ? 0 : bytes + kernels::line_bytes),
                  misaligned_ ? misaligned_->scratch_bytes(threads) : 0);
}

Status Compiled::run(const void* src, void* dst, std::span<std::byte> scratch, Executor& executor,
                     int threads) const noexcept {
  if (rows_ == 0) return Status::ok;
  if (scratch.size() < scratch_bytes(threads)) return Status::scratch_too_small;
  const auto* from = problem_.own_source ? problem_.own_source : static_cast<const std::byte*>(src);
  auto* to = static_cast<std::byte*>(dst);
  if (to == nullptr || (from == nullptr && problem_.src_range.begin != problem_.src_range.end)) return Status::null_data;
  if (overlap(from, problem_.src_range, to, problem_.dst_range)) return Status::overlap;
  if (misaligned_ && past_line(to + problem_.dst_offset) != 0)
    return misaligned_->run(src, dst, scratch, executor, threads);

  std::byte* aligned = scratch.data();
  if (past_line(aligned) != 0) aligned += kernels::line_bytes - past_line(aligned);
  const std::int64_t count = pieces(threads);
  Call call{*this, from, to, aligned, count, ScratchParts(count == 1 ? 0 : scratch_parts(threads))};
  if (count > 1) return executor.run(count, run_piece, &call) ? Status::ok : Status::executor_failed;
  run_piece(&call, 0);
  return Status::ok;
}

void Compiled::describe_choices(std::ostream&) const {}

std::string Compiled::describe() const {
  constexpr std::string_view verbs[] = {"extract", "combine by copying", "combine by adding"};
  std::ostringstream out;
  out.exceptions(std::ios::badbit);  // or a text that memory did not suffice for would be cut short
  out << "strategy  " << strategy << "\nverb      " << verbs[static_cast<std::size_t>(problem_.verb)]
      << (problem_.accumulate ? " onto the output" : "") << "\nelement   " << name_of(problem_.dtype) << ", "
      << problem_.element_size << " bytes\n";
  for (const Dim& dim : problem_.dims)
    out << "dim       extent " << dim.extent << ", src stride " << dim.src_stride << ", dst stride " << dim.dst_stride
        << '\n';
  for (const Window& w : problem_.windows)
    out << "window    extent " << w.extent << ", kernel " << w.kernel << ", positions " << w.positions << ", stride "
        << w.stride << ", dilation " << w.dilation << ", pad begin " << w.pad_begin << ", padding "
        << word_of(w.mode) << "; bytes: image " << w.image_stride << ", tap " << w.tap_stride
        << ", position " << w.position_stride << '\n';
  describe_choices(out);
  const int threads = default_executor().threads();
  out << "rows      " << rows_ << "\npieces    " << pieces(threads) << " for " << threads << " threads\nbytes     " << bytes_
      << " moved\nscratch   " << scratch_bytes(threads) << " bytes\n";
  return out.str();
}

}  // namespace patchfold::engine
