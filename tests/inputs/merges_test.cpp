// SPDX-License-Identifier: Apache-2.0
// Tests every way of merging with every bad tile: an error names the tile, and the merge goes on without it. The sentences
// of the errors are in tests/python/wrong_tiles.txt.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

#include "patchfold/tiling.hpp"
#include "refusal.hpp"

namespace patchfold::inputs {
namespace {

const Tiling& tiling() {
  static const Tiling tiles({.shape = {9, 3}, .tile = {4}, .overlap = 1, .tail = Tail::partial, .axes = {0}});
  return tiles;
}

/// Returns the array 0, 1, 2, ..
std::vector<float> array() {
  std::vector<float> values(27);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}
const std::vector<float>& tile(std::int64_t index) {
  static const auto all = [] {
    std::vector<std::vector<float>> tiles;
    const auto values = array();
    for (std::int64_t i = 0; i < tiling().size(); ++i) {
      const Span read = tiling().span(0, i).read;
      tiles.emplace_back(values.begin() + 3 * read.begin, values.begin() + 3 * read.end);
    }
    return tiles;
  }();
  return all[static_cast<std::size_t>(index)];
}
ConstTensorView view_of(std::int64_t index) {
  return view(tile(index).data(), tiling().result_shape(index, {3}));
}

class Rows : public RowSink {
 public:
  void write(Span rows, const ConstTensorView& band) override {
    const auto* values = static_cast<const float*>(band.data);
    written.insert(written.end(), values, values + 3 * rows.size());
  }
  std::vector<float> written{};
};

/// A merge into an array or, with `to_sink`, into a sink of rows.
struct Merge {
  Merge(bool to_sink, bool copy) {
    const MergeSpec spec{.channels = {3}, .copy = copy};
    if (to_sink)
      merger = std::make_unique<Merger>(tiling(), spec, rows, serial_executor());
    else
      merger = std::make_unique<Merger>(tiling(), spec, view(output.data(), {9, 3}), serial_executor());
  }
  const std::vector<float>& result() const { return rows.written.empty() ? output : rows.written; }

