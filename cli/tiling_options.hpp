// SPDX-License-Identifier: Apache-2.0
// The options that place tiles, and those that merge them.
#pragma once

#include <string>
#include <string_view>

#include "cli/command.hpp"
#include "patchfold/tiling.hpp"

namespace patchfold::cli {

/// The options of a tiling (--tile, --overlap, ..); their texts are converted after parsing.
class TilingOptions {
 public:
  /// Adds the options to `command`, named `name` ("split"), which must outlive this object. Call add_results() after all other
  /// options.
  /// `use`: whether tiles are cut, or only their places are needed; then there are no options of padding and axes.
  enum class Use : std::uint8_t { cuts, places };
  TilingOptions(Command& command, std::string_view name, Use use = Use::cuts);
  TilingOptions(const TilingOptions&) = delete;
  TilingOptions& operator=(const TilingOptions&) = delete;

  /// Adds --scale, --offset, --result and --output.
  void add_results();

  /// Returns the extents of a tile. Throws Error(usage) if no option gives them, and the errors of parse_argument.
  Axes tile() const;
  bool has_tile() const { return !tile_.empty(); }
  bool has_tail() const { return !tail_.empty(); }
  /// Returns whether any option of the places of tiles was given.
  bool is_given() const { return !(tile_ + overlap_ + stride_ + tail_ + margin_).empty(); }
  /// Returns the spec, without shape and tile. Throws Error(usage), and the errors of parse_argument.
  TilingSpec spec() const;

 private:
  Axes axes_of(const char* option, const std::string& text) const;
  Dims dims_of(const char* option, const std::string& text) const;

  Command& command_;
  std::string_view name_;
  std::string tile_{}, overlap_{}, stride_{}, tail_{}, padding_mode_{}, value_{}, axes_{}, scale_{}, offset_{}, result_{};
  std::string align_{}, margin_{}, output_{};
};

/// Adds the option --reduce; choice_of<Reduce> reads its value.
void add_reduce(Command& command, std::string& reduce, std::string_view default_text);
/// Adds the option --window, whose text is stored in `window`; window_named() reads it and throws Error(usage).
void add_window(Command& command, std::string& window);
WeightWindow window_named(std::string_view command, const std::string& text);

}  // namespace patchfold::cli
