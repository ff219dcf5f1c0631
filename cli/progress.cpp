// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <unistd.h>

#include "cli/report.hpp"
#include "cli/text.hpp"

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
  note(text_of("\r\033[K", command_, "  ", done_, "/", tiles_, " tiles  ",
               decimal(static_cast<double>(bytes_) / 1e6 / passed, 0), " MB/s  ", decimal(left, 0), " s left"));
}

std::string Progress::finish() {
  clear();
  const double passed = seconds();
  return text_of(decimal(passed, 1), " s, ", decimal(passed > 0 ? static_cast<double>(bytes_) / 1e6 / passed : 0, 0),
                 " MB/s");
}

void show_progress(std::string_view text) {
  static const bool terminal = ::isatty(STDERR_FILENO) == 1;
  if (terminal) note(text_of("\r\033[K", text));
}

}  // namespace patchfold::cli
