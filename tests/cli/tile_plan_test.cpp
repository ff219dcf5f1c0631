// SPDX-License-Identifier: Apache-2.0
// Tests hostile plan.json files.
#include "formats/tile_plan.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "tests/cli/tiles.hpp"

namespace patchfold::cli_test {
namespace {

/// The limit of memory for plans that claim terabytes; leaves room for sanitizers.
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
  expect_error("\"constant\"", "\"wrap\"", "member tiling.padding_mode");
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
  // Valid plans of arrays other than the array of the tiles in the folder.
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

}  // namespace
}  // namespace patchfold::cli_test
