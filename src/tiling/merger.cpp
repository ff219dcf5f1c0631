// SPDX-License-Identifier: Apache-2.0
// The public functions of a merge. The functions of a Merger lock its State, which does the work.
#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "tiling/merger_state.hpp"
#include "tiling/names.hpp"

namespace patchfold {

using namespace tiling;

namespace {

/// Returns whether elements may be labels, whose mean would be meaningless.
bool is_countable(DType dtype) {
  const ElementKind kind = kind_of(dtype);
  return kind == ElementKind::boolean || kind == ElementKind::signed_integer || kind == ElementKind::unsigned_integer;
}

/// Returns the tiling, after a check that the spec has the channels of the output, if it has any.
const Tiling& with_channels(const Tiling& tiling, const MergeSpec& spec, const Dims& output) {
  const bool has_classes = reduction_of(spec) == Reduce::argmax;  // an axis that the output lacks
  if (!spec.channels.empty() || has_classes || output.size() <= tiling.axes().size()) return tiling;
  const Dims axes = tiling.axes_in(output.size());
  Dims channels;
  for (int i = 0; i < output.size(); ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) channels.push_back(output[i]);
  if (tiling.output_shape(channels) == output)
    fail(ErrorCode::shape, op_merge, "output", "has axes that are not tiled, and the spec has no channels", output, {},
         Setting("channels", channels));
  return tiling;
}

}  // namespace

RowSink::~RowSink() = default;

Merger::Merger(const Tiling& tiling, const MergeSpec& spec, const TensorView& output, Executor& executor)
    : state_(std::make_unique<State>(with_channels(tiling, spec, output.shape), spec, executor, false)) {
  const Rules& rules = state_->rules;
  state_->output = check_output(rules, "tiles", output, rules.without_classes(tiling.output_shape(rules.channels)));
}

Merger::Merger(const Tiling& tiling, const MergeSpec& spec, RowSink& sink, Executor& executor)
    : state_(std::make_unique<State>(tiling, spec, executor, true)) {
  state_->sink = &sink;
}

Merger::Merger(Merger&&) noexcept = default;
Merger& Merger::operator=(Merger&&) noexcept = default;
Merger::~Merger() = default;

void Merger::add(std::int64_t index, const ConstTensorView& tile, std::shared_ptr<const void> owner) {
  add(index, tile, TileWeights{}, std::move(owner));
}

void Merger::add(std::int64_t index, const ConstTensorView& tile, const TileWeights& weights,
                 std::shared_ptr<const void> owner) {
  // After the mutex is unlocked, releases the owners of tiles, since their code may call the merger.
  std::vector<std::unique_ptr<Held>> done;
  const std::lock_guard lock(state_->mutex);
  state_->add(index, tile, weights, owner, done);
}

void Merger::finish() {
  const std::lock_guard lock(state_->mutex);
  if (state_->has_failed)
    fail(ErrorCode::value, op_merge, "finish", "must not be called after the merger has failed", state_->failure);
  std::int64_t count = 0;
  const auto missing = state_->ledger.missing(3, count);
  if (count > 0)
    fail(ErrorCode::missing, op_merge, "tile", "must all have come", missing_text(state_->tiles(), missing, count),
         ErrorValue(state_->tiles().size(), " tiles"));
  state_->or_close([] { return std::string("the last rows"); }, [&] { state_->send_rows(); });
}

std::int64_t Merger::waiting_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->ledger.bytes();
}

std::int64_t Merger::peak_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->ledger.peak().most;
}

Reduce reduction_of(const MergeSpec& spec) noexcept {
  if (spec.reduce) return *spec.reduce;
  const bool comes_out_as_it_is = spec.output_dtype.value_or(spec.dtype) == spec.dtype;
  const bool is_blended =
      spec.window.kind != WeightWindow::Kind::standard || !comes_out_as_it_is || !is_countable(spec.dtype);
  return is_blended ? Reduce::mean : Reduce::center;
}

MergeOutput merge_output(const Tiling& tiling, const MergeSpec& spec) {
  const std::int64_t classes = classes_of(tiling, spec);
  const DType dtype = output_dtype_of(spec, classes);
  const Dims shape = tiling.output_shape(spec.channels);
  Dims axes = tiling.axes_in(shape.size());
  if (classes == 0) return {shape, axes, dtype};
  for (int i = 0; i < axes.size(); ++i) --axes[i];
  return {shape.slice(1, shape.size()), axes, dtype};
}

void check_merge(const Tiling& tiling, const MergeSpec& spec, bool with_weights) {
  const Rules rules(tiling, spec, true);
  if (with_weights) rules.check_weights();
}

MergeMemory merge_memory(const Tiling& tiling, const MergeSpec& spec, bool to_sink) {
  const Rules rules(tiling, spec, to_sink);
  rules.check_weights();
  return forecast(rules.cells, sizes_of(rules, spec.copy, to_sink));
}

}  // namespace patchfold
