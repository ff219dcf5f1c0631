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

/// Reads an order that is spelled out, as "(p1 p2 pf c)". Returns for each name the number of its axis among the axes of a patch,
/// and -1 for c, the channels. Frames and depth (f, t, d, z) come first, then rows (h, y, p), then columns (w, x, q); digits count
/// the axes. Returns nothing for any other text.
inline std::optional<Dims> spelled_order(std::string_view text) {
  if (text.starts_with('(') && text.ends_with(')')) text = text.substr(1, text.size() - 2);
  constexpr std::array<std::string_view, 3> letters = {"ftdz", "hypk", "wxq"};
  constexpr int channel = -1;
  Dims keys;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(name.size() + 1, text.size()));
    if (name.empty()) continue;
    const char last = name.back();
    int key = last >= '0' && last <= '9' ? last - '0' : name == "c" ? channel : -2;
    for (int i = 0; i < 3; ++i)
      if (letters[static_cast<std::size_t>(i)].find(last) != std::string_view::npos) key = i;
    const bool has_prefix = name.size() == 2 && (name[0] == 'p' || name[0] == 'k');
    if (key < channel || (name.size() != 1 && !has_prefix) || keys.size() == max_rank) return std::nullopt;
    for (const std::int64_t other : keys)
      if (other == key) return std::nullopt;
    keys.push_back(key);
  }
  Dims places;
  bool has_channel = false;
  for (const std::int64_t key : keys) {
    has_channel = has_channel || key == channel;
    std::int64_t place = channel;
    for (const std::int64_t other : keys)
      if (other != channel && other < key) ++place;
    places.push_back(key == channel ? channel : place + 1);
  }
  if (!has_channel || places.size() < 2) return std::nullopt;
  return places;
}

/// Returns patchfold's operator for a name from MATLAB, NumPy, scikit-image, scikit-learn, kornia and others; nothing for
/// any other name.
inline std::string_view operator_here(std::string_view name) noexcept {
  struct Names {
    std::string_view other, here;
  };
  constexpr auto list = std::to_array<Names>({{"im2col", "unfold"},
                                              {"col2im", "fold"},
                                              {"unfoldNd", "unfold"},
                                              {"foldNd", "fold"},
                                              {"sliding_window_view", "unfold"},
                                              {"view_as_windows", "unfold"},
                                              {"view_as_blocks", "space_to_depth"},
                                              {"extract_patches_2d", "unfold"},
                                              {"reconstruct_from_patches_2d", "fold"},
                                              {"extract_tensor_patches", "unfold"},
                                              {"combine_tensor_patches", "fold"},
                                              {"conv_general_dilated_patches", "unfold"},
                                              {"overlap_and_add", "fold"},
                                              {"overlap_add", "fold"},
                                              {"extract_patches", "keras.extract_patches"},
                                              {"extract_image_patches", "tensorflow.ExtractImagePatches"},
                                              {"extract_volume_patches", "tensorflow.ExtractVolumePatches"}});
  for (const auto& [other, here] : list)
    if (name == other) return here;
  return {};
}

/// A word of torch or TensorFlow for a padding mode, and patchfold's.
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

/// Throws Error(value) for a fill other than 0 together with a word that pads with 0. mode and fill are the names of the two
/// arguments.
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
  if (const auto places = spelled_order(word)) {
    const int axes = places->size() - 1;
    const int first = (*places)[0] < 0 ? 1 : 0;
    for (int i = 0; i < axes; ++i)
      if ((*places)[first + i] != i) return word;
    return first == 1 ? "channel" : "kernel";
  }
  return word;
}

}  // namespace patchfold
