// SPDX-License-Identifier: Apache-2.0
#include "capi/callback_executor.hpp"

#include <atomic>

#include "capi/guard.hpp"

namespace patchfold::capi {
namespace {

struct Work {
  Executor::Body body;
  void* context;
  std::int64_t pieces;
  std::atomic<std::int64_t> ran{0};
  std::atomic<bool> strayed{false};
};

void run_piece(void* context, std::int64_t piece) {
  auto& work = *static_cast<Work*>(context);
  if (piece < 0 || piece >= work.pieces) {
    work.strayed = true;
    return;
  }
  work.body(work.context, piece);
  work.ran.fetch_add(1, std::memory_order_relaxed);
}

std::int32_t run_serially(void*, std::int64_t pieces, pf_body body, void* body_context) {
  for (std::int64_t piece = 0; piece < pieces; ++piece) body(body_context, piece);
  return 0;
}

}  // namespace

bool CallerExecutor::run(std::int64_t pieces, Body body, void* context) noexcept {
  Work work{body, context, pieces};
  try {
    if (executor_.run(executor_.context, pieces, run_piece, &work) != 0) return false;
  } catch (...) {
    return false;
  }
  return !work.strayed && work.ran == pieces;
}

ChosenExecutor::ChosenExecutor(const pf_executor* executor, std::string_view op) {
  if (executor == nullptr) return;
  const auto own = load<pf_executor>(executor, sizeof(pf_executor), op, "executor");
  if (own.threads < 1) fail(ErrorCode::value, op, "executor", "threads must be at least 1", own.threads);
  if (own.run == nullptr) fail(ErrorCode::missing, op, "executor", "run must not be NULL");
  own_.emplace(own);
}

}  // namespace patchfold::capi

const pf_executor* pf_serial_executor(void) {
  static constexpr pf_executor serial = {sizeof(pf_executor), 1, nullptr, patchfold::capi::run_serially};
  return &serial;
}

pf_status pf_set_num_threads(int32_t threads) {
  return patchfold::capi::guarded([&] { patchfold::set_num_threads(threads); });
}

pf_status pf_limit_threads(int32_t threads, int32_t* before) {
  return patchfold::capi::guarded([&] {
    const int old = patchfold::set_thread_limit(threads);
    if (before != nullptr) *before = old;
  });
}

int32_t pf_get_num_threads(void) {
  return patchfold::get_num_threads();
}
