// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of merges: a sink that may fail, and tiles cut from a ramp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "patchfold/tiling.hpp"

namespace patchfold {

/// A sink that stores its rows, and throws at row `fail_at`.
class Rows : public RowSink {
 public:
  explicit Rows(std::size_t row_bytes) : row_bytes_(row_bytes) {}
  void write(Span rows, const ConstTensorView& band) override {
    if (rows.begin != next) throw std::logic_error("rows out of order");
    if (fail_at >= 0 && rows.end > fail_at) throw std::runtime_error("no space left");
    next = rows.end;
    const auto* from = static_cast<const std::byte*>(band.data);
    bytes.insert(bytes.end(), from, from + static_cast<std::size_t>(rows.size()) * row_bytes_);
  }
  std::vector<std::byte> bytes{};
  std::int64_t next = 0;
  std::int64_t fail_at = -1;

 private:
  std::size_t row_bytes_;
};

inline TilingSpec two_axes(Dims shape, Dims tile, std::int64_t overlap, Tail tail = Tail::shift) {
  return {.shape = shape, .tile = tile, .overlap = overlap, .tail = tail};
}

inline std::vector<float> ramp(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 251) - 100.5F;
  return values;
}

inline std::vector<float> cut(const Tiling& tiling, const std::vector<float>& array, std::int64_t index) {
  std::vector<float> tile(static_cast<std::size_t>(element_count(tiling.tile_shape(index))));
  tiling.cut(index, view(array.data(), tiling.spec().shape), view(tile.data(), tiling.tile_shape(index)));
  return tile;
}

/// Returns the message of the Error that f throws, or "nothing".
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace patchfold
