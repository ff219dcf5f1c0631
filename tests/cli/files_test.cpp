// SPDX-License-Identifier: Apache-2.0
// Tests .npy files: element types, orders of axes, shape inputs, and the path of the output. Tests "-", which is standard
// input or output in place of a file.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "formats/picture.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/tiles.hpp"

namespace patchfold::cli_test {
namespace {

using Shape = std::vector<std::int64_t>;

Npy run_npy(const Folder& folder, const std::string& arguments) {
  const Outcome outcome = folder.run("run " + arguments + " -o out.npy");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return npy_of(folder.read("out.npy"));
}

TEST(Files, SuccessIsOneLineOnStandardError) {
  const Folder folder;
  folder.write("in.npy", npy_bytes(npy<float>("<f4", {1, 3, 9, 9}, std::vector<float>(243))));
  const Outcome outcome = folder.run("run unfold in.npy --kernel_size 3,3 -o columns.npy");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err.find("columns.npy: float32 (1, 27, 49), "), 0U) << outcome.err;
  EXPECT_NE(outcome.err.find(" ms, "), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find(" GB/s\n"), outcome.err.size() - 6) << outcome.err;
  EXPECT_EQ(folder.entries(), "columns.npy in.npy");
}

TEST(Files, EveryElementTypeKeepsItsName) {
  const Folder folder;
  const struct {
    const char* descr;
    std::size_t size;
  } types[] = {
      {"|b1", 1}, {"|i1", 1}, {"<i2", 2}, {"<i4", 4},  {"<i8", 8},     {"|u1", 1},    {"<u2", 2},
      {"<u4", 4}, {"<u8", 8}, {"<f2", 2}, {"<f4", 4},  {"<f8", 8},     {"<c8", 8},    {"<c16", 16},
      {"|V1", 1}, {"|V2", 2}, {"|S5", 5}, {"<U3", 12}, {"<M8[ns]", 8}, {"<m8[s]", 8}, {"[('x', '<i2'), ('y', '<f4')]", 6},
      {"|V7", 7}};
  for (const auto& type : types) {
    SCOPED_TRACE(type.descr);
    Npy in{type.descr, {1, 1, 2, 4}, std::string(8 * type.size, ' ')};
    for (std::size_t i = 0; i < in.data.size(); ++i)
      in.data[i] = static_cast<char>(in.descr == "|b1" ? i % 2 : i / type.size + 1);
    folder.write("in.npy", npy_bytes(in));
    const Npy out = run_npy(folder, "space_to_depth in.npy --block 2,2");
    const auto same = [](std::string a, std::string b) {
      for (auto* text : {&a, &b}) std::erase(*text, '|');
      return a == b;
    };
    EXPECT_TRUE(same(out.descr, in.descr)) << out.descr;
    EXPECT_EQ(out.shape, (Shape{1, 4, 1, 2}));
    std::string expected;
    for (const std::size_t element : {0, 2, 1, 3, 4, 6, 5, 7}) expected += in.data.substr(element * type.size, type.size);
    EXPECT_EQ(out.data, expected);
  }
}

TEST(Files, DtypeNamesWhatNumPyDoesNot) {
  const Folder folder;
  // The two patches overlap in one element, whose sum is 1.0 + 1.5 in bfloat16.
  folder.write("in.npy", npy_bytes(npy<std::uint16_t>("|V2", {1, 2, 2}, {0x3f80, 0x3f80, 0x3fc0, 0x3fc0})));
  const Npy sum = run_npy(folder, "fold in.npy --output_size 3 --kernel_size 2 --dtype bfloat16");
  EXPECT_EQ(sum.elements<std::uint16_t>(), (std::vector<std::uint16_t>{0x3f80, 0x4020, 0x3fc0}));
  EXPECT_NE(sum.descr.find("V2"), std::string::npos);
  const Outcome nameless = folder.run("run fold in.npy --output_size 3 --kernel_size 2 -o none.npy");
  EXPECT_EQ(nameless.code, 1);
  EXPECT_FALSE(std::filesystem::exists(folder.path("none.npy")));

  folder.write("u2.npy", npy_bytes(npy<std::uint16_t>("<u2", {1, 2, 2}, {0x3f80, 0x3f80, 0x3fc0, 0x3fc0})));
  EXPECT_EQ(run_npy(folder, "fold u2.npy --output_size 3 --kernel_size 2 --dtype bf16").elements<std::uint16_t>(),
            sum.elements<std::uint16_t>());
  const Outcome size = folder.run("run fold in.npy --output_size 3 --kernel_size 2 --dtype float8_e5m2 -o none.npy");
  EXPECT_EQ(size.code, 1);
}

TEST(Files, FortranOrderAndForeignBytesAreReadAsTheyMean) {
  const Folder folder;
  const Npy plain = counting({1, 2, 4, 6});
  folder.write("in.npy", npy_bytes(plain));
  const Npy expected = run_npy(folder, "unfold in.npy --kernel_size 2,3 --padding 1");

  const auto values = plain.elements<std::int64_t>();
  std::vector<std::int64_t> fortran(values.size()), foreign(values.size());
  for (std::size_t c = 0; c < 2; ++c)
    for (std::size_t y = 0; y < 4; ++y)
      for (std::size_t x = 0; x < 6; ++x) fortran[c + 2 * y + 8 * x] = values[c * 24 + y * 6 + x];
  std::transform(values.begin(), values.end(), foreign.begin(), [](std::int64_t value) {
    return static_cast<std::int64_t>(__builtin_bswap64(static_cast<std::uint64_t>(value)));
  });

  Npy other = npy("<i8", plain.shape, fortran);
  other.fortran_order = true;
  folder.write("fortran.npy", npy_bytes(other));
  EXPECT_EQ(run_npy(folder, "unfold fortran.npy --kernel_size 2,3 --padding 1").data, expected.data);
  folder.write("foreign.npy", npy_bytes(npy(">i8", plain.shape, foreign)));
  const Npy native = run_npy(folder, "unfold foreign.npy --kernel_size 2,3 --padding 1");
  EXPECT_EQ(native.data, expected.data);
  EXPECT_EQ(native.descr, "<i8");
}

TEST(Files, ShapeInputsMayBeFiles) {
  const Folder folder;
  folder.write("in.npy", npy_bytes(counting({1, 8, 9})));
  folder.write("size64.npy", npy_bytes(npy<std::int64_t>("<i8", {2}, {4, 4})));
  folder.write("kernel64.npy", npy_bytes(npy<std::int64_t>("<i8", {2}, {2, 2})));
  folder.write("kernel32.npy", npy_bytes(npy<std::int32_t>("<i4", {2}, {2, 2})));
  folder.write("kernel.npy", npy_bytes(npy<float>("<f4", {2}, {2, 2})));
  const Npy expected = run_npy(folder, "openvino.Col2Im in.npy --output_size 4,4 --kernel_size 2,2");
  for (const char* inputs : {"size64.npy kernel64.npy", "size64.npy --kernel_size 2,2", "kernel64.npy --output_size 4,4",
                             "--output_size 4,4 kernel32.npy"})
    EXPECT_EQ(run_npy(folder, std::string("openvino.Col2Im in.npy ") + inputs).data, expected.data) << inputs;

  const auto code = [&](const std::string& arguments) {
    const Outcome outcome = folder.run("run " + arguments + " -o none.npy");
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    return outcome.code;
  };
  EXPECT_EQ(code("openvino.Col2Im in.npy size64.npy kernel32.npy"), 1);  // shape inputs of two types
  EXPECT_EQ(code("openvino.Col2Im in.npy size64.npy kernel.npy"), 1);    // kernel.npy holds no integers
  EXPECT_EQ(code("onnx.Col2Im in.npy size64.npy kernel32.npy"), 1);      // onnx takes int64 only
  EXPECT_EQ(code("openvino.Col2Im in.npy size64.npy"), 2);               // an input is missing
  EXPECT_EQ(code("openvino.Col2Im in.npy size64.npy kernel64.npy size64.npy"), 2);

  // In Fortran order, these numbers are the pairs (2, 0) and (0, 4).
  folder.write("image.npy", npy_bytes(counting({1, 2, 4, 1})));
  Npy pads = npy<std::int32_t>("<i4", {2, 2}, {2, 0, 0, 4});
  pads.fortran_order = true;
  folder.write("pads.npy", npy_bytes(pads));
  EXPECT_EQ(run_npy(folder, "tensorflow.SpaceToBatch image.npy pads.npy --block_size 2").data,
            run_npy(folder, "tensorflow.SpaceToBatch image.npy --paddings 2:0,0:4 --block_size 2").data);
}

TEST(Files, ValuesMayBeginWithADashAndNamesMayHoldDashes) {
  const Folder folder;
  folder.write("in.npy", npy_bytes(npy<double>("<f8", {1, 1, 4}, {1, 2, 3, 4})));
  const Npy cropped = run_npy(folder, "unfold in.npy --kernel-size 2 --padding -1:-1 --columns grid");
  EXPECT_EQ(cropped.elements<double>(), (std::vector<double>{2, 3}));
  const Npy filled = run_npy(folder, "unfold in.npy --kernel-size=2 --stride 5 --padding=1:0 --value -1.5 --columns grid");
  EXPECT_EQ(filled.elements<double>(), (std::vector<double>{-1.5, 1}));
}

TEST(Files, CoverageCountsInTheTypeAskedFor) {
  const Folder folder;
  EXPECT_EQ(run_npy(folder, "coverage --output_size 3 --kernel_size 2").elements<std::int64_t>(),
            (std::vector<std::int64_t>{1, 2, 1}));
  const Npy counts = run_npy(folder, "coverage --output_size 3 --kernel_size 2 --dtype float32");
  EXPECT_EQ(counts.descr, "<f4");
  EXPECT_EQ(counts.elements<float>(), (std::vector<float>{1, 2, 1}));
}

TEST(Files, OutputReplacesWhatWasThereEvenTheInput) {
  const Folder folder;
  folder.write("in.npy", npy_bytes(counting({1, 1, 4, 4})));
  folder.write("out.npy", "something else");
  run_npy(folder, "space_to_depth in.npy --block 2,2");
  const std::string expected = folder.read("out.npy");
  EXPECT_EQ(folder.run("run space_to_depth in.npy --block 2,2 -o in.npy").code, 0);
  EXPECT_EQ(folder.read("in.npy"), expected);
  EXPECT_EQ(folder.entries(), "in.npy out.npy");
}

TEST(Files, OutputMayGoToAPipe) {
  const Folder folder;
  folder.write("in.npy", npy_bytes(counting({1, 1, 4, 4})));
  const Outcome outcome = folder.run("run space_to_depth in.npy --block 2,2 -o /dev/stdout");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(npy_of(outcome.out).shape, (Shape{1, 4, 2, 2}));
  EXPECT_EQ(npy_of(outcome.out).data.size(), 128U);
  EXPECT_EQ(folder.run("run space_to_depth in.npy --block 2,2 -o /dev/null").code, 0);
  if (std::filesystem::exists("/dev/full")) {
    const Outcome full = folder.run("run space_to_depth in.npy --block 2,2 -o /dev/full");
    EXPECT_EQ(full.code, 1);
    EXPECT_NE(full.err.find("/dev/full"), std::string::npos) << full.err;
  }
}

TEST(Files, EmptyResultsAreFilesToo) {
  const Folder folder;
  folder.write("in.npy", npy_bytes(counting({0, 3, 4, 4})));
  const Npy out = run_npy(folder, "unfold in.npy --kernel_size 2,2");
  EXPECT_EQ(out.shape, (Shape{0, 12, 9}));
  EXPECT_EQ(out.data, "");
}

TEST(Files, EveryNumberOfThreadsGivesTheSums) {
  const Folder folder;
  constexpr std::int64_t channels = 16, side = 62;
  std::vector<float> values(channels * 9 * side * side);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1009);  // the sums are exact
  folder.write("in.npy", npy_bytes(npy("<f4", {1, channels * 9, side * side}, values)));
  std::vector<float> sums(channels * (side + 2) * (side + 2));
  for (std::int64_t row = 0; row < channels * 9; ++row)
    for (std::int64_t y = 0; y < side; ++y)
      for (std::int64_t x = 0; x < side; ++x) {
        const std::int64_t to_y = y + row % 9 / 3;
        const std::int64_t to_x = x + row % 3;
        sums[static_cast<std::size_t>((row / 9 * (side + 2) + to_y) * (side + 2) + to_x)] +=
            values[static_cast<std::size_t>((row * side + y) * side + x)];
      }
  for (const char* threads : {"", " --threads 1", " --threads 2", " --threads 7"})
    EXPECT_EQ(run_npy(folder, std::string("fold in.npy --output_size 64,64 --kernel_size 3,3") + threads).elements<float>(),
              sums);
}

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

// Tests an array longer than a pipe's buffer, and longer than one read.
TEST(Pipes, CarryLargeArrays) {
  const Folder folder;
  const std::string bytes = npy_bytes(counting({1, 1, 512, 512}));
  const Outcome outcome = folder.run("run space_to_depth - --block 2,2 -o -", {.piped = bytes});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(npy_of(outcome.out).shape, (std::vector<std::int64_t>{1, 4, 256, 256}));
  EXPECT_EQ(npy_of(outcome.out).data.size(), std::size_t{512 * 512 * 8});
}

// Tests standard input of which another program has read the beginning: the rest is the input.
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
