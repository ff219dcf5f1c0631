// SPDX-License-Identifier: Apache-2.0
// Tests hostile plan.json files, options of `split` and `merge` and their effects on files, --threads, and run --batch.
#include "formats/tile_plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "cli/program.hpp"
#include "formats/picture.hpp"
#include "patchfold/plan.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/tiles.hpp"

namespace patchfold::cli_test {
namespace {

/// The most memory that the program may use for plans that claim terabytes. The limit leaves room for sanitizers.
constexpr std::int64_t most_memory = 1 << 30;

/// A folder with two tiles in tiles/.
class TilePlan : public ::testing::Test {
 protected:
  void SetUp() override {
    write_array(folder_, "in.npy", random_array({4, 6}, DType::uint8));
    run_well(folder_, "split in.npy tiles --tile 4 --overlap 1");
    plan_ = folder_.read("tiles/plan.json");
    folder_.write("secret.npy", folder_.read("tiles/tile-0.npy"));
  }
  /// Returns the error of a plan, or nothing if it is accepted.
  std::string error_of(const std::string& plan) {
    folder_.write("tiles/plan.json", plan);
    try {
      formats::read_tile_plan(folder_.path("tiles/plan.json"));
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.argument(), folder_.path("tiles/plan.json").string());
      return error.what();
    }
  }
  std::string replaced(const std::string& from, const std::string& to) {
    std::string plan = plan_;
    const auto at = plan.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return plan.replace(at, from.size(), to);
  }
  void expect_error(const std::string& from, const std::string& to, const std::string& fragment) {
    const std::string error = error_of(replaced(from, to));
    EXPECT_NE(error.find(fragment), std::string::npos) << from << " -> " << to << ": " << error;
  }

