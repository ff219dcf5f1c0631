// SPDX-License-Identifier: Apache-2.0
#include "vectors/support.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>

namespace patchfold::vectors {
namespace {

using enum DType;
constexpr std::array float32_only = {float32};
constexpr std::array numeric = {int8,   int16,  int32,    int64,   uint8,   uint16,
                                uint32, uint64, bfloat16, float16, float32, float64};
constexpr std::array summable = {boolean, int8,     int16,   int32,   int64,   uint8,     uint16,    uint32,
                                 uint64,  bfloat16, float16, float32, float64, complex64, complex128};

// Returns the value rounded to nearest even, to `digits` significant bits, but no finer than 2^lowest.
double round_to(double value, int digits, int lowest) {
  if (value == 0) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int unit = std::max(exponent - digits, lowest);
  return std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
}

std::uint16_t half_bits(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = round_to(std::fabs(value), 11, -24);
  if (magnitude >= 65536) return sign | 0x7C00;
  if (magnitude < std::ldexp(1, -14)) return sign | static_cast<std::uint16_t>(std::ldexp(magnitude, 24));
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);
  const auto mantissa = static_cast<int>(std::ldexp(fraction, 11)) - 1024;
  return static_cast<std::uint16_t>(sign | (exponent + 14) << 10 | mantissa);
}

std::uint16_t bfloat_bits(double value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(round_to(value, 8, -133))) >> 16);
}

template <class T>
void put(Bytes& bytes, T value) {
  std::array<std::byte, sizeof(T)> raw;
  std::memcpy(raw.data(), &value, sizeof(T));
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

void put(Bytes& bytes, DType dtype, std::int64_t value) {
  const auto real = static_cast<double>(value);
  switch (dtype) {
    case boolean: return put(bytes, static_cast<std::uint8_t>(value != 0));
    case int8:
    case uint8: return put(bytes, static_cast<std::uint8_t>(value));
    case int16:
    case uint16: return put(bytes, static_cast<std::uint16_t>(value));
    case int32:
    case uint32: return put(bytes, static_cast<std::uint32_t>(value));
    case int64:
    case uint64: return put(bytes, value);
    case float16: return put(bytes, half_bits(real));
    case bfloat16: return put(bytes, bfloat_bits(real));
    case float32: return put(bytes, static_cast<float>(real));
    case float64: return put(bytes, real);
    case complex64: return put(bytes, std::complex<float>(static_cast<float>(real)));
    case complex128: return put(bytes, std::complex<double>(real));
    default: ADD_FAILURE() << "no numbers of type " << name_of(dtype);
  }
}

std::size_t count(const Dims& shape) {
  return static_cast<std::size_t>(element_count(shape));
}

ConstTensorView const_view(const void* data, DType dtype, std::size_t element_size, const Dims& shape) {
  return dtype == opaque ? contiguous_opaque(data, shape, element_size) : contiguous(data, shape, dtype);
}

TensorView mutable_view(void* data, DType dtype, std::size_t element_size, const Dims& shape) {
  return dtype == opaque ? contiguous_opaque(data, shape, element_size) : contiguous(data, shape, dtype);
}

std::string about(const Problem& problem, const Dims& in, DType dtype) {
  return problem.name + " of " + std::string(name_of(dtype)) + " " + to_string(in);
}

void compare(const std::string& what, const Bytes& got, const Bytes& expected, std::size_t element_size) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  const auto [a, b] = std::mismatch(got.begin(), got.end(), expected.begin());
  if (a == got.end()) return;
  const auto element = static_cast<std::size_t>(a - got.begin()) / element_size;
  std::string text;
  for (const auto* bytes : {&got, &expected}) {
    text += bytes == &got ? " is 0x" : ", expected 0x";
    for (std::size_t i = element_size; i-- > 0;) {
      const auto byte = std::to_integer<unsigned>((*bytes)[element * element_size + i]);
      text += "0123456789abcdef"[byte >> 4];
      text += "0123456789abcdef"[byte & 15];
    }
  }
  ADD_FAILURE() << what << ": output element " << element << text;
}

// Runs `body`; an Error that it throws is a failure of the test.
template <class F>
void guarded(const std::string& what, F&& body) {
  try {
    body();
  } catch (const Error& error) {
    ADD_FAILURE() << what << " was refused: " << error.what();
  }
}

// Returns whether an error with this code must state the rule, what was given and what was expected.
bool states_all(ErrorCode code) {
  return code == ErrorCode::position_count || code == ErrorCode::divisible || code == ErrorCode::rank ||
         code == ErrorCode::length;
}

