// SPDX-License-Identifier: Apache-2.0
// Converts C++ specs of tilings and merges to the structs of the C interface.
#pragma once

#include <cstdint>
#include <vector>

#include "patchfold/patchfold.h"
#include "patchfold/tiling.hpp"

namespace patchfold::testing {

inline pf_scalar in_c(const Scalar& scalar) {
  switch (scalar.kind()) {
    case Scalar::Kind::signed_integer: return {PF_VALUE_INTEGER, 0, scalar.as_signed(), 0, 0};
    case Scalar::Kind::unsigned_integer: return {PF_VALUE_UNSIGNED, 0, scalar.as_signed(), 0, 0};
    case Scalar::Kind::real: return {PF_VALUE_NUMBER, 0, 0, scalar.real(), 0};
    default: return {PF_VALUE_COMPLEX, 0, 0, scalar.real(), scalar.imaginary()};
  }
}

/// The pf_tiling_spec of a C++ spec. Its pointers point into the C++ spec, which must live longer.
class TilingSpecInC {
 public:
  explicit TilingSpecInC(const TilingSpec& from) : value_(in_c(from.value)) {
    c = pf_tiling_spec_of(from.shape.begin(), from.shape.size(), from.tile.begin(), from.tile.size());
    set(from.overlap.values(), c.overlap, c.n_overlap);
    set(from.stride.values(), c.stride, c.n_stride);
    set(from.axes, c.axes, c.n_axes);
    set(from.offset, c.offset, c.n_offset);
    set(from.result, c.result, c.n_result);
    set(from.align.values(), c.align, c.n_align);
    set(from.margin.values(), c.margin, c.n_margin);
    set(from.margin_end.values(), c.margin_end, c.n_margin_end);
    set(from.output, c.output, c.n_output);
    for (const Ratio ratio : from.scale) scale_.push_back({ratio.num, ratio.den});
    c.scale = scale_.data();
    c.n_scale = static_cast<std::int32_t>(scale_.size());
    c.overlap_fraction = from.overlap_fraction.data();
    c.n_overlap_fraction = static_cast<std::int32_t>(from.overlap_fraction.size());
    c.tail = static_cast<pf_tail>(from.tail);
    c.padding_mode = static_cast<pf_padding_mode>(from.padding_mode);
    c.value = &value_;
  }
  TilingSpecInC(const TilingSpecInC&) = delete;
  TilingSpecInC& operator=(const TilingSpecInC&) = delete;

  pf_tiling_spec c;

 private:
  static void set(const Dims& from, const std::int64_t*& entries, std::int32_t& count) {
    entries = from.begin();
    count = from.size();
  }
  pf_scalar value_;
  std::vector<pf_ratio> scale_;
};

/// The pf_merge_spec of a C++ spec. Its pointers point into the C++ spec, which must live longer, and into this object.
class MergeSpecInC {
 public:
  explicit MergeSpecInC(const MergeSpec& from) {
    c = pf_merge_spec_of(static_cast<pf_dtype>(from.dtype), from.channels.begin(), from.channels.size());
    c.element_size = static_cast<std::uint32_t>(from.element_size);
    c.reduce = from.reduce ? static_cast<pf_reduce>(*from.reduce) + 1 : PF_REDUCE_STANDARD;
    const bool is_standard = from.window.kind == WeightWindow::Kind::standard;
    c.window = is_standard ? PF_WINDOW_STANDARD : static_cast<pf_window>(from.window.kind) + 1;
    c.sigma_scale = from.window.sigma_scale;
    c.alpha = from.window.alpha;
    c.copy = from.copy;
    weights_ = from.window.array;
    for (const auto& axis : from.window.axes) weights_.insert(weights_.end(), axis.begin(), axis.end());
    c.weights = weights_.data();
    c.n_weights = static_cast<std::int64_t>(weights_.size());
    c.mask = from.mask.data();
    c.n_mask = static_cast<std::int64_t>(from.mask.size());
    if (from.output_dtype) output_dtype_ = static_cast<pf_dtype>(*from.output_dtype);
    if (from.output_dtype) c.output_dtype = &output_dtype_;
    if (from.fill) fill_ = in_c(*from.fill);
    if (from.fill) c.fill = &fill_;
    if (from.memory_limit) c.memory_limit = &*from.memory_limit;
    c.sink_rows = from.sink_rows;
  }
  MergeSpecInC(const MergeSpecInC&) = delete;
  MergeSpecInC& operator=(const MergeSpecInC&) = delete;

  pf_merge_spec c;

 private:
  std::vector<double> weights_;
  pf_dtype output_dtype_ = 0;
  pf_scalar fill_{};
};

}  // namespace patchfold::testing
