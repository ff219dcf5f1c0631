// SPDX-License-Identifier: Apache-2.0
// Tests "-", which is standard input or output in place of a file.
#include <gtest/gtest.h>

#include <algorithm>

#include "formats/picture.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/tiles.hpp"

namespace patchfold::cli_test {
namespace {

constexpr const char* unfold = " --kernel_size 3,3 --padding 1";

std::string image() {
  return npy_bytes(counting({1, 3, 40, 30}));
}

TEST(Pipes, CarryTheSameBytesAsFiles) {
  const Folder folder;
  folder.write("in.npy", image());
  ASSERT_EQ(folder.run(std::string("run unfold in.npy -o out.npy") + unfold).code, 0);
  const std::string expected = folder.read("out.npy");
  const std::string command = std::string("run unfold - -o -") + unfold;
  for (const Setting& setting : {Setting{.input = "in.npy"}, Setting{.piped = image()}}) {
    const Outcome outcome = folder.run(command, setting);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(outcome.out == expected);
    EXPECT_EQ(outcome.err.find("standard output: int64 (1, 27, 1200), "), 0U) << outcome.err;
  }
  EXPECT_EQ(folder.run(command + " -q", {.piped = image()}).err, "");
  EXPECT_EQ(folder.entries(), "in.npy out.npy");
}

TEST(Pipes, HaveTheNamesOfPosix) {
  const Folder folder;
  folder.write("in.npy", image());
  ASSERT_EQ(folder.run(std::string("run unfold in.npy -o out.npy") + unfold).code, 0);
  const Outcome outcome = folder.run(std::string("run unfold /dev/stdin -o /dev/stdout") + unfold, {.piped = image()});
  EXPECT_TRUE(outcome.out == folder.read("out.npy")) << outcome.err;
  EXPECT_EQ(folder.entries(), "in.npy out.npy");
}

// An array longer than a pipe's buffer, and longer than one read.
TEST(Pipes, CarryLargeArrays) {
  const Folder folder;
  const std::string bytes = npy_bytes(counting({1, 1, 512, 512}));
  const Outcome outcome = folder.run("run space_to_depth - --block 2,2 -o -", {.piped = bytes});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(npy_of(outcome.out).shape, (std::vector<std::int64_t>{1, 4, 256, 256}));
  EXPECT_EQ(npy_of(outcome.out).data.size(), std::size_t{512 * 512 * 8});
}

// If a part of the file was read before, the rest is the input.
TEST(Pipes, BeginWhereTheStreamStands) {
  const Folder folder;
  folder.write("in.npy", "a line\n" + image());
  folder.write("plain.npy", image());
  ASSERT_EQ(folder.run(std::string("run unfold plain.npy -o out.npy") + unfold).code, 0);
  const std::string command = std::string("cd '") + folder.path("").string() +
                              "' && { read -r line; '" PATCHFOLD_PROGRAM "' run unfold - -q -o read.npy" + unfold +
                              "; } < in.npy";
  EXPECT_EQ(std::system(("bash -c \"" + command + "\"").c_str()), 0);
  EXPECT_TRUE(folder.read("read.npy") == folder.read("out.npy"));
}

TEST(Pipes, TilesAreCutFromOneAndMergedIntoOne) {
  const Folder folder;
  const Array picture = random_array({50, 70, 3}, DType::uint8);
  write_array(folder, "picture.npy", picture);
  const Outcome split = folder.run("split - tiles --tile 16 --overlap 4 --axes 0,1", {.piped = folder.read("picture.npy")});
  EXPECT_EQ(split.code, 0) << split.err;
  EXPECT_EQ(split.out, "");
  const Outcome merged = folder.run("merge tiles -");
  EXPECT_EQ(merged.code, 0) << merged.err;
  EXPECT_TRUE(merged.out == folder.read("picture.npy"));
  EXPECT_EQ(merged.err.find("standard output: 50 x 70 x 3, uint8, from "), 0U) << merged.err;
  EXPECT_EQ(folder.run("merge tiles - -q").err, "");
}

TEST(Pipes, CarryPicturesWhoseFormatTheFirstBytesOrAnOptionTell) {
  if (!formats::has_pictures()) GTEST_SKIP() << "built without PNG and JPEG";
  const Folder folder;
  const Array picture = random_array({20, 30, 3}, DType::uint8);
  write_array(folder, "picture.png", picture);
  for (const std::string format : {"npy", "png", "jpg", "tif"}) {
    if (format == "tif" && !formats::has_tiff()) continue;
    SCOPED_TRACE(format);
    const Outcome outcome =
        folder.run("run space_to_depth - --block 1 --layout channels_last --batch -o - --format " + format,
                   {.piped = folder.read("picture.png")});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    if (format == "npy") {
      EXPECT_EQ(npy_of(outcome.out).shape, (std::vector<std::int64_t>{1, 20, 30, 3}));
      continue;
    }
    folder.write("out." + format, outcome.out);
    const Array read = read_array(folder, "out." + format);
    EXPECT_EQ(read.shape, picture.shape);
    EXPECT_EQ(read == picture, format != "jpg");
  }
  // Options for arrays do not apply to a picture, and --page does not apply to an array.
  EXPECT_EQ(folder.run("run space_to_depth - --block 1 --dtype uint8 -o -", {.piped = folder.read("picture.png")}).code, 2);
  EXPECT_EQ(folder.run("run space_to_depth - --block 1,1 --page 1 -o -", {.piped = image()}).code, 2);
}

TEST(Pipes, CarryTiffFilesThatMergeWrites) {
  if (!formats::has_tiff()) GTEST_SKIP() << "built without TIFF";
  const Folder folder;
  const Array picture = random_array({50, 70, 3}, DType::uint8);
  write_array(folder, "picture.tif", picture);
  run_well(folder, "split picture.tif tiles --tile 16");
  const Outcome merged = folder.run("merge tiles - --format tif --compress deflate");
  EXPECT_EQ(merged.code, 0) << merged.err;
  folder.write("out.tif", merged.out);
  EXPECT_TRUE(read_array(folder, "out.tif") == picture);
}

TEST(Pipes, ToATerminalAreRefused) {
  const Folder folder;
  folder.write("in.npy", image());
  write_array(folder, "picture.npy", random_array({50, 70, 3}, DType::uint8));
  run_well(folder, "split picture.npy tiles --tile 16 --axes 0,1");
  for (const std::string& command :
       {std::string("run unfold in.npy -o -") + unfold, std::string("run unfold in.npy -o /dev/stdout") + unfold,
        std::string("merge tiles -")}) {
    const Outcome outcome = folder.run(command, {.output_terminal = true});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find("is a terminal, which cannot show binary data"), std::string::npos) << outcome.err;
  }
  const Outcome typed = folder.run(std::string("run unfold - -o out.npy") + unfold, {.input_terminal = true});
  EXPECT_EQ(typed.code, 1);
  EXPECT_NE(typed.err.find("standard input: must be a file or a pipe; given a terminal"), std::string::npos) << typed.err;
}

TEST(Pipes, ThatHoldSomethingElseAreRefused) {
  const Folder folder;
  const std::string command = std::string("run unfold - -o out.npy") + unfold;
  const auto error = [&](const std::string& bytes) {
    const Outcome outcome = folder.run(command, {.piped = bytes});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    return outcome.err;
  };
  EXPECT_NE(error("").find("standard input: is cut short; given 0 bytes"), std::string::npos);
  EXPECT_NE(error(image().substr(0, 500)).find("standard input: "), std::string::npos);
  // The program does not read refused input to its end: most of these 64 MB stay in the pipe.
  EXPECT_NE(error(std::string(std::size_t{1} << 26, 'y')).find("begins with \"yyyyyyyy\""), std::string::npos);
  EXPECT_EQ(folder.run(command, {.input = "."}).code, 1);
  EXPECT_EQ(folder.entries(), "");
}

TEST(Pipes, NeedSpaceForWhatTheyBring) {
  const Folder folder;
  const Outcome outcome = folder.run("run space_to_depth - --block 2,2 -o -",
                                     {.largest_file = 1 << 16, .piped = npy_bytes(counting({1, 1, 512, 512}))});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("standard input: cannot be stored in a temporary file: "), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

TEST(Pipes, OptionsThatDoNotFitAreRefused) {
  const Folder folder;
  folder.write("in.npy", image());
  const std::string command = std::string("run unfold in.npy") + unfold;
  run_badly(folder, command + " -o - --format bmp", {"--format", "given bmp", "npy, png, jpg or tif"}, 2);
  run_badly(folder, command + " -o out.npy --format png", {"--format", "must not contradict the name of -o"}, 2);
  run_badly(folder, command + " -o out.bin", {"-o", "--format, which says what it is", "out.bin"}, 2);
  EXPECT_EQ(folder.run(command + " -o out.bin --format npy").code, 0);
  EXPECT_FALSE(npy_of(folder.read("out.bin")).descr.empty());
  run_badly(folder, "merge tiles out.npy --plan -", {"--plan", "must be the name of a file"}, 2);
  run_badly(folder, "merge tiles - --compress lzw", {"--compress", "applies to .tif only"}, 2);
}

}  // namespace
}  // namespace patchfold::cli_test
