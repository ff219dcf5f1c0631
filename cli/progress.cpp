// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <algorithm>

#include "cli/report.hpp"
#include "cli/text.hpp"

namespace patchfold::cli {
namespace {

constexpr std::size_t marks = 20;

std::string time_text(double seconds) {
  return seconds < 120 ? text_of(decimal(seconds, 0), " s") : text_of(decimal(seconds / 60, 0), " min");
}

}  // namespace

ProgressLine progress_line(std::string_view command, std::string_view unit, std::int64_t done, std::int64_t total,
                           std::int64_t bytes, double passed, std::string_view now, int width) {
  const double share = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1;
  ProgressLine line;
  line.text = text_of(command, "  [");
  line.bar = line.text.size();
  line.fill = std::min(static_cast<std::size_t>(share * marks), marks);
  line.text += std::string(line.fill, '#') + std::string(marks - line.fill, '-');
  line.text += text_of("]  ", done, "/", total, " ", unit);
  if (bytes > 0 && passed > 0) line.text += text_of("  ", decimal(static_cast<double>(bytes) / 1e6 / passed, 0), " MB/s");
  if (done > 0) line.text += text_of("  ", time_text(passed / share * (1 - share)), " left");
  if (!now.empty()) line.text += text_of("  ", now);
  // Leaves the last column empty: a full line would go on in the terminal's next row, which is never cleared.
  const auto most = static_cast<std::size_t>(std::max(width - 1, 0));
  if (line.text.size() > most) line.text.resize(most);
  line.bar = std::min(line.bar, line.text.size());
  line.fill = std::min(line.fill, line.text.size() - line.bar);
  return line;
}

Progress::Progress(std::string command, std::string unit, std::int64_t total, bool quiet)
    : command_(std::move(command)), unit_(std::move(unit)), total_(total), shown_(!quiet && has_terminal()) {}

Progress::~Progress() {
  clear();
}

void Progress::clear() {
  if (written_) note("\r\033[K");
  written_ = false;
}

void Progress::write(std::string_view now) {
  const ProgressLine line = progress_line(command_, unit_, done_, total_, bytes_, seconds(), now, terminal_width());
  const std::string_view text = line.text;
  note(text_of("\r\033[K", text.substr(0, line.bar), in_colour(Colour::green, text.substr(line.bar, line.fill)),
               text.substr(line.bar + line.fill)));
  written_ = true;
}

void Progress::show(std::string_view now) {
  if (shown_) write(now);
}

void Progress::count(std::int64_t bytes) {
  ++done_;
  bytes_ += bytes;
  if (!shown_ || Clock::now() < next_) return;
  next_ = Clock::now() + std::chrono::milliseconds(100);
  write("");
}

std::string Progress::finish() {
  clear();
  shown_ = false;
  const double passed = seconds();
  return text_of(decimal(passed, 1), " s, ", decimal(passed > 0 ? static_cast<double>(bytes_) / 1e6 / passed : 0, 0),
                 " MB/s");
}

}  // namespace patchfold::cli
