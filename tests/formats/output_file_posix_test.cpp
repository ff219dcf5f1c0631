// SPDX-License-Identifier: Apache-2.0
// Tests output files on POSIX systems: rights, links, pipes, devices, descriptors.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <thread>

#include "formats/output_file.hpp"
#include "tests/formats/support.hpp"

namespace patchfold::formats {
namespace {

using namespace test;
using Names = std::vector<std::string>;

class OutputFilePosixTest : public ::testing::Test {
 protected:
  static mode_t mode_of(const std::filesystem::path& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  }
  void expect_refused(const std::filesystem::path& path, std::string_view fragment) {
    expect_error([&] { OutputFile file(path); }, ErrorCode::file_write, "file", path, fragment);
  }

  TempFolder folder_;
  std::filesystem::path path_ = folder_ / "x.bin";
};

TEST_F(OutputFilePosixTest, WhatIsMappedIsReservedOnTheDisk) {
  OutputFile file(path_);
  file.map(1 << 20);
  struct stat status {};
  ASSERT_EQ(::stat(file.temporary().c_str(), &status), 0);
  EXPECT_EQ(status.st_size, 1 << 20);
  EXPECT_GE(status.st_blocks, (1 << 20) / 512);
}

TEST_F(OutputFilePosixTest, NewFilesFollowTheUmask) {
  const mode_t before = ::umask(027);
  OutputFile(path_).commit();
  ::umask(before);
  EXPECT_EQ(mode_of(path_), 0640U);
}

TEST_F(OutputFilePosixTest, KeepsThePermissionsOfTheFileThatItReplaces) {
  for (const mode_t mode : {0600, 0666, 0755}) {
    write_bytes(path_, "before");
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
    OutputFile(path_).commit();
    EXPECT_EQ(mode_of(path_), mode);
  }
}

TEST_F(OutputFilePosixTest, DevicesAreWrittenDirectly) {
  OutputFile null("/dev/null");
  EXPECT_TRUE(null.temporary().empty());
  null.write("abc", 3);
  null.commit();
  OutputFile mapped("/dev/null");
  std::memset(mapped.map(10000), 1, 10000);
  mapped.commit();
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  expect_error([&] { OutputFile("/dev/full").write("abc", 3); }, ErrorCode::file_write, "file", "/dev/full",
               "cannot be written: No space left on device");
  expect_error(
      [&] {
        OutputFile full("/dev/full");
        full.map(10000);
        full.commit();
      },
      ErrorCode::file_write, "file", "/dev/full", "cannot be written: No space left on device");
}

TEST_F(OutputFilePosixTest, FullDiskWhileMapping) {
  write_bytes(path_, "before");
  expect_error(
      [&] {
        const FileSizeLimit limit(65536);
        OutputFile(path_).map(100000);
      },
      ErrorCode::file_write, "file", path_, "cannot be made 100000 bytes long: File too large");
  EXPECT_EQ(read_bytes(path_), "before");
  EXPECT_EQ(folder_.names(), Names{"x.bin"});
}

TEST_F(OutputFilePosixTest, PipesAreWrittenDirectly) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = read_bytes(path_); });
  OutputFile file(path_);
  std::memcpy(file.map(6), "mapped", 6);
  file.commit();
  reader.join();
  EXPECT_EQ(received, "mapped");
  EXPECT_TRUE(std::filesystem::is_fifo(path_));
}

// Tests a file that a shell has opened with `> file`: the program must write at the file's position, after earlier content.
TEST_F(OutputFilePosixTest, OpenDescriptorsKeepTheirPosition) {
  const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(::write(descriptor, "before ", 7), 7);
  for (const auto* folder : {"/dev/fd/", "/proc/self/fd/"}) {
    OutputFile file(folder + std::to_string(descriptor));
    EXPECT_TRUE(file.temporary().empty());
    std::memcpy(file.map(7), "mapped ", 7);
    file.commit();
  }
  ::close(descriptor);
  EXPECT_EQ(read_bytes(path_), "before mapped mapped ");
}

TEST_F(OutputFilePosixTest, FollowsLinks) {
  std::filesystem::create_directory(folder_ / "there");
  const auto target = folder_ / "there/real.bin";
  write_bytes(target, "before");
  std::filesystem::create_symlink(target, path_);
  OutputFile file(path_);
  EXPECT_EQ(file.temporary().parent_path(), std::filesystem::canonical(folder_ / "there"));
  file.write("new", 3);
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
  EXPECT_EQ(read_bytes(target), "new");
}

TEST_F(OutputFilePosixTest, LongNames) {
  const std::string name(255, 'n');
  OutputFile file(folder_ / name);
  file.write("abc", 3);
  file.commit();
  EXPECT_EQ(folder_.names(), Names{name});
  expect_refused(folder_ / std::string(256, 'n'), std::strerror(ENAMETOOLONG));
  std::string letters = "n";  // of one byte, and of two for each ö
  for (int i = 0; i < 110; ++i) letters += "\xC3\xB6";
  const std::string temporary = OutputFile(folder_ / letters).temporary().filename().string();
  EXPECT_EQ(temporary.substr(0, 1 + 199 + 1), "." + letters.substr(0, 199) + ".");
  EXPECT_EQ(folder_.names(), Names{name});
}

}  // namespace
}  // namespace patchfold::formats
