// SPDX-License-Identifier: Apache-2.0
#include "cli/picture_options.hpp"

#include <charconv>
#include <cmath>

#include "cli/command.hpp"
#include "cli/report.hpp"
#include "cli/text.hpp"

namespace patchfold::cli {
namespace {

/// Returns the range in a text of two different numbers, such as "0,1"; nothing for any other text.
std::optional<formats::ValueRange> range_of(const std::string& text) {
  formats::ValueRange range;
  const char* last = text.data() + text.size();
  const auto [comma, error] = std::from_chars(text.data(), last, range.black);
  if (error != std::errc() || comma == last || *comma != ',') return std::nullopt;
  const auto [end, second] = std::from_chars(comma + 1, last, range.white);
  const double width = range.white - range.black;
  if (second != std::errc() || end != last || !std::isfinite(width) || width == 0) return std::nullopt;
  return range;
}

}  // namespace

void PictureOptions::add_to(Command& command) {
  command.option("--range", range, "BLACK,WHITE",
                 "of .png and .jpg from floating-point numbers: what is black and what is white, as 0,1; default 0,255");
  command.option("--quality", quality, 1, 100, "N", "of .jpg: 1 to 100; default 95");
}

void PictureOptions::check(std::string_view command, formats::FileFormat format, const std::string& output) const {
  const bool jpeg = format == formats::FileFormat::jpeg;
  if (!range.empty() && !jpeg && format != formats::FileFormat::png)
    fail_usage(command, "--range", "applies to .png and .jpg only", output);
  if (!range.empty() && !range_of(range))
    fail_usage(command, "--range", "must be two numbers, of black and of white", range, "0,1");
  if (quality && !jpeg) fail_usage(command, "--quality", "applies to .jpg only", output);
}

formats::WriteOptions PictureOptions::options() const {
  formats::WriteOptions options;
  options.range = range_of(range);
  options.jpeg_quality = quality.value_or(options.jpeg_quality);
  return options;
}

JsonText losses_json(const std::vector<std::string>& losses) {
  return {json_list(losses, [](const std::string& loss) { return loss; })};
}

void print_losses(const std::string& output, const std::vector<std::string>& losses, bool quiet) {
  if (quiet) return;
  for (const auto& loss : losses) note(text_of("patchfold: ", output, ": ", loss, "\n"));
}

}  // namespace patchfold::cli
