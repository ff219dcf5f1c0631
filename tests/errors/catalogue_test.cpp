// SPDX-License-Identifier: Apache-2.0
// Tests the catalogue of errors entry by entry: calls that raise each code, and the exact text of each error. The catalogue's
// example is one of these calls.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "formats/npy.hpp"
#include "formats/output_file.hpp"
#include "patchfold/patchfold.hpp"
#include "tests/temporary_folder.hpp"

namespace patchfold {
namespace {

struct Case {
  ErrorCode code;
  std::string message;  ///< empty: the catalogue's example
  std::function<void()> call;
};

std::array<float, 4096> memory_a;
std::array<float, 4096> memory_b;
ConstTensorView src(const Dims& shape) {
  return view(static_cast<const float*>(memory_a.data()), shape);
}
TensorView dst(const Dims& shape) {
  return view(memory_b.data(), shape);
}

void bind(std::string_view op, std::vector<Argument> arguments) {
  find_operator(op).bind(arguments);
}

/// An empty folder that is the current folder while the object lives, so that messages have the catalogue's paths.
class CurrentFolder {
 public:
  CurrentFolder() : before_(std::filesystem::current_path()), folder_(tests::make_temporary_folder("patchfold-errors-")) {
    std::filesystem::current_path(folder_);
  }
  CurrentFolder(const CurrentFolder&) = delete;
  CurrentFolder& operator=(const CurrentFolder&) = delete;
  ~CurrentFolder() {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }

