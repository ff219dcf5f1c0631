// SPDX-License-Identifier: Apache-2.0
// Tests what only mergers in C have (sizes of structs, pointers, counts and callbacks), and wrong calls.
#include <atomic>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>
#include <thread>

#include "tiles.hpp"

namespace patchfold::test {
namespace {

/// A merge of three tiles of 4 with a stride of 2, on an axis of 8. The merge is right until a test changes it.
struct Merge {
  TilingPointer tiling = make_tiling({.shape = {8}, .tile = {4}, .stride = 2});
  pf_merge_spec spec = pf_merge_spec_of(PF_DTYPE_FLOAT32, nullptr, 0);
  Tensor<float> result{{8}};
  pf_tensor output = result.view();
  const pf_tensor* output_pointer = &output;
  pf_executor executor = *pf_serial_executor();
  pf_row_sink sink = {sizeof(pf_row_sink), 0, nullptr,
                      [](void*, std::int64_t, std::int64_t, const pf_tensor*) { return 0; }};
  pf_dtype output_dtype = PF_DTYPE_FLOAT64;
  pf_scalar fill = {PF_VALUE_NUMBER, 0, 0, 0.5, 0};
  std::int64_t limit = -1;
  double weights[16] = {1, 1, 1, 1, 1, 1, 1, 1};
  std::uint8_t mask[3] = {1, 1, 1};

