// SPDX-License-Identifier: Apache-2.0
// Pictures of bytes for C.
#include "patchfold/pictures.hpp"

#include <algorithm>

#include "capi/callback_executor.hpp"
#include "capi/convert.hpp"
#include "capi/guard.hpp"

using namespace patchfold::capi;

namespace {

/// Returns the enumerator with a number of the C interface; a number that is no enumerator is refused by the function
/// itself.
template <class E>
E numbered(std::int32_t number) {
  constexpr std::int32_t none = 255;
  return static_cast<E>(number < 0 || number > none ? none : number);
}

}  // namespace

pf_status pf_apply_table(const pf_tensor* bytes, int32_t axis, const pf_tensor* table, const pf_tensor* out,
                         const pf_executor* executor) {
  constexpr std::string_view op = "apply_table";
  return guarded([&] {
    const auto from = view_of(*required(bytes, op, "bytes"), op, "bytes");
    const auto entries = view_of(*required(table, op, "table"), op, "table");
    const auto to = view_of(*required(out, op, "out"), op, "out");
    ChosenExecutor chosen(executor, op);
    patchfold::apply_table(from, axis, entries, to, chosen.get());
  });
}

pf_status pf_resize(const pf_tensor* picture, const pf_tensor* resized, pf_filter filter, pf_fixed_point fixed_point,
                    const float* box, const pf_executor* executor) {
  constexpr std::string_view op = patchfold::Resize::name;
  return guarded([&] {
    const auto from = view_of(*required(picture, op, "picture"), op, "picture");
    const auto to = view_of(*required(resized, op, "resized"), op, "resized");
    patchfold::Resize call{numbered<patchfold::Filter>(filter), numbered<patchfold::FixedPoint>(fixed_point), {}};
    if (box != nullptr) std::copy_n(box, 4, call.box.emplace().begin());
    ChosenExecutor chosen(executor, op);
    call.run(from, to, chosen.get());
  });
}
