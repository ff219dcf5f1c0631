// SPDX-License-Identifier: Apache-2.0
// Tests .npy files: types, orders, inputs with shapes, and the place of the output.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/cli/program.hpp"

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
  // 1.0 + 1.5 as bfloat16, where two patches overlap
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
  EXPECT_EQ(code("openvino.Col2Im in.npy size64.npy kernel32.npy"), 1);  // two index types
  EXPECT_EQ(code("openvino.Col2Im in.npy size64.npy kernel.npy"), 1);    // no integers
  EXPECT_EQ(code("onnx.Col2Im in.npy size64.npy kernel32.npy"), 1);      // int64 only
  EXPECT_EQ(code("openvino.Col2Im in.npy size64.npy"), 2);               // an input is missing
  EXPECT_EQ(code("openvino.Col2Im in.npy size64.npy kernel64.npy size64.npy"), 2);

  // [2, 2] in Fortran order: its first column is the size
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

}  // namespace
}  // namespace patchfold::cli_test
