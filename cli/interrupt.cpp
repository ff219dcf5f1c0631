// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.hpp"

#include "formats/file.hpp"
#include "patchfold/error.hpp"
#include "system/file.hpp"

namespace patchfold::cli {
namespace {

/// Returns whether writing to this path, if interrupted, would leave a temporary file behind.
bool writes_a_file(const std::filesystem::path& output) {
  std::error_code ignored;
  return formats::standard_descriptor(output.string(), system::standard_output) < 0 &&
         !std::filesystem::is_other(output, ignored);
}

}  // namespace

InterruptGuard::InterruptGuard(const std::filesystem::path& output) : requests_(writes_a_file(output)) {}

bool InterruptGuard::interrupted() const noexcept {
  return system::StopRequests::have_come();
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
    if (!system::StopRequests::have_come()) inner.body(inner.context, piece);
  };
  return default_executor().run(pieces, stoppable, &work) && !system::StopRequests::have_come();
}

}  // namespace patchfold::cli
