// SPDX-License-Identifier: Apache-2.0
// Stress test with a picture that is larger than the memory limit. Writes, splits, merges and compares the picture row by row.
//
//   tile_stress PROGRAM SIDE SPLIT MERGE [FOLDER]
//
// The picture has SIDE x SIDE pixels of 8 bits. On two threads split may use SPLIT megabytes, and merge MERGE megabytes. Exit
// code: 0 passed, 1 failed, 77 skipped.
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/picture.hpp"
#include "formats/rows.hpp"

namespace {

namespace fs = std::filesystem;
using namespace patchfold;

constexpr int failed = 1;
constexpr int skipped = 77;
constexpr std::int64_t kilobyte = 1024;

/// Fills row y of the picture, a gradient with a fine pattern.
void make_row(std::int64_t y, std::vector<std::uint8_t>& row) {
  for (std::size_t x = 0; x < row.size(); ++x) {
    const auto column = static_cast<std::uint32_t>(x);
    const auto line = static_cast<std::uint32_t>(y);
    row[x] = static_cast<std::uint8_t>(((column * 3 + line * 5) >> 7) + ((column ^ line) & 31));
  }
}

void write_picture(const fs::path& path, std::int64_t side) {
  const auto writer = formats::create_rows(path, {side, side, 1}, formats::element_type(DType::uint8));
  std::vector<std::uint8_t> row(static_cast<std::size_t>(side));
  for (std::int64_t y = 0; y < side; ++y) {
    make_row(y, row);
    writer->write(view(row.data(), {1, side, 1}));
  }
  writer->commit();
}

bool is_same(const fs::path& path, std::int64_t side) {
  const auto reader = formats::open_rows(path);
  if (!(reader->shape() == Dims{side, side, 1}) || reader->type().dtype != DType::uint8) return false;
  std::vector<std::uint8_t> row(static_cast<std::size_t>(side));
  std::vector<std::byte> read(row.size());
  for (std::int64_t y = 0; y < side; ++y) {
    make_row(y, row);
    reader->read(1, read.data());
    if (std::memcmp(row.data(), read.data(), row.size()) != 0) {
      std::printf("row %lld differs\n", static_cast<long long>(y));
      return false;
    }
  }
  return true;
}

/// Runs the program. Returns false if the program fails or uses too much memory. The peak that the system reports for the
/// child is at least the peak of this process, so this process keeps single rows only.
bool run(const char* program, std::vector<std::string> words, std::int64_t most_bytes) {
  words.insert(words.begin(), program);
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const auto begin = std::chrono::steady_clock::now();
  pid_t child = 0;
  if (::posix_spawn(&child, program, nullptr, nullptr, argv.data(), environ) != 0) return false;
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  const std::int64_t bytes = usage.ru_maxrss * kilobyte;
  std::printf("%s: %.1f s, %.1f MB of %.0f MB\n", words[1].c_str(), time.count(), static_cast<double>(bytes) / 1e6,
              static_cast<double>(most_bytes) / 1e6);
  std::fflush(stdout);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 && bytes < most_bytes;
}

/// A folder that its destructor removes.
class Folder {
 public:
  explicit Folder(const fs::path& parent) : path_((parent / "patchfold-tiles-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  fs::path operator/(const char* name) const { return fs::path(path_) / name; }

 private:
  std::string path_;
};

struct Limits {
  std::int64_t split_bytes = 0;
  std::int64_t merge_bytes = 0;
};

int test(const char* program, std::int64_t side, Limits most, const fs::path& parent) {
  if (!formats::has_tiff()) {
    std::printf("skipped: built without TIFF\n");
    return skipped;
  }
  // The disk must hold the picture and its overlapping tiles, and then the tiles and the merged picture.
  const auto needed = static_cast<std::uintmax_t>(static_cast<double>(side) * static_cast<double>(side) * 2.6) + (64 << 20);
  if (const auto there = fs::space(parent).available; there < needed) {
    std::printf("skipped: %s has %.1f GB, %.1f GB are needed\n", parent.c_str(), static_cast<double>(there) / 1e9,
                static_cast<double>(needed) / 1e9);
    return skipped;
  }
  const Folder folder(parent);
  const fs::path picture = folder / "picture.tif";
  const fs::path merged = folder / "merged.tif";
  const fs::path tiles = folder / "tiles";
  write_picture(picture, side);
  if (!run(program, {"split", picture, tiles, "--tile", "512", "--overlap", "64", "--format", "tif", "--threads", "2"},
           most.split_bytes))
    return failed;
  fs::remove(picture);
  if (!run(program, {"merge", tiles, merged, "--window", "hann", "--threads", "2"}, most.merge_bytes)) return failed;
  return is_same(merged, side) ? 0 : failed;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 5) {
    std::fprintf(stderr, "usage: tile_stress PROGRAM SIDE SPLIT MERGE [FOLDER]\n");
    return 2;
  }
  constexpr std::int64_t megabyte = 1'000'000;
  return test(argv[1], std::atoll(argv[2]), {std::atoll(argv[3]) * megabyte, std::atoll(argv[4]) * megabyte},
              argc > 5 ? argv[5] : fs::temp_directory_path());
} catch (const std::exception& error) {
  std::printf("%s\n", error.what());
  return failed;
}