void check_error(const std::string& what, const std::string& op, const Error& error, const std::vector<ErrorCode>& codes,
                 const std::vector<std::string_view>& words) {
  EXPECT_EQ(error.op(), op) << what;
  EXPECT_FALSE(error.rule().empty()) << what << ": " << error.what();
  const bool complete = !error.argument().empty() && !error.given().empty() && !error.expected().empty();
  EXPECT_TRUE(complete || !states_all(error.code())) << what << ": " << error.what();
  EXPECT_NE(std::find(codes.begin(), codes.end(), error.code()), codes.end())
      << what << ": unexpected kind of error " << static_cast<int>(error.code()) << ": " << error.what();
  for (const auto word : words)
    EXPECT_NE(std::string_view(error.what()).find(word), std::string_view::npos)
        << what << ": \"" << word << "\" is missing in: " << error.what();
}

}  // namespace

Types one_type() {
  return float32_only;
}
Types numeric_types() {
  return numeric;
}
Types summable_types() {
  return summable;
}

Problem table_op(std::string_view op, const std::vector<Argument>& arguments) {
  return {op, find_operator(op).bind(arguments)};
}

Ints iota(const Dims& shape, std::int64_t first) {
  Ints values(count(shape));
  for (auto& value : values) value = first++;
  return values;
}

Bytes encode(DType dtype, const Ints& values) {
  Bytes bytes;
  bytes.reserve(values.size() * size_of(dtype));
  for (const auto value : values) put(bytes, dtype, value);
  return bytes;
}

Bytes bytes_of(const void* data, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(data);
  return Bytes(first, first + size);
}

Bytes result_of(const Problem& problem, DType dtype, std::size_t element_size, const Dims& in, const Bytes& data,
                const Dims& out) {
  EXPECT_EQ(data.size(), count(in) * element_size) << about(problem, in, dtype);
  Bytes results[2];
  Executor* executors[2] = {&serial_executor(), &default_executor()};
  for (int i = 0; i < 2; ++i) {
    results[i].assign(count(out) * element_size, std::byte{0xCD});
    const auto src = const_view(data.data(), dtype, element_size, in);
    const auto dst = mutable_view(results[i].data(), dtype, element_size, out);
    const auto status = problem.plan(src, dst).run(src.data, dst.data, *executors[i]);
    EXPECT_EQ(status, Status::ok) << about(problem, in, dtype) << ": " << describe(status);
  }
  compare(about(problem, in, dtype) + ", serial against default executor", results[0], results[1], element_size);
  return results[0];
}

Bytes result_of(const Problem& problem, DType dtype, const Dims& in, const Bytes& data, const Dims& out) {
  return result_of(problem, dtype, size_of(dtype), in, data, out);
}

void expect_shape(const Problem& problem, const Dims& in, const Dims& out) {
  const auto what = problem.name + " of " + to_string(in);
  guarded(what, [&] {
    const auto got = problem.output_shape(in);
    EXPECT_TRUE(got == out) << what << " has shape " << to_string(got) << ", expected " << to_string(out);
  });
}

void expect_bytes(const Problem& problem, DType dtype, const Dims& in, const Bytes& data, const Dims& out,
                  const Bytes& expected) {
  expect_shape(problem, in, out);
  const auto what = about(problem, in, dtype);
  guarded(what, [&] { compare(what, result_of(problem, dtype, in, data, out), expected, size_of(dtype)); });
}

void expect_values(const Problem& problem, const Dims& in, const Ints& data, const Dims& out, const Ints& expected,
                   Types types) {
  for (const auto dtype : types) expect_bytes(problem, dtype, in, encode(dtype, data), out, encode(dtype, expected));
}

void expect_iota(const Problem& problem, const Dims& in, const Dims& out, const Ints& expected, Types types) {
  expect_values(problem, in, iota(in), out, expected, types);
}

std::uint64_t fingerprint(const Ints& values) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto value : values)
    for (int shift = 0; shift < 64; shift += 8)
      hash = (hash ^ (static_cast<std::uint64_t>(value) >> shift & 255)) * 0x100000001b3;
  return hash;
}

std::uint64_t fingerprint(const Problem& problem, const Dims& in) {
  const auto out = problem.output_shape(in);
  Ints values(out.begin(), out.end());
  const auto bytes = result_of(problem, int64, in, encode(int64, iota(in)), out);
  values.resize(values.size() + count(out));
  if (!bytes.empty()) std::memcpy(&values[values.size() - count(out)], bytes.data(), bytes.size());
  return fingerprint(values);
}

