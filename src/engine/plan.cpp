// SPDX-License-Identifier: Apache-2.0
#include "patchfold/plan.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "engine/compiled.hpp"
#include "engine/floats.hpp"
#include "engine/overlap.hpp"
#include "engine/scratch.hpp"
#include "engine/sharing.hpp"
#include "engine/sums/means.hpp"
#include "kernels/stream.hpp"

namespace patchfold {
namespace {

using engine::Compiled;

/// Returns the bytes from the beginning of a line to p.
std::int64_t past_line(const std::byte* p) noexcept {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p) % kernels::line_bytes);
}

/// The data of one run that all its pieces share.
struct Call {
  const Compiled& compiled;
  const std::byte* src;
  std::byte* dst;
  std::byte* scratch;
  std::int64_t pieces;
  engine::ScratchParts parts;
};

/// Runs a piece of a Call; an Executor::Body.
void run_piece(void* context, std::int64_t piece) noexcept {
  Call& call = *static_cast<Call*>(context);
  const Compiled& compiled = call.compiled;
  const auto [first, last] = engine::rows_of_piece(piece, call.pieces, compiled.rows());
  const std::int64_t part = call.parts.take();
  std::byte* const scratch = call.scratch + part * compiled.scratch_per_piece();
  if (engine::adds(compiled.problem())) {
    const engine::DefaultFloats floats;
    compiled.run_rows(call.src, call.dst, first, last, scratch);
  } else {
    compiled.run_rows(call.src, call.dst, first, last, scratch);
  }
  call.parts.give_back(part);
}

}  // namespace

Status Plan::run(const void* src, void* dst, Executor& executor,
                 const std::optional<std::span<std::byte>>& given) const noexcept {
  if (!compiled_ || compiled_->rows() == 0) return Status::ok;
  const int threads = std::max(1, executor.threads());  // asked once, since another thread may change it
  const std::size_t needed = compiled_->scratch_bytes(threads);
  std::optional<engine::ThreadScratch> own;
  if (!given) own.emplace(needed);
  if (own && !own->is_there()) return Status::out_of_memory;
  if (given && given->size() < needed) return Status::scratch_too_small;
  std::byte* scratch = given ? given->data() : own->data();

  const engine::Problem& problem = compiled_->problem();
  const auto* from = problem.own_source ? problem.own_source : static_cast<const std::byte*>(src);
  auto* to = static_cast<std::byte*>(dst);
  if (to == nullptr || (from == nullptr && problem.src_range.begin != problem.src_range.end)) return Status::null_data;
  if (engine::overlap(problem, from, to)) return Status::overlap;
  const engine::ByteRange used{0, static_cast<std::int64_t>(given ? needed : 0)};
  if (engine::overlap(scratch, used, from, problem.src_range) || engine::overlap(scratch, used, to, problem.dst_range))
    return Status::scratch_overlap;

  const Compiled& compiled = *compiled_;
  if (past_line(scratch) != 0) scratch += kernels::line_bytes - past_line(scratch);
  const std::int64_t pieces = compiled.pieces(threads);
  Call call{compiled, from, to, scratch, pieces, engine::ScratchParts(pieces == 1 ? 0 : compiled.scratch_parts(threads))};
  if (pieces > 1) return executor.run(pieces, run_piece, &call) ? Status::ok : Status::executor_failed;
  run_piece(&call, 0);
  return Status::ok;
}
std::size_t Plan::scratch_bytes(int threads) const noexcept {
  return compiled_ ? compiled_->scratch_bytes(threads) : 0;
}
std::string Plan::describe() const {
  return compiled_ ? compiled_->describe() : "strategy  nothing\n";
}
std::string_view Plan::strategy() const noexcept {
  return compiled_ ? compiled_->strategy : "nothing";
}

Attempt detail::attempt(void (*call)(void*), void* function) noexcept {
  Attempt result;
  try {
    result.error = ErrorCode::out_of_memory;
    call(function);
    result.error.reset();
  } catch (const Error& error) {
    result.error = error.code();
    try {
      result.message = error.what();
    } catch (...) {
    }
  } catch (...) {
  }
  return result;
}

std::string_view describe(Status status) noexcept {
  switch (status) {
    case Status::ok: return "done";
    case Status::null_data: return "a tensor that has elements has no data";
    case Status::overlap: return "source and destination must not share memory";
    case Status::out_of_memory: return "scratch memory could not be had";
    case Status::executor_failed: return "the executor did not run the work";
    case Status::scratch_too_small: return "the scratch memory given is smaller than scratch_bytes(threads)";
    case Status::scratch_overlap: return "must not share memory with the source or the destination";
  }
  return "unknown status";
}

void throw_if_failed(Status status, std::string_view op, std::string_view output) {
  if (status == Status::ok) return;
  const std::string_view rule = describe(status);
  switch (status) {
    case Status::ok: return;
    case Status::null_data: fail(ErrorCode::null_data, op, "data", rule);
    case Status::overlap: fail(ErrorCode::overlap, op, output, rule);
    case Status::out_of_memory: fail(ErrorCode::out_of_memory, op, "scratch", rule);
    case Status::executor_failed: fail(ErrorCode::executor, op, "executor", rule);
    case Status::scratch_too_small: fail(ErrorCode::value, op, "scratch", rule);
    case Status::scratch_overlap: fail(ErrorCode::overlap, op, "scratch", rule);
  }
}

}  // namespace patchfold
