// SPDX-License-Identifier: Apache-2.0
// Tests every reader with every bad file. Either an error names the reader and the file, or the file is read. The reader
// allocates no more memory than a file of this size can contain.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "patchfold/table.hpp"
#include "refusal.hpp"
#include "samples.hpp"
#include "tests/formats/support.hpp"
#include "tests/limits/allocations.hpp"

namespace patchfold::inputs {
namespace {

using formats::test::read_bytes;
using formats::test::TempFolder;
using formats::test::Unprivileged;
using formats::test::write_bytes;
namespace fs = std::filesystem;

class Reading {
 public:
  explicit Reading(const Sample& sample) : sample_(sample), path_(folder_ / sample.file.string()) {
    restore();
    whole_ = read_bytes(path_);
    content_ = sample.read(folder_.path());
    EXPECT_FALSE(whole_.empty());
  }
  void restore() const { sample_.write(folder_.path()); }

  /// Returns the content of the file. If the file is refused, checks the error and returns nothing.
  std::optional<std::string> read(std::initializer_list<ErrorCode> codes = {
                                      ErrorCode::file_format, ErrorCode::file_unsupported, ErrorCode::out_of_memory}) const {
    limits::reset_allocations();
    std::optional<std::string> read;
    try {
      read = sample_.read(folder_.path());
    } catch (const Error& error) {
      EXPECT_TRUE(holds(codes, error.code())) << error.what();
      EXPECT_TRUE(holds(sample_.ops, error.op())) << error.what();
      EXPECT_EQ(error.argument(), path_.string()) << error.what();
      EXPECT_FALSE(error.rule().empty()) << error.what();
      ++refused_;
    }
    // A byte of JPEG, the densest format, may hold 4096 bytes of content, and the string of the content grows by doubling.
    // 1 MiB is for buffers.
    std::error_code ignored;
    const auto size = fs::file_size(path_, ignored);
    EXPECT_LT(limits::largest_allocation(), (std::size_t{1} << 20) + 2 * 4096 * (ignored ? 0 : size));
    return read;
  }

  const fs::path& path() const { return path_; }
  const fs::path& folder() const { return folder_.path(); }
  const std::string& whole() const { return whole_; }
  const std::string& content() const { return content_; }
  int refused() const { return refused_; }

