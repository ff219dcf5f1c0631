// SPDX-License-Identifier: Apache-2.0
#include "cli/tiling_options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "cli/options.hpp"
#include "cli/report.hpp"
#include "cli/text.hpp"
#include "cli/tile_options.hpp"

namespace patchfold::cli {
namespace {

/// Returns a decimal number as a fraction of small integers, "1/4" or "2"; an empty text if there is none.
std::string fraction_of(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value > 0 && value < 1e6)) return {};
  for (int den = 1; den <= 1000; ++den) {
    const double num = value * den;
    if (std::abs(num - std::round(num)) < 1e-9 * num)
      return den == 1 ? text_of(std::llround(num)) : text_of(std::llround(num), "/", den);
  }
  return {};
}

std::int64_t part_of_ratio(std::string_view command, const std::string& ratio, const std::string& part) {
  try {
    return std::get<std::int64_t>(parse_argument(command, "--scale", ArgumentKind::integer, part));
  } catch (const Error& error) {
    const std::string fraction = fraction_of(ratio);
    throw Error({error.code(),
                 std::string(command),
                 "--scale",
                 "must be an integer or a fraction of integers",
                 ratio,
                 {},
                 fraction.empty() ? ErrorValue() : ErrorValue("write --scale ", fraction)});
  }
}

/// Returns the ratios in a text such as "2", "1/4" or "2,1/2".
std::vector<Ratio> ratios_of(std::string_view command, const std::string& text) {
  std::vector<Ratio> ratios;
  for (std::size_t at = 0; at < text.size() || (at > 0 && at == text.size());) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    const std::size_t slash = std::min(part.find('/'), part.size());
    Ratio ratio;
    ratio.num = part_of_ratio(command, part, part.substr(0, slash));
    if (slash < part.size()) ratio.den = part_of_ratio(command, part, part.substr(slash + 1));
    ratios.push_back(ratio);
    at = comma + 1;
  }
  return ratios;
}

/// Returns the parts of a text between commas.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0, comma = 0; comma < text.size(); at = comma + 1) {
    comma = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, comma - at));
  }
  return parts;
}

/// Returns the fractions in a text such as "0.25" or "0.25,0.5".
std::vector<double> fractions_of(std::string_view command, const std::string& text) {
  std::vector<double> fractions;
  for (const std::string& part : parts_of(text)) {
    double value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || part.find('.') == std::string::npos)
      fail_usage(command, "--overlap", "must be integers (elements), or fractions of the tile with a point, and not both",
                 text, "64, or 0.25");
    fractions.push_back(value);
  }
  return fractions;
}

/// Reads margins such as "4", "4,8" or "4:6,8": for every tiled axis, or for each, the same before and behind the array, or both.
void read_margin(std::string_view command, const std::string& text, TilingSpec& spec) {
  const auto number = [&](const std::string& part) {
    try {
      return std::get<std::int64_t>(parse_argument(command, "--margin", ArgumentKind::integer, part));
    } catch (const Error&) {
      fail_usage(command, "--margin", "must be integers, or pairs of them: before and behind the array", text, "4, or 4:6");
    }
  };
  Dims before, behind;
  for (const std::string& part : parts_of(text)) {
    const std::size_t colon = std::min(part.find(':'), part.size());
    if (before.size() == max_rank) fail_usage(command, "--margin", "must have an entry for each tiled axis", text);
    before.push_back(number(part.substr(0, colon)));
    behind.push_back(colon < part.size() ? number(part.substr(colon + 1)) : before.back());
  }
  spec.margin = before.size() == 1 ? Axes(before[0]) : Axes(before);
  spec.margin_end = behind.size() == 1 ? Axes(behind[0]) : Axes(behind);
}

}  // namespace

TilingOptions::TilingOptions(Command& command, std::string_view name, Use use) : command_(command), name_(name) {
  const TilingSpec standard;
  command.option("--tile", tile_, "N,..",
                 use == Use::cuts ? "size of tiles; required" : "size of tiles; default: of the largest");
  command.option("--overlap", overlap_, "N,..",
                 "what neighbours share: elements, or 0.25 for a quarter of a tile; negative: gaps");
  command.option("--stride", stride_, "N,..", "from tile to tile, instead of --overlap");
  command.choices(command.option("--tail", tail_, "TAIL",
                                 text_of("the last tile, if it does not fit: ", listed_words<Tail>(), "; default ",
                                         word_of(standard.tail))),
                  choices_of<Tail>());
  command.option("--margin", margin_, "N,..",
                 "elements that tiles read before and behind the picture; A:B: A before, B behind; default 0");
  if (use == Use::places) return;
  command.choices(command.option("--padding-mode", padding_mode_, "MODE",
                                 text_of("for --margin, --tail pad and shift_or_pad: ", listed_words<PaddingMode>(),
                                         "; default ", word_of(standard.padding_mode))),
                  choices_of<PaddingMode>());
  command.option("--value", value_, "NUMBER", "for --padding-mode constant; default 0");
  command.option("--align", align_, "N,..", "tiles begin at multiples of this, as pools of a network need it; default 1");
  command.option("--axes", axes_, "N,..",
                 "of .npy arrays: the axes that are tiled, from 0 or, negative, from the end; default: the last");
}

