// SPDX-License-Identifier: Apache-2.0
// Keras 3's operators, with the names, defaults and argument order of keras.ops. Keras computes extract_patches as a convolution.
// Here elements are copied: every element type works, and an infinity or NaN does not spread to other elements.
#pragma once

#include "patchfold/operators.hpp"

namespace patchfold::keras {

enum class PaddingType : std::uint8_t { valid, same };
enum class DataFormat : std::uint8_t { channels_last, channels_first };

}  // namespace patchfold::keras

namespace patchfold {
template <>
inline constexpr auto words<keras::PaddingType> =
    std::to_array<Word<keras::PaddingType>>({{keras::PaddingType::valid, "valid"}, {keras::PaddingType::same, "same"}});
template <>
inline constexpr auto words<keras::DataFormat> = std::to_array<Word<keras::DataFormat>>(
    {{keras::DataFormat::channels_last, "channels_last"}, {keras::DataFormat::channels_first, "channels_first"}});
}  // namespace patchfold

namespace patchfold::keras {

/// keras.ops.image.extract_patches. images (N, H, W, C) or (H, W, C) -> (N, oh, ow, kh*kw*C) or without N; the new channel
/// is tap * C + c. With channels_first, C is before the spatial axes in input and output. With a size of three entries the images
/// are volumes, (N, D, H, W, C) or without N; a single number means two spatial axes.
struct PATCHFOLD_API ExtractPatches {
  static constexpr std::string_view name = "keras.extract_patches";
  Axes size{};
  Axes strides{};  ///< empty: equal to the size
  Axes dilation_rate = 1;
  PaddingType padding = PaddingType::valid;
  DataFormat data_format = DataFormat::channels_last;

  Dims output_shape(const Dims& images) const;
  Plan plan(const ConstTensorView& images, const TensorView& output) const;
  friend bool operator==(const ExtractPatches&, const ExtractPatches&) = default;
};

/// keras.ops.nn.unfold. x (N, C, H, W) -> (N, C*kh*kw, L). Padding is the same at both ends of an axis.
struct PATCHFOLD_API Unfold {
  static constexpr std::string_view name = "keras.unfold";
  Axes kernel_size{};
  Axes dilation = 1;
  Axes padding = 0;
  Axes stride = 1;

  Dims output_shape(const Dims& x) const;
  Plan plan(const ConstTensorView& x, const TensorView& output) const;
  friend bool operator==(const Unfold&, const Unfold&) = default;
};

/// keras.ops.nn.fold. x (N, C*kh*kw, L) -> (N, C, H, W).
struct PATCHFOLD_API Fold {
  static constexpr std::string_view name = "keras.fold";
  Axes output_size{};
  Axes kernel_size{};
  Axes dilation = 1;
  Axes padding = 0;
  Axes stride = 1;

  Dims output_shape(const Dims& x) const;
  Plan plan(const ConstTensorView& x, const TensorView& output) const;
  friend bool operator==(const Fold&, const Fold&) = default;
};

}  // namespace patchfold::keras
