// SPDX-License-Identifier: Apache-2.0
#include "reference/sum.hpp"

#include <cassert>
#include <cstring>

#include "reference/numbers.hpp"

namespace reference {
namespace {

template <class T>
T load(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

template <class T>
void save(std::byte* element, T value) {
  std::memcpy(element, &value, sizeof(T));
}

float load_small(DType dtype, const std::byte* element) {
  return static_cast<float>(decode(format_of(dtype), load<std::uint16_t>(element)));
}

void save_small(DType dtype, std::byte* element, float value) {
  save(element, static_cast<std::uint16_t>(encode(format_of(dtype), value)));
}

}  // namespace

void Sum::add(const std::byte* element) {
  switch (dtype_) {
    case DType::boolean: any_ = any_ || load<std::uint8_t>(element) != 0; break;
    case DType::int8:
    case DType::uint8: integer_ += load<std::uint8_t>(element); break;
    case DType::int16:
    case DType::uint16: integer_ += load<std::uint16_t>(element); break;
    case DType::int32:
    case DType::uint32: integer_ += load<std::uint32_t>(element); break;
    case DType::int64:
    case DType::uint64: integer_ += load<std::uint64_t>(element); break;
    case DType::float16:
    case DType::bfloat16: single_[0] += load_small(dtype_, element); break;
    case DType::float32: single_[0] += load<float>(element); break;
    case DType::float64: double_[0] += load<double>(element); break;
    case DType::complex64:
      single_[0] += load<float>(element);
      single_[1] += load<float>(element + 4);
      break;
    case DType::complex128:
      double_[0] += load<double>(element);
      double_[1] += load<double>(element + 8);
      break;
    default: assert(false);
  }
}

void Sum::store(std::byte* element) const {
  switch (dtype_) {
    case DType::boolean: save(element, static_cast<std::uint8_t>(any_ ? 1 : 0)); break;
    case DType::int8:
    case DType::uint8: save(element, static_cast<std::uint8_t>(integer_)); break;
    case DType::int16:
    case DType::uint16: save(element, static_cast<std::uint16_t>(integer_)); break;
    case DType::int32:
    case DType::uint32: save(element, static_cast<std::uint32_t>(integer_)); break;
    case DType::int64:
    case DType::uint64: save(element, integer_); break;
    case DType::float16:
    case DType::bfloat16: save_small(dtype_, element, single_[0]); break;
    case DType::float32: save(element, single_[0]); break;
    case DType::float64: save(element, double_[0]); break;
    case DType::complex64:
      save(element, single_[0]);
      save(element + 4, single_[1]);
      break;
    case DType::complex128:
      save(element, double_[0]);
      save(element + 8, double_[1]);
      break;
    default: assert(false);
  }
}

void add_elements(DType dtype, const std::byte* a, const std::byte* b, std::byte* result) {
  switch (dtype) {
    case DType::float16:
    case DType::bfloat16: save_small(dtype, result, load_small(dtype, a) + load_small(dtype, b)); break;
    case DType::float32: save(result, load<float>(a) + load<float>(b)); break;
    case DType::float64: save(result, load<double>(a) + load<double>(b)); break;
    case DType::complex64:
      for (int part = 0; part < 8; part += 4) save(result + part, load<float>(a + part) + load<float>(b + part));
      break;
    case DType::complex128:
      for (int part = 0; part < 16; part += 8) save(result + part, load<double>(a + part) + load<double>(b + part));
      break;
    default: {  // integers and booleans have no -0 and no rounding: starting from 0 changes nothing
      Sum sum(dtype);
      sum.add(a);
      sum.add(b);
      sum.store(result);
    }
  }
}

}  // namespace reference
