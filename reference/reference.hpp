// SPDX-License-Identifier: Apache-2.0
// The reference: every operator written index by index from its definition, to be read beside it and to be compared with.
// It is slow, checks nothing beyond assertions, and shares no code with the library. Arrays are contiguous and row-major.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace reference {

enum class DType {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  complex64,
  complex128,
  float8_e4m3fn,
  float8_e4m3fnuz,
  float8_e5m2,
  float8_e5m2fnuz,
  opaque,
};

using List = std::vector<std::int64_t>;
/// (begin, end) for each axis.
using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
using Number = std::variant<std::int64_t, std::uint64_t, double, std::complex<double>>;

struct Array {
  List shape{};
  DType dtype = DType::float32;
  std::size_t element_size = 4;
  std::vector<std::byte> bytes{};
};

/// Integers and booleans, lists, lists of pairs, words, and the fill value of unfold.
using Value = std::variant<std::int64_t, List, Pairs, std::string, Number>;
using Arguments = std::map<std::string, Value>;

/// The names of all operators.
std::vector<std::string> operators();

/// Applies an operator. `coverage` takes only the element type from `data`. `held` is what the output holds before a fold
/// that accumulates.
Array run(const std::string& op, const Array& data, const Arguments& arguments, const Array* held = nullptr);

}  // namespace reference
