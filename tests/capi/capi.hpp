// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of the C interface: tensors that own their memory, and outcomes of calls as text.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "patchfold/patchfold.h"
#include "patchfold/tensor.hpp"

namespace patchfold::test {

template <class T>
constexpr pf_dtype dtype_of() {
  return static_cast<pf_dtype>(*detail::dtype_of_type<T>());
}

/// A row-major tensor with its memory.
template <class T>
struct Tensor {
  std::vector<std::int64_t> shape;
  std::vector<T> values;

  explicit Tensor(std::vector<std::int64_t> extents) : shape(std::move(extents)), values(count()) {}
  Tensor(std::vector<std::int64_t> extents, std::vector<T> given) : shape(std::move(extents)), values(std::move(given)) {}

  std::size_t count() const {
    std::size_t product = 1;
    for (const auto extent : shape) product *= static_cast<std::size_t>(extent);
    return product;
  }
  Tensor& count_up() {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i + 1);
    return *this;
  }
  pf_tensor view() {
    return {values.data(), shape.data(), nullptr, static_cast<std::int32_t>(shape.size()), dtype_of<T>(), sizeof(T)};
  }
};

/// Returns a tensor of one axis with the values, for inputs such as output_size.
template <class T>
Tensor<T> list(std::vector<T> values) {
  return {{static_cast<std::int64_t>(values.size())}, values};
}

/// Returns "status: message" for a call that failed. Returns "ok" for PF_OK, followed by the last message, which must be
/// empty then.
inline std::string outcome(pf_status status) {
  const char* name = pf_status_name(status);
  const std::string text = name ? name : std::to_string(status);
  return status == PF_OK ? text + pf_last_error() : text + ": " + pf_last_error();
}

#define EXPECT_OK(call) EXPECT_EQ(::patchfold::test::outcome(call), "ok")
#define ASSERT_OK(call) ASSERT_EQ(::patchfold::test::outcome(call), "ok")

}  // namespace patchfold::test
