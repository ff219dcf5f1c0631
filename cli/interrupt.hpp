// SPDX-License-Identifier: Apache-2.0
// Requests to stop while an output file is being written.
#pragma once

#include <filesystem>

#include "patchfold/plan.hpp"
#include "system/process.hpp"

namespace patchfold::cli {

/// While it lives, signals (system::StopRequests) stop the work between two pieces instead of ending the process, so that
/// temporary files are removed; the process dies by the signal when this object is destroyed. A second signal ends it at
/// once. At most one object may exist. Where the output is a pipe or a device there is nothing to remove, and writing may
/// wait for somebody who never reads: the first signal ends the process.
class InterruptGuard {
 public:
  explicit InterruptGuard(const std::filesystem::path& output);
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// The default executor, which does no more work once a signal has come.
  Executor& executor() noexcept { return executor_; }
  bool interrupted() const noexcept;
  /// Throws once a signal has come. Nobody sees the error: the process ends with this object.
  void check() const;

 private:
  class StoppingExecutor final : public Executor {
   public:
    int threads() const noexcept override { return default_executor().threads(); }
    bool run(std::int64_t pieces, Body body, void* context) noexcept override;
  };

  system::StopRequests requests_;
  StoppingExecutor executor_;
};

}  // namespace patchfold::cli
