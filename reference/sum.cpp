// SPDX-License-Identifier: Apache-2.0
#include "reference/sum.hpp"

#include "reference/numbers.hpp"

namespace reference {

void Sum::add(const std::byte* element) {
  const Type& type = type_of(dtype_);
  switch (type.kind) {
    case Kind::boolean: any_ = any_ || load<std::uint8_t>(element) != 0; break;
    case Kind::signed_integer:
    case Kind::unsigned_integer:
      with_integer(type, [&](auto zero) { integer_ += static_cast<std::uint64_t>(load<decltype(zero)>(element)); });
      break;
    case Kind::small_float: single_[0] += static_cast<float>(load_small(type, element)); break;
    case Kind::real:
      if (type.size == 4)
        single_[0] += load<float>(element);
      else
        double_[0] += load<double>(element);
      break;
    case Kind::complex:
      for (int part = 0; part < 2; ++part)
        if (type.size == 8)
          single_[part] += load<float>(element + 4 * part);
        else
          double_[part] += load<double>(element + 8 * part);
      break;
    case Kind::opaque: assert(false);
  }
}

void Sum::store(std::byte* element) const {
  const Type& type = type_of(dtype_);
  switch (type.kind) {
    case Kind::boolean: save(element, static_cast<std::uint8_t>(any_ ? 1 : 0)); break;
    case Kind::signed_integer:
    case Kind::unsigned_integer:
      with_integer(type, [&](auto zero) { save(element, static_cast<decltype(zero)>(integer_)); });
      break;
    case Kind::small_float: save_small(type, element, single_[0]); break;
    case Kind::real:
      if (type.size == 4)
        save(element, single_[0]);
      else
        save(element, double_[0]);
      break;
    case Kind::complex:
      if (type.size == 8)
        std::memcpy(element, single_, sizeof single_);
      else
        std::memcpy(element, double_, sizeof double_);
      break;
    case Kind::opaque: assert(false);
  }
}

void add_elements(DType dtype, const std::byte* a, const std::byte* b, std::byte* result) {
  const Type& type = type_of(dtype);
  const auto add = [&](auto zero, std::size_t at) {
    using T = decltype(zero);
    save(result + at, load<T>(a + at) + load<T>(b + at));
  };
  const bool is_single = type.size == (type.kind == Kind::complex ? 8 : 4);
  switch (type.kind) {
    case Kind::small_float:
      return save_small(type, result, static_cast<float>(load_small(type, a)) + static_cast<float>(load_small(type, b)));
    case Kind::real:
    case Kind::complex:
      for (std::size_t at = 0; at < type.size; at += is_single ? 4 : 8) is_single ? add(0.0F, at) : add(0.0, at);
      return;
    default: {  // integers and booleans have no -0 and no rounding: starting from 0 changes nothing
      Sum sum(dtype);
      sum.add(a);
      sum.add(b);
      sum.store(result);
    }
  }
}

}  // namespace reference
