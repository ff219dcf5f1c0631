// SPDX-License-Identifier: Apache-2.0
// PyTorch's operators, with the names, defaults, argument order and checks of torch.nn.functional
// (https://pytorch.org/docs/stable/nn.functional.html). fold and unfold accept any number of spatial axes; torch accepts only two.
// In errors (patchfold::Error) operators and arguments have torch's names too. docs/dialects.md says which neutral operator each of
// them is.
#pragma once

#include "patchfold/operators.hpp"

namespace patchfold::torch {

/// input (N, C*K, L) or (C*K, L) -> (N, C, H, W) or (C, H, W). Padding is the same at both ends of an axis.
/// If all arguments are single numbers there are two spatial axes, as in torch.
struct PATCHFOLD_API Fold {
  static constexpr std::string_view name = "torch.fold";
  Axes output_size{};
  Axes kernel_size{};
  Axes dilation = 1;
  Axes padding = 0;
  Axes stride = 1;

  Dims output_shape(const Dims& input) const;
  Plan plan(const ConstTensorView& input, const TensorView& output) const;
  friend bool operator==(const Fold&, const Fold&) = default;
};

/// input (N, C, H, W) or (C, H, W) -> (N, C*K, L) or (C*K, L).
struct PATCHFOLD_API Unfold {
  static constexpr std::string_view name = "torch.unfold";
  Axes kernel_size{};
  Axes dilation = 1;
  Axes padding = 0;
  Axes stride = 1;

  Dims output_shape(const Dims& input) const;
  Plan plan(const ConstTensorView& input, const TensorView& output) const;
  friend bool operator==(const Unfold&, const Unfold&) = default;
};

/// (.., C * r * r, H, W) -> (.., C, H * r, W * r); channel = c * r * r + offset.
struct PATCHFOLD_API PixelShuffle {
  static constexpr std::string_view name = "torch.pixel_shuffle";
  std::int64_t upscale_factor = 0;  ///< required: r, at least 1

  Dims output_shape(const Dims& input) const;
  Plan plan(const ConstTensorView& input, const TensorView& output) const;
  friend bool operator==(const PixelShuffle&, const PixelShuffle&) = default;
};

/// The inverse of PixelShuffle: (.., C, H * r, W * r) -> (.., C * r * r, H, W).
struct PATCHFOLD_API PixelUnshuffle {
  static constexpr std::string_view name = "torch.pixel_unshuffle";
  std::int64_t downscale_factor = 0;  ///< required: r, at least 1

  Dims output_shape(const Dims& input) const;
  Plan plan(const ConstTensorView& input, const TensorView& output) const;
  friend bool operator==(const PixelUnshuffle&, const PixelUnshuffle&) = default;
};

}  // namespace patchfold::torch
