// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.hpp"

#include <unistd.h>

#include <atomic>

#include "formats/file.hpp"
#include "patchfold/error.hpp"

namespace patchfold::cli {
namespace {

std::atomic<int> received = 0;
static_assert(std::atomic<int>::is_always_lock_free);

void receive(int signal) {
  received.store(signal, std::memory_order_relaxed);
}

}  // namespace

InterruptGuard::InterruptGuard(const std::filesystem::path& output) {
  received = 0;
  std::error_code ignored;
  is_guarding_ =
      formats::standard_descriptor(output.native(), STDOUT_FILENO) < 0 && !std::filesystem::is_other(output, ignored);
  if (!is_guarding_) return;
  for (int i = 0; i < 3; ++i) {
    struct sigaction action {};
    action.sa_handler = receive;
    action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
    sigaction(signals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(signals[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  if (!is_guarding_) return;
  for (int i = 0; i < 3; ++i) sigaction(signals[i], &before_[i], nullptr);
  if (interrupted()) raise(received);
}

bool InterruptGuard::interrupted() const noexcept {
  return received.load(std::memory_order_relaxed) != 0;
}

void InterruptGuard::check() const {
  if (interrupted()) throw Error({ErrorCode::executor, "", "", "was stopped by a signal"});
}

bool InterruptGuard::StoppingExecutor::run(std::int64_t pieces, Body body, void* context) noexcept {
  struct Work {
    Body body;
    void* context;
  } work{body, context};
  const auto stoppable = [](void* given, std::int64_t piece) noexcept {
    const auto& inner = *static_cast<const Work*>(given);
    if (received.load(std::memory_order_relaxed) == 0) inner.body(inner.context, piece);
  };
  return default_executor().run(pieces, stoppable, &work) && received.load(std::memory_order_relaxed) == 0;
}

}  // namespace patchfold::cli