std::vector<std::uint64_t> special_bits(DType dtype) {
  switch (dtype) {
    case float16: return {0x7c01, 0x7dff, 0x7e00, 0x7fff, 0xfc01, 0xfe2a, 0x8000, 0x0001, 0x83ff, 0x7c00, 0xfc00, 0, 0x3c00};
    case bfloat16: return {0x7f81, 0x7fbf, 0x7fc0, 0x7fff, 0xff81, 0xffea, 0x8000, 0x0001, 0x807f, 0x7f80, 0xff80, 0, 0x3f80};
    case float32:
    case complex64:
      return {0x7f800001, 0x7fbfffff, 0x7fc00000, 0x7fc12345, 0xff800001, 0xffffffff, 0x80000000,
              0x00000001, 0x807fffff, 0x7f800000, 0xff800000, 0x00000000, 0x3f800000};
    case float64:
    case complex128:
      return {0x7ff0000000000001, 0x7ff7ffffffffffff, 0x7ff8000000000000, 0x7ff8000012345678, 0xfff0000000000001,
              0xffffffffffffffff, 0x8000000000000000, 0x0000000000000001, 0x800fffffffffffff, 0x7ff0000000000000,
              0xfff0000000000000, 0x0000000000000000, 0x3ff0000000000000};
    case boolean:
    case float8_e4m3fn:
    case float8_e4m3fnuz:
    case float8_e5m2:
    case float8_e5m2fnuz: return {0x00, 0x01, 0x02, 0x7f, 0x80, 0x81, 0xfe, 0xff, 0x7c, 0xfc, 0x7d, 0x55, 0xaa};
    default: return {};
  }
}

void expect_moved(const Problem& problem, const Dims& in, const Dims& out, const Ints& source) {
  expect_shape(problem, in, out);
  const auto check = [&](DType dtype, std::size_t size, const Bytes& data) {
    Bytes expected(count(out) * size);
    for (std::size_t i = 0; i < source.size(); ++i)
      if (source[i] != 0) std::memcpy(&expected[i * size], &data[static_cast<std::size_t>(source[i] - 1) * size], size);
    const auto what = about(problem, in, dtype) + " of " + std::to_string(size) + " bytes";
    guarded(what, [&] { compare(what, result_of(problem, dtype, size, in, data, out), expected, size); });
  };
  const auto check_any_bits = [&](DType dtype, std::size_t size) {
    Bytes data;
    std::uint64_t state = 0x9e3779b97f4a7c15;
    for (std::size_t i = 0; i < count(in) * size; ++i) {
      state = state * 6364136223846793005 + 1442695040888963407;
      data.push_back(static_cast<std::byte>(state >> 56));
    }
    check(dtype, size, data);
  };
  for (const auto dtype : dtypes()) {
    if (dtype == opaque) continue;
    check_any_bits(dtype, size_of(dtype));
    const auto special = special_bits(dtype);
    if (special.empty()) continue;
    const std::size_t part = dtype == complex64 || dtype == complex128 ? size_of(dtype) / 2 : size_of(dtype);
    Bytes data(count(in) * size_of(dtype));
    for (std::size_t i = 0; i * part < data.size(); ++i) std::memcpy(&data[i * part], &special[i % special.size()], part);
    check(dtype, size_of(dtype), data);
  }
  for (const std::size_t size : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 24, 32, 48, 100}) check_any_bits(opaque, size);
}

void expect_error(const Problem& problem, const Dims& in, const std::vector<ErrorCode>& codes,
                  const std::vector<std::string_view>& words) {
  const auto what = problem.name + " of " + to_string(in);
  try {
    const auto shape = problem.output_shape(in);
    ADD_FAILURE() << what << " was accepted; its output shape is " << to_string(shape);
    return;
  } catch (const Error& error) {
    check_error(what, problem.name, error, codes, words);
  }
  try {
    const ConstTensorView src = {nullptr, in, Dims::filled(in.size(), 0), float32, 4};
    const TensorView dst = {nullptr, {1}, {4}, float32, 4};
    problem.plan(src, dst);
    ADD_FAILURE() << what << " was planned";
  } catch (const Error& error) {
    check_error(what + ", plan", problem.name, error, codes, words);
  }
}

void expect_error_of_binding(std::string_view op, const std::vector<Argument>& arguments,
                             const std::vector<ErrorCode>& codes, const std::vector<std::string_view>& words) {
  const auto what = std::string(op) + " with wrong arguments";
  try {
    table_op(op, arguments);
    ADD_FAILURE() << what << " was accepted";
  } catch (const Error& error) {
    check_error(what, std::string(op), error, codes, words);
  }
}

void expect_type_error(const Problem& problem, DType dtype, std::size_t element_size, const Dims& in, const Dims& out,
                       std::string_view word) {
  const auto what = about(problem, in, dtype);
  Bytes data(count(in) * element_size);
  Bytes result(count(out) * element_size);
  try {
    problem.plan(const_view(data.data(), dtype, element_size, in), mutable_view(result.data(), dtype, element_size, out));
    ADD_FAILURE() << what << " was planned";
  } catch (const Error& error) {
    check_error(what, problem.name, error, {ErrorCode::dtype}, {word});
  }
}

}  // namespace patchfold::vectors
