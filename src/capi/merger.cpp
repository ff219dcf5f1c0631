// SPDX-License-Identifier: Apache-2.0
// Mergers for C.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "base/checked.hpp"
#include "capi/callback_executor.hpp"
#include "capi/convert.hpp"
#include "capi/tiles.hpp"

namespace patchfold::capi {
namespace {

// PF_REDUCE_STANDARD and PF_WINDOW_STANDARD are 0, since fields that are not set are 0. The other enumerators follow in the
// library's order.
static_assert(static_cast<int>(Reduce::mean) + 1 == PF_REDUCE_MEAN && static_cast<int>(Reduce::sum) + 1 == PF_REDUCE_SUM &&
              static_cast<int>(Reduce::max) + 1 == PF_REDUCE_MAX && static_cast<int>(Reduce::min) + 1 == PF_REDUCE_MIN &&
              static_cast<int>(Reduce::first) + 1 == PF_REDUCE_FIRST &&
              static_cast<int>(Reduce::last) + 1 == PF_REDUCE_LAST &&
              static_cast<int>(Reduce::center) + 1 == PF_REDUCE_CENTER &&
              static_cast<int>(Reduce::nanmean) + 1 == PF_REDUCE_NANMEAN &&
              static_cast<int>(Reduce::nanmax) + 1 == PF_REDUCE_NANMAX &&
              static_cast<int>(Reduce::nanmin) + 1 == PF_REDUCE_NANMIN &&
              static_cast<int>(Reduce::median) + 1 == PF_REDUCE_MEDIAN &&
              static_cast<int>(Reduce::vote) + 1 == PF_REDUCE_VOTE &&
              static_cast<int>(Reduce::argmax) + 1 == PF_REDUCE_ARGMAX);
using WindowKind = WeightWindow::Kind;
static_assert(static_cast<int>(WindowKind::ones) + 1 == PF_WINDOW_ONES &&
              static_cast<int>(WindowKind::linear) + 1 == PF_WINDOW_LINEAR &&
              static_cast<int>(WindowKind::hann) + 1 == PF_WINDOW_HANN &&
              static_cast<int>(WindowKind::cosine) + 1 == PF_WINDOW_COSINE &&
              static_cast<int>(WindowKind::gaussian) + 1 == PF_WINDOW_GAUSSIAN &&
              static_cast<int>(WindowKind::axes) + 1 == PF_WINDOW_AXES &&
              static_cast<int>(WindowKind::array) + 1 == PF_WINDOW_ARRAY &&
              static_cast<int>(WindowKind::tukey) + 1 == PF_WINDOW_TUKEY &&
              static_cast<int>(WindowKind::hamming) + 1 == PF_WINDOW_HAMMING);

std::optional<Reduce> reduce_of(pf_reduce number) {
  if (number == PF_REDUCE_STANDARD) return std::nullopt;
  return enumerator_of<Reduce>(std::int64_t{number} - 1, number, op_merge, "reduce");
}

WeightWindow formula_of(pf_window number, double sigma_scale, double alpha) {
  WeightWindow window;
  const bool is_last = number == PF_WINDOW_HAMMING + 1;  // the library numbers the standard window last
  if (number != PF_WINDOW_STANDARD)
    window.kind = enumerator_of<WindowKind>(is_last ? -1 : std::int64_t{number} - 1, number, op_merge, "window");
  if (sigma_scale != 0) window.sigma_scale = sigma_scale;
  if (alpha != 0) window.alpha = alpha;
  return window;
}

[[noreturn]] void refuse_weights(std::int64_t given, const Dims& result) {
  fail(ErrorCode::length, op_merge, "window", "must have a weight for each element of a whole tile's result", given, result);
}

/// Reads the caller's weights of a window, only as many as the tiling needs.
void read_weights(const pf_merge_spec& given, const Dims& result, WeightWindow& window) {
  if (window.kind == WindowKind::array) {
    if (given.n_weights != element_count(result)) refuse_weights(given.n_weights, result);
    if (given.n_weights > 0)
      window.array.assign(required(given.weights, op_merge, "weights"), given.weights + given.n_weights);
  } else if (window.kind == WindowKind::axes) {
    std::int64_t rest = given.n_weights;
    for (const std::int64_t extent : result) {
      if (rest < extent) refuse_weights(given.n_weights, result);
      rest -= extent;
    }
    if (rest != 0) refuse_weights(given.n_weights, result);
    const double* next = given.n_weights > 0 ? required(given.weights, op_merge, "weights") : nullptr;
    for (const std::int64_t extent : result) {
      window.axes.emplace_back(next, next + extent);
      next += extent;
    }
  }
}

}  // namespace

MergeSpec merge_spec_of(const pf_merge_spec* from, const Tiling& tiling) {
  const auto given =
      load<pf_merge_spec>(required(from, op_merge, "spec"), offsetof(pf_merge_spec, sink_rows), op_merge, "spec");
  check_reserved(given.reserved, op_merge, "spec");
  MergeSpec spec;
  spec.reduce = reduce_of(given.reduce);
  spec.window = formula_of(given.window, given.sigma_scale, given.alpha);
  read_weights(given, tiling.result(), spec.window);
  spec.dtype = dtype_of(given.dtype, op_merge, "dtype");
  spec.element_size = given.element_size == 0 ? size_of(spec.dtype) : given.element_size;
  if (given.output_dtype != nullptr) spec.output_dtype = dtype_of(*given.output_dtype, op_merge, "output dtype");
  spec.channels = Dims(list_of(given.channels, given.n_channels, op_merge, "channels"));
  if (given.n_mask != 0) {
    if (given.n_mask != tiling.size())
      fail(ErrorCode::length, op_merge, "mask", "must have an entry for each tile", given.n_mask, tiling.size());
    spec.mask.assign(required(given.mask, op_merge, "mask"), given.mask + given.n_mask);
  }
  if (given.fill != nullptr) spec.fill = scalar_of(*given.fill, op_merge, "fill");
  spec.copy = given.copy != 0;
  if (given.copy >= 2) spec.running_sums = given.copy == 2 ? RunningSums::float64 : RunningSums::float48;
  if (given.memory_limit != nullptr) spec.memory_limit = *given.memory_limit;
  if (given.sink_rows != 0) spec.sink_rows = given.sink_rows;
  return spec;
}

/// Passes rows to a caller's function.
class CallerSink final : public RowSink {
 public:
  explicit CallerSink(const pf_row_sink* from) : sink_(checked(from)) {}

