// SPDX-License-Identifier: Apache-2.0
// Shows the progress of a long command on one line of the terminal, which is rewritten at each step.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace patchfold::cli {

/// Shows "split  [####----]  812/1024 tiles  96 MB/s  3 s left" on standard error, at most ten times a second; shows nothing if
/// standard error is not a terminal. The line is never wider than the terminal. The destructor clears it.
class Progress {
 public:
  /// Begins the line; `unit` names what is counted: "tiles".
  Progress(std::string command, std::string unit, std::int64_t total, bool quiet);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// Counts one more unit, of `bytes` bytes.
  void count(std::int64_t bytes);
  /// Shows `now`, what is being done, at the end of the line, at once.
  void show(std::string_view now);
  /// Clears the line until its next update, so that other text can be printed.
  void clear();
  /// Clears the line for good, and returns "12.3 s, 96 MB/s".
  std::string finish();
  /// Returns the seconds since the beginning.
  double seconds() const noexcept { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  void write(std::string_view now);

  std::string command_;
  std::string unit_;
  std::int64_t total_;
  bool shown_;
  bool written_ = false;
  std::int64_t done_ = 0;
  std::int64_t bytes_ = 0;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_ = begin_;
};

/// The line without colours. `bar` is the index at which the bar begins, `fill` its number of marks.
struct ProgressLine {
  std::string text{};
  std::size_t bar = 0;
  std::size_t fill = 0;
};
ProgressLine progress_line(std::string_view command, std::string_view unit, std::int64_t done, std::int64_t total,
                           std::int64_t bytes, double passed, std::string_view now, int width);

}  // namespace patchfold::cli