  Folder folder_;
  std::string plan_;
};

TEST_F(TilePlan, IsWhatSplitWrote) {
  const auto plan = formats::read_tile_plan(folder_.path("tiles/plan.json"));
  EXPECT_EQ(plan.source, "in.npy");
  EXPECT_EQ(plan.type, "uint8");
  EXPECT_EQ(plan.tiling.size(), 2);
  EXPECT_EQ(plan.files, (std::vector<std::string>{"tile-0.npy", "tile-1.npy"}));
  formats::write_tile_plan(folder_.path("again.json"), plan);
  EXPECT_EQ(folder_.read("again.json"), plan_);
  EXPECT_EQ(formats::difference(plan, plan), std::nullopt);
}

TEST_F(TilePlan, TheProgramSurvivesChanges) {
  folder_.write("out.npy", "as it was");
  for (std::size_t at = 0; at < plan_.size(); at += 9)
    for (const bool cut : {true, false}) {
      std::string plan = plan_.substr(0, cut ? at : plan_.size());
      if (!cut) plan[at] = '1';
      folder_.write("tiles/plan.json", plan);
      const Outcome outcome = folder_.run("merge tiles out.npy");
      EXPECT_TRUE(outcome.code == 0 || outcome.code == 1) << at << " signal " << outcome.signal;
      EXPECT_EQ(outcome.code == 1, outcome.err.starts_with("patchfold: ")) << outcome.err;
      EXPECT_EQ(outcome.code == 1, folder_.read("out.npy") == "as it was") << at;
      EXPECT_LT(outcome.peak_bytes, most_memory);
      if (outcome.code == 0) folder_.write("out.npy", "as it was");
    }
}

TEST_F(TilePlan, NamesOfFilesStayInTheFolder) {
  for (const char* name : {"../secret.npy", "/etc/passwd", "..", ".", "", "a/b.npy", "a\\\\b.npy", "tile\\u0000.npy"}) {
    expect_error("tile-0.npy", name, "member tiles[0].file must be the plain name of a file");
    run_badly(folder_, "merge tiles out.npy", {"plan: tiles/plan.json: member tiles[0].file"});
  }
  expect_error("tile-0.npy", "tile-1.npy", "must not name a file twice");
  expect_error("tile-0.npy", std::string(256, 'x'), "member tiles[0].file must be the plain name of a file");
  EXPECT_EQ(error_of(replaced("tile-0.npy", std::string(255, 'x'))), "");
}

TEST_F(TilePlan, LinksInTheFolderAreFollowed) {
  run_well(folder_, "merge tiles out.npy");
  const std::string merged = folder_.read("out.npy");
  std::filesystem::rename(folder_.path("tiles/tile-0.npy"), folder_.path("elsewhere.npy"));
  std::filesystem::create_symlink("../elsewhere.npy", folder_.path("tiles/tile-0.npy"));
  run_well(folder_, "merge tiles again.npy");
  EXPECT_EQ(folder_.read("again.npy"), merged);
}

TEST_F(TilePlan, EveryMemberIsChecked) {
  expect_error("patchfold tiles", "other tiles", "member format must be");
  expect_error("\"version\": 1", "\"version\": 2", "is of a version that is not read");
  expect_error("\"version\": 1", "\"version\": 1.5", "member version must hold integers");
  expect_error("\"page\": null", "\"page\": -1", "source.page");
  expect_error("\"page\": null", "\"page\": \"first\"", "source.page");
  expect_error("\"type\"", "\"tipe\"", "member source.type is missing");
  expect_error("[4, 6]", "[4, -6]", "member tiling must be a tiling");
  expect_error("[4, 6]", "4", "member tiling.shape must be a list of integers");
  expect_error("[4, 6]", "[4, 6000]", "tiling.");
  expect_error("[4, 6]", "[4, 9223372036854775807]", "tiling");
  expect_error("[4, 6]", "[4, 9223372036854775808]", "tiling.shape must hold integers");
  expect_error("[4, 6]", "[4, 1e999]", "must be JSON");
  expect_error("\"shift\"", "\"wag\"", "member tiling.tail must be shift, shift_or_pad, pad, partial, drop or error");
  expect_error("\"constant\"", "\"none\"", "member tiling.padding_mode");
  expect_error("\"value\": 0", "\"value\": \"red\"", "member tiling.value must be a number");
  expect_error("\"value\": 0", "\"value\": []", "member tiling.value must be a number");
  expect_error("\"value\": 0", "\"value\": 0, \"align\": 2", "member tiling.align must be a list of integers");
  expect_error("\"value\": 0", "\"value\": 0, \"align\": [1, 0]", "align: must be at least 1 on every axis");
  expect_error("[[1, 1], [1, 1]]", "[[1, 0], [1, 1]]", "tiling");
  expect_error("[[1, 1], [1, 1]]", "[[1, 1]]", "tiling.scale must have an entry for each");
  expect_error("[[1, 1], [1, 1]]", "[1, 1]", "tiling.scale must be a list of pairs");
  expect_error("\"grid\": [1, 2]", "\"grid\": [1, 3]", "member tiling.grid must follow from the others");
  expect_error("\"index\": 1", "\"index\": 2", "member tiles[1].index must be 1");
  expect_error("\"read\": [[0, 4], [2, 6]]", "\"read\": [[0, 4], [1, 6]]",
               "member tiles[1].read must be as the tiling has it");
  expect_error("\"keep\"", "\"keeps\"", "member tiles[0].keep is missing");
  expect_error("\"crc32\": ", "\"crc32\": -", "member tiles[0].crc32 must be a number of 32 bits");
  expect_error("\"tiles\": [", "\"tiles\": [7, ", "member tiles must be a list of objects");
  expect_error("\"tiles\": [", "\"tiles\": [[], ", "member tiles must be a list of objects");
  expect_error("\"tiles\": [", "\"tiles\": [{}, ", "member tiles must list every tile; given 3, expected 2");
  expect_error("\"tiles\": [", "\"more\": [], \"tiles\": [{}], \"tiles\": [", "tiles");
  EXPECT_NE(error_of("[1]").find("must be a JSON object"), std::string::npos);
  EXPECT_NE(error_of("{}").find("member format is missing"), std::string::npos);
  EXPECT_NE(error_of(std::string(1'000'000, '[')).find("nested"), std::string::npos);
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_NE(error_of(nested(16)).find("must be a JSON object"), std::string::npos);
  EXPECT_NE(error_of(nested(17)).find("must not be nested so deeply"), std::string::npos);
  EXPECT_EQ(error_of(replaced("\"source\"", "\"by a tool\": [[1], {\"x\": 2}], \"source\"")), "");
}

TEST_F(TilePlan, LargeNumbersTakeNoMemory) {
  // Each plan is valid. With a changed shape the plan is valid too, but belongs to an array other than that of the folder's
  // tiles.
  const std::pair<const char*, const char*> plans[] = {
      {"split in.npy huge --tile 1152921504606846975 --tail partial", "1152921504606846975"},
      {"split in.npy huge --tile 2 --stride 1000000000000 --tail drop", "1000000000000"},
  };
  for (const auto& [command, number] : plans) {
    run_well(folder_, std::string(command) + " --force");
    std::string plan = folder_.read("huge/plan.json");
    EXPECT_NE(plan.find(number), std::string::npos) << plan;
    const Outcome outcome = folder_.run("merge huge out.npy --fill 0");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_LT(outcome.peak_bytes, most_memory);
    for (const auto& [from, to] : {std::pair{"[4, 6]", "[4000000000000, 6]"}, {"[4, 6]", "[4, 6000000000000]"}}) {
      std::string changed = plan;
      for (auto at = changed.find(from); at != std::string::npos; at = changed.find(from, at + 1))
        changed.replace(at, std::string_view(from).size(), to);
      folder_.write("huge/plan.json", changed);
      const Outcome lied = folder_.run("merge huge out.npy --fill 0");
      EXPECT_EQ(lied.code, 1) << lied.signal;
      EXPECT_LT(lied.peak_bytes, most_memory);
    }
  }
}

TEST_F(TilePlan, HolesAreNotFilledBeyondTheMemory) {
  const std::int64_t rows = std::int64_t{1} << 50;
  const formats::TilePlan plan{
      .source = "in.npy",
      .type = "uint8",
      .tiling = Tiling({.shape = {rows, 4}, .tile = {4, 4}, .stride = {rows, 4}, .tail = Tail::drop}),
      .files = {"tile-0.npy"},
      .crcs = {0}};
  formats::write_tile_plan(folder_.path("tiles/plan.json"), plan);
  run_badly(folder_, "merge tiles out.npy --processed --fill 0", {"needs more memory than there is"});
}

/// Replaces each tile of a folder, a one-dimensional float64 array, by result(values, number of the tile).
template <class F>
void process(const Folder& folder, const std::string& tiles, F result) {
  std::size_t number = 0;
  for (const auto& name : words(entries_of(folder, tiles))) {
    if (name == "plan.json") continue;
    const std::vector<double> values = result(npy_of(folder.read(tiles + "/" + name)).elements<double>(), number++);
    folder.write(tiles + "/" + name, npy_bytes(npy("<f8", {static_cast<std::int64_t>(values.size())}, values)));
  }
}

std::vector<double> numbers(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i * i) + 1;
  return values;
}

