// SPDX-License-Identifier: Apache-2.0
// Requests to stop while an output file is being written.
#pragma once

#include <filesystem>

#include "patchfold/plan.hpp"
#include "system/process.hpp"

namespace patchfold::cli {

/// While this object lives, signals (system::StopRequests) stop the work between two pieces, so that temporary files are
/// removed. The process dies by the signal when the object is destroyed, and at once by a second signal. At most one object
/// may exist. If the output is a pipe or a device, the first signal ends the process: no file is left behind, and writing
/// may wait for a reader that never comes.
class InterruptGuard {
 public:
  explicit InterruptGuard(const std::filesystem::path& output);
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Returns the default executor, which does no more work once a signal has come.
  Executor& executor() noexcept { return executor_; }
  bool interrupted() const noexcept;
  /// Throws once a signal has come. The error is never shown: the process ends with this object.
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
