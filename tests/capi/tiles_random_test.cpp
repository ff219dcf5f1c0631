// SPDX-License-Identifier: Apache-2.0
// Tests that C and C++ give equal bits and equal errors for random tilings and merges.
#include <algorithm>
#include <array>
#include <numeric>

#include "tests/random/boxes.hpp"
#include "tiles.hpp"

namespace patchfold::test {
namespace {

using testing::Random;

Dims draw_dims(Random& random, int length, std::int64_t lowest, std::int64_t highest) {
  Dims dims;
  for (; length > 0; --length) dims.push_back(random.between(lowest, highest));
  return dims;
}

/// Returns one number for all axes, or a list. For one axis, always returns a number, since C cannot tell a number from a
/// list of one entry.
Axes draw_axes(Random& random, int tiled, std::int64_t lowest, std::int64_t highest) {
  if (tiled == 1 || random.chance(50)) return random.between(lowest, highest);
  return draw_dims(random, tiled, lowest, highest);
}

TilingSpec draw_tiling(Random& random) {
  TilingSpec spec;
  const int rank = static_cast<int>(random.between(1, 3));
  const int tiled = static_cast<int>(random.between(1, rank));
  spec.shape = draw_dims(random, rank, random.chance(5) ? 0 : 3, 14);
  spec.tile = draw_dims(random, tiled, random.chance(5) ? -1 : 1, 6);
  switch (random.between(0, 4)) {
    case 0:
    case 1: spec.overlap = draw_axes(random, tiled, -1, 3); break;
    case 2: spec.stride = draw_axes(random, tiled, 1, 4); break;
    case 3: spec.overlap_fraction.assign(static_cast<std::size_t>(random.chance(50) ? 1 : tiled), 0.3); break;
    default: break;
  }
  if (random.chance(4)) spec.stride = 2;
  spec.tail = static_cast<Tail>(random.between(0, 5));
  spec.padding_mode = static_cast<PaddingMode>(random.between(0, 3));
  if (random.chance(50)) spec.value = random.chance(50) ? Scalar(7) : Scalar(std::uint64_t{9});
  if (random.chance(30))
    for (int i = 0; i < tiled; ++i) spec.axes.push_back(random.chance(50) ? i : rank - tiled + i);
  if (random.chance(20)) spec.scale.assign(static_cast<std::size_t>(random.chance(50) ? 1 : tiled), {2, 1});
  if (random.chance(10)) spec.scale = {{random.between(0, 3), random.between(1, 3)}};
  if (random.chance(10)) spec.offset = draw_dims(random, tiled, -2, 2);
  if (random.chance(10)) spec.result = draw_dims(random, tiled, 1, 6);
  if (random.chance(20)) spec.align = draw_axes(random, tiled, 0, 3);
  return spec;
}

MergeSpec draw_merge(Random& random, const Tiling& tiling) {
  const std::array types = {DType::uint8,   DType::int16,   DType::int64,     DType::float16,
                            DType::float32, DType::float64, DType::complex64, DType::boolean};
  MergeSpec spec;
  spec.dtype = random.pick(types);
  spec.element_size = size_of(spec.dtype);
  testing::draw_merge(random, tiling, spec);
  if (random.chance(10)) spec.window.sigma_scale = random.chance(80) ? 0.3 : -1;
  if (spec.fill && random.chance(20)) spec.fill = Scalar(std::complex<double>(0, 1));
  spec.copy = random.chance(50);
  if (random.chance(20)) spec.memory_limit = random.between(-1, 4000);
  return spec;
}

/// Fills a tensor with integers from 0 to 50, whose sums are exact. Tensors of other types than C++'s numbers stay zero.
void fill_with_numbers(Random& random, Bytes& tensor) {
  visit(tensor.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_arithmetic_v<T>) {
      auto* values = reinterpret_cast<T*>(tensor.bytes.data());
      for (std::size_t i = 0; i < tensor.bytes.size() / sizeof(T); ++i)
        values[i] = static_cast<T>(random.between(0, std::is_same_v<T, bool> ? 1 : 50));
    }
  });
}

/// Compares the spans of one tile along tiled axis i. In C the place of the tile's first element follows from `start`.
void expect_same_place(const Tiling& tiling, int i, const pf_tile_span& c, const TileSpan& cpp) {
  const std::vector<Ratio>& scales = tiling.spec().scale;
  const Ratio scale = scales.empty() ? Ratio{1, 1} : scales[scales.size() == 1 ? 0 : static_cast<std::size_t>(i)];
  const std::int64_t offset = tiling.spec().offset.empty() ? 0 : tiling.spec().offset[i];
  const TileSpan same{{c.read_begin, c.read_end},
                      c.extent,
                      {c.write_begin, c.write_end},
                      {c.keep_begin, c.keep_end},
                      c.result,
                      c.start,
                      (c.start - offset) * scale.den / scale.num};
  EXPECT_EQ(same, cpp);
}

