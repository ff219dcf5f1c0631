// SPDX-License-Identifier: Apache-2.0
// Tests of wishes of new users for the command line, run in a shell.
#include <gtest/gtest.h>

#include <cstdlib>

#include "formats/json_value.hpp"
#include "tests/cli/tiles.hpp"

namespace patchfold::cli_test {
namespace {

/// Returns the standard output of a shell line; standard error goes to "said".
std::string shell(const Folder& folder, const std::string& line) {
  folder.write("line.sh", "set -e -o pipefail\ncd '" + folder.path("").string() +
                              "'\npatchfold() { '" PATCHFOLD_PROGRAM "' \"$@\"; }\n" + line + "\n");
  const std::string script = folder.path("line.sh").string();
  const std::string printed = folder.path("printed").string(), said = folder.path("said").string();
  EXPECT_EQ(std::system(("bash '" + script + "' > '" + printed + "' 2> '" + said + "'").c_str()), 0) << line << "\n"
                                                                                                     << folder.read("said");
  return folder.read("printed");
}

TEST(CliFrictions, DashStandsForPipes) {
  const Folder folder;
  const Array photo = random_array({40, 60, 3}, DType::uint8);
  write_array(folder, "photo.png", photo);
  shell(folder,
        "cat photo.png | patchfold run torch.unfold - --chw --batch --kernel_size 4 --stride 4 -o - |"
        " patchfold run torch.fold - --output_size 40,60 --kernel_size 4 --stride 4 --chw --batch -o - --format png > "
        "again.png");
  EXPECT_TRUE(read_array(folder, "again.png") == photo);
  shell(folder,
        "patchfold split - tiles --tile 16 --overlap 4 < photo.png\n"
        "patchfold merge tiles - --format tif --compress deflate | patchfold split - others --tile 32\n"
        "patchfold merge others merged.png");
  EXPECT_TRUE(read_array(folder, "merged.png") == photo);
}

TEST(CliFrictions, JsonIsThereForEveryCommand) {
  const Folder folder;
  write_array(folder, "photo.png", random_array({40, 60, 3}, DType::uint8));
  for (const std::string command :
       {"run space_to_depth photo.png --block 2,2 --layout channels_last -o out.npy", "split photo.png tiles --tile 16",
        "merge tiles out.png", "explain unfold f32 1x3x8x8 k3x3", "ops unfold", "errors divisible",
        "bench --random 1 1 --rounds 1"})
    EXPECT_NO_THROW(formats::parse_json(shell(folder, "patchfold " + command + " --json"), 16)) << command;
  const Outcome wrong = folder.run("split photo.png others --json");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NO_THROW(formats::parse_json(wrong.err, 4)) << wrong.err;
}

TEST(CliFrictions, VariablesThatCannotBeUsedAreNamedOnceAndFailNothing) {
  const Folder folder;
  write_array(folder, "x.npy", random_array({1, 144, 4096}, DType::float32));
  const std::string fold = " patchfold run fold x.npy --output_size 64,64 --kernel_size 3 --padding 1 -o - --format npy | cksum";
  const std::string usual = shell(folder, fold);
  for (const auto& [variable, allowed] : {std::pair("PATCHFOLD_INSTRUCTION_SET", "SCALAR"),
                                          std::pair("PATCHFOLD_CACHES", "three sizes in bytes, such as 32768,524288,33554432"),
                                          std::pair("PATCHFOLD_ONLY_ROW", "sum rows"),
                                          std::pair("PATCHFOLD_WITHOUT", "sum rows")}) {
    EXPECT_EQ(shell(folder, "export " + std::string(variable) + "=wrong;" + fold), usual) << variable;
    const std::string said = folder.read("said");
    EXPECT_EQ(count_of(said, " is ignored: must be "), 1U) << said;
    EXPECT_NE(said.find("patchfold: " + std::string(variable) + "=wrong is ignored"), std::string::npos) << said;
    EXPECT_NE(said.find(allowed), std::string::npos) << said;
    EXPECT_EQ(shell(folder, "export " + std::string(variable) + "=;" + fold), usual) << variable;
    EXPECT_EQ(count_of(folder.read("said"), "ignored"), 0U) << variable;
  }
}

TEST(CliFrictions, ReportsHaveOnePlace) {
  const Folder folder;
  write_array(folder, "photo.png", random_array({40, 60, 3}, DType::uint8));
  EXPECT_EQ(shell(folder,
                  "patchfold run space_to_depth photo.png --block 2,2 --layout channels_last -o out.npy\n"
                  "patchfold split photo.png tiles --tile 16\npatchfold merge tiles out.png"),
            "");
  EXPECT_EQ(count_of(folder.read("said"), "\n"), 3U);
}

TEST(CliFrictions, TilesAreNamedByRowAndColumn) {
  const Folder folder;
  write_array(folder, "photo.png", random_array({40, 60, 3}, DType::uint8));
  shell(folder, "patchfold split photo.png tiles --tile 20 --names grid\npatchfold merge tiles again.png");
  EXPECT_EQ(entries_of(folder, "tiles"),
            "plan.json tile-0-0.png tile-0-1.png tile-0-2.png tile-1-0.png tile-1-1.png tile-1-2.png");
  EXPECT_TRUE(read_array(folder, "again.png") == read_array(folder, "photo.png"));
}

TEST(CliFrictions, OperatorsOfFourAxesTakeAPicture) {
  const Folder folder;
  write_array(folder, "photo.png", random_array({40, 60, 3}, DType::uint8));
  shell(folder,
        "patchfold run onnx.SpaceToDepth photo.png --chw --batch --blocksize 2 -o blocks.npy\n"
        "patchfold run onnx.DepthToSpace blocks.npy --chw --batch --blocksize 2 -o again.png");
  EXPECT_TRUE(read_array(folder, "again.png") == read_array(folder, "photo.png"));
}

TEST(CliFrictions, APictureIsHeightWidthChannels) {
  const Folder folder;
  write_array(folder, "photo.png", random_array({40, 60, 3}, DType::uint8));
  shell(folder,
        "patchfold run unfold photo.png --kernel_size 3,3 -o patches.npy\n"
        "patchfold run fold patches.npy --output_size 40,60 --kernel_size 3,3 --reduce mean -o again.png");
  EXPECT_EQ(read_array(folder, "patches.npy").shape, (Dims{38 * 58, 27}));
  EXPECT_TRUE(read_array(folder, "again.png") == read_array(folder, "photo.png"));
}

TEST(CliFrictions, CompletionsArePrinted) {
  const Folder folder;
  shell(folder, "source <(patchfold completion bash)\ncomplete -p patchfold");
  EXPECT_EQ(folder.read("printed"), "complete -F _patchfold patchfold\n");
}

}  // namespace
}  // namespace patchfold::cli_test