  void write(Span rows, const ConstTensorView& band) override {
    const pf_tensor tensor{const_cast<void*>(band.data),
                           band.shape.begin(),
                           band.strides.begin(),
                           band.shape.size(),
                           static_cast<pf_dtype>(band.dtype),
                           static_cast<std::uint32_t>(band.element_size)};
    std::int32_t result = -1;
    try {
      result = sink_.write(sink_.context, rows.begin, rows.end, &tensor);
    } catch (...) {  // must not throw, but a function of a C++ caller may
    }
    if (result != 0)
      fail(ErrorCode::executor, op_merge, "sink", "must take the rows and return 0",
           ErrorValue(result, " for rows ", rows.begin, " to ", rows.end));
  }

 private:
  static pf_row_sink checked(const pf_row_sink* from) {
    const auto sink = load<pf_row_sink>(required(from, op_merge, "sink"), sizeof(pf_row_sink), op_merge, "sink");
    check_reserved(sink.reserved, op_merge, "sink");
    if (sink.write == nullptr) fail(ErrorCode::missing, op_merge, "sink", "write must not be NULL");
    return sink;
  }

  pf_row_sink sink_;
};

namespace {

/// Calls the caller's release function when the last owner of a tile is gone, unless the tile was refused.
class Release {
 public:
  Release(pf_release call, void* context) : call_(call), context_(context) {}
  Release(const Release&) = delete;
  Release& operator=(const Release&) = delete;
  ~Release() {
    if (call_ == nullptr) return;
    try {
      call_(context_);
    } catch (...) {  // as in CallerSink
    }
  }
  void cancel() noexcept { call_ = nullptr; }

 private:
  pf_release call_;
  void* context_;
};

/// The options of pf_merger_add.
struct TileOptions {
  TileWeights weights{};
  std::shared_ptr<Release> owner{};
};

TileOptions tile_options_of(const pf_tile_options* from) {
  TileOptions options;
  if (from == nullptr) return options;
  const auto given = load<pf_tile_options>(from, sizeof(pf_tile_options), op_merge, "options");
  check_reserved(given.reserved, op_merge, "options");
  if (given.weight != nullptr && given.weights != nullptr)
    fail(ErrorCode::value, op_merge, "weights", "must not be given together with weight", "both", "one of them");
  if (given.weight != nullptr) options.weights.number = *given.weight;
  if (given.weights != nullptr) options.weights.array = view_of(*given.weights, op_merge, "weights");
  if (given.release != nullptr) options.owner = std::make_shared<Release>(given.release, given.release_context);
  return options;
}

void add_tile(Merger& merger, std::int64_t index, const pf_tensor* tile, const pf_tile_options* options) {
  const ConstTensorView view = view_of(*required(tile, op_merge, "tile"), op_merge, "tile");
  const TileOptions own = tile_options_of(options);
  try {
    merger.add(index, view, own.weights, own.owner);
  } catch (...) {
    // A merger that took the tile and then closed may still own the tile, but no longer reads it.
    if (own.owner) own.owner->cancel();
    throw;
  }
}

}  // namespace
}  // namespace patchfold::capi

/// A merger with its executor and its sink, which come first, since the merger refers to them.
struct pf_merger {
  pf_merger(const patchfold::Tiling& tiling, const patchfold::MergeSpec& spec, const patchfold::TensorView& output,
            const pf_executor* executor)
      : executor(executor, patchfold::capi::op_merge), merger(tiling, spec, output, this->executor.get()) {}
  pf_merger(const patchfold::Tiling& tiling, const patchfold::MergeSpec& spec, const pf_row_sink* to,
            const pf_executor* executor)
      : executor(executor, patchfold::capi::op_merge), sink(to), merger(tiling, spec, *sink, this->executor.get()) {}