template <class Call>
std::vector<std::int64_t> list_from(Call call) {
  std::int64_t list[PF_MAX_RANK];
  std::int32_t count = PF_MAX_RANK;
  EXPECT_OK(call(list, &count));
  std::int32_t counted = -5;
  EXPECT_OK(call(nullptr, &counted));
  EXPECT_EQ(counted, count);
  return {list, list + count};
}

/// Compares what all functions that read a tiling return in C and in C++.
void compare_tilings(Random& random, const pf_tiling* c, const Tiling& cpp) {
  pf_tiling_layout layout{};
  layout.size = sizeof layout;
  ASSERT_OK(pf_tiling_info(c, &layout));
  const auto list = [](const std::int64_t* entries, std::int32_t count) {
    return std::vector<std::int64_t>(entries, entries + count);
  };
  const std::int32_t tiled = layout.n_tiled;
  EXPECT_EQ(layout.count, cpp.size());
  EXPECT_EQ(layout.stream_axis, cpp.stream_axis());
  EXPECT_EQ(list(layout.shape, layout.rank), list_of(cpp.spec().shape));
  EXPECT_EQ(list(layout.channels, layout.n_channels), list_of(cpp.channels()));
  EXPECT_EQ(list(layout.axes, tiled), list_of(cpp.axes()));
  EXPECT_EQ(list(layout.tile, tiled), list_of(cpp.spec().tile));
  EXPECT_EQ(list(layout.stride, tiled), list_of(cpp.stride()));
  EXPECT_EQ(list(layout.grid, tiled), list_of(cpp.grid()));
  EXPECT_EQ(list(layout.result, tiled), list_of(cpp.result()));
  EXPECT_EQ(list(layout.output, tiled), list_of(cpp.output()));

  const Dims channels = random.chance(50) ? cpp.channels() : draw_dims(random, cpp.channels().size(), 0, 3);
  const auto n_channels = static_cast<std::int32_t>(channels.size());
  for (const Tile tile : cpp) {
    std::int64_t position[PF_MAX_RANK];
    pf_tile_span spans[PF_MAX_RANK];
    ASSERT_OK(pf_tiling_tile(c, tile.index, position, spans));
    EXPECT_EQ(list(position, tiled), list_of(tile.position));
    for (std::int32_t i = 0; i < tiled; ++i) {
      expect_same_place(cpp, i, spans[i], tile.spans[static_cast<std::size_t>(i)]);
      pf_tile_span alone;
      ASSERT_OK(pf_tiling_span(c, i, tile.position[i], &alone));
      expect_same_place(cpp, i, alone, cpp.span(i, tile.position[i]));
    }
    EXPECT_EQ(list_from([&](std::int64_t* to, std::int32_t* rank) { return pf_tiling_tile_shape(c, tile.index, to, rank); }),
              list_of(cpp.tile_shape(tile.index)));
    const Dims result = cpp.result_shape(tile.index, channels);
    EXPECT_EQ(list_from([&](std::int64_t* to, std::int32_t* rank) {
                return pf_tiling_result_shape(c, tile.index, channels.begin(), n_channels, to, rank);
              }),
              list_of(result));
    EXPECT_EQ(list_from([&](std::int64_t* to, std::int32_t* count) {
                return pf_tiling_result_channels(c, tile.index, result.begin(), result.size(), to, count);
              }),
              list_of(channels));
    Dims twice = result;
    for (const auto axis : cpp.axes_in(result.size())) twice[static_cast<int>(axis)] *= 2;
    pf_ratio scale{-1, -1};
    ASSERT_OK(pf_tiling_scale_of(c, tile.index, twice.begin(), twice.size(), &scale));
    EXPECT_EQ((Ratio{scale.num, scale.den}), cpp.scale_of(tile.index, twice).value_or(Ratio{0, 0}));
  }
  EXPECT_EQ(list_from([&](std::int64_t* to, std::int32_t* rank) {
              return pf_tiling_output_shape(c, channels.begin(), n_channels, to, rank);
            }),
            list_of(cpp.output_shape(channels)));
  Bytes counted(cpp.output(), DType::int64, 8), expected = counted;
  const pf_tensor counts = counted.c();
  EXPECT_OK(pf_tiling_coverage(c, &counts));
  cpp.coverage(expected.view());
  EXPECT_EQ(counted.bytes, expected.bytes);
  for (const int with_tiles : {0, 1}) {
    char* text = nullptr;
    ASSERT_OK(pf_tiling_json(c, with_tiles, &text));
    EXPECT_EQ(TextPointer(text).get(), cpp.to_json(with_tiles != 0));
  }
}