  std::vector<float> output = std::vector<float>(27);
  Rows rows{};
  std::unique_ptr<Merger> merger{};
};

struct WrongTile {
  std::string_view what;
  ErrorCode code;
  std::string_view named;
  void (*add)(Merge& merge);       ///< adds the bad tile, after tile 0 was added
  std::string_view not_to_sink{};  ///< why a sink of rows accepts the tile; empty if the sink refuses it
};

ConstTensorView changed(std::int64_t index, void (*change)(ConstTensorView&)) {
  ConstTensorView given = view_of(index);
  change(given);
  return given;
}

constexpr WrongTile wrong_tiles[] = {
    {"index below 0", ErrorCode::value, "index", [](Merge& m) { m.merger->add(-1, view_of(1)); }},
    {"index above", ErrorCode::value, "index", [](Merge& m) { m.merger->add(tiling().size(), view_of(1)); }},
    {"largest index", ErrorCode::value, "index", [](Merge& m) { m.merger->add(INT64_MAX, view_of(1)); }},
    {"twice", ErrorCode::value, "tile 0", [](Merge& m) { m.merger->add(0, view_of(0)); }},
    {"shape of another tile", ErrorCode::shape, "tile 1", [](Merge& m) { m.merger->add(1, view_of(tiling().size() - 1)); }},
    {"an axis more", ErrorCode::shape, "tile 1",
     [](Merge& m) {
       m.merger->add(1, changed(1, [](ConstTensorView& v) {
                       v.shape.push_back(1);
                       v.strides.push_back(4);
                     }));
     }},
    {"an axis less", ErrorCode::shape, "tile 1",
     [](Merge& m) { m.merger->add(1, changed(1, [](ConstTensorView& v) { v.shape = {4}; })); }},
    {"negative extent", ErrorCode::shape, "tile 1",
     [](Merge& m) { m.merger->add(1, changed(1, [](ConstTensorView& v) { v.shape[0] = -4; })); }},
    {"type", ErrorCode::dtype, "tile 1",
     [](Merge& m) { m.merger->add(1, changed(1, [](ConstTensorView& v) { v.dtype = DType::int32; })); }},
    {"element size", ErrorCode::dtype, "tile 1",
     [](Merge& m) { m.merger->add(1, changed(1, [](ConstTensorView& v) { v.element_size = 2; })); }},
    {"no data", ErrorCode::null_data, "tile 1",
     [](Merge& m) { m.merger->add(1, changed(1, [](ConstTensorView& v) { v.data = nullptr; })); }},
    {"no strides", ErrorCode::strides, "tile 1",
     [](Merge& m) { m.merger->add(1, changed(1, [](ConstTensorView& v) { v.strides = {}; })); }},
    {"strides out of memory", ErrorCode::overflow, "tile 1",
     [](Merge& m) { m.merger->add(1, changed(1, [](ConstTensorView& v) { v.strides[0] = INT64_MIN; })); }},
    {"memory of the output", ErrorCode::overlap, "tile 1",
     [](Merge& m) {
       m.merger->add(1, view(static_cast<const float*>(m.output.data()) + 2, {4, 3}));
     },
     "its rows have memory of their own"},
    {"never", ErrorCode::missing, "tile", [](Merge& m) { m.merger->finish(); }},
};

TEST(WrongTiles, AreRefusedAndTheMergeGoesOn) {
  for (const bool to_sink : {false, true}) {
    for (const bool copy : {false, true}) {
      for (const WrongTile& wrong : wrong_tiles) {
        if (to_sink && !wrong.not_to_sink.empty()) continue;
        SCOPED_TRACE(std::string(wrong.what) + (to_sink ? " to rows" : " to an array") + (copy ? ", copied" : ""));
        Merge merge(to_sink, copy);
        merge.merger->add(0, view_of(0));
        const std::int64_t waiting = merge.merger->waiting_bytes();
        const auto error = refusal([&] { wrong.add(merge); });
        ASSERT_TRUE(error) << "nothing refused";
        EXPECT_EQ(error->code(), wrong.code) << error->what();
        EXPECT_EQ(error->op(), "merge") << error->what();
        EXPECT_TRUE(error->argument().starts_with(wrong.named)) << error->what();
        EXPECT_FALSE(error->rule().empty()) << error->what();
        EXPECT_EQ(merge.merger->waiting_bytes(), waiting);
        for (std::int64_t index = 1; index < tiling().size(); ++index) merge.merger->add(index, view_of(index));
        merge.merger->finish();
        EXPECT_EQ(merge.result(), array());
        EXPECT_EQ(merge.merger->waiting_bytes(), 0);
      }
    }
  }
}

/// Tests merges with wrong specs, which are refused whatever the tiles are.
TEST(WrongMerges, AreRefused) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const auto weights = [](double wrong) {
    return MergeSpec{.window = {WeightWindow::Kind::axes, 0.125, {{1, wrong, 1, 1}}, {}}, .channels = {3}};
  };
  const auto array_of = [](double wrong) {
    return MergeSpec{.window = {WeightWindow::Kind::array, 0.125, {}, {1, wrong, 1, 1}}, .channels = {3}};
  };
  const struct {
    std::string_view what;
    ErrorCode code;
    std::string_view argument;
    MergeSpec spec;
  } wrong[] = {
      {"weight NaN", ErrorCode::value, "window", weights(nan)},
      {"weight infinite", ErrorCode::value, "window", weights(infinite)},
      {"weight negative", ErrorCode::value, "window", weights(-1)},
      {"weight -infinite", ErrorCode::value, "window", weights(-infinite)},
      {"weight of an array NaN", ErrorCode::value, "window", array_of(nan)},
      {"weight of an array negative", ErrorCode::value, "window", array_of(-0.5)},
      {"weight of an array infinite", ErrorCode::value, "window", array_of(infinite)},
      {"too few weights",
       ErrorCode::length,
       "window",
       {.window = {WeightWindow::Kind::axes, 0.125, {{1, 1, 1}}, {}}, .channels = {3}}},
      {"too many weights",
       ErrorCode::length,
       "window",
       {.window = {WeightWindow::Kind::array, 0.125, {}, {1, 1, 1, 1, 1}}, .channels = {3}}},
      {"weights of no axis",
       ErrorCode::length,
       "window",
       {.window = {WeightWindow::Kind::axes, 0.125, {}, {}}, .channels = {3}}},
      {"sigma 0", ErrorCode::value, "sigma_scale", {.window = {WeightWindow::Kind::gaussian, 0, {}, {}}, .channels = {3}}},
      {"sigma NaN",
       ErrorCode::value,
       "sigma_scale",
       {.window = {WeightWindow::Kind::gaussian, nan, {}, {}}, .channels = {3}}},
      {"sigma infinite",
       ErrorCode::value,
       "sigma_scale",
       {.window = {WeightWindow::Kind::gaussian, infinite, {}, {}}, .channels = {3}}},
      {"no window",
       ErrorCode::value,
       "window",
       {.window = {static_cast<WeightWindow::Kind>(99), 0.125, {}, {}}, .channels = {3}}},
      {"no reduction", ErrorCode::value, "reduce", {.reduce = static_cast<Reduce>(99), .channels = {3}}},
      {"mask too short", ErrorCode::length, "mask", {.channels = {3}, .mask = {1}}},
      {"element size", ErrorCode::value, "dtype", {.element_size = 8, .channels = {3}}},
      {"no elements",
       ErrorCode::value,
       "dtype",
       {.reduce = Reduce::first, .dtype = DType::opaque, .element_size = 0, .channels = {3}}},
      {"negative channels", ErrorCode::value, "output", {.channels = {-3}}},
      {"type without numbers", ErrorCode::dtype, "dtype", {.dtype = DType::opaque, .element_size = 3, .channels = {3}}},
      {"fill of another type",
       ErrorCode::value,
       "fill",
       {.reduce = Reduce::first, .dtype = DType::uint8, .element_size = 1, .channels = {3}, .fill = Scalar(256)}},
      {"memory limit", ErrorCode::out_of_memory, "memory_limit", {.channels = {3}, .memory_limit = 1}},
      {"negative memory limit", ErrorCode::out_of_memory, "memory_limit", {.channels = {3}, .memory_limit = -1}},
  };
  for (const auto& [what, code, argument, spec] : wrong) {
    SCOPED_TRACE(what);
    Rows rows;
    const MergeSpec& given = spec;
    const auto error = refusal([&] { Merger(tiling(), given, rows, serial_executor()); });
    if (!error) {
      ADD_FAILURE() << "nothing refused";
      continue;
    }
    EXPECT_EQ(error->code(), code) << error->what();
    EXPECT_EQ(error->op(), "merge") << error->what();
    EXPECT_EQ(error->argument(), argument) << error->what();
    EXPECT_FALSE(error->rule().empty()) << error->what();
    const auto early = refusal([&] { check_merge(tiling(), given); });
    EXPECT_EQ(early ? early->what() : std::string(), given.memory_limit ? std::string() : error->what());
  }
}

TEST(WrongOutputs, OfMergesAreRefused) {
  std::vector<float> memory(64);
  const auto output = [&](void (*change)(TensorView&)) {
    TensorView made = view(memory.data(), {9, 3});
    change(made);
    return made;
  };
  const std::pair<ErrorCode, TensorView> wrong[] = {
      {ErrorCode::shape, output([](TensorView& v) { v.shape[0] = 8; })},
      {ErrorCode::shape, output([](TensorView& v) {
         v.shape.push_back(1);
         v.strides.push_back(4);
       })},
      {ErrorCode::dtype, output([](TensorView& v) { v.dtype = DType::int32; })},
      {ErrorCode::strides, output([](TensorView& v) { v.strides[0] = 0; })},
      {ErrorCode::strides, output([](TensorView& v) { v.strides = {}; })},
      {ErrorCode::overflow, output([](TensorView& v) { v.strides[0] = INT64_MAX; })},
      {ErrorCode::null_data, output([](TensorView& v) { v.data = nullptr; })},
  };
  for (const auto& [code, made] : wrong) {
    const TensorView& given = made;
    const auto error = refusal([&] { Merger(tiling(), {.channels = {3}}, given, serial_executor()); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), code) << error->what();
    EXPECT_EQ(error->op(), "merge") << error->what();
    EXPECT_EQ(error->argument(), "output") << error->what();
  }
}

}  // namespace
}  // namespace patchfold::inputs
