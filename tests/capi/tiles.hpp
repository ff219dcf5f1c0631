// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of tiles: handles that free themselves, tensors, and outcomes of calls as text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capi.hpp"
#include "patchfold/tiling.hpp"
#include "tests/specs_in_c.hpp"

namespace patchfold::test {

using testing::MergeSpecInC;
using testing::TilingSpecInC;

struct Destroy {
  void operator()(pf_tiling* tiling) const { pf_tiling_destroy(tiling); }
  void operator()(pf_merger* merger) const { pf_merger_destroy(merger); }
  void operator()(pf_box_merger* merger) const { pf_box_merger_destroy(merger); }
  void operator()(char* text) const { pf_text_destroy(text); }
};
using TilingPointer = std::unique_ptr<pf_tiling, Destroy>;
using MergerPointer = std::unique_ptr<pf_merger, Destroy>;
using TextPointer = std::unique_ptr<char, Destroy>;

/// Returns "status: message" of a C++ call, like outcome() of a C call.
template <class F>
std::string outcome_of(F f) {
  try {
    f();
    return "ok";
  } catch (const Error& error) {
    return std::string(describe(error.code()).name) + ": " + error.what();
  }
}

inline std::vector<std::int64_t> list_of(const Dims& dims) {
  return {dims.begin(), dims.end()};
}

inline TilingPointer make_tiling(const TilingSpec& spec) {
  const TilingSpecInC given(spec);
  pf_tiling* tiling = nullptr;
  EXPECT_OK(pf_tiling_create(&given.c, &tiling));
  return TilingPointer(tiling);
}

/// A tensor of any element type with its memory, row-major.
struct Bytes {
  std::vector<std::int64_t> shape;
  DType dtype;
  std::size_t size;
  std::vector<std::byte> bytes;

  Bytes(const Dims& extents, DType type, std::size_t element_size)
      : shape(list_of(extents)),
        dtype(type),
        size(element_size),
        bytes(static_cast<std::size_t>(element_count(extents)) * element_size) {}
  pf_tensor c() {
    return {bytes.data(),
            shape.data(),
            nullptr,
            static_cast<std::int32_t>(shape.size()),
            static_cast<pf_dtype>(dtype),
            static_cast<std::uint32_t>(size)};
  }
  TensorView view() {
    const Dims dims(std::span(shape.data(), shape.size()));
    return {bytes.data(), dims, contiguous_strides(dims, size), dtype, size};
  }
};

}  // namespace patchfold::test