 private:
  std::filesystem::path before_;
  std::filesystem::path folder_;
};

/// Reads a .npy file with this content.
void read_content(std::string_view content) {
  std::ofstream("columns.npy", std::ios::binary) << content;
  formats::read_npy("columns.npy");
}

constexpr std::int64_t big = std::int64_t{1} << 61;

std::vector<Case> cases() {
  const Unfold unfold{.kernel_size = {3, 3}};
  return {
      {ErrorCode::rank, "",
       [=] {
         unfold.output_shape({5, 5});
       }},
      {ErrorCode::rank,
       "unfold: image: a single number says how many axes are spatial in rank 4 only; given [2, 5, 5] of rank 3, expected "
       "kernel_size=3,3 for two spatial axes, kernel_size=3, for one",
       [] {
         Unfold{.kernel_size = 3}.output_shape({2, 5, 5});
       }},
      {ErrorCode::rank,
       "openvino.ExtractImagePatches-3: data: must be 4D: [batch, depth, in_rows, in_cols]; given [3, 5, 5] of rank 3, "
       "expected rank 4",
       [] {
         openvino::ExtractImagePatches{
             .sizes = {1, 1}, .strides = {1, 1}, .rates = {1, 1}, .auto_pad = openvino::AutoPad::valid}
             .output_shape({3, 5, 5});
       }},
      {ErrorCode::length, "",
       [] {
         Unfold{.kernel_size = {3, 3}, .stride = {1, 1, 1}}.output_shape({1, 1, 9, 9});
       }},
      {ErrorCode::length, "openvino.Col2Im-15: strides: must have 2 entries; given [1, 1, 1], expected 2 numbers",
       [] {
         openvino::Col2Im{.output_size = {4, 4}, .kernel_size = {2, 2}, .strides = {1, 1, 1}}.output_shape({1, 4, 9});
       }},
      {ErrorCode::type, "",
       [] {
         bind("unfold", {{"kernel_size", std::string("wide")}});
       }},
      {ErrorCode::type,
       "onnx.Col2Im-18: block_shape: must have an index type that the operator takes; given int32, expected int64",
       [] {
         bind("onnx.Col2Im-18", {{"image_shape", Dims{4}}, {"block_shape", IndexTensor{{2}, {1}, DType::int32}}});
       }},
      {ErrorCode::value, "",
       [] {
         Unfold{.kernel_size = {3, 3}, .stride = {0, 1}}.output_shape({1, 1, 9, 9});
       }},
      {ErrorCode::value, "unfold: value: must be an integer in the range of the element type; given 300, expected 0 to 255",
       [] {
         static std::array<std::uint8_t, 64> image{};
         static std::array<std::uint8_t, 64> columns{};
         run(Unfold{.kernel_size = {1}, .padding = 1, .value = 300}, view(image.data(), {1, 1, 2}),
             view(columns.data(), {1, 1, 4}));
       }},
      {ErrorCode::value,
       "openvino.DepthToSpace-1: blocks_mode: must be one of the words that the argument knows; given CRD, expected "
       "blocks_first, depth_first",
       [] {
         bind("openvino.DepthToSpace-1", {{"blocks_mode", std::string("CRD")}});
       }},
      {ErrorCode::value, "batch_to_space: crops: must be at least 0 on every axis; given -1:0",
       [] {
         BatchToSpace{.block = {2}, .crops = {{-1, 0}}}.output_shape({2, 1, 3});
       }},
      {ErrorCode::divisible,
       "fold: columns: the C*K axis must be a multiple of the product of kernel_size; given 10, expected a multiple of 9",
       [] {
         Fold{.output_size = {4, 4}, .kernel_size = {3, 3}}.output_shape({1, 10, 4});
       }},
      {ErrorCode::divisible, "",
       [] {
         SpaceToDepth{.block = 2}.output_shape({1, 1, 4, 5});
       }},
      {ErrorCode::position_count, "",
       [] {
         openvino::Col2Im{.output_size = {16, 16},
                          .kernel_size = {3, 3},
                          .strides = {2, 2},
                          .dilations = {2, 2},
                          .pads_begin = {1, 1},
                          .pads_end = {1, 1}}
             .output_shape({1, 27, 25});
       }},
      {ErrorCode::shape, "",
       [=] {
         run(unfold, src({1, 1, 4, 4}), dst({1, 9, 5}));
       }},
      {ErrorCode::dtype,
       "fold: columns: elements must be of a type that can be added; given float8_e5m2, expected bool, an integer, float16, "
       "bfloat16, float32, float64 or a complex type",
       [] {
         const Fold op{.output_size = {2}, .kernel_size = {1}};
         op.plan(contiguous(static_cast<const void*>(memory_a.data()), {1, 1, 2}, DType::float8_e5m2),
                 contiguous(static_cast<void*>(memory_b.data()), {1, 1, 2}, DType::float8_e5m2));
       }},
      {ErrorCode::dtype, "",
       [=] {
         unfold.plan(src({1, 1, 4, 4}), contiguous(static_cast<void*>(memory_b.data()), {1, 9, 4}, DType::float64));
       }},
      {ErrorCode::overflow, "",
       [] {
         Unfold{.kernel_size = {9}, .dilation = {big}}.output_shape({1, 1, 9});
       }},
      {ErrorCode::overflow,
       "fold: output_size: the number of elements must stay below 2^60; given [1073741824, 1073741824, 1073741824]",
       [] {
         const std::int64_t n = 1 << 30;
         Fold{.output_size = {n, n, n}, .kernel_size = 1}.output_shape({1, 1, 1});
       }},
      {ErrorCode::limit, "", [] { Dims::filled(33, 1); }},
      {ErrorCode::strides, "",
       [=] {
         TensorView columns = dst({1, 9, 4});
         columns.strides = {36, 0, 4};
         unfold.plan(src({1, 1, 4, 4}), columns);
       }},
      {ErrorCode::overlap, "",
       [=] {
         run(unfold, src({1, 1, 4, 4}), view(memory_a.data() + 3, {1, 9, 4}));
       }},
      {ErrorCode::null_data, "",
       [=] {
         run(unfold, contiguous(static_cast<const void*>(nullptr), {1, 1, 4, 4}, DType::float32), dst({1, 9, 4}));
       }},
      {ErrorCode::missing, "",
       [] {
         Unfold{}.output_shape({1, 1, 4, 4});
       }},
      {ErrorCode::missing, "openvino.Col2Im-15: kernel_size: must be given; expected a list of integers",
       [] {
         bind("openvino.Col2Im-15", {{"output_size", Dims{4, 4}}});
       }},
      {ErrorCode::unknown_argument, "",
       [] {
         bind("torch.pixel_shuffle", {{"factor", std::int64_t{2}}});
       }},
      {ErrorCode::unknown_argument, "torch.pixel_shuffle: upscale_factor: must be given only once",
       [] {
         bind("torch.pixel_shuffle", {{"upscale_factor", std::int64_t{2}}, {"upscale_factor", std::int64_t{3}}});
       }},
      {ErrorCode::unknown_operator, "", [] { find_operator("unfodl"); }},
      {ErrorCode::out_of_memory, "", [] { throw_if_failed(Status::out_of_memory, "fold"); }},
      {ErrorCode::executor, "",
       [] {
         CallableExecutor broken(2, [](std::int64_t, const auto&) { throw std::runtime_error("broken"); });
         static std::vector<float> image(512 * 512);
         static std::vector<float> columns(512 * 512);
         run(Fold{.output_size = {512, 512}, .kernel_size = {1, 1}},
             view(static_cast<const float*>(columns.data()), {1, 1, 512 * 512}), view(image.data(), {1, 1, 512, 512}),
             broken);
       }},
      {ErrorCode::usage, "", [] { parse_problem("unfold f33 1x2"); }},
      {ErrorCode::file_open, "", [] { formats::read_npy("columns.npy"); }},
      {ErrorCode::file_write, "", [] { formats::OutputFile file("none/columns.npy"); }},
      {ErrorCode::file_format, "", [] { read_content("\x93NUMPY\x01"); }},
      {ErrorCode::file_unsupported, "",
       [] {
         std::string header = "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }";
         header.resize(117, ' ');
         header += '\n';
         read_content(std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "12345678");
       }},
  };
}

TEST(ErrorCatalogue, EveryEntryIsRaisedWithItsSentence) {
  std::map<ErrorCode, std::set<std::string>> raised;
  for (const Case& c : cases()) {
    const CurrentFolder folder;
    const std::string expected = c.message.empty() ? std::string(describe(c.code).example) : c.message;
    try {
      c.call();
      ADD_FAILURE() << "nothing raised; expected " << expected;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), c.code) << error.what();
      EXPECT_EQ(error.what(), expected);
      EXPECT_FALSE(error.rule().empty()) << error.what();
      raised[error.code()].insert(error.what());
    }
  }
  for (const ErrorEntry& entry : error_catalogue())
    EXPECT_TRUE(raised[entry.code].contains(std::string(entry.example))) << "no test raises the example of " << entry.name;
}

