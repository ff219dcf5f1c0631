// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests with literal vectors: operators of all types as one type, and comparisons element by element.
// Expected values always come from the caller.
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

/// An operator of any type, as functions.
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

/// Returns an operator of the table, bound to arguments as a model passes them.
Problem table_op(std::string_view op, const std::vector<Argument>& arguments);

/// Returns float32.
Types one_type();
/// Returns the twelve numeric types of OpenVINO's reference tests.
Types numeric_types();
/// Returns every type that fold can add.
Types summable_types();

/// Returns first, first + 1, .., a number for each element of the shape.
Ints iota(const Dims& shape, std::int64_t first = 1);
/// Returns the values as bytes of elements. Integers wrap, floating-point types round to nearest even, complex numbers get
/// the imaginary part 0, and booleans are value != 0.
Bytes encode(DType dtype, const Ints& values);
/// Returns the 64-bit hash FNV-1a of the values as little-endian 64-bit integers.
std::uint64_t fingerprint(const Ints& values);
Bytes bytes_of(const void* data, std::size_t size);
template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  return bytes_of(values.data(), values.size() * sizeof(T));
}

/// Runs the operator with one thread and with the default executor, and expects equal outputs. Returns the output, whose
/// bytes were 0xCD before.
Bytes result_of(const Problem& problem, DType dtype, std::size_t element_size, const Dims& in, const Bytes& data,
                const Dims& out);
Bytes result_of(const Problem& problem, DType dtype, const Dims& in, const Bytes& data, const Dims& out);

void expect_shape(const Problem& problem, const Dims& in, const Dims& out);
/// Expects the shape and the values of the output for each type.
void expect_values(const Problem& problem, const Dims& in, const Ints& data, const Dims& out, const Ints& expected,
                   Types types = one_type());
/// Expects the values of the output for the input 1, 2, 3, ..
void expect_iota(const Problem& problem, const Dims& in, const Dims& out, const Ints& expected, Types types = one_type());
/// Returns the fingerprint of the result's extents and elements for the input 1, 2, 3, .. as int64.
std::uint64_t fingerprint(const Problem& problem, const Dims& in);
/// Expects the bytes of the output for one type.
void expect_bytes(const Problem& problem, DType dtype, const Dims& in, const Bytes& data, const Dims& out,
                  const Bytes& expected);
template <class T>
void expect_same(const Problem& problem, DType dtype, const Dims& in, const std::vector<T>& data, const Dims& out,
                 const std::vector<T>& expected) {
  expect_bytes(problem, dtype, in, bytes_of(data), out, bytes_of(expected));
}
/// Returns bits that arithmetic may change: quiet and signalling NaNs with and without payloads, -0.0, subnormal numbers,
/// and bytes that are no boolean. For complex types, returns the bits of a part; for integers, nothing.
std::vector<std::uint64_t> special_bits(DType dtype);
/// Expects that output element i equals input element source[i] - 1 or, where source[i] is 0, has zero bytes. Tests every
/// element type and many sizes of opaque elements, with arbitrary bits and with special bits.
void expect_moved(const Problem& problem, const Dims& in, const Dims& out, const Ints& source);

/// Expects that both output_shape and plan refuse with one of these codes, and that the message contains these words.
void expect_error(const Problem& problem, const Dims& in, const std::vector<ErrorCode>& codes,
                  const std::vector<std::string_view>& words = {});
/// Expects that the arguments are refused when they are bound.
void expect_error_of_binding(std::string_view op, const std::vector<Argument>& arguments,
                             const std::vector<ErrorCode>& codes, const std::vector<std::string_view>& words = {});
/// Expects that plan refuses tensors of this type.
void expect_type_error(const Problem& problem, DType dtype, std::size_t element_size, const Dims& in, const Dims& out,
                       std::string_view word);

}  // namespace patchfold::vectors
