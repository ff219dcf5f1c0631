// SPDX-License-Identifier: Apache-2.0
#include "tiling/tile_checks.hpp"

#include <utility>

#include "base/fail.hpp"
#include "tiling/names.hpp"

namespace patchfold::tiling {

CheckedOutput check_output(const Rules& rules, std::string_view sources, const TensorView& output, const Dims& shape) {
  // Checks the output as an operator's output is checked. `like` stands for all sources, which other functions check.
  const ConstTensorView like{output.data, shape, Dims::filled(shape.size(), 0), rules.output_dtype,
                             static_cast<std::size_t>(rules.output_element)};
  const ops::Operands operands = ops::check_operands(op_merge, sources, like, "output", output, shape);
  if (output.data == nullptr && element_count(shape) > 0)
    fail(ErrorCode::null_data, op_merge, "output", "has elements, but no data");
  Dims strides;
  if (rules.classes > 0) strides.push_back(0);
  for (const std::int64_t stride : operands.dst_strides) strides.push_back(stride);
  return {static_cast<std::byte*>(output.data), strides, operands.problem.dst_range};
}

std::string TileChecks::name(std::int64_t tile) const {
  return std::string(words_.tile) + " " + tile_text(rules_.cells.tiling(), tile);
}

void TileChecks::refuse(std::int64_t tile, ErrorCode code, std::string_view rule, ErrorValue given,
                        ErrorValue expected) const {
  fail(code, op_merge, name(tile), rule, std::move(given), std::move(expected));
}

void TileChecks::refuse_second(std::int64_t tile) const {
  refuse(tile, ErrorCode::value, "must not come twice");
}

void TileChecks::check_index(std::int64_t tile) const {
  const std::int64_t count = rules_.cells.tiling().size();
  if (tile < 0 || tile >= count)
    fail(ErrorCode::value, op_merge, words_.index, words_.index_rule, tile,
         count == 0 ? "none: there are no tiles" : "0 to " + text(count - 1));
  if (rules_.cells.is_masked(tile)) refuse(tile, ErrorCode::value, "must not come: the mask leaves it out");
}

ConstTensorView TileChecks::checked_view(std::int64_t tile, const ConstTensorView& view, const CheckedOutput& output) const {
  if (view.dtype != rules_.dtype || static_cast<std::int64_t>(view.element_size) != rules_.element)
    refuse(tile, ErrorCode::dtype, "must have the type of the merge",
           text(view.dtype) + " of " + text(view.element_size) + " bytes",
           text(rules_.dtype) + " of " + text(rules_.element) + " bytes");
  if (view.data == nullptr && element_count(view.shape) > 0) refuse(tile, ErrorCode::null_data, "has elements, but no data");
  const ops::Sound checked = sound(tile, view);
  if (engine::overlap(static_cast<const std::byte*>(view.data), checked.range, output.data, output.range))
    refuse(tile, ErrorCode::overlap, "must not share memory with the output");
  return {view.data, view.shape, checked.strides, view.dtype, view.element_size};
}

ops::Sound TileChecks::sound(std::int64_t tile, const ConstTensorView& view) const {
  if (!words_.view.empty()) return ops::check_view(op_merge, words_.view, view);
  try {
    return ops::check_view(op_merge, words_.tile, view);
  } catch (const Error& error) {
    Error::Parts parts = error.parts();
    parts.argument = name(tile);
    throw Error(std::move(parts));
  }
}

}  // namespace patchfold::tiling