TEST(TileOptions, AGaussianHasTheSigmaThatIsGiven) {
  const Folder folder;
  folder.write("in.npy", npy_bytes(npy("<f8", {12}, numbers(12))));
  run_well(folder, "split in.npy tiles --tile 8 --overlap 4");
  process(folder, "tiles", [](const std::vector<double>& values, std::size_t number) {
    return std::vector<double>(values.size(), static_cast<double>(number));
  });
  for (const auto& [option, sigma] : {std::pair{"gaussian", 0.125},
                                      {"gaussian:0.125", 0.125},
                                      {"gaussian:0.3", 0.3},
                                      {"gaussian:0.07", 0.07},
                                      {"gaussian:2", 2.0}}) {
    run_well(folder, std::string("merge tiles out.npy --processed --window ") + option);
    const auto merged = npy_of(folder.read("out.npy")).elements<double>();
    ASSERT_EQ(merged.size(), 12U);
    const auto weight = [sigma = sigma](int i) { return std::exp(-std::pow(((i + 0.5) / 8 - 0.5) / sigma, 2) / 2); };
    for (int i = 0; i < 4; ++i)
      EXPECT_NEAR(merged[static_cast<std::size_t>(4 + i)], weight(i) / (weight(4 + i) + weight(i)), 1e-12)
          << option << " " << i;
  }
}