void TilingOptions::add_results() {
  command_.option("--scale", scale_, "RATIO,..", "elements of a result for each element of a tile: 2, 1/4; default 1");
  command_.option("--offset", offset_, "N,..",
                  "where results lie: this much after their tile's place, in elements of results; default 0");
  command_.option("--result", result_, "N,..", "size of results; default: that of tiles, scaled");
  command_.option("--output", output_, "N,..", "size of what merge makes; default: that of the picture, scaled");
}

Axes TilingOptions::axes_of(const char* option, const std::string& text) const {
  if (text.empty()) return {};
  const ArgumentValue value = parse_argument(name_, option, ArgumentKind::axes, text);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  return std::get<Dims>(value);
}

Dims TilingOptions::dims_of(const char* option, const std::string& text) const {
  return text.empty() ? Dims{} : std::get<Dims>(parse_argument(name_, option, ArgumentKind::integers, text));
}

Axes TilingOptions::tile() const {
  if (tile_.empty()) fail_usage(name_, "--tile", "is required", "", "the size of tiles: 512, or 512,256");
  return axes_of("--tile", tile_);
}

TilingSpec TilingOptions::spec() const {
  TilingSpec spec;
  if (!overlap_.empty() && !stride_.empty()) fail_usage(name_, "--stride", "must not be given together with --overlap");
  if (overlap_.find('.') == std::string::npos)
    spec.overlap = axes_of("--overlap", overlap_);
  else
    spec.overlap_fraction = fractions_of(name_, overlap_);
  spec.stride = axes_of("--stride", stride_);
  spec.axes = dims_of("--axes", axes_);
  spec.offset = dims_of("--offset", offset_);
  spec.result = dims_of("--result", result_);
  spec.output = dims_of("--output", output_);
  spec.align = axes_of("--align", align_);
  if (!margin_.empty()) read_margin(name_, margin_, spec);
  spec.scale = ratios_of(name_, scale_);
  if (!tail_.empty()) spec.tail = choice_of<Tail>(name_, "--tail", tail_);
  if ((!padding_mode_.empty() || !value_.empty()) && !pads(spec.tail) && margin_.empty() && align_.empty())
    fail_usage(name_, value_.empty() ? "--padding-mode" : "--value",
               "applies to --margin, --align, --tail pad and shift_or_pad only");
  if (!padding_mode_.empty()) spec.padding_mode = choice_of<PaddingMode>(name_, "--padding-mode", padding_mode_);
  if (!value_.empty()) spec.value = std::get<Scalar>(parse_argument(name_, "--value", ArgumentKind::number, value_));
  check_fill(name_, "--padding-mode", padding_mode_, "--value", spec.value);
  return spec;
}

void add_reduce(Command& command, std::string& reduce, std::string_view default_text) {
  command.choices(command.option("--reduce", reduce, "RULE",
                                 text_of("where tiles overlap: ", listed_words<Reduce>(), "; default ", default_text)),
                  choices_of<Reduce>());
}

void add_window(Command& command, std::string& window) {
  command.choices(command.option("--window", window, "WINDOW",
                                 text_of("weights of the mean: ", listed_words<WeightWindow::Kind>(has_formula),
                                         " (or gaussian:SIGMA, tukey:ALPHA); default hann")),
                  choices_of<WeightWindow::Kind>(has_formula));
}

WeightWindow window_named(std::string_view command, const std::string& text) {
  WeightWindow window;
  /// Reads the number behind a prefix. Returns whether the text has the prefix, and `is_read` whether a number is all that follows.
  const auto has_number = [&](std::string_view prefix, double& number, bool& is_read) {
    if (!text.starts_with(prefix)) return false;
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data() + prefix.size(), last, number);
    is_read = error == std::errc() && end == last;
    return true;
  };
  bool is_read = false;
  if (has_number("gaussian:", window.sigma_scale, is_read)) {
    window.kind = WeightWindow::Kind::gaussian;
    if (!is_read || !(window.sigma_scale > 0) || !(window.sigma_scale < 1e6))
      fail_usage(command, "--window", "needs a sigma above 0, in tiles", text, "gaussian:0.125");
  } else if (has_number("tukey:", window.alpha, is_read)) {
    window.kind = WeightWindow::Kind::tukey;
    if (!is_read || !(window.alpha >= 0) || !(window.alpha <= 1))
      fail_usage(command, "--window", "needs an alpha from 0 to 1", text, "tukey:0.5");
  } else {
    window.kind =
        choice_of<WeightWindow::Kind>(command, "--window", text, has_formula, " (or gaussian:SIGMA, tukey:ALPHA)");
  }
  return window;
}

}  // namespace patchfold::cli
