// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests with literal vectors: operators without their type, and comparisons element by element. Expected
// values always come from the caller.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "patchfold/patchfold.hpp"

namespace patchfold::vectors {

using Ints = std::vector<std::int64_t>;
using Bytes = std::vector<std::byte>;
using Types = std::span<const DType>;

/// An operator without its type.
struct Problem {
  template <class Op>
  requires requires { Op::name; }
  Problem(const Op& op)  // NOLINT: tests pass operators as they are
      : name(Op::name),
        output_shape([op](const Dims& in) { return op.output_shape(in); }),
        plan([op](const ConstTensorView& src, const TensorView& dst) { return op.plan(src, dst); }) {}
  Problem(std::string_view bound_name, const BoundOperator& op)
      : name(bound_name),
        output_shape([op](const Dims& in) { return op.output_shape(in); }),
        plan([op](const ConstTensorView& src, const TensorView& dst) { return op.plan(src, dst); }) {}

  std::string name;
  std::function<Dims(const Dims&)> output_shape;
  std::function<Plan(const ConstTensorView&, const TensorView&)> plan;
};

/// Returns the operator of the table with arguments as a model passes them.
Problem table_op(std::string_view op, const std::vector<Argument>& arguments);

/// float32.
Types one_type();
/// The twelve numeric types of OpenVINO's reference tests.
Types numeric_types();
/// Returns every type that fold can add.
Types summable_types();

/// Returns first, first + 1, ..
Ints iota(const Dims& shape, std::int64_t first = 1);
/// Returns the elements as bytes. Integers wrap, floating-point types round to nearest even, complex ones get 0i, booleans != 0.
Bytes encode(DType dtype, const Ints& values);
/// Returns FNV-1a, 64 bit, over the values as little-endian 64-bit integers.
std::uint64_t fingerprint(const Ints& values);
Bytes bytes_of(const void* data, std::size_t size);
template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  return bytes_of(values.data(), values.size() * sizeof(T));
}

/// Runs with one thread and with the default executor, which must agree; returns the output, which held 0xCD before.
Bytes result_of(const Problem& problem, DType dtype, std::size_t element_size, const Dims& in, const Bytes& data,
                const Dims& out);
Bytes result_of(const Problem& problem, DType dtype, const Dims& in, const Bytes& data, const Dims& out);

void expect_shape(const Problem& problem, const Dims& in, const Dims& out);
/// Expects shape and values, for each type.
void expect_values(const Problem& problem, const Dims& in, const Ints& data, const Dims& out, const Ints& expected,
                   Types types = one_type());
/// Expects the values for the input 1, 2, 3, ..
void expect_iota(const Problem& problem, const Dims& in, const Dims& out, const Ints& expected, Types types = one_type());
/// Returns the fingerprint of the result's extents and elements for the input 1, 2, 3, .. as int64.
std::uint64_t fingerprint(const Problem& problem, const Dims& in);
/// The bytes of one type.
void expect_bytes(const Problem& problem, DType dtype, const Dims& in, const Bytes& data, const Dims& out,
                  const Bytes& expected);
template <class T>
void expect_same(const Problem& problem, DType dtype, const Dims& in, const std::vector<T>& data, const Dims& out,
                 const std::vector<T>& expected) {
  expect_bytes(problem, dtype, in, bytes_of(data), out, bytes_of(expected));
}
/// Returns bits that arithmetic would change: NaN with and without payloads, signalling ones, -0.0, denormals, and bytes that are no
/// number. Complex numbers are two such parts; nothing for other types.
std::vector<std::uint64_t> special_bits(DType dtype);
/// `source` holds for each output element 1 + the index of the input element it must equal, or 0 for zero bytes. Every
/// element type and many sizes of opaque elements, filled with arbitrary bits, and with special ones.
void expect_moved(const Problem& problem, const Dims& in, const Dims& out, const Ints& source);

/// Both output_shape and plan must refuse with one of these codes, and the message must contain these words.
void expect_error(const Problem& problem, const Dims& in, const std::vector<ErrorCode>& codes,
                  const std::vector<std::string_view>& words = {});
/// The arguments must be refused when they are bound.
void expect_error_of_binding(std::string_view op, const std::vector<Argument>& arguments,
                             const std::vector<ErrorCode>& codes, const std::vector<std::string_view>& words = {});
/// plan must refuse tensors of this type.
void expect_type_error(const Problem& problem, DType dtype, std::size_t element_size, const Dims& in, const Dims& out,
                       std::string_view word);

}  // namespace patchfold::vectors
