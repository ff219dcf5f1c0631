// SPDX-License-Identifier: Apache-2.0
// Words of other systems for padding modes, operators and orders, and the words that patchfold uses.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "patchfold/error.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold {

/// An order of the axes of a patch that is spelled out, such as "c kh kw".
struct SpelledOrder {
  Dims places{};          ///< for each name the index of its axis of a patch; -1 for c, the channels
  bool is_mixed = false;  ///< names that do not belong together, such as p1 and kw
};

/// Reads an order such as "(p1 p2 pf c)": c, and for each axis of a patch a letter or a digit, which may stand behind p or k.
/// Frames and depth (f, t, d, z) come first, then rows and columns: h and w, y and x, or p and q. Digits count the axes; k stands
/// for the only axis. Returns nothing for any other text.
inline std::optional<SpelledOrder> spelled_order(std::string_view text) {
  if (text.starts_with('(') && text.ends_with(')')) text = text.substr(1, text.size() - 2);
  constexpr std::array<std::string_view, 3> letters = {"ftdz", "hypk", "wxq"};
  constexpr int channel = -1;
  constexpr std::size_t digits = letters[1].size();  // the index of digits as a pair, behind the pairs of letters
  SpelledOrder order;
  std::optional<char> prefix;
  std::optional<std::size_t> pair;
  Dims keys;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(name.size() + 1, text.size()));
    if (name.empty()) continue;
    const char last = name.back();
    int key = last >= '0' && last <= '9' ? last - '0' : name == "c" ? channel : -2;
    std::size_t place = digits;
    for (int i = 0; i < 3; ++i) {
      const std::size_t found = letters[static_cast<std::size_t>(i)].find(last);
      if (found == std::string_view::npos) continue;
      key = i;
      place = found;
    }
    const auto belong = [&](auto& to, auto one) {
      order.is_mixed = order.is_mixed || to.value_or(one) != one;
      to = one;
    };
    if (key != channel) belong(prefix, name.size() == 1 ? ' ' : name[0]);
    if (key > 0 || (key == 0 && place == digits)) belong(pair, place);
    const bool has_prefix = name.size() == 2 && (name[0] == 'p' || name[0] == 'k');
    if (key < channel || (name.size() != 1 && !has_prefix) || keys.size() == max_rank) return std::nullopt;
    for (const std::int64_t other : keys)
      if (other == key) return std::nullopt;
    keys.push_back(key);
  }
  bool has_channel = false;
  for (const std::int64_t key : keys) {
    has_channel = has_channel || key == channel;
    std::int64_t place = channel;
    for (const std::int64_t other : keys)
      if (other != channel && other < key) ++place;
    order.places.push_back(key == channel ? channel : place + 1);
  }
  if (!has_channel || order.places.size() < 2) return std::nullopt;
  return order;
}

/// A function of another system, and the operator here that does the same.
struct OtherOperator {
  std::string_view other, here{};
  std::string_view reduce{};  ///< the value of the argument `reduce` of `here`; empty: the default
};

/// Returns the row of a name from MATLAB, NumPy, scikit-image, scikit-learn, kornia and others; an empty `here` for any
/// other name.
inline OtherOperator operator_here(std::string_view name) noexcept {
  constexpr auto list = std::to_array<OtherOperator>({{"im2col", "unfold"},
                                                      {"im2row", "unfold"},
                                                      {"im2vol", "unfold"},
                                                      {"frame", "unfold"},
                                                      {"window_partition", "unfold"},
                                                      {"col2im", "fold"},
                                                      {"col2vol", "fold"},
                                                      {"window_reverse", "fold"},
                                                      {"channel_shuffle", "reorder"},
                                                      {"unfoldNd", "unfold"},
                                                      {"foldNd", "fold"},
                                                      {"sliding_window_view", "unfold"},
                                                      {"view_as_windows", "unfold"},
                                                      {"view_as_blocks", "space_to_depth"},
                                                      {"extract_patches_2d", "unfold"},
                                                      {"reconstruct_from_patches_2d", "fold", "mean"},
                                                      {"extract_tensor_patches", "unfold"},
                                                      {"combine_tensor_patches", "fold", "mean"},
                                                      {"conv_general_dilated_patches", "unfold"},
                                                      {"overlap_and_add", "fold"},
                                                      {"overlap_add", "fold"},
                                                      {"extract_patches", "keras.extract_patches"},
                                                      {"extract_image_patches", "tensorflow.ExtractImagePatches"},
                                                      {"extract_volume_patches", "tensorflow.ExtractVolumePatches"}});
  for (const OtherOperator& each : list)
    if (name == each.other) return each;
  return {name};
}

/// A word of torch or TensorFlow for a padding mode, and patchfold's word for this mode.
struct PaddingWord {
  std::string_view other, here;
  bool is_zero = false;  ///< the padding is 0, and no other number can be given
};
inline constexpr std::array<PaddingWord, 6> padding_words = {{{"zeros", "constant", true},
                                                              {"CONSTANT", "constant"},
                                                              {"replicate", "edge"},
                                                              {"REFLECT", "reflect"},
                                                              {"SYMMETRIC", "symmetric"},
                                                              {"circular", "wrap"}}};

inline bool is_zero(const Scalar& number) {
  return number.as_unsigned() == 0 && number.real() == 0 && number.imaginary() == 0;
}

/// Throws Error(value) if `word` pads with 0, and the fill is another number. `mode` and `fill` are the names of the two arguments.
inline void check_fill(std::string_view op, std::string_view mode, std::string_view word, std::string_view fill,
                       const Scalar& value) {
  for (const PaddingWord& each : padding_words)
    if (each.is_zero && word == each.other && !is_zero(value))
      throw Error({ErrorCode::value, std::string(op), std::string(fill),
                   "does not go with " + std::string(mode) + " " + std::string(word) + ", which pads with 0",
                   to_string(value), ErrorValue("0, or ", mode, " ", each.here)});
}

/// Returns patchfold's word for a word of torch ("replicate" is "edge") or TensorFlow, and for an order that is spelled out
/// ("c kh kw" is "channel"). Returns any other word unchanged.
inline std::string_view word_here(std::string_view word) {
  for (const PaddingWord& each : padding_words)
    if (word == each.other) return each.here;
  if (const auto order = spelled_order(word); order && !order->is_mixed) {
    const int axes = order->places.size() - 1;
    const int first = order->places[0] < 0 ? 1 : 0;
    for (int i = 0; i < axes; ++i)
      if (order->places[first + i] != i) return word;
    return first == 1 ? "channel" : "kernel";
  }
  return word;
}

}  // namespace patchfold