TEST(TileOptions, ATukeyHasTheAlphaThatIsGiven) {
  const Folder folder;
  folder.write("in.npy", npy_bytes(npy("<f8", {12}, numbers(12))));
  run_well(folder, "split in.npy tiles --tile 8 --overlap 4");
  process(folder, "tiles", [](const std::vector<double>& values, std::size_t number) {
    return std::vector<double>(values.size(), static_cast<double>(number));
  });
  for (const auto& [option, slope] : {std::pair{"tukey", 2}, {"tukey:0.5", 2}, {"tukey:1", 4}}) {
    run_well(folder, std::string("merge tiles out.npy --processed --window ") + option);
    const auto merged = npy_of(folder.read("out.npy")).elements<double>();
    const auto weight = [slope = slope](int i) {
      return i < slope ? std::pow(std::sin(std::numbers::pi * (i + 0.5) / (2 * slope)), 2) : 1;
    };
    for (int i = 0; i < 4; ++i)
      EXPECT_NEAR(merged[static_cast<std::size_t>(4 + i)], weight(i) / (weight(3 - i) + weight(i)), 1e-12) << option;
  }
}

TEST(TileOptions, ResultsLieWhereOffsetSaysAndAreAsLargeAsResultSays) {
  const Folder folder;
  const std::vector<double> values = numbers(20);
  folder.write("in.npy", npy_bytes(npy("<f8", {20}, values)));
  // Results lack 2 elements at the front and 1 at the back of their tiles. Tiles begin at 0, 5, 10, and results at 2, 7, 12.
  run_well(folder, "split in.npy tiles --tile 8 --stride 5 --tail drop --offset 2 --result 5");
  process(folder, "tiles", [](const std::vector<double>& tile, std::size_t) {
    return std::vector<double>(tile.begin() + 2, tile.end() - 1);
  });
  run_well(folder, "merge tiles out.npy --processed --fill -1");
  const auto merged = npy_of(folder.read("out.npy")).elements<double>();
  ASSERT_EQ(merged.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(merged[i], i >= 2 && i < 17 ? values[i] : -1) << i;
}

std::string absolute(const Folder& folder, const char* name) {
  return folder.path(name).string();
}

TEST(TileOptions, ThreadsAreAsManyAsAreAskedFor) {
  // Builds without oneTBB have one thread only.
  set_num_threads(3);
  const bool has_threads = get_num_threads() == 3;
  const Folder folder;
  folder.write("in.npy", npy_bytes(npy("<f8", {1, 1, 12, 12}, numbers(144))));
  std::filesystem::create_directory(folder.path("tiles"));
  const std::vector<std::string> commands[] = {
      {"run", "unfold", absolute(folder, "in.npy"), "--kernel_size", "2,2", "-o", absolute(folder, "out.npy")},
      {"split", absolute(folder, "in.npy"), absolute(folder, "tiles"), "--tile", "4"},
      {"merge", absolute(folder, "tiles"), absolute(folder, "out.npy")}};
  for (const auto& command : commands)
    for (const int threads : {2, 5}) {
      std::vector<std::string> all = command;
      all.insert(all.end(), {"--quiet", "--threads", std::to_string(threads)});
      EXPECT_EQ(cli::run_program(all), 0) << command[0];
      EXPECT_EQ(get_num_threads(), has_threads ? threads : 1) << command[0];
    }
  set_num_threads(0);
}

TEST(TileOptions, MoreThreadsThanProcessorsAreTakenInSilence) {
  const Folder folder;
  folder.write("in.npy", npy_bytes(counting({8, 64, 64})));
  run_well(folder, "run unfold in.npy --kernel_size 3,3 -o out.npy --quiet --threads 65536");
  const std::string many = folder.read("out.npy");
  run_well(folder, "run unfold in.npy --kernel_size 3,3 -o out.npy --quiet --threads 1");
  EXPECT_TRUE(folder.read("out.npy") == many);
}

TEST(TileNames, TellRowAndColumnOnRequest) {
  const Folder folder;
  const Array picture = random_array({30, 110}, DType::uint8);
  write_array(folder, "picture.npy", picture);
  run_well(folder, "split picture.npy tiles --tile 10 --names grid");
  const std::string names = entries_of(folder, "tiles");
  EXPECT_TRUE(names.starts_with("plan.json tile-0-00.npy tile-0-01.npy ")) << names;
  EXPECT_TRUE(names.ends_with(" tile-2-09.npy tile-2-10.npy")) << names;
  EXPECT_EQ(count_of(names, "tile-"), 33U);
  const Array tile = read_array(folder, "tiles/tile-2-07.npy");
  for (std::size_t y = 0; y < 10; ++y)
    for (std::size_t x = 0; x < 10; ++x) EXPECT_EQ(tile.bytes[y * 10 + x], picture.bytes[(20 + y) * 110 + 70 + x]);
  run_well(folder, "merge tiles out.npy");
  EXPECT_EQ(folder.read("out.npy"), folder.read("picture.npy"));
  EXPECT_NE(run_well(folder, "split picture.npy tiles --tile 10 --names grid").find(" 0 written, 33 skipped"),
            std::string::npos);
}

TEST(TileNames, HaveAPlaceForEachTiledAxis) {
  const Folder folder;
  write_array(folder, "volume.npy", random_array({4, 5, 24}, DType::uint8));
  run_well(folder, "split volume.npy tiles --tile 2,5,2 --axes 0,1,2 --names grid");
  EXPECT_TRUE(entries_of(folder, "tiles").ends_with("tile-1-0-10.npy tile-1-0-11.npy"));
  run_well(folder, "merge tiles out.npy");
  EXPECT_EQ(folder.read("out.npy"), folder.read("volume.npy"));
  write_array(folder, "row.npy", random_array({24}, DType::uint8));
  run_well(folder, "split row.npy parts --tile 2 --names grid");
  EXPECT_TRUE(entries_of(folder, "parts").ends_with("tile-10.npy tile-11.npy"));
}

// Tests that, without --force, a folder is refused if its tiles are named in the other way: by number or by place in the
// grid.
TEST(TileNames, AreNotMixedInAFolder) {
  const Folder folder;
  write_array(folder, "picture.npy", random_array({30, 40}, DType::uint8));
  run_well(folder, "split picture.npy tiles --tile 10");
  run_badly(folder, "split picture.npy tiles --tile 10 --names grid", {"tiles", "plan.json with another tiles", "--force"});
  run_well(folder, "split picture.npy tiles --tile 10 --names grid --force");
  EXPECT_EQ(count_of(entries_of(folder, "tiles"), "tile-"), 12U);
  std::filesystem::remove(folder.path("tiles/plan.json"));
  run_badly(folder, "split picture.npy tiles --tile 10", {"tiles", "tile-0-0.npy", "--force"});
  run_badly(folder, "split picture.npy tiles --tile 10 --names rows", {"--names", "given rows", "index or grid"}, 2);
}

TEST(Batch, GivesPicturesTheAxisThatOperatorsNeed) {
  if (!formats::has_pictures()) GTEST_SKIP() << "built without PNG and JPEG";
  const Folder folder;
  const Array picture = random_array({12, 18, 3}, DType::uint8);
  write_array(folder, "photo.png", picture);
  const auto shape = [&](const std::string& arguments) {
    run_well(folder, "run " + arguments + " -o out.npy");
    return npy_of(folder.read("out.npy")).shape;
  };
  using Shape = std::vector<std::int64_t>;
  EXPECT_EQ(shape("onnx.SpaceToDepth photo.png --chw --batch --blocksize 2"), (Shape{1, 12, 6, 9}));
  EXPECT_EQ(shape("openvino.SpaceToDepth photo.png --chw --batch --block_size 2 --blocks_mode depth_first"),
            (Shape{1, 12, 6, 9}));
  EXPECT_EQ(shape("torch.unfold photo.png --chw --batch --kernel_size 2 --stride 2"), (Shape{1, 12, 54}));
  EXPECT_EQ(shape("tensorflow.SpaceToDepth photo.png --batch --block_size 2"), (Shape{1, 6, 9, 12}));
  EXPECT_EQ(shape("keras.extract_patches photo.png --batch --size 2 --strides 2"), (Shape{1, 6, 9, 12}));
  // Both outputs have the same elements, since --batch only adds an axis.
  run_well(folder, "run tensorflow.SpaceToDepth photo.png --batch --block_size 2 -o four.npy");
  run_well(folder, "run space_to_depth photo.png --block 2,2 --layout channels_last -o three.npy");
  EXPECT_EQ(npy_of(folder.read("four.npy")).data, npy_of(folder.read("three.npy")).data);

  // A picture as output has no batch axis.
  run_well(folder, "run tensorflow.DepthToSpace four.npy --batch --block_size 2 -o again.png");
  EXPECT_TRUE(read_array(folder, "again.png") == picture);
  run_well(folder, "run onnx.SpaceToDepth photo.png --chw --batch --blocksize 2 -o blocks.npy");
  run_well(folder, "run onnx.DepthToSpace blocks.npy --chw --batch --blocksize 2 -o again.png");
  EXPECT_TRUE(read_array(folder, "again.png") == picture);
  const Outcome piped = folder.run("run tensorflow.SpaceToDepth - --batch --block_size 2 -o -", {.input = "photo.png"});
  EXPECT_EQ(piped.out, folder.read("four.npy")) << piped.err;
}

TEST(Batch, IsNamedWhereItIsMissing) {
  if (!formats::has_pictures()) GTEST_SKIP() << "built without PNG and JPEG";
  const Folder folder;
  write_array(folder, "photo.png", random_array({12, 18, 3}, DType::uint8));
  run_badly(folder, "run tensorflow.SpaceToDepth photo.png --block_size 2 -o out.npy",
            {"given [12, 18, 3]", "--batch, which gives a picture a batch axis"});
  run_well(folder, "run tensorflow.SpaceToDepth photo.png --batch --block_size 2 -o four.npy");
  run_badly(folder, "run tensorflow.DepthToSpace four.npy --block_size 2 -o out.png",
            {"out.png", "(1, 12, 18, 3)", "--batch, which takes the batch axis off"});
  folder.write("two.npy", npy_bytes(npy<std::uint8_t>("|u1", {2, 4, 4, 3}, std::vector<std::uint8_t>(96))));
  run_badly(folder, "run tensorflow.SpaceToDepth two.npy --batch --block_size 2 -o out.png",
            {"a picture is a batch of one", "(2, 2, 2, 12)"});
  run_badly(folder, "run tensorflow.SpaceToDepth two.npy --batch --block_size 2 -o out.npy",
            {"--batch", "applies to pictures only"}, 2);
  run_badly(folder, "run space_to_depth missing.png --batch --block 2,2 -o out.npy", {"missing.png"});
}

}  // namespace
}  // namespace patchfold::cli_test
