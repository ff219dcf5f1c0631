// SPDX-License-Identifier: Apache-2.0
// Helpers for index tuples and elements of contiguous row-major arrays.
#pragma once

#include <cassert>
#include <cstring>
#include <initializer_list>

#include "reference/reference.hpp"

namespace reference {

inline std::int64_t product(const List& values) {
  std::int64_t result = 1;
  for (const auto value : values) result *= value;
  return result;
}

/// Returns the row-major index of a tuple.
inline std::int64_t lex(const List& tuple, const List& extents) {
  assert(tuple.size() == extents.size());
  std::int64_t index = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    assert(tuple[d] >= 0 && tuple[d] < extents[d]);
    index = index * extents[d] + tuple[d];
  }
  return index;
}

/// Calls f(tuple) for every index tuple below the extents, in row-major order.
template <class F>
void for_each(const List& extents, F f) {
  if (product(extents) == 0) return;
  List tuple(extents.size(), 0);
  while (true) {
    f(static_cast<const List&>(tuple));
    std::size_t d = extents.size();
    while (d > 0 && ++tuple[d - 1] == extents[d - 1]) tuple[--d] = 0;
    if (d == 0) return;
  }
}

/// Returns one list of the entries of all lists, in order.
inline List join(std::initializer_list<List> parts) {
  List all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

inline List slice(const List& list, std::size_t first, std::size_t last) {
  return {list.begin() + static_cast<std::ptrdiff_t>(first), list.begin() + static_cast<std::ptrdiff_t>(last)};
}

/// Returns an array of zero bytes with the element type of `like`.
inline Array zeros(const List& shape, const Array& like) {
  return {shape, like.dtype, like.element_size,
          std::vector<std::byte>(static_cast<std::size_t>(product(shape)) * like.element_size)};
}

inline std::byte* at(Array& array, const List& index) {
  return array.bytes.data() + static_cast<std::size_t>(lex(index, array.shape)) * array.element_size;
}
inline const std::byte* at(const Array& array, const List& index) {
  return array.bytes.data() + static_cast<std::size_t>(lex(index, array.shape)) * array.element_size;
}

inline void copy(Array& to, const List& to_index, const Array& from, const List& from_index) {
  std::memcpy(at(to, to_index), at(from, from_index), to.element_size);
}

/// Returns whether every coordinate lies in [0, extent).
inline bool inside(const List& coordinate, const List& extents) {
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (coordinate[d] < 0 || coordinate[d] >= extents[d]) return false;
  return true;
}

/// Returns an argument; `otherwise` if it is not given.
template <class T>
T get(const Arguments& arguments, const std::string& name, T otherwise) {
  const auto found = arguments.find(name);
  return found == arguments.end() ? otherwise : std::get<T>(found->second);
}

/// Returns a required argument.
template <class T>
T get(const Arguments& arguments, const std::string& name) {
  return std::get<T>(arguments.at(name));
}

}  // namespace reference