  Merge() = default;
  Merge(const Merge&) = delete;
  void weigh(pf_window window, const double* list, std::int64_t count) {
    spec.window = window;
    spec.weights = list;
    spec.n_weights = count;
  }
  void leave_out(const std::uint8_t* tiles, std::int64_t count) {
    spec.mask = tiles;
    spec.n_mask = count;
  }
  MergerPointer make() {
    pf_merger* merger = nullptr;
    EXPECT_OK(pf_merger_create(tiling.get(), &spec, output_pointer, &executor, &merger));
    return MergerPointer(merger);
  }
};

struct WrongMerge {
  const char* expected;
  std::function<void(Merge&)> change;
};

TEST(CMerger, RefusesWrongSpecs) {
  const WrongMerge rows[] = {
      {"ok", [](Merge&) {}},
      {"value: merge: spec: size must be the size of the struct; given 0, expected 120", [](Merge& m) { m.spec.size = 0; }},
      {"value: merge: spec: size must be the size of the struct; given 103, expected 120",
       [](Merge& m) { m.spec.size = 103; }},
      {"value: merge: spec: reserved must be 0; given -1", [](Merge& m) { m.spec.reserved = -1; }},
      {"dtype: merge: dtype: there is no such element type; given 99", [](Merge& m) { m.spec.dtype = 99; }},
      {"value: merge: dtype: the element size must be that of the type; given 8, expected 4",
       [](Merge& m) { m.spec.element_size = 8; }},
      {"value: merge: reduce: must be the number of mean, sum, max, min, first, last, center, nanmean, nanmax, nanmin, "
       "median, vote or argmax; given 14",
       [](Merge& m) { m.spec.reduce = 14; }},
      {"value: merge: reduce: must be the number of mean, sum, max, min, first, last, center, nanmean, nanmax, nanmin, "
       "median, vote or argmax; given -2147483648",
       [](Merge& m) { m.spec.reduce = INT32_MIN; }},
      {"value: merge: reduce: must be the number of mean, sum, max, min, first, last, center, nanmean, nanmax, nanmin, "
       "median, vote or argmax; given 257",
       [](Merge& m) { m.spec.reduce = 257; }},
      {"value: merge: window: must be the number of ones, linear, hann, cosine, gaussian, tukey, hamming, axes, "
       "array or standard; given 10",
       [](Merge& m) { m.spec.window = 10; }},
      {"value: merge: window: must be the number of ones, linear, hann, cosine, gaussian, tukey, hamming, axes, "
       "array or standard; given -1",
       [](Merge& m) { m.spec.window = -1; }},
      {"value: merge: sigma_scale: must be greater than 0; given -1",
       [](Merge& m) {
         m.spec.window = PF_WINDOW_GAUSSIAN;
         m.spec.sigma_scale = -1;
       }},
      {"ok", [](Merge& m) { m.weigh(PF_WINDOW_AXES, m.weights, 4); }},
      {"length: merge: window: must have a weight for each element of a whole tile's result; given 3, expected [4]",
       [](Merge& m) { m.weigh(PF_WINDOW_AXES, m.weights, 3); }},
      {"length: merge: window: must have a weight for each element of a whole tile's result; given 5, expected [4]",
       [](Merge& m) { m.weigh(PF_WINDOW_AXES, m.weights, 5); }},
      {"length: merge: window: must have a weight for each element of a whole tile's result; given 9223372036854775807, "
       "expected [4]",
       [](Merge& m) { m.weigh(PF_WINDOW_ARRAY, m.weights, INT64_MAX); }},
      {"length: merge: window: must have a weight for each element of a whole tile's result; given -4, expected [4]",
       [](Merge& m) { m.weigh(PF_WINDOW_ARRAY, m.weights, -4); }},
      {"missing: merge: weights: must not be NULL", [](Merge& m) { m.weigh(PF_WINDOW_ARRAY, nullptr, 4); }},
      {"missing: merge: weights: must not be NULL", [](Merge& m) { m.weigh(PF_WINDOW_AXES, nullptr, 4); }},
      {"length: merge: mask: must have an entry for each tile; given 2, expected 3",
       [](Merge& m) { m.leave_out(m.mask, 2); }},
      {"length: merge: mask: must have an entry for each tile; given -1, expected 3",
       [](Merge& m) { m.leave_out(m.mask, -1); }},
      {"missing: merge: mask: must not be NULL", [](Merge& m) { m.leave_out(nullptr, 3); }},
      {"missing: merge: channels: must not be NULL", [](Merge& m) { m.spec.n_channels = 1; }},
      {"length: merge: channels: the number of entries must be at least 0; given -1",
       [](Merge& m) { m.spec.n_channels = -1; }},
      {"limit: merge: channels: the list has too many entries; given 33, expected 32",
       [](Merge& m) { m.spec.n_channels = 33; }},
      {"dtype: merge: output: must have the element type of tiles; given float32, expected float64",
       [](Merge& m) { m.spec.output_dtype = &m.output_dtype; }},
      {"dtype: merge: output dtype: there is no such element type; given -1",
       [](Merge& m) {
         m.output_dtype = -1;
         m.spec.output_dtype = &m.output_dtype;
       }},
      {"type: merge: fill: there is no such kind of number; given 6",
       [](Merge& m) {
         m.fill.kind = PF_VALUE_TEXT;
         m.spec.fill = &m.fill;
       }},
      {"out_of_memory: merge: memory_limit: must be at least what a merge of tiles in order needs; given -1, expected at "
       "least 32 bytes",
       [](Merge& m) { m.spec.memory_limit = &m.limit; }},
      {"missing: merge: output: must not be NULL", [](Merge& m) { m.output_pointer = nullptr; }},
      {"null_data: merge: output: has elements, but no data", [](Merge& m) { m.output.data = nullptr; }},
      {"rank: merge: output: rank must lie between 0 and 32; given -1", [](Merge& m) { m.output.rank = -1; }},
      {"value: merge: executor: size must be the size of the struct; given 1, expected 24",
       [](Merge& m) { m.executor.size = 1; }},
      {"missing: merge: executor: run must not be NULL", [](Merge& m) { m.executor.run = nullptr; }},
  };
  for (const auto& row : rows) {
    Merge merge;
    row.change(merge);
    auto* merger = reinterpret_cast<pf_merger*>(&merge);
    EXPECT_EQ(outcome(pf_merger_create(merge.tiling.get(), &merge.spec, merge.output_pointer, &merge.executor, &merger)),
              row.expected);
    const bool is_made = merger != nullptr;
    EXPECT_EQ(is_made, std::string(row.expected) == "ok");
    pf_merger_destroy(merger);
  }
  pf_merger_destroy(nullptr);
}

TEST(CMerger, RefusesMissingPointersAndBadNumbers) {
  Merge m;
  pf_merger* made = nullptr;
  pf_merge_bytes bytes{};
  bytes.size = sizeof bytes;
  pf_reduce reduce = 0;
  double samples[4];
  const pf_tiling* tiling = m.tiling.get();
  const auto expect = [](pf_status status, const std::string& expected) { EXPECT_EQ(outcome(status), expected); };
  expect(pf_merger_create(nullptr, &m.spec, &m.output, nullptr, &made),
         "missing: pf_merger_create: tiling: must not be NULL");
  expect(pf_merger_create(tiling, nullptr, &m.output, nullptr, &made), "missing: merge: spec: must not be NULL");
  expect(pf_merger_create(tiling, &m.spec, &m.output, nullptr, nullptr),
         "missing: pf_merger_create: merger: must not be NULL");
  expect(pf_merger_create_to_sink(nullptr, &m.spec, &m.sink, nullptr, &made),
         "missing: pf_merger_create_to_sink: tiling: must not be NULL");
  expect(pf_merger_create_to_sink(tiling, &m.spec, nullptr, nullptr, &made), "missing: merge: sink: must not be NULL");
  expect(pf_merger_create_to_sink(tiling, &m.spec, &m.sink, nullptr, nullptr),
         "missing: pf_merger_create_to_sink: merger: must not be NULL");
  m.sink.write = nullptr;
  expect(pf_merger_create_to_sink(tiling, &m.spec, &m.sink, nullptr, &made), "missing: merge: sink: write must not be NULL");
  m.sink.reserved = 3;
  expect(pf_merger_create_to_sink(tiling, &m.spec, &m.sink, nullptr, &made),
         "value: merge: sink: reserved must be 0; given 3");
  m.sink.size = 23;
  expect(pf_merger_create_to_sink(tiling, &m.spec, &m.sink, nullptr, &made),
         "value: merge: sink: size must be the size of the struct; given 23, expected 24");
  EXPECT_EQ(made, nullptr);
  expect(pf_merge_check(nullptr, &m.spec), "missing: pf_merge_check: tiling: must not be NULL");
  expect(pf_merge_check(tiling, nullptr), "missing: merge: spec: must not be NULL");
  expect(pf_merge_reduction(nullptr, &m.spec, &reduce), "missing: pf_merge_reduction: tiling: must not be NULL");
  expect(pf_merge_reduction(tiling, &m.spec, nullptr), "missing: merge: reduce: must not be NULL");
  expect(pf_merge_reduction(tiling, nullptr, &reduce), "missing: merge: spec: must not be NULL");
  expect(pf_merge_memory(nullptr, &m.spec, 0, &bytes), "missing: pf_merge_memory: tiling: must not be NULL");
  expect(pf_merge_memory(tiling, &m.spec, 0, nullptr), "missing: merge: bytes: must not be NULL");
  bytes.size = 31;
  expect(pf_merge_memory(tiling, &m.spec, 0, &bytes),
         "value: merge: bytes: size must be the size of the struct; given 31, expected 32");
  expect(pf_window_samples(PF_WINDOW_AXES, 0, 4, samples), "value: merge: window: must have a formula; given 6");
  expect(pf_window_samples(PF_WINDOW_ARRAY, 0, 4, samples), "value: merge: window: must have a formula; given 7");
  expect(pf_window_samples(PF_WINDOW_HANN, 0, 4, nullptr), "missing: merge: samples: must not be NULL");
  expect(pf_window_samples(PF_WINDOW_HANN, 0, 0, nullptr), "ok");
  expect(pf_window_samples(PF_WINDOW_HANN, 0, -1, samples), "value: merge: window: must have at least 0 samples; given -1");
  expect(pf_window_samples(PF_WINDOW_GAUSSIAN, std::numeric_limits<double>::quiet_NaN(), 4, samples),
         "value: merge: sigma_scale: must be greater than 0; given nan");
  expect(pf_window_samples(PF_WINDOW_TUKEY, 2, 4, samples), "value: merge: alpha: must be from 0 to 1; given 2");
  expect(
      pf_window_samples(11, 0, 4, samples),
      "value: merge: window: must be the number of ones, linear, hann, cosine, gaussian, tukey, hamming, axes, array or "
      "standard; given 11");
  for (const pf_window window :
       {PF_WINDOW_STANDARD, PF_WINDOW_ONES, PF_WINDOW_LINEAR, PF_WINDOW_HANN, PF_WINDOW_COSINE, PF_WINDOW_GAUSSIAN,
        PF_WINDOW_TUKEY, PF_WINDOW_HAMMING}) {
    WeightWindow same;
    same.kind = window == PF_WINDOW_STANDARD ? WeightWindow::Kind::standard : static_cast<WeightWindow::Kind>(window - 1);
    expect(pf_window_samples(window, 0, 4, samples), "ok");
    EXPECT_EQ(std::vector<double>(samples, samples + 4), sample(same, 4));
  }

  Tensor<float> tile({4});
  const pf_tensor view = tile.view();
  const MergerPointer owner = m.make();
  pf_merger* merger = owner.get();
  expect(pf_merger_add(nullptr, 0, &view, nullptr), "missing: pf_merger_add: merger: must not be NULL");
  expect(pf_merger_add(merger, 0, nullptr, nullptr), "missing: merge: tile: must not be NULL");
  expect(pf_merger_add(merger, -1, &view, nullptr),
         "value: merge: index: must be the index of a tile; given -1, expected 0 to 2");
  expect(pf_merger_finish(nullptr), "missing: pf_merger_finish: merger: must not be NULL");
  expect(pf_merger_waiting(nullptr, nullptr, nullptr), "missing: pf_merger_waiting: merger: must not be NULL");
  expect(pf_merger_waiting(merger, nullptr, nullptr), "ok");
  pf_tensor bad = view;
  bad.rank = 40;
  expect(pf_merger_add(merger, 0, &bad, nullptr), "rank: merge: tile: rank must lie between 0 and 32; given 40");
  double weight = 1;
  const pf_tile_options right = {sizeof right, 0, &weight, nullptr, nullptr, nullptr};
  pf_tile_options options = right;
  options.size = 39;
  expect(pf_merger_add(merger, 0, &view, &options),
         "value: merge: options: size must be the size of the struct; given 39, expected 40");
  options = right;
  options.reserved = 1;
  expect(pf_merger_add(merger, 0, &view, &options), "value: merge: options: reserved must be 0; given 1");
  options = right;
  options.weights = &view;
  expect(pf_merger_add(merger, 0, &view, &options),
         "value: merge: weights: must not be given together with weight; given both, expected one of them");
  options.weight = nullptr;
  expect(pf_merger_add(merger, 0, &view, &options),
         "dtype: merge: weight of tile 0 at position [0]: must be float64; given float32");
  weight = -1;
  expect(pf_merger_add(merger, 0, &view, &right),
         "value: merge: weight of tile 0 at position [0]: must be finite and at least 0; given -1");
  expect(
      pf_merger_finish(merger),
      "missing: merge: tile: must all have come; given 3 missing: 0 at position [0], 1 at position [1], 2 at position [2], "
      "expected 3 tiles");
  weight = 1;
  for (int index = 0; index < 3; ++index) expect(pf_merger_add(merger, index, &view, &right), "ok");
  expect(pf_merger_finish(merger), "ok");
}

TEST(CMerger, WeighsElements) {
  Merge m;
  m.spec.window = PF_WINDOW_ONES;
  m.spec.copy = 1;
  const MergerPointer merger = m.make();
  Tensor<double> weights({4}, {1, 1, 3, 0.5});
  const pf_tensor weight_view = weights.view();
  const pf_tile_options weighted = {sizeof weighted, 0, nullptr, &weight_view, nullptr, nullptr};
  for (int index = 0; index < 3; ++index) {
    Tensor<float> tile({4}, std::vector<float>(4, static_cast<float>(index)));
    const pf_tensor view = tile.view();
    ASSERT_OK(pf_merger_add(merger.get(), index, &view, index == 0 ? &weighted : nullptr));
  }
  ASSERT_OK(pf_merger_finish(merger.get()));
  EXPECT_EQ(m.result.values, (std::vector<float>{0, 0, 0.25F, 1 / 1.5F, 1.5F, 1.5F, 2, 2}));
}

/// Adds 1 to the counter to which `context` points. Tests pass this function as the release function of a tile.
void count(void* context) {
  ++*static_cast<std::atomic<int>*>(context);
}

TEST(CMerger, ReleasesATileOnceAndARefusedOneNever) {
  Merge m;
  std::atomic<int> released[3] = {0, 0, 0};
  Tensor<float> tiles[] = {Tensor<float>({4}), Tensor<float>({4}), Tensor<float>({4})};
  MergerPointer merger = m.make();
  const auto add = [&](int index) {
    const pf_tensor view = tiles[index].view();
    const pf_tile_options options = {sizeof options, 0, nullptr, nullptr, count, &released[index]};
    return pf_merger_add(merger.get(), index, &view, &options);
  };
  EXPECT_OK(add(0));
  EXPECT_EQ(released[0], 0);  // the tile waits for the next one
  EXPECT_EQ(add(0), PF_ERROR_VALUE);
  EXPECT_EQ(released[0], 0);  // the second call was refused, and the first call's tile still waits
  EXPECT_OK(add(1));
  EXPECT_EQ(released[0], 1);
  EXPECT_OK(add(2));
  EXPECT_OK(pf_merger_finish(merger.get()));
  EXPECT_EQ(released[1], 1);
  EXPECT_EQ(released[2], 1);

  m.spec.copy = 1;
  merger = m.make();
  EXPECT_OK(add(0));
  EXPECT_EQ(released[0], 2);  // the tile was copied, so it was released at once
  m.spec.copy = 0;
  merger = m.make();
  EXPECT_OK(add(0));
  merger.reset();
  EXPECT_EQ(released[0], 3);
  merger = m.make();
  EXPECT_EQ(pf_merger_add(merger.get(), 0, &m.output, nullptr), PF_ERROR_SHAPE);
}

/// A sink that keeps the rows before `fail_at`. For later rows it returns an error, or throws if `throws` is set.
struct SinkRows {
  std::int64_t next = 0;
  std::int64_t fail_at = 1 << 30;
  bool throws = false;
  std::vector<float> values{};

