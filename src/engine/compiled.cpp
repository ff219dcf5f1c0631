// SPDX-License-Identifier: Apache-2.0
#include "engine/compiled.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <new>
#include <sstream>

#include "engine/floats.hpp"
#include "engine/normalise.hpp"
#include "engine/sharing.hpp"
#include "kernels/stream.hpp"

namespace patchfold::engine {
namespace {

/// Scratch memory that the pieces of a thread may take together.
constexpr double scratch_per_thread = 1e6;
constexpr std::size_t scratch_alignment = 64;

}  // namespace

struct Compiled::Call {
  const Compiled& compiled;
  const std::byte* src;
  std::byte* dst;
  std::byte* scratch;
  std::int64_t pieces;

  void run_piece(std::int64_t piece) const noexcept {
    const auto [first, last] = rows_of_piece(piece, pieces, compiled.rows_);
    std::byte* own = scratch + piece * compiled.scratch_per_piece_;
    if (compiled.problem_.verb != Verb::combine_sum) return compiled.run_rows(src, dst, first, last, own);
    const DefaultFloats floats;
    compiled.run_rows(src, dst, first, last, own);
  }
};

std::int64_t Compiled::pieces(int threads) const noexcept {
  return piece_count(threads, rows_, bytes_,
                     scratch_per_thread / static_cast<double>(std::max<std::int64_t>(1, scratch_per_piece_)));
}

std::size_t Compiled::scratch_bytes(int threads) const noexcept {
  const auto bytes = static_cast<std::size_t>(pieces(threads) * scratch_per_piece_);
  return std::max(bytes == 0 ? 0 : bytes + scratch_alignment, misaligned_ ? misaligned_->scratch_bytes(threads) : 0);
}

Status Compiled::run(const void* src, void* dst, std::span<std::byte> scratch, Executor& executor) const noexcept {
  return run(src, dst, scratch, executor, std::max(1, executor.threads()));
}

Status Compiled::run(const void* src, void* dst, std::span<std::byte> scratch, Executor& executor,
                     int threads) const noexcept {
  if (rows_ == 0) return Status::ok;
  if (scratch.size() < scratch_bytes(threads)) return Status::scratch_too_small;
  const auto* from = problem_.own_source ? problem_.own_source : static_cast<const std::byte*>(src);
  auto* to = static_cast<std::byte*>(dst);
  if (to == nullptr || (from == nullptr && problem_.src_range.begin != problem_.src_range.end)) return Status::null_data;
  if (overlap(from, problem_.src_range, to, problem_.dst_range)) return Status::overlap;
  if (misaligned_ && reinterpret_cast<std::uintptr_t>(to + problem_.dst_offset) % kernels::line_bytes != 0)
    return misaligned_->run(src, dst, scratch, executor, threads);

  const auto misaligned = reinterpret_cast<std::uintptr_t>(scratch.data()) % scratch_alignment;
  std::byte* aligned = scratch.empty() ? nullptr : scratch.data() + (misaligned ? scratch_alignment - misaligned : 0);
  Call call{*this, from, to, aligned, pieces(threads)};
  if (call.pieces == 1) {
    call.run_piece(0);
    return Status::ok;
  }
  const auto body = [](void* context, std::int64_t piece) noexcept { static_cast<const Call*>(context)->run_piece(piece); };
  return executor.run(call.pieces, body, &call) ? Status::ok : Status::executor_failed;
}

Status Compiled::run(const void* src, void* dst, Executor& executor) const noexcept {
  struct Scratch {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
    bool in_use = false;
  };
  Scratch* const shared = detail::of_this_thread<Scratch>();
  // An executor may run other plans on this thread while it waits for this one: those get memory of their own.
  Scratch own;
  Scratch& scratch = shared == nullptr || shared->in_use ? own : *shared;
  const int threads = std::max(1, executor.threads());  // asked once: another thread may change it
  const std::size_t size = scratch_bytes(threads);
  if (scratch.size < size) {
    scratch.bytes.reset(new (std::nothrow) std::byte[size]);
    scratch.size = scratch.bytes ? size : 0;
    if (!scratch.bytes) return Status::out_of_memory;
  }
  scratch.in_use = true;
  const Status status = run(src, dst, {scratch.bytes.get(), scratch.size}, executor, threads);
  scratch.in_use = false;
  return status;
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
