// SPDX-License-Identifier: Apache-2.0
// Code shared by the C interfaces of tilings and of mergers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "capi/guard.hpp"
#include "patchfold/tiling.hpp"

/// A tiling with its channels, to which the field `channels` of a pf_tiling_layout points.
struct pf_tiling {
  explicit pf_tiling(const patchfold::TilingSpec& spec) : tiling(spec), channels(tiling.channels()) {}
  patchfold::Tiling tiling;
  patchfold::Dims channels;
};

namespace patchfold::capi {

inline constexpr std::string_view op_tiling = "tiling";
inline constexpr std::string_view op_merge = "merge";

/// Returns the tiling; errors name `function`.
inline const Tiling& tiling_of(const pf_tiling* tiling, std::string_view function) {
  return required(tiling, function, "tiling")->tiling;
}

/// Returns the `count` entries of a caller's list. Throws Error if `count` is negative or above max_rank, or if entries are
/// NULL.
template <class T>
std::span<const T> list_of(const T* entries, std::int32_t count, std::string_view op, std::string_view argument) {
  if (count < 0) fail(ErrorCode::length, op, argument, "the number of entries must be at least 0", count);
  if (count > max_rank) fail(ErrorCode::limit, op, argument, "the list has too many entries", count, max_rank);
  if (count == 0) return {};
  return {required(entries, op, argument), static_cast<std::size_t>(count)};
}

/// Returns the library's enumerator with this number; errors show `given`, the caller's number.
template <Worded E>
E enumerator_of(std::int64_t number, std::int32_t given, std::string_view op, std::string_view argument) {
  const auto value = static_cast<E>(number);
  if (static_cast<std::int64_t>(value) != number || !is_enumerator(value))
    fail(ErrorCode::value, op, argument, "must be the number of " + listed_words<E>(), given);
  return value;
}

MergeSpec merge_spec_of(const pf_merge_spec* from, const Tiling& tiling);

Scalar scalar_of(const pf_scalar& given, std::string_view op, std::string_view argument);

/// Throws Error unless a field that is reserved for later versions is 0.
inline void check_reserved(std::int32_t reserved, std::string_view op, std::string_view argument) {
  if (reserved != 0) fail(ErrorCode::value, op, argument, "reserved must be 0", reserved);
}

}  // namespace patchfold::capi
