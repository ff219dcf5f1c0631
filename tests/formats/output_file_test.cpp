// SPDX-License-Identifier: Apache-2.0
#include "formats/output_file.hpp"

#include "tests/formats/support.hpp"

namespace patchfold::formats {
namespace {

using namespace test;
using Names = std::vector<std::string>;

class OutputFileTest : public ::testing::Test {
 protected:
  void expect_refused(const std::filesystem::path& path, std::string_view fragment) {
    expect_error([&] { OutputFile file(path); }, ErrorCode::file_write, "file", path, fragment);
  }

  TempFolder folder_;
  std::filesystem::path path_ = folder_ / "x.bin";
};

TEST_F(OutputFileTest, AppearsWhole) {
  OutputFile file(path_);
  EXPECT_EQ(file.temporary().parent_path(), folder_.path());
  file.write("abc", 3);
  file.write("", 0);
  file.write("def", 3);
  EXPECT_FALSE(std::filesystem::exists(path_));
  file.commit();
  EXPECT_EQ(read_bytes(path_), "abcdef");
  EXPECT_EQ(folder_.names(), Names{"x.bin"});
  file.commit();
}

TEST_F(OutputFileTest, OrNotAtAll) {
  { OutputFile(path_).write("abc", 3); }
  EXPECT_EQ(folder_.names(), Names{});
  write_bytes(path_, "before");
  { OutputFile(path_).write("abc", 3); }
  EXPECT_EQ(read_bytes(path_), "before");
  EXPECT_EQ(folder_.names(), Names{"x.bin"});
}

TEST_F(OutputFileTest, ReplacesWhatWasThere) {
  write_bytes(path_, "a long text that was there before");
  OutputFile file(path_);
  file.write("new", 3);
  EXPECT_EQ(read_bytes(path_), "a long text that was there before");
  file.commit();
  EXPECT_EQ(read_bytes(path_), "new");
}

TEST_F(OutputFileTest, Maps) {
  for (const std::size_t size : {1, 4095, 4096, 1000000}) {
    OutputFile file(path_);
    std::memset(file.map(size), 'm', size);
    file.commit();
    EXPECT_EQ(read_bytes(path_), std::string(size, 'm'));
  }
  OutputFile file(path_);
  file.map(0);
  file.commit();
  EXPECT_EQ(read_bytes(path_), "");
  EXPECT_EQ(folder_.names(), Names{"x.bin"});
}

TEST_F(OutputFileTest, NamesWithoutAFolder) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  OutputFile file("plain.bin");
  file.write("abc", 3);
  file.commit();
  std::filesystem::current_path(before);
  EXPECT_EQ(read_bytes(folder_ / "plain.bin"), "abc");
}

TEST_F(OutputFileTest, PlacesThatCannotBeWritten) {
  expect_refused(folder_.path(), "must be the name of a file, not of a folder");
  expect_refused(folder_ / "new/", "must be the name of a file, not of a folder");
  expect_refused("", "must be the name of a file, not of a folder");
  expect_refused(folder_ / "missing/x.bin", "cannot be written: No such file or directory");
  expect_refused("/dev/fd/987654", "cannot be written: Bad file descriptor");
}

}  // namespace
}  // namespace patchfold::formats
