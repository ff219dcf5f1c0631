// SPDX-License-Identifier: Apache-2.0
// Tests tilings and merges with numbers near the limits of arithmetic: either they are refused, or their spans agree with
// arithmetic in 128 bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "allocations.hpp"
#include "edges.hpp"
#include "patchfold/tiling.hpp"
#include "tests/random/random.hpp"

namespace patchfold::limits {
namespace {

using patchfold::testing::Random;
using patchfold::testing::scale_of_run;
using patchfold::testing::seed_of_run;

/// Returns a valid spec of a tiling of two axes with channels between them.
TilingSpec legal(int form) {
  TilingSpec spec{.shape = {40, 3, 50}, .tile = {16, 20}, .axes = {0, 2}};
  spec.tail = static_cast<Tail>(form % 3);
  if (form % 2 == 0)
    spec.stride = {12, 16};
  else
    spec.overlap = {4, 4};
  spec.scale = {{2, 1}, {1, 2}};
  spec.offset = {0, 0};
  if (form % 4 == 1) spec.result = {32, 10};
  if (form % 4 == 3) spec.margin = spec.margin_end = {2, 4};
  return spec;
}

using Slot = std::function<void(TilingSpec&, std::int64_t)>;

Axes with(const Axes& axes, int i, std::int64_t value) {
  Dims values = axes.values();
  values[i] = value;
  return values;
}

std::vector<Slot> slots_of(const TilingSpec& spec) {
  std::vector<Slot> slots;
  for (int i = 0; i < 3; ++i) slots.push_back([i](TilingSpec& s, std::int64_t v) { s.shape[i] = v; });
  for (int i = 0; i < 2; ++i) {
    const auto at = static_cast<std::size_t>(i);
    slots.push_back([i](TilingSpec& s, std::int64_t v) { s.tile[i] = v; });
    slots.push_back([i](TilingSpec& s, std::int64_t v) { s.offset[i] = v; });
    slots.push_back([i](TilingSpec& s, std::int64_t v) { s.axes[i] = v; });
    slots.push_back([at](TilingSpec& s, std::int64_t v) { s.scale[at].num = v; });
    slots.push_back([at](TilingSpec& s, std::int64_t v) { s.scale[at].den = v; });
    if (!spec.stride.empty()) slots.push_back([i](TilingSpec& s, std::int64_t v) { s.stride = with(s.stride, i, v); });
    if (!spec.overlap.empty()) slots.push_back([i](TilingSpec& s, std::int64_t v) { s.overlap = with(s.overlap, i, v); });
    if (!spec.result.empty()) slots.push_back([i](TilingSpec& s, std::int64_t v) { s.result[i] = v; });
    if (spec.margin.empty()) continue;
    slots.push_back([i](TilingSpec& s, std::int64_t v) { s.margin = with(s.margin, i, v); });
    slots.push_back([i](TilingSpec& s, std::int64_t v) { s.margin_end = with(s.margin_end, i, v); });
  }
  return slots;
}

void expect_complete(const Error& error, std::string_view op) {
  EXPECT_EQ(error.op(), op) << error.what();
  EXPECT_FALSE(error.argument().empty()) << error.what();
  EXPECT_FALSE(error.rule().empty()) << error.what();
}

Wide clamp(Wide value, Wide low, Wide high) {
  return std::min(std::max(value, low), high);
}

/// Compares tile k of tiled axis i with the definition at the beginning of tiling.hpp, in 128 bits.
void expect_span(const Tiling& tiling, int i, std::int64_t k) {
  const TilingSpec& spec = tiling.spec();
  const Wide extent = spec.shape[static_cast<int>(tiling.axes()[i])];
  const Wide tile = spec.tile[i];
  const Wide stride = tiling.stride()[i];
  const Ratio scale = spec.scale[static_cast<std::size_t>(i)];
  const Wide margin = tiling.margin()[i];
  const Wide reach = std::max<Wide>(0, extent + margin + tiling.margin_end()[i]);
  const Wide whole = reach < tile ? 0 : (reach - tile) / stride + 1;
  const Wide origin = (k >= whole && spec.tail == Tail::shift ? reach - tile : k * stride) - margin;
  const Wide read = clamp(origin, 0, extent);
  const Wide end = clamp(origin + tile, read, extent);
  const Wide start = spec.tail == Tail::partial ? read : origin;
  const Wide given = spec.tail == Tail::partial ? end - read : tile;
  const Wide result = tiling.result()[i] - (tile - given) * scale.num / scale.den;
  const Wide at = start * scale.num / scale.den + spec.offset[i];
  const Wide output = (extent * scale.num + scale.den - 1) / scale.den;
  const Wide begin = clamp(at, 0, output);
  const Wide write_end = clamp(at + result, begin, output);
  const TileSpan span = tiling.span(i, k);
  EXPECT_EQ(tiling.output()[i], output);
  EXPECT_EQ(span.origin, start);
  EXPECT_EQ(span.read.begin, read);
  EXPECT_EQ(span.read.end, end);
  EXPECT_EQ(span.extent, given);
  EXPECT_EQ(span.result, result);
  EXPECT_EQ(span.start, at);
  EXPECT_EQ(span.write.begin, begin);
  EXPECT_EQ(span.write.end, write_end);
  EXPECT_EQ(span.keep.begin, begin - at);
  EXPECT_EQ(span.keep.end, write_end - at);
}

class NoRows : public RowSink {
 public:
  void write(Span, const ConstTensorView&) override {}
};

struct Counts {
  int made = 0, refused = 0, mergers = 0, merges_refused = 0;
};

/// Makes a merger to a sink, which needs no memory for tensors, and counts whether it is made or refused.
void check_merge(const Tiling& tiling, const MergeSpec& spec, Counts& counts) {
  // A merger needs memory for each tile along an axis, and for each element of a tile along that axis. So tilings with very
  // many or very long tiles are left out.
  constexpr std::int64_t few_tiles = 4096, short_results = 1 << 20;
  for (int i = 0; i < 2; ++i) {
    const bool is_listed = tiling.result()[i] > short_results && tiling.result()[i] <= 1 << 26;
    if (tiling.grid()[i] > few_tiles || is_listed) return;
  }
  NoRows rows;
  try {
    const Merger merger(tiling, spec, rows);
    EXPECT_EQ(merger.waiting_bytes(), 0);
    ++counts.mergers;
  } catch (const Error& error) {
    expect_complete(error, "merge");
    ++counts.merges_refused;
  }
}

void check(const TilingSpec& spec, const MergeSpec& merge, Counts& counts) {
  constexpr std::size_t most_bytes = std::size_t{16} << 20;
  SCOPED_TRACE("shape " + to_string(spec.shape) + " tile " + to_string(spec.tile) + " stride " + to_string(spec.stride) +
               " overlap " + to_string(spec.overlap) + " result " + to_string(spec.result) + " offset " +
               to_string(spec.offset) + " axes " + to_string(spec.axes) + " scale " + std::to_string(spec.scale[0].num) +
               "/" + std::to_string(spec.scale[0].den) + " " + std::to_string(spec.scale[1].num) + "/" +
               std::to_string(spec.scale[1].den) + " tail " + std::string(word_of(spec.tail)));
  reset_allocations();
  std::optional<Tiling> tiling;
  try {
    tiling.emplace(spec);
  } catch (const Error& error) {
    expect_complete(error, "tiling");
    ++counts.refused;
    return;
  }
  ++counts.made;
  EXPECT_EQ(Wide{tiling->grid()[0]} * tiling->grid()[1], tiling->size());
  for (int i = 0; i < 2; ++i) {
    const std::int64_t last = tiling->grid()[i] - 1;
    for (const std::int64_t k : {std::int64_t{0}, last / 2, last - 1, last})
      if (k >= 0 && k <= last) expect_span(*tiling, i, k);
  }
  for (const std::int64_t index : edges()) {
    try {
      EXPECT_EQ((*tiling)[index].index, index);
      EXPECT_TRUE(index >= 0 && index < tiling->size());
      EXPECT_EQ(tiling->result_shape(index, tiling->channels()).size(), 3);
      EXPECT_EQ(tiling->tile_shape(index).size(), 3);
    } catch (const Error& error) {
      expect_complete(error, "tiling");
      EXPECT_TRUE(index < 0 || index >= tiling->size()) << error.what();
    }
  }
  EXPECT_EQ(tiling->output_shape(tiling->channels()).size(), 3);
  EXPECT_FALSE(tiling->to_json(false).empty());
  MergeSpec of_tiling = merge;
  if (of_tiling.channels.empty()) of_tiling.channels = tiling->channels();
  check_merge(*tiling, of_tiling, counts);
  EXPECT_LT(largest_allocation(), most_bytes);
}

TEST(Tilings, AreRefusedOrRight) {
  Counts counts;
  for (int form = 0; form < 12; ++form) {
    const TilingSpec spec = legal(form);
    const MergeSpec merge{.reduce = form % 2 == 0 ? Reduce::mean : Reduce::center,
                          .window = {WeightWindow::Kind::ones, 0.125, {}, {}},
                          .fill = Scalar(0)};
    check(spec, merge, counts);
    const auto slots = slots_of(spec);
    for (const Slot& slot : slots)
      for (const std::int64_t value : edges()) {
        TilingSpec changed = spec;
        slot(changed, value);
        check(changed, merge, counts);
      }
    Random random(patchfold::testing::seed_of_case(seed_of_run(), "tilings", form));
    for (int pair = 0; pair < std::max(1, static_cast<int>(500 * scale_of_run())); ++pair) {
      TilingSpec changed = spec;
      for (int i = random.chance(40) ? 3 : 2; i > 0; --i) random.pick(slots)(changed, random.pick(edges()));
      check(changed, merge, counts);
    }
  }
  EXPECT_GT(counts.made, 1000);
  EXPECT_GT(counts.refused, 1000);
  EXPECT_GT(counts.mergers, 500);
  EXPECT_GT(counts.merges_refused, 100);
}

TEST(Merges, WithWrongSizesAreRefusedOrMade) {
  Counts counts;
  const TilingSpec spec = legal(0);
  for (const std::int64_t value : edges()) {
    MergeSpec merge{.window = {WeightWindow::Kind::ones, 0.125, {}, {}}};
    merge.channels = {value};
    check(spec, merge, counts);
    merge.channels = {3, value, 2};
    check(spec, merge, counts);
    merge = {.reduce = Reduce::first, .dtype = DType::opaque, .element_size = static_cast<std::size_t>(value)};
    check(spec, merge, counts);
    merge = {.memory_limit = value};
    check(spec, merge, counts);
  }
  EXPECT_GT(counts.mergers, 20);
  EXPECT_GT(counts.merges_refused, 20);
}

/// Returns the message of the error if the merge is refused, otherwise "made".
std::string refusal_of(const TilingSpec& spec, const MergeSpec& merge) {
  NoRows rows;
  try {
    const Merger merger(Tiling(spec), merge, rows);
    return "made";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::limit);
    return error.what();
  }
}

TEST(Merges, OfMoreThanTheirListsHoldAreRefused) {
  const MergeSpec plain{.window = {WeightWindow::Kind::ones, 0.125, {}, {}}};
  // About 2^15 segments lie in 2^14 tiles each. These are more than 2^28 pairs of a segment and a tile.
  EXPECT_EQ(
      refusal_of({.shape = {3 << 14}, .tile = {1 << 14}, .stride = 1}, plain),
      "merge: tiling: must have fewer overlapping tiles for a merge; given 16384, expected shorter results, or a stride "
      "above 1");
  EXPECT_EQ(refusal_of({.shape = {1, 1 << 14, (1 << 13) + 1}, .tile = {1, 1, 1}}, plain),
            "merge: tiling: must have fewer tiles across the first tiled axis for a merge; given [1, 16384, 8193]");
  EXPECT_EQ(refusal_of({.shape = {(1 << 22) + 1}, .tile = {1}}, plain),
            "merge: tiling: must have at most 2^22 tiles along an axis for a merge; given 4194305");
  EXPECT_EQ(refusal_of({.shape = {1 << 12, 1 << 12, (1 << 8) + 1}, .tile = {1, 1, 1}}, plain),
            "merge: tiling: must have at most 2^32 tiles for a merge; given 4311744512");
  EXPECT_EQ(refusal_of({.shape = {(1 << 26) + 1}, .tile = {(1 << 26) + 1}}, plain),
            "merge: window: must have at most 2^26 weights along all axes together; given [67108865]");
}

TEST(Boxes, TakeNoMoreThanWhatTouchesThem) {
  // There are 2^46 tiles, 2^23 along each axis, and 2^56 elements of the output: too many for a list of any of these.
  const Tiling tiling({.shape = {1LL << 28, 1LL << 28}, .tile = {64, 64}, .overlap = 32});
  const MergeSpec spec{.dtype = DType::uint8, .element_size = 1};
  const BoxMerger merger(tiling, spec);
  for (const std::int64_t extent : {1, 40, 200}) {
    const Box box = {{(1LL << 27) - 5, (1LL << 27) - 5 + extent}, {12345, 12345 + extent}};
    const std::vector<Span> tiles = tiling.touching(box);
    std::vector<std::uint8_t> ones(64 * 64, 1);
    std::vector<Piece> pieces;
    for (std::int64_t row = tiles[0].begin; row < tiles[0].end; ++row)
      for (std::int64_t column = tiles[1].begin; column < tiles[1].end; ++column) {
        const std::int64_t index = row * tiling.grid()[1] + column;
        const std::vector<Span> part = tiling.piece(index, box);
        pieces.push_back({index, {ones.data(), {part[0].size(), part[1].size()}, {64, 1}, DType::uint8, 1}});
      }
    EXPECT_LE(static_cast<std::int64_t>(pieces.size()), (extent / 32 + 3) * (extent / 32 + 3));
    std::vector<std::uint8_t> out(static_cast<std::size_t>(extent * extent));
    reset_allocations();
    merger.merge(box, pieces, {out.data(), {extent, extent}, {extent, 1}, DType::uint8, 1});
    EXPECT_LT(largest_allocation(), 64 * 1024 + pieces.size() * 4096);
    EXPECT_EQ(out, std::vector<std::uint8_t>(out.size(), 1));
  }
}

TEST(Samples, OfAWindowAreRefusedWhereTheyCannotBe) {
  for (const std::int64_t n : edges())
    if (n < 0 || n >= limits::size_limit) {
      EXPECT_THROW(sample({}, n), Error) << n;
    }
}

}  // namespace
}  // namespace patchfold::limits
