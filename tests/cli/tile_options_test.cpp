// SPDX-License-Identifier: Apache-2.0
// Tests the effects of options of `split` and `merge` on files, and of --threads on the program.
#include <gtest/gtest.h>

#include <cmath>

#include "cli/program.hpp"
#include "patchfold/plan.hpp"
#include "tests/cli/tiles.hpp"

namespace patchfold::cli_test {
namespace {

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

TEST(TileOptions, ResultsLieWhereOffsetSaysAndAreAsLargeAsResultSays) {
  const Folder folder;
  const std::vector<double> values = numbers(20);
  folder.write("in.npy", npy_bytes(npy("<f8", {20}, values)));
  // The program's results lack 2 elements at the front and 1 at the back of a tile. Tiles begin at 0, 5, 10; results at 2, 7, 12.
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

}  // namespace
}  // namespace patchfold::cli_test