struct KeptRows final : RowSink {
  void write(Span rows, const ConstTensorView& band) override {
    EXPECT_EQ(rows.begin, next);
    next = rows.end;
    const auto* from = static_cast<const std::byte*>(band.data);
    const auto count = static_cast<std::size_t>(element_count(band.shape)) * band.element_size;
    bytes.insert(bytes.end(), from, from + count);
  }
  static std::int32_t take(void* context, std::int64_t begin, std::int64_t end, const pf_tensor* band) {
    const Dims shape(std::span(band->shape, static_cast<std::size_t>(band->rank)));
    const Dims strides(std::span(band->stride_bytes, static_cast<std::size_t>(band->rank)));
    EXPECT_EQ(strides, contiguous_strides(shape, band->element_size));
    static_cast<KeptRows*>(context)->write(
        {begin, end}, {band->data, shape, strides, static_cast<DType>(band->dtype), band->element_size});
    return 0;
  }
  std::vector<std::byte> bytes{};
  std::int64_t next = 0;
};

/// Runs a random merge in C and in C++, and expects equal results. Returns whether the merge succeeded.
bool compare_merges(Random& random, const pf_tiling* c, const Tiling& cpp) {
  const MergeSpec spec = draw_merge(random, cpp);
  const MergeSpecInC given(spec);
  EXPECT_EQ(outcome(pf_merge_check(c, &given.c)), outcome_of([&] { check_merge(cpp, spec); }));
  pf_reduce reduce = -1;
  EXPECT_OK(pf_merge_reduction(c, &given.c, &reduce));
  EXPECT_EQ(reduce - 1, static_cast<int>(reduction_of(spec)));
  const bool to_sink = random.chance(50);
  pf_merge_bytes bytes{};
  bytes.size = sizeof bytes;
  MergeMemory memory;
  const auto said = outcome_of([&] { memory = merge_memory(cpp, spec, to_sink); });
  EXPECT_EQ(outcome(pf_merge_memory(c, &given.c, to_sink, &bytes)), said);
  if (said == "ok") {
    EXPECT_EQ((std::array{bytes.tiles, bytes.rows, bytes.most}), (std::array{memory.tiles, memory.rows, memory.most}));
  } else {
    EXPECT_EQ((std::array{bytes.tiles, bytes.rows, bytes.most}), (std::array<std::int64_t, 3>{}));
  }

  MergeOutput form{cpp.output_shape(spec.channels), {}, spec.output_dtype.value_or(spec.dtype)};
  const auto formed = outcome_of([&] { form = merge_output(cpp, spec); });
  std::vector<std::int64_t> shape(PF_MAX_RANK), axes(static_cast<std::size_t>(form.axes.size()) + PF_MAX_RANK);
  std::int32_t rank = PF_MAX_RANK;
  pf_dtype dtype = -1;
  EXPECT_EQ(outcome(pf_merge_output(c, &given.c, shape.data(), &rank, axes.data(), &dtype)), formed);
  if (formed == "ok") {
    EXPECT_EQ(Dims(std::span(shape.data(), static_cast<std::size_t>(rank))), form.shape);
    EXPECT_EQ(Dims(std::span(axes.data(), static_cast<std::size_t>(form.axes.size()))), form.axes);
    EXPECT_EQ(dtype, static_cast<pf_dtype>(form.dtype));
  }
  Bytes in_c(form.shape, form.dtype, size_of(form.dtype)), in_cpp = in_c;
  KeptRows rows_of_c, rows_of_cpp;
  const pf_row_sink sink = {sizeof sink, 0, &rows_of_c, KeptRows::take};
  const pf_tensor output = in_c.c();
  pf_merger* made = nullptr;
  std::optional<Merger> merger;
  const pf_executor* serial = random.chance(50) ? pf_serial_executor() : nullptr;
  const auto refused =
      outcome_of([&] { to_sink ? merger.emplace(cpp, spec, rows_of_cpp) : merger.emplace(cpp, spec, in_cpp.view()); });
  EXPECT_EQ(outcome(to_sink ? pf_merger_create_to_sink(c, &given.c, &sink, serial, &made)
                            : pf_merger_create(c, &given.c, &output, serial, &made)),
            refused);
  EXPECT_EQ(made != nullptr, refused == "ok");
  if (made == nullptr) return false;
  const MergerPointer owner(made);

  std::vector<std::int64_t> order(static_cast<std::size_t>(cpp.size()));
  std::iota(order.begin(), order.end(), 0);
  if (random.chance(70))
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i) - 1))]);
  int releases = 0, expected_releases = 0;
  for (const auto index : order) {
    auto tile = std::make_shared<Bytes>(cpp.result_shape(index, spec.channels), spec.dtype, spec.element_size);
    fill_with_numbers(random, *tile);
    const double weight = random.chance(20) ? 0.5 : 1;
    const pf_tensor view = tile->c();
    struct Owned {
      std::shared_ptr<Bytes> tile;
      int* releases;
    };
    auto* owned = new Owned{tile, &releases};
    const pf_tile_options options = {sizeof options,
                                     0,
                                     &weight,
                                     nullptr,
                                     [](void* context) {
                                       auto* released = static_cast<Owned*>(context);
                                       ++*released->releases;
                                       delete released;
                                     },
                                     owned};
    const auto accepted = outcome_of([&] { merger->add(index, tile->view(), {.number = weight}, tile); });
    EXPECT_EQ(outcome(pf_merger_add(made, index, &view, &options)), accepted);
    if (accepted == "ok")
      ++expected_releases;
    else
      delete owned;
    std::int64_t now = -1, peak = -1;
    EXPECT_OK(pf_merger_waiting(made, &now, &peak));
    EXPECT_EQ(now, merger->waiting_bytes());
    EXPECT_EQ(peak, merger->peak_bytes());
  }
  const auto ended = outcome_of([&] { merger->finish(); });
  EXPECT_EQ(outcome(pf_merger_finish(made)), ended);
  EXPECT_EQ(in_c.bytes, in_cpp.bytes);
  EXPECT_EQ(rows_of_c.bytes, rows_of_cpp.bytes);
  EXPECT_LE(releases, expected_releases);
  pf_merger_destroy(const_cast<MergerPointer&>(owner).release());
  EXPECT_EQ(releases, expected_releases);
  return ended == "ok";
}