 private:
  const Sample& sample_;
  TempFolder folder_{};
  fs::path path_;
  std::string whole_{};
  std::string content_{};
  mutable int refused_ = 0;
};

class Readers : public ::testing::TestWithParam<Sample> {};

struct NotAFile {
  std::string_view what;
  std::vector<ErrorCode> codes;
  void (*damage)(const fs::path& path);
};

const NotAFile not_files[] = {
    {"missing", {ErrorCode::file_open, ErrorCode::file_format}, [](const fs::path&) {}},
    {"a folder", {ErrorCode::file_open}, [](const fs::path& path) { fs::create_directory(path); }},
    {"a link to nowhere", {ErrorCode::file_open}, [](const fs::path& path) { fs::create_symlink("nowhere", path); }},
    {"a link to itself", {ErrorCode::file_open}, [](const fs::path& path) { fs::create_symlink(path, path); }},
    {"a pipe", {ErrorCode::file_open}, [](const fs::path& path) { formats::test::make_pipe(path); }},
    {"a device", {ErrorCode::file_open}, [](const fs::path& path) { fs::create_symlink("/dev/zero", path); }},
};

TEST_P(Readers, OfNoFileRefuse) {
  for (const NotAFile& wrong : not_files) {
    SCOPED_TRACE(wrong.what);
    const Reading reading(GetParam());
    fs::remove(reading.path());
    wrong.damage(reading.path());
    try {
      GetParam().read(reading.folder());
      ADD_FAILURE() << "nothing refused";
    } catch (const Error& error) {
      EXPECT_TRUE(holds(wrong.codes, error.code())) << error.what();
      EXPECT_TRUE(reading.path().string().starts_with(error.argument())) << error.what();
      EXPECT_TRUE(holds(GetParam().ops, error.op())) << error.what();
    }
  }
}

TEST_P(Readers, WithoutPermissionRefuse) {
  const Reading reading(GetParam());
  fs::permissions(reading.folder(), fs::perms::all);
  for (const auto& entry : fs::recursive_directory_iterator(reading.folder())) fs::permissions(entry, fs::perms::all);
  fs::permissions(reading.path(), fs::perms::none);
  const Unprivileged unprivileged;
  EXPECT_EQ(reading.read({ErrorCode::file_open}), std::nullopt);
}

TEST_P(Readers, OfAnEmptyFileRefuse) {
  const Reading reading(GetParam());
  write_bytes(reading.path(), "");
  EXPECT_EQ(reading.read({ErrorCode::file_format}), std::nullopt);
}

TEST_P(Readers, OfAFileCutAnywhereRefuseOrReadTheSame) {
  const Reading reading(GetParam());
  for (std::size_t length = 0; length < reading.whole().size(); ++length) {
    SCOPED_TRACE("cut to " + std::to_string(length));
    write_bytes(reading.path(), reading.whole().substr(0, length));
    EXPECT_EQ(reading.read().value_or(reading.content()), reading.content());
  }
  EXPECT_GT(reading.refused(), static_cast<int>(reading.whole().size()) / 2);
}

TEST_P(Readers, OfAFileWithAnyByteChangedRefuseOrRead) {
  const Reading reading(GetParam());
  for (std::size_t at = 0; at < reading.whole().size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xFF}) {
      SCOPED_TRACE("byte " + std::to_string(at) + " ^ " + std::to_string(flip));
      std::string changed = reading.whole();
      changed[at] = static_cast<char>(changed[at] ^ flip);
      write_bytes(reading.path(), changed);
      reading.read();
    }
  }
  EXPECT_GT(reading.refused(), 10);
}

TEST_P(Readers, OfNumbersThatLieRefuseOrRead) {
  const Reading reading(GetParam());
  int lies = 0;
  GetParam().lie([&](const std::string& what, const std::string& bytes) {
    SCOPED_TRACE(what);
    write_bytes(reading.path(), bytes);
    reading.read();
    ++lies;
  });
  EXPECT_TRUE(lies == 0 || reading.refused() > lies / 10) << reading.refused() << " of " << lies;
}

INSTANTIATE_TEST_SUITE_P(Every, Readers, ::testing::ValuesIn(all_samples()), [](const auto& info) {
  std::string name = info.param.name;
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
});

/// Tests problem strings with false numbers.
TEST(ProblemStrings, WithNumbersThatLieAreRefusedOrRead) {
  int refused = 0, read = 0;
  for (const std::string text :
       {"unfold opaque24 2x3x5x6 kernel_size=2,3 stride=2,1 dilation=1,2 padding=1:0,2:1 value=7",
        "fold f32 2x12x20 output_size=5,6 kernel_size=2,2",
        "tensorflow.SpaceToBatch u8 2x3x4x2 paddings=1:0,2:2 block_size=2", "unfold f32 8x64x112x112 k3x3 s1x1 d1x1 p1x1"}) {
    lie_in_text(text, [&](const std::string& what, const std::string& lie) {
      SCOPED_TRACE(what);
      limits::reset_allocations();
      try {
        const ProblemText problem = parse_problem(lie);
        EXPECT_EQ(to_string(parse_problem(to_string(problem))), to_string(problem));
        ++read;
      } catch (const Error& error) {
        EXPECT_FALSE(error.op().empty()) << error.what();
        EXPECT_FALSE(error.rule().empty()) << error.what();
        ++refused;
      }
      EXPECT_LT(limits::largest_allocation(), std::size_t{1} << 16);
    });
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(read, 500);
}

}  // namespace
}  // namespace patchfold::inputs
