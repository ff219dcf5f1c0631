// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/report.hpp"

namespace patchfold::cli {

Progress::Progress(std::string command, std::int64_t tiles, bool quiet)
    : command_(std::move(command)), tiles_(tiles), shown_(!quiet && ::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  clear();
}

void Progress::clear() {
  if (shown_) note("\r\033[K");
  shown_ = false;
}

void Progress::count(std::int64_t bytes) {
  ++done_;
  bytes_ += bytes;
  if (!shown_ || Clock::now() < next_) return;
  next_ = Clock::now() + std::chrono::milliseconds(100);
  const double passed = seconds();
  const double left = passed / static_cast<double>(done_) * static_cast<double>(tiles_ - done_);
  note(fmt::format("\r\033[K{}  {}/{} tiles  {:.0f} MB/s  {:.0f} s left", command_, done_, tiles_,
                   static_cast<double>(bytes_) / 1e6 / passed, left));
}

std::string Progress::finish() {
  clear();
  const double passed = seconds();
  return fmt::format("{:.1f} s, {:.0f} MB/s", passed, passed > 0 ? static_cast<double>(bytes_) / 1e6 / passed : 0);
}

}  // namespace patchfold::cli
