// SPDX-License-Identifier: Apache-2.0
// Keys of neutral operators, which serve for operators of dialects too. A new member of an operator must be added in this file, or
// the operator's function does not compile.
#include <type_traits>

#include "ops/lowering.hpp"

namespace patchfold::ops {
namespace {

using Key = detail::PlanKey;

void add(Key& key, const Unfold& op) {
  const auto& [kernel, stride, dilation, padding, mode, value, layout, order, positions, allow_empty] = op;
  key.add(kernel, stride, dilation, padding, mode, value, layout, order, positions, allow_empty);
}
void add(Key& key, const Fold& op) {
  const auto& [size, kernel, stride, dilation, padding, layout, order, positions, accumulate, reduce, fill] = op;
  key.add(size, kernel, stride, dilation, padding, layout, order, positions, accumulate, reduce, fill);
}
void add(Key& key, const Coverage& op) {
  const auto& [size, kernel, stride, dilation, padding] = op;
  key.add(size, kernel, stride, dilation, padding);
}
void add(Key& key, const Reorder& op) {
  const auto& [kernel, source, target, layout, positions] = op;
  key.add(kernel, source, target, layout, positions);
}
static_assert(std::is_empty_v<Copy>);
void add(Key&, const Copy&) {}
/// Adds an operator that cuts blocks to a key.
void add(Key& key, const auto& op) {
  const auto& [block, pads_or_mode, layout] = op;
  key.add(block, pads_or_mode, layout);
}

}  // namespace

Plan plan(const Neutral& op, const Names& names, const ConstTensorView& data, const TensorView& output) {
  Key key(Key::Maker::library);
  key.add_form(data);
  key.add_form(output);
  key.add(op.index());
  std::visit([&](const auto& neutral) { add(key, neutral); }, op);
  return detail::recent_plan(key, [&] { return detail::Planned{lower(op, data.shape, names).plan(data, output)}; }).plan;
}

}  // namespace patchfold::ops