TEST(RandomTiles, AreThoseOfCpp) {
  const int cases = std::max(20, static_cast<int>(1500 * testing::scale_of_run()));
  int tilings = 0, merges = 0;
  for (int number = 0; number < cases && !::testing::Test::HasFailure(); ++number) {
    const auto seed = testing::seed_of_case(testing::seed_of_run(), "capi tiles", number);
    SCOPED_TRACE("case " + std::to_string(number) + " of PATCHFOLD_SEED=" + std::to_string(testing::seed_of_run()));
    Random random(seed);
    const TilingSpec spec = draw_tiling(random);
    const TilingSpecInC given(spec);
    std::optional<Tiling> cpp;
    pf_tiling* made = nullptr;
    const auto refused = outcome_of([&] { cpp.emplace(spec); });
    EXPECT_EQ(outcome(pf_tiling_create(&given.c, &made)), refused);
    EXPECT_EQ(made != nullptr, refused == "ok");
    if (made == nullptr) continue;
    const TilingPointer owner(made);
    ++tilings;
    compare_tilings(random, made, *cpp);
    for (const auto index : {std::int64_t{-1}, cpp->size(), INT64_MAX})
      EXPECT_EQ(outcome(pf_tiling_tile(made, index, nullptr, nullptr)), outcome_of([&] { (*cpp)[index]; }));
    Bytes array(spec.shape, DType::int16, 2);
    fill_with_numbers(random, array);
    const pf_tensor from = array.c();
    for (const Tile tile : *cpp) {
      Bytes in_c(cpp->tile_shape(tile.index), DType::int16, 2), in_cpp = in_c;
      const pf_tensor to = in_c.c();
      EXPECT_EQ(outcome(pf_tiling_cut(made, tile.index, &from, &to, nullptr)),
                outcome_of([&] { cpp->cut(tile.index, array.view(), in_cpp.view()); }));
      EXPECT_EQ(in_c.bytes, in_cpp.bytes);
    }
    for (int i = 0; i < 3; ++i) merges += compare_merges(random, made, *cpp);
  }
  EXPECT_GT(tilings, cases / 4);
  EXPECT_GT(merges, cases / 4);
}

}  // namespace
}  // namespace patchfold::test
