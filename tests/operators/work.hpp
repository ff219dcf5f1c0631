// SPDX-License-Identifier: Apache-2.0
// The state of a formula: the arguments of a problem as 128-bit numbers, and the results of the formula.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "patchfold/table.hpp"
#include "tests/limits/edges.hpp"

namespace patchfold::facts {

using limits::size_limit;
using limits::Wide;
using Wides = std::vector<Wide>;

/// A number above any size; a product that would exceed it becomes this number.
inline constexpr Wide endless = Wide{1} << 100;

inline Wide product(const Wides& factors) {
  if (std::count(factors.begin(), factors.end(), 0) > 0) return 0;
  Wide all = 1;
  for (const Wide factor : factors)
    if (__builtin_mul_overflow(all, factor, &all) || all > endless || all < -endless) return endless;
  return all;
}

inline Wides join(std::initializer_list<Wides> parts) {
  Wides all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// The result of a formula for a problem.
struct Formula {
  bool is_legal = true;  ///< every number is in its range, and extents are multiples where they must be
  bool fits = true;      ///< extents, pads, effective kernels, and the elements of both tensors stay below 2^60
  Wides output{};
};

struct Axis {
  Wide extent, kernel, stride, dilation, begin, end;
  Wide positions = 0;
};

/// A problem's arguments, defaults included, and the results of its formula.
class Work {
 public:
  explicit Work(const ProblemText& problem) : problem_(problem), spec_(find_operator(problem.op)) {
    for (const auto extent : problem.shape) data.push_back(extent);
    if (!spec_.data_input.empty()) tensor(data);
  }

  void require(bool holds) { formula.is_legal = formula.is_legal && holds; }
  void below_limit(Wide size) { formula.fits = formula.fits && size < size_limit && size > -size_limit; }
  void fits_63_bits(Wide size) { formula.fits = formula.fits && size < (Wide{1} << 63); }
  void tensor(const Wides& shape) {
    for (const Wide extent : shape) {
      require(extent >= 0);
      below_limit(extent);
    }
    if (formula.is_legal) below_limit(product(shape));
  }
  void give(const Wides& shape) {
    formula.output = shape;
    if (formula.is_legal) tensor(shape);
  }

  ArgumentValue value(std::string_view name) const {
    for (const auto& argument : problem_.arguments)
      if (argument.name == name) return argument.value;
    const auto spec = std::ranges::find(spec_.arguments, name, &ArgumentSpec::name);
    return parse_value(spec_, *spec, spec->default_text);
  }
  std::string word(std::string_view name) const {
    const ArgumentValue found = value(name);
    return std::holds_alternative<std::string>(found) ? std::get<std::string>(found) : "";
  }
  bool is(std::string_view name, std::string_view text) const { return word(name) == text; }
  Wide number(std::string_view name) const { return std::get<std::int64_t>(value(name)); }
  bool is_list(std::string_view name) const {
    const ArgumentValue found = value(name);
    return !std::holds_alternative<std::int64_t>(found) && !std::holds_alternative<std::string>(found);
  }
  /// Returns an argument as a list. A single number becomes `rank` equal entries. An entry below `least` makes the problem
  /// illegal.
  Wides list(std::string_view name, std::size_t rank = 1, Wide least = std::numeric_limits<std::int64_t>::min()) {
    const ArgumentValue found = value(name);
    Wides all;
    if (const auto* one = std::get_if<std::int64_t>(&found)) all.assign(rank, *one);
    if (const auto* dims = std::get_if<Dims>(&found)) all.assign(dims->begin(), dims->end());
    if (const auto* tensor = std::get_if<IndexTensor>(&found)) all.assign(tensor->values.begin(), tensor->values.end());
    for (const Wide each : all) require(each >= least);
    return all;
  }
  std::size_t list_size(std::string_view name) const {
    const ArgumentValue found = value(name);
    if (const auto* pairs = std::get_if<PadsList>(&found)) return static_cast<std::size_t>(pairs->size());
    if (const auto* tensor = std::get_if<IndexTensor>(&found)) return static_cast<std::size_t>(tensor->values.size());
    return static_cast<std::size_t>(std::get<Dims>(found).size());
  }
  /// Returns (begin, end) of each of `rank` axes, as one flat list. A number below `least` makes the problem illegal.
  Wides pairs(std::string_view name, std::size_t rank, Wide least) {
    const ArgumentValue found = value(name);
    Wides all;
    if (const auto* one = std::get_if<std::int64_t>(&found)) all.assign(2 * rank, *one);
    if (const auto* dims = std::get_if<Dims>(&found))
      for (const auto both : *dims) all.insert(all.end(), {both, both});
    if (const auto* tensor = std::get_if<IndexTensor>(&found)) all.assign(tensor->values.begin(), tensor->values.end());
    if (const auto* given = std::get_if<PadsList>(&found))
      for (int i = 0; i < given->size(); ++i) all.insert(all.end(), {(*given)[i].begin, (*given)[i].end});
    if (std::holds_alternative<std::string>(found)) all.assign(2 * rank, 0);
    for (const Wide each : all) require(each >= least);
    return all;
  }
  /// Returns the length of the first argument among `names` that is a list, or `otherwise`.
  std::size_t rank_of(std::initializer_list<std::string_view> names, std::size_t otherwise) const {
    for (const auto name : names)
      if (is_list(name)) return list_size(name);
    return otherwise;
  }

  /// Sets the pads of the rules same_lower and same_upper. A negative total counts as 0 unless `may_shrink` is true.
  static void pad_same(Axis& axis, bool lower, bool may_shrink = false) {
    if (axis.extent <= 0 || axis.stride < 1) return;
    const Wide count = (axis.extent + axis.stride - 1) / axis.stride;
    Wide total = (count - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1 - axis.extent;
    if (total < 0 && !may_shrink) total = 0;
    axis.begin = lower ? (total + 1) / 2 : total / 2;
    axis.end = total - axis.begin;
  }
  /// Sets the positions along an axis, and checks its numbers.
  void slide(Axis& axis, Wide least_dilation) {
    require(axis.kernel >= 1 && axis.stride >= 1 && axis.dilation >= least_dilation && axis.extent >= 0);
    if (!formula.is_legal) return;
    const Wide effective = (axis.kernel - 1) * axis.dilation + 1;
    for (const Wide size : {axis.extent, effective, axis.begin, axis.end}) below_limit(size);
    const Wide slack = axis.extent + axis.begin + axis.end - effective;
    axis.positions = slack < 0 ? 0 : slack / axis.stride + 1;
  }

  const ProblemText& problem_;
  const OperatorSpec& spec_;
  Wides data{};
  Formula formula{};
};

}  // namespace patchfold::facts
