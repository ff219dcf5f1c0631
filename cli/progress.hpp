// SPDX-License-Identifier: Apache-2.0
// How far a long command has come, on a line of the terminal that is written again and again.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace patchfold::cli {

/// "split  812/1024 tiles  96 MB/s  3 s left" on standard error, at most ten times a second; nothing where it is no
/// terminal. The line goes with the object at the latest.
class Progress {
 public:
  Progress(std::string command, std::int64_t tiles, bool quiet);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// One tile more, of so many bytes.
  void count(std::int64_t bytes);
  /// Takes the line away; "12.3 s, 96 MB/s".
  std::string finish();
  /// Since it began.
  double seconds() const noexcept { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  void clear();

  std::string command_;
  std::int64_t tiles_;
  bool shown_;
  std::int64_t done_ = 0;
  std::int64_t bytes_ = 0;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_ = begin_;
};

/// What is done now, on a line of the terminal that the next text overwrites; nothing where standard error is no terminal.
void show_progress(std::string_view text);

}  // namespace patchfold::cli
