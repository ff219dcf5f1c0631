// SPDX-License-Identifier: Apache-2.0
// Makes an Executor of the library from a caller's executor.
#pragma once

#include <optional>
#include <string_view>

#include "patchfold/patchfold.h"
#include "patchfold/plan.hpp"

namespace patchfold::capi {

/// Runs pieces on the caller's executor, and counts them, so that skipped pieces are an error.
class CallerExecutor final : public Executor {
 public:
  explicit CallerExecutor(const pf_executor& executor) : executor_(executor) {}
  int threads() const noexcept override { return executor_.threads; }
  bool run(std::int64_t pieces, Body body, void* context) noexcept override;

 private:
  pf_executor executor_;
};

/// The executor of a call: the caller's executor, or the default executor for NULL.
class ChosenExecutor {
 public:
  ChosenExecutor(const pf_executor* executor, std::string_view op);
  Executor& get() noexcept { return own_ ? static_cast<Executor&>(*own_) : default_executor(); }

 private:
  std::optional<CallerExecutor> own_;
};

}  // namespace patchfold::capi