  patchfold::capi::ChosenExecutor executor;
  std::optional<patchfold::capi::CallerSink> sink;
  patchfold::Merger merger;
};

using namespace patchfold::capi;  // NOLINT: the functions below are the interface itself

pf_status pf_merge_check(const pf_tiling* tiling, const pf_merge_spec* spec) {
  return guarded([&] {
    const auto& known = tiling_of(tiling, "pf_merge_check");
    patchfold::check_merge(known, merge_spec_of(spec, known));
  });
}

pf_status pf_merge_check_weights(const pf_tiling* tiling, const pf_merge_spec* spec) {
  return guarded([&] {
    const auto& known = tiling_of(tiling, "pf_merge_check_weights");
    patchfold::check_merge(known, merge_spec_of(spec, known), true);
  });
}

pf_status pf_merge_reduction(const pf_tiling* tiling, const pf_merge_spec* spec, pf_reduce* reduce) {
  return guarded([&] {
    const auto& known = tiling_of(tiling, "pf_merge_reduction");
    required(reduce, op_merge, "reduce");
    *reduce = static_cast<pf_reduce>(patchfold::reduction_of(merge_spec_of(spec, known))) + 1;
  });
}

pf_status pf_merge_memory(const pf_tiling* tiling, const pf_merge_spec* spec, int32_t to_sink, pf_merge_bytes* bytes) {
  return guarded([&] {
    const auto& known = tiling_of(tiling, "pf_merge_memory");
    required(bytes, op_merge, "bytes");
    const auto memory = patchfold::merge_memory(known, merge_spec_of(spec, known), to_sink != 0);
    save(pf_merge_bytes{0, 0, memory.tiles, memory.rows, memory.most}, bytes, sizeof(pf_merge_bytes), op_merge, "bytes");
  });
}

pf_status pf_merge_output(const pf_tiling* tiling, const pf_merge_spec* spec, int64_t* shape, int32_t* rank, int64_t* axes,
                          pf_dtype* dtype) {
  return guarded([&] {
    const auto& known = tiling_of(tiling, "pf_merge_output");
    required(rank, op_merge, "rank");
    const auto output = patchfold::merge_output(known, merge_spec_of(spec, known));
    give_list(output.shape, shape, rank, op_merge, "shape");
    if (axes != nullptr) std::copy(output.axes.begin(), output.axes.end(), axes);
    if (dtype != nullptr) *dtype = static_cast<pf_dtype>(output.dtype);
  });
}

pf_status pf_window_samples(pf_window window, double parameter, int64_t n, double* samples) {
  return guarded([&] {
    const auto weights = formula_of(window, parameter, parameter);
    if (weights.kind == WindowKind::axes || weights.kind == WindowKind::array)
      patchfold::fail(patchfold::ErrorCode::value, op_merge, "window", "must have a formula", window);
    if (n > 0) required(samples, op_merge, "samples");
    const auto made = patchfold::sample(weights, n);
    std::copy(made.begin(), made.end(), samples);
  });
}

pf_status pf_merger_create(const pf_tiling* tiling, const pf_merge_spec* spec, const pf_tensor* output,
                           const pf_executor* executor, pf_merger** merger) {
  return guarded([&] {
    *required(merger, "pf_merger_create", "merger") = nullptr;
    const auto& known = tiling_of(tiling, "pf_merger_create");
    const auto to = view_of(*required(output, op_merge, "output"), op_merge, "output");
    *merger = new pf_merger(known, merge_spec_of(spec, known), to, executor);
  });
}

pf_status pf_merger_create_to_sink(const pf_tiling* tiling, const pf_merge_spec* spec, const pf_row_sink* sink,
                                   const pf_executor* executor, pf_merger** merger) {
  return guarded([&] {
    *required(merger, "pf_merger_create_to_sink", "merger") = nullptr;
    const auto& known = tiling_of(tiling, "pf_merger_create_to_sink");
    *merger = new pf_merger(known, merge_spec_of(spec, known), sink, executor);
  });
}

pf_status pf_merger_add(pf_merger* merger, int64_t index, const pf_tensor* tile, const pf_tile_options* options) {
  return guarded([&] { add_tile(required(merger, "pf_merger_add", "merger")->merger, index, tile, options); });
}

pf_status pf_merger_finish(pf_merger* merger) {
  return guarded([&] { required(merger, "pf_merger_finish", "merger")->merger.finish(); });
}

pf_status pf_merger_waiting(const pf_merger* merger, int64_t* now, int64_t* peak) {
  return guarded([&] {
    const auto& known = required(merger, "pf_merger_waiting", "merger")->merger;
    if (now != nullptr) *now = known.waiting_bytes();
    if (peak != nullptr) *peak = known.peak_bytes();
  });
}

void pf_merger_destroy(pf_merger* merger) {
  delete merger;
}