  static std::int32_t take(void* context, std::int64_t begin, std::int64_t end, const pf_tensor* band) {
    auto& rows = *static_cast<SinkRows*>(context);
    EXPECT_EQ(begin, rows.next);
    if (end > rows.fail_at && rows.throws) throw std::runtime_error("no space left");
    if (end > rows.fail_at) return 28;
    rows.next = end;
    EXPECT_EQ(band->rank, 1);
    EXPECT_EQ(band->shape[0], end - begin);
    const auto* from = static_cast<const float*>(band->data);
    rows.values.insert(rows.values.end(), from, from + (end - begin));
    EXPECT_EQ(pf_operator_info(-1, nullptr), PF_ERROR_VALUE);  // its message must not replace the merger's
    return 0;
  }
};

TEST(CMerger, HandsRowsToASinkInOrder) {
  Merge m;
  SinkRows rows;
  const pf_row_sink sink = {sizeof sink, 0, &rows, SinkRows::take};
  pf_merger* made = nullptr;
  ASSERT_OK(pf_merger_create_to_sink(m.tiling.get(), &m.spec, &sink, nullptr, &made));
  const MergerPointer merger(made);
  m.tiling.reset();  // the merger no longer needs the tiling
  Tensor<float> tile({4}, {1, 1, 1, 1});
  const pf_tensor view = tile.view();
  for (const int index : {2, 0, 1}) EXPECT_OK(pf_merger_add(made, index, &view, nullptr));
  EXPECT_OK(pf_merger_finish(made));
  EXPECT_EQ(rows.values, std::vector<float>(8, 1));
}

TEST(CMerger, ClosesAfterASinkThatFails) {
  for (const bool throws : {false, true}) {
    Merge m;
    SinkRows rows;
    rows.fail_at = 2;
    rows.throws = throws;
    const pf_row_sink sink = {sizeof sink, 0, &rows, SinkRows::take};
    pf_merger* made = nullptr;
    ASSERT_OK(pf_merger_create_to_sink(m.tiling.get(), &m.spec, &sink, nullptr, &made));
    MergerPointer merger(made);
    Tensor<float> tile({4});
    const pf_tensor view = tile.view();
    std::atomic<int> released[2] = {0, 0};
    const auto add = [&](int index) {
      const pf_tile_options options = {sizeof options, 0, nullptr, nullptr, count, &released[index]};
      return outcome(pf_merger_add(made, index, &view, &options));
    };
    const std::string given = throws ? "-1" : "28";
    EXPECT_EQ(add(0), "ok");
    EXPECT_EQ(rows.next, 2);
    EXPECT_EQ(add(1), "executor: merge: sink: must take the rows and return 0; given " + given + " for rows 2 to 4");
    EXPECT_EQ(add(1).substr(0, 67), "value: merge: tile: must not come after the merger has failed; give");
    EXPECT_EQ(outcome(pf_merger_finish(made)).substr(0, 39), "value: merge: finish: must not be calle");
    merger.reset();
    EXPECT_EQ(released[0], 1);
    EXPECT_EQ(released[1], 0);  // a refused tile belongs to the caller
  }
}

TEST(CMerger, TakesTilesFromManyThreads) {
  const TilingSpec grid{.shape = {64, 64}, .tile = {16, 16}, .overlap = 8};
  const TilingPointer tiling = make_tiling(grid);
  Tensor<float> image({64, 64}), merged({64, 64});
  image.count_up();
  const pf_merge_spec spec = pf_merge_spec_of(PF_DTYPE_FLOAT32, nullptr, 0);
  const pf_tensor from = image.view(), to = merged.view();
  pf_merger* made = nullptr;
  ASSERT_OK(pf_merger_create(tiling.get(), &spec, &to, pf_serial_executor(), &made));
  const MergerPointer merger(made);
  std::vector<std::thread> threads;
  std::atomic<int> next = 0, wrong = 0, released = 0;
  std::vector<Tensor<float>> tiles(49, Tensor<float>({16, 16}));
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int index = next++; index < 49; index = next++) {
        const pf_tensor tile = tiles[static_cast<std::size_t>(index)].view();
        const pf_tile_options options = {sizeof options, 0, nullptr, nullptr, count, &released};
        wrong += pf_tiling_cut(tiling.get(), index, &from, &tile, nullptr) != PF_OK;
        wrong += pf_merger_add(made, index, &tile, &options) != PF_OK;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_OK(pf_merger_finish(made));
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(released, 49);
  EXPECT_EQ(merged.values, image.values);  // the mean of contributions with equal bits has these bits
}

TEST(CMerger, TakesStructsOfLaterVersions) {
  Merge m;
  struct Later {
    pf_merge_spec known;
    std::int64_t unknown[50];
  } later = {m.spec, {}};
  later.known.size = sizeof later;
  EXPECT_OK(pf_merge_check(m.tiling.get(), &later.known));
  later.unknown[49] = 1;
  EXPECT_EQ(outcome(pf_merge_check(m.tiling.get(), &later.known)),
            "value: merge: spec: fields that this version does not know must be 0; given 520, expected 120");
  struct LaterBytes {
    pf_merge_bytes known;
    std::int64_t unknown[4];
  } bytes;
  std::memset(&bytes, 0x77, sizeof bytes);
  bytes.known.size = sizeof bytes;
  EXPECT_OK(pf_merge_memory(m.tiling.get(), &m.spec, 1, &bytes.known));
  const MergeMemory memory = merge_memory(Tiling({.shape = {8}, .tile = {4}, .stride = 2}), {}, true);
  EXPECT_EQ(bytes.known.tiles, memory.tiles);
  EXPECT_EQ(bytes.known.rows, memory.rows);
  EXPECT_EQ(bytes.known.most, memory.most);
  EXPECT_EQ(bytes.known.reserved, 0);
  EXPECT_EQ(bytes.unknown[3], 0);
}

}  // namespace
}  // namespace patchfold::test
