// SPDX-License-Identifier: Apache-2.0
// Tests wrong command lines and wrong files: the program prints one line, has the right exit code, leaves no file, and needs
// little memory. Tests every operator with every wrong input that a command line can express. The program must print one
// line with the operator's name, end with exit code 1 or 2, and leave no file. Tests the wrong command lines in
// wrong_calls.txt, with the whole text of each error and the exit code.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "formats/picture.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/tiles.hpp"
#include "tests/inputs/wrong_problems.hpp"

namespace patchfold::cli_test {
namespace {

/// The most memory that the program may use for files that claim 2^43 bytes and more. The limit leaves room for sanitizers.
constexpr std::int64_t peak_limit = 256 << 20;
constexpr std::int64_t one = 1;

Npy claiming(std::vector<std::int64_t> shape, const char* descr = "<i8") {
  return {descr, std::move(shape), "some bytes"};
}

void write_inputs(const Folder& folder) {
  folder.write("columns.npy", npy_bytes(counting({1, 4, 9})));
  folder.write("image.npy", npy_bytes(counting({1, 2, 4, 6})));
  folder.write("odd.npy", npy_bytes(counting({1, 2, 5, 6})));
  folder.write("text.npy", npy_bytes({"|S3", {1, 4, 9}, std::string(108, 'x')}));
  folder.write("half.npy", npy_bytes(npy("<f2", {1, 4, 9}, std::vector<std::uint16_t>(36))));
  folder.write("sizes.npy", npy_bytes(npy<std::int64_t>("<i8", {2}, {4, 4})));
  folder.write("floats.npy", npy_bytes(npy<float>("<f4", {2}, {4, 4})));
  folder.write("many.npy", npy_bytes(counting({40})));
  folder.write("empty.npy", "");
  folder.write("junk.npy", "this is no array at all, but it is long enough to be one");
  folder.write("cut.npy", npy_bytes(counting({1, 4, 9})).substr(0, 200));
  folder.write("header.npy", npy_bytes(counting({1, 4, 9})).substr(0, 40));
  folder.write("object.npy", npy_bytes(claiming({1}, "|O")));
  folder.write("negative.npy", npy_bytes(claiming({-1, 4})));
  folder.write("large.npy", npy_bytes(claiming({1, 4, one << 40})));
  folder.write("product.npy", npy_bytes(claiming({one << 32, one << 32})));
  folder.write("bytes.npy", npy_bytes(claiming({one << 61})));
  folder.write("most.npy", npy_bytes(claiming({INT64_MAX})));
  folder.write("deep.npy", npy_bytes(claiming(std::vector<std::int64_t>(33, 1))));
  folder.write("plain.txt", "text");
  folder.write("junk.png", "this is no picture");
  folder.write("cut.jpg", "\xff\xd8\xff\xe0");
  std::filesystem::create_directory(folder.path("folder.npy"));
  std::filesystem::create_directory(folder.path("folder.png"));
  folder.write("out.npy", "as it was");
  folder.write("out.png", "as it was");
}

struct Wrong {
  const char* command;  ///< the words after `patchfold`
  int code;
  const char* fragment;  ///< a part of the line on standard error
};

constexpr Wrong command_lines[] = {
    {"errors rank type", 2, "errors: "},
    {"errors rank --markdown", 2, "errors: "},
    {"run unfold image.npy -o out.npy --kernel_size", 2, "--kernel_size"},
    {"run unfold image.npy --kernel_size 9223372036854775808 -o out.npy", 2, "kernel_size"},
    {"run fold columns.npy --output_size 4,4 --kernel_size 2,2 --accumulate perhaps -o out.npy", 2, "accumulate"},
    {"run tensorflow.SpaceToBatch image.npy --block_size 2 --paddings 1:2:3 -o out.npy", 2, "paddings"},
    {"run unfold junk.tif --kernel_size 2,2 --page -1 -o out.npy", 2, "--page: "},
    {"run coverage --output_size 4,4 --kernel_size 2,2 --as float32 -o out.npy", 2, "--as: needs data"},
    {"run openvino.Col2Im columns.npy sizes.npy -o out.npy", 2, "kernel_size"},
};

constexpr Wrong arguments[] = {
    {"run unfold columns.npy --kernel_size 2 -o out.npy", 1, "kernel_size"},
    {"run openvino.ExtractImagePatches columns.npy --sizes 2,2 --strides 1,1 --rates 1,1 --auto_pad valid -o out.npy", 1,
     "[1, 4, 9]"},
    {"run fold columns.npy --output_size 4,4 --kernel_size 3,2 -o out.npy", 1, "given 4"},
    {"run fold columns.npy --output_size 5,4 --kernel_size 2,2 -o out.npy", 1, "given 9, expected 12"},
    {"run unfold image.npy --kernel_size 2,2 --value 1.5 -o out.npy", 1, "value"},
    {"run unfold half.npy --kernel_size 4611686018427387904,4611686018427387904 -o out.npy", 1, "unfold: "},
    {"run unfold image.npy --kernel_size 1,1 --padding 4611686018427387904 -o out.npy", 1, "unfold: "},
    {"run unfold image.npy --kernel_size 1,1 --padding 1099511627776 -o out.npy", 1, ""},
    {"run coverage --output_size 4611686018427387904,4 --kernel_size 1,1 -o out.npy", 1, ""},
    {"run coverage --output_size 1099511627776,1024 --kernel_size 1,1 -o out.npy", 1, "out.npy"},
    {"run coverage --output_size 1099511627776,524288 --kernel_size 1,1 --dtype complex128 -o out.npy", 1,
     "coverage: output: the size in bytes must fit into 63 bits"},
    {"run coverage --output_size 1099511627776,1024 --kernel_size 1,1 --dtype uint8 -o out.png", 1,
     "picture: out.png: needs more memory than there is"},
    {"run openvino.Col2Im columns.npy sizes.npy floats.npy -o out.npy", 1, "kernel_size"},
    {"run openvino.Col2Im columns.npy many.npy --kernel_size 2,2 -o out.npy", 1,
     "output_size: has too many entries; given 40"},
    {"run unfold text.npy --kernel_size 2,2 --as float32 -o out.npy", 1,
     "--as: text.npy: cannot be converted to float32; given"},
};

constexpr Wrong files[] = {
    {"run unfold none.npy --kernel_size 2,2 -o out.npy", 1, "npy: none.npy: "},
    {"run unfold folder.npy --kernel_size 2,2 -o out.npy", 1, "npy: folder.npy: "},
    {"run unfold plain.txt --kernel_size 2,2 -o out.npy", 1, "npy: plain.txt: "},
    {"run unfold cut.npy --kernel_size 2,2 -o out.npy", 1, "npy: cut.npy: "},
    {"run unfold header.npy --kernel_size 2,2 -o out.npy", 1, "npy: header.npy: "},
    {"run unfold object.npy --kernel_size 2,2 -o out.npy", 1, "npy: object.npy: "},
    {"run unfold negative.npy --kernel_size 2,2 -o out.npy", 1, "npy: negative.npy: "},
    {"run unfold large.npy --kernel_size 2,2 -o out.npy", 1, "npy: large.npy: "},
    {"run unfold large.npy --kernel_size 2,2 --as uint8 -o out.npy", 1, "npy: large.npy: "},
    {"run unfold product.npy --kernel_size 2,2 -o out.npy", 1, "npy: product.npy: "},
    {"run unfold bytes.npy --kernel_size 2,2 -o out.npy", 1, "npy: bytes.npy: "},
    {"run unfold most.npy --kernel_size 2,2 -o out.npy", 1, "npy: most.npy: "},
    {"run unfold deep.npy --kernel_size 2,2 -o out.npy", 1, "npy: deep.npy: "},
    {"run openvino.Col2Im columns.npy none.npy large.npy -o out.npy", 1, "npy: none.npy: "},
    {"run openvino.Col2Im columns.npy large.npy --kernel_size 2,2 -o out.npy", 1, "npy: large.npy: "},
    {"run unfold image.npy --kernel_size 2,2 -o none/out.npy", 1, "none/out.npy: "},
    {"run unfold image.npy --kernel_size 2,2 -o plain.txt/out.npy", 1, "plain.txt/out.npy: "},
    {"run unfold image.npy --kernel_size 2,2 -o folder.npy", 1, "folder.npy: "},
    {"run unfold image.npy --kernel_size 2,2 -o /proc/out.npy", 1, "/proc/out.npy: "},
};

constexpr Wrong pictures[] = {
    {"run unfold none.png --kernel_size 2,2 -o out.npy", 1, "none.png: "},
    {"run unfold folder.png --kernel_size 2,2 -o out.npy", 1, "folder.png: "},
    {"run unfold cut.png --kernel_size 2,2 -o out.npy", 1, "cut.png: "},
    {"run unfold cut.jpg --kernel_size 2,2 -o out.npy", 1, "cut.jpg: "},
    {"run unfold lying.png --kernel_size 2,2 -o out.npy", 1, "lying.png: "},
    {"run unfold image.npy --kernel_size 2,2 --padding 1 --positions grid -o out.png", 1, "a picture has 2 or 3 axes"},
    {"run space_to_depth photo.png --block 2,2 --layout channels_last -o out.png", 1, "out.png: "},
    {"run space_to_depth photo.png --block 1,1 --layout channels_last --as int32 -o out.png", 1, "out.png: "},
    {"run space_to_depth photo.png --block 1,1 --layout channels_last -o none/out.png", 1, "none/out.png: "},
    {"run space_to_depth photo.png --block 1,1 --layout channels_last -o folder.png", 1, "folder.png: "},
};

/// Runs the program, and expects one line on standard error and no change of the folder. Returns the outcome.
Outcome refused(const Folder& folder, const std::vector<std::string>& command) {
  const std::string before = folder.entries();
  const Outcome outcome = folder.run(command);
  EXPECT_TRUE(outcome.err.starts_with("patchfold: ")) << outcome.err << "signal " << outcome.signal;
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(folder.entries(), before);
  return outcome;
}

void check(const Folder& folder, std::span<const Wrong> table) {
  for (const auto& wrong : table) {
    SCOPED_TRACE(wrong.command);
    const Outcome outcome = refused(folder, words(wrong.command));
    EXPECT_EQ(outcome.code, wrong.code) << "signal " << outcome.signal;
    EXPECT_NE(outcome.err.find(wrong.fragment), std::string::npos) << outcome.err;
    EXPECT_LT(outcome.peak_bytes, peak_limit);
    EXPECT_EQ(folder.read("out.npy"), "as it was");
    EXPECT_EQ(folder.read("out.png"), "as it was");
  }
}

TEST(WrongInput, OnTheCommandLineIsUsage) {
  const Folder folder;
  write_inputs(folder);
  check(folder, command_lines);
}

TEST(WrongInput, InArgumentsIsFoundWithTheData) {
  const Folder folder;
  write_inputs(folder);
  check(folder, arguments);
}

TEST(WrongInput, InFilesIsNamed) {
  const Folder folder;
  write_inputs(folder);
  check(folder, files);
}

TEST(WrongInput, InPicturesIsNamed) {
  if (!formats::has_pictures()) GTEST_SKIP() << "built without pictures";
  const Folder folder;
  write_inputs(folder);
  const std::vector<std::uint8_t> pixels(48);
  formats::write_picture(folder.path("photo.png"), view(pixels.data(), {4, 4, 3}));
  const std::string photo = folder.read("photo.png");
  folder.write("cut.png", photo.substr(0, photo.size() - 20));
  // The header claims 2^31 - 1 pixels on each side, and has the right checksum.
  std::string lying = photo;
  lying.replace(16, 8, "\x7f\xff\xff\xff\x7f\xff\xff\xff");
  std::uint32_t crc = 0xffffffff;
  for (const char c : lying.substr(12, 17)) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  crc = ~crc;
  for (int i = 0; i < 4; ++i) lying[static_cast<std::size_t>(29 + i)] = static_cast<char>(crc >> (24 - 8 * i));
  folder.write("lying.png", lying);
  check(folder, pictures);
}

TEST(WrongInput, OutputThatMayNotBeWritten) {
  using std::filesystem::perms;
  const Folder folder;
  const auto everyone = perms::owner_all | perms::group_read | perms::group_exec | perms::others_read | perms::others_exec;
  std::filesystem::permissions(folder.path("."), everyone);
  folder.write("image.npy", npy_bytes(counting({1, 2, 4, 6})));
  folder.write("locked/out.npy", "as it was");
  std::filesystem::permissions(folder.path("locked"),
                               perms::owner_read | perms::owner_exec | perms::others_read | perms::others_exec);
  const Setting setting{.unprivileged = true};
  const Outcome outcome = folder.run("run unfold image.npy --kernel_size 2,2 -o locked/out.npy", setting);
  std::filesystem::permissions(folder.path("locked"), perms::owner_all);
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_NE(outcome.err.find("locked/out.npy: cannot be written"), std::string::npos) << outcome.err;
  EXPECT_EQ(folder.read("locked/out.npy"), "as it was");
}

TEST(WrongInput, InVariablesIsNamedOnceAndFailsNothing) {
  const Folder folder;
  folder.write("x.npy", npy_bytes(npy<float>("<f4", {1, 144, 4096}, std::vector<float>(144 * 4096, 1))));
  const std::string fold = "run fold x.npy --output_size 64,64 --kernel_size 3 --padding 1 -o - --format npy";
  const std::string usual = folder.run(fold).out;
  for (const auto& [variable, allowed] :
       {std::pair("PATCHFOLD_INSTRUCTION_SET", "SCALAR"),
        std::pair("PATCHFOLD_CACHES", "three sizes in bytes, such as 32768,524288,33554432"),
        std::pair("PATCHFOLD_ONLY_ROW", "sum rows"), std::pair("PATCHFOLD_WITHOUT", "sum rows")}) {
    const Outcome wrong = folder.run(fold, {.environment = {std::string(variable) + "=wrong"}});
    EXPECT_TRUE(wrong.out == usual) << variable;
    EXPECT_EQ(count_of(wrong.err, " is ignored: must be "), 1U) << wrong.err;
    EXPECT_NE(wrong.err.find("patchfold: " + std::string(variable) + "=wrong is ignored"), std::string::npos) << wrong.err;
    EXPECT_NE(wrong.err.find(allowed), std::string::npos) << wrong.err;
    const Outcome hostile = folder.run(fold, {.environment = {std::string(variable) + "=\x1b[2J\a\n" + std::string(300, 'x')}});
    EXPECT_NE(hostile.err.find(std::string(variable) + "=?[2J??xx"), std::string::npos) << hostile.err;
    EXPECT_EQ(count_of(hostile.err, "\x1b") + count_of(hostile.err, "\a"), 0U) << variable;
    const Outcome empty = folder.run(fold, {.environment = {std::string(variable) + "="}});
    EXPECT_TRUE(empty.out == usual) << variable;
    EXPECT_EQ(count_of(empty.err, "ignored"), 0U) << variable;
  }
}

TEST(WrongInput, LineBreaksInNamesDoNotBreakTheLine) {
  const Folder folder;
  const Outcome outcome = folder.run({"run", "unfold", "two\nlines.npy", "--kernel_size", "2,2", "-o", "out.npy"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

/// Returns zeros of the problem's shape and type.
Npy data_of(const ProblemText& problem, const char* descr = "<f4", std::size_t size = 4) {
  std::vector<std::int64_t> shape(problem.shape.begin(), problem.shape.end());
  return {descr, shape, std::string(static_cast<std::size_t>(element_count(problem.shape)) * size, '\0')};
}

/// Returns `run OP data.npy --argument value ..`; shape inputs are arguments too.
std::vector<std::string> command_of(const ProblemText& problem) {
  std::vector<std::string> words = {"run", problem.op};
  if (!find_operator(problem.op).data_input.empty()) words.emplace_back("data.npy");
  for (const Argument& argument : problem.arguments)
    words.insert(words.end(), {"--" + argument.name, to_string(argument.value)});
  words.insert(words.end(), {"-o", "out.npy"});
  return words;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

void expect_refused(const Folder& folder, const std::vector<std::string>& words, const std::string& op,
                    const std::vector<std::string>& named) {
  const Outcome outcome = refused(folder, words);
  EXPECT_TRUE(outcome.code == 1 || outcome.code == 2) << "code " << outcome.code << " signal " << outcome.signal;
  EXPECT_TRUE(contains(outcome.err, op)) << outcome.err;
  EXPECT_TRUE(std::ranges::any_of(named, [&](const std::string& name) { return contains(outcome.err, name); }))
      << outcome.err;
}

TEST(WrongOperators, AreRefusedWithALine) {
  for (const OperatorSpec& op : operators()) {
    const ProblemText right = inputs::right_problem(op);
    const Folder folder;
    folder.write("data.npy", npy_bytes(data_of(right)));
    const Outcome outcome = folder.run(command_of(right));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    folder.write("out.npy", "as it was");
    for (const inputs::Wrong& wrong : inputs::wrong_problems(op, facts::find(op.name))) {
      if (!wrong.has_text) continue;
      SCOPED_TRACE(wrong.what + ": " + to_string(wrong.problem));
      folder.write("data.npy", npy_bytes(data_of(wrong.problem)));
      expect_refused(folder, command_of(wrong.problem), right.op, wrong.arguments);
      EXPECT_EQ(folder.read("out.npy"), "as it was");
    }
  }
}

TEST(WrongOperators, OfNoNameAreRefusedWithALine) {
  for (const OperatorSpec& op : operators()) {
    const ProblemText problem = inputs::right_problem(op);
    const Folder folder;
    folder.write("data.npy", npy_bytes(data_of(problem)));
    auto words = command_of(problem);
    words[1] += "x";
    SCOPED_TRACE(words[1]);
    expect_refused(folder, words, words[1], {"there is no operator of this name"});
  }
}

TEST(WrongOperators, OfTypesThatCannotBeAddedAreRefusedWithALine) {
  for (const OperatorSpec& op : operators()) {
    const ProblemText problem = inputs::right_problem(op);
    if (!op.sums || op.data_input.empty()) continue;  // the other operators move any element
    SCOPED_TRACE(problem.op);
    const Folder folder;
    folder.write("data.npy", npy_bytes(data_of(problem, "|S3", 3)));
    expect_refused(folder, command_of(problem), problem.op, {std::string(op.data_input)});
  }
}

/// Writes the files that the lines of wrong_calls.txt name.
void write_files(const Folder& folder) {
  const std::vector<float> zeros(4096);
  const auto floats = [&](const char* name, const std::vector<std::int64_t>& shape) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    folder.write(name, npy_bytes(npy<float>("<f4", shape, {zeros.begin(), zeros.begin() + count})));
  };
  floats("image.npy", {1, 3, 6, 8});
  floats("chw.npy", {3, 6, 8});
  floats("hwc.npy", {6, 8, 3});
  floats("grey.npy", {6, 8});
  floats("video.npy", {1, 2, 3, 6, 8});
  floats("columns.npy", {1, 12, 35});
  floats("chw-columns.npy", {12, 35});
  floats("hwc-columns.npy", {35, 12});
  floats("swapped.npy", {1, 35, 12});
  floats("grid.npy", {1, 12, 5, 7});
  folder.write("bytes.npy", npy_bytes(npy<std::uint8_t>("|u1", {1, 1, 4, 4}, std::vector<std::uint8_t>(16))));
  folder.write("words.npy", npy_bytes({"|S3", {1, 4, 9}, std::string(108, 'x')}));
  folder.write("junk.npy", "this is no array at all, but it is long enough to be one");
  folder.write("empty.npy", "");
  folder.write("junk.png", "this is no picture");
  folder.write("notes.txt", "text");
  std::filesystem::create_directory(folder.path("folder"));
  const std::vector<std::uint8_t> pixels(6 * 8 * 3);
  formats::write_picture(folder.path("photo.png"), view(pixels.data(), {6, 8, 3}));
  ASSERT_EQ(folder.run("split photo.png tiles --tile 4 -q").code, 0);
  ASSERT_EQ(folder.run("split grey.npy halves --tile 4 -q").code, 0);
  floats("halves/tile-0.npy", {8, 8});
}

struct Row {
  int line;
  std::string command;
  std::string said;  ///< "CODE: TEXT", the exit code and the text on standard error
};

std::vector<Row> table() {
  std::ifstream file(PATCHFOLD_SOURCES "/tests/cli/wrong_calls.txt");
  std::vector<Row> rows;
  std::string text;
  for (int line = 1; std::getline(file, text); ++line) {
    if (text.empty() || text.front() == '#') continue;
    if (text.front() == ' ' && !rows.empty())
      rows.back().said += text.substr(text.find_first_not_of(' ')) + "\n";
    else
      rows.push_back({line, text, ""});
  }
  return rows;
}

TEST(WrongCalls, SayWhatToTypeInstead) {
  if (!formats::has_pictures()) GTEST_SKIP() << "built without pictures";
  const Folder folder;
  ASSERT_NO_FATAL_FAILURE(write_files(folder));
  const std::string entries = folder.entries();
  const std::vector<Row> rows = table();
  EXPECT_GE(rows.size(), 150U);
  for (const Row& row : rows) {
    const Outcome outcome = folder.run(row.command);
    EXPECT_EQ(std::to_string(outcome.code) + ": " + outcome.err, row.said)
        << "tests/cli/wrong_calls.txt:" << row.line << ": " << row.command;
  }
  EXPECT_EQ(folder.entries(), entries);
}

}  // namespace
}  // namespace patchfold::cli_test
