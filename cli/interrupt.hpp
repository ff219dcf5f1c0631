// SPDX-License-Identifier: Apache-2.0
// Handles signals that end the process while an output file is written.
#pragma once

#include <filesystem>

#include "patchfold/plan.hpp"
#include "system/process.hpp"

namespace patchfold::cli {

/// While this object lives, signals (system::StopRequests) stop the work between two pieces, so that temporary files are removed.
/// The signal ends the process when the object is destroyed; a second signal ends the process at once. At most one object may
/// exist. If the output is a pipe or a device, the first signal ends the process: no file would be left behind, and writing
/// might wait forever for a reader.
class InterruptGuard {
 public:
  explicit InterruptGuard(const std::filesystem::path& output);
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Returns the default executor, changed to start no more pieces after a signal.
  Executor& executor() noexcept { return executor_; }
  bool interrupted() const noexcept;
  /// Throws after a signal. Nobody sees the error, since the process ends when this object is destroyed.
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
