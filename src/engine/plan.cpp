// SPDX-License-Identifier: Apache-2.0
#include "patchfold/plan.hpp"

#include <algorithm>

#include "engine/compiled.hpp"
#include "engine/scratch.hpp"
#include "tensor/fail.hpp"

namespace patchfold {

Status Plan::run(const void* src, void* dst, Executor& executor) const noexcept {
  if (!compiled_) return Status::ok;
  const int threads = std::max(1, executor.threads());  // asked once: another thread may change it
  const engine::ThreadScratch scratch(compiled_->scratch_bytes(threads));
  return scratch.is_there() ? compiled_->run(src, dst, scratch.bytes(), executor, threads) : Status::out_of_memory;
}
Status Plan::run(const void* src, void* dst, std::span<std::byte> scratch, Executor& executor) const noexcept {
  return compiled_ ? compiled_->run(src, dst, scratch, executor, std::max(1, executor.threads())) : Status::ok;
}
std::size_t Plan::scratch_bytes(int threads) const noexcept {
  return compiled_ ? compiled_->scratch_bytes(threads) : 0;
}
std::string Plan::describe() const try {
  return compiled_ ? compiled_->describe() : "strategy  nothing\n";
} catch (const std::bad_alloc&) {
  fail_memory();
}
std::string_view Plan::strategy() const noexcept {
  return compiled_ ? compiled_->strategy : "nothing";
}

std::string_view describe(Status status) noexcept {
  switch (status) {
    case Status::ok: return "done";
    case Status::null_data: return "a tensor that has elements has no data";
    case Status::overlap: return "source and destination must not share memory";
    case Status::out_of_memory: return "scratch memory could not be had";
    case Status::executor_failed: return "the executor did not run the work";
    case Status::scratch_too_small: return "the scratch memory given is smaller than scratch_bytes(threads)";
  }
  return "unknown status";
}

void throw_if_failed(Status status, std::string_view op) {
  const std::string_view rule = describe(status);
  switch (status) {
    case Status::ok: return;
    case Status::null_data: fail(ErrorCode::null_data, op, "data", rule);
    case Status::overlap: fail(ErrorCode::overlap, op, "output", rule);
    case Status::out_of_memory: fail(ErrorCode::out_of_memory, op, "scratch", rule);
    case Status::executor_failed: fail(ErrorCode::executor, op, "executor", rule);
    case Status::scratch_too_small: fail(ErrorCode::value, op, "scratch", rule);
  }
}

}  // namespace patchfold