TEST(ErrorCatalogue, DescribesEachCodeOnce) {
  std::map<ErrorCode, int> seen;
  for (const ErrorEntry& entry : error_catalogue()) {
    EXPECT_EQ(++seen[entry.code], 1) << entry.name;
    EXPECT_EQ(&describe(entry.code), &entry);
    for (const std::string_view sentence : {entry.when, entry.advice}) EXPECT_TRUE(sentence.ends_with('.')) << sentence;
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(ErrorCode::usage) + 1);
}

TEST(Error, IsOnePrintableSentence) {
  const Error error(
      {ErrorCode::value, "op", std::string("a\0b\n", 4), "must be \x1b[31mshort\x7f", std::string(1500, 'x'), ""});
  EXPECT_EQ(error.argument(), "a?b?");
  EXPECT_EQ(error.rule(), "must be ?[31mshort?");
  EXPECT_EQ(error.given(), std::string(1000, 'x') + "..");
}

TEST(Error, IsCutBetweenCharacters) {
  const auto cut = [](const std::string& text) { return Error({ErrorCode::value, "", "", "", text, ""}).given(); };
  for (const std::string character : {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    std::string text(998, 'x');
    for (std::size_t before = 998; before <= 1000; ++before, text += 'x') {
      const bool fits = before + character.size() <= 1000;
      EXPECT_EQ(cut(text + character + std::string(9, 'y')),
                text + (fits ? character + std::string(1000 - before - character.size(), 'y') : "") + "..");
    }
  }
  EXPECT_EQ(cut(std::string(1500, '\x80')), std::string(997, '\x80') + "..");
  try {
    find_operator("x" + std::string(700, '\xc3'));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.given(), "x" + std::string(700, '\xc3'));
  }
}

/// A writer of errors for a front end that writes arguments in its own form.
class Shouting final : public ErrorWriter {
 public:
  std::string setting(const Setting& setting) const override { return "SET " + ErrorWriter::setting(setting); }
  std::string list(const Dims& list) const override { return "LIST " + ErrorWriter::list(list); }
};

TEST(Error, SaysWhatToTypeAsEachFrontEndWritesIt) {
  const Error error(
      {ErrorCode::value,
       "op",
       "a",
       "must be even",
       Dims{3, 5},
       {},
       ErrorValue("write ", Setting("a", Dims{2, 4}), ", ", Setting("pads", PadsList{{1, 2}}), ", ", Setting("one", Dims{2}),
                  ", ", Setting("flag", true), ", ", Setting("word", "both"), " or ", Setting("n", 7))});
  EXPECT_EQ(error.hint(), "write a=2,4, pads=1:2, one=2,, flag=true, word=both or n=7");
  EXPECT_EQ(error.what(), "op: a: must be even; given [3, 5]; " + error.hint());
  EXPECT_EQ(
      error.message(Shouting()),
      "op: a: must be even; given LIST [3, 5]; write SET a=2,4, SET pads=1:2, SET one=2,, SET flag=true, SET word=both "
      "or SET n=7");
  const Rearrangement swapped{"columns", Rearrangement::Kind::swap_axes, {1, 2}};
  EXPECT_EQ(ErrorValue("try ", swapped).text(), "try columns with axes 1 and 2 swapped");
}

TEST(Error, LeavesOutWhatIsEmpty) {
  EXPECT_STREQ(Error({ErrorCode::value, "", "a", "must be even", "3", ""}).what(), "a: must be even; given 3");
  EXPECT_STREQ(Error({ErrorCode::value, "op", "", "must be even", "", "2"}).what(), "op: must be even; expected 2");
}

}  // namespace
}  // namespace patchfold
