// SPDX-License-Identifier: Apache-2.0
// Pictures that pass through much less memory than they have pixels.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "formats/picture.hpp"
#include "formats/rows.hpp"
#include "tests/formats/support.hpp"
#include "tests/formats/tiff_files.hpp"
#include "tests/sanitizers.hpp"

namespace patchfold::formats {
namespace {

using namespace test;

constexpr std::int64_t side = 20000;
constexpr long most_kilobytes = 20000;

/// "VmRSS", "VmHWM": kilobytes.
long status_value(std::string_view name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name)) return std::strtol(line.c_str() + name.size() + 1, nullptr, 10);
  return 0;
}

/// What `action` needs at most, in a process of its own; -1 if it fails.
long peak_kilobytes(const std::function<void()>& action) {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  const pid_t child = ::fork();
  if (child == 0) {
    long peak = -1;
    try {
      const long before = status_value("VmRSS");
      action();
      peak = status_value("VmHWM") - before;
    } catch (...) {
    }
    const bool told = ::write(ends[1], &peak, sizeof(peak)) == sizeof(peak);
    ::_exit(told ? 0 : 1);
  }
  ::close(ends[1]);
  long peak = -1;
  if (::read(ends[0], &peak, sizeof(peak)) != sizeof(peak)) peak = -1;
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return peak;
}

/// Row y holds the same number everywhere.
void write_rows(const std::filesystem::path& path, const TiffOptions& options) {
  const auto writer = create_rows(path, {side, side, 1}, element_type(DType::uint8), options);
  for (std::int64_t y = 0; y < side; ++y) {
    const auto value = static_cast<std::uint8_t>(y * 7);
    writer->write({&value, {1, side, 1}, {0, 0, 0}, DType::uint8, 1});
  }
  writer->commit();
}

void read_rows(const std::filesystem::path& path, bool is_black) {
  const auto reader = open_rows(path);
  const int tolerance = path.extension() == ".jpg" ? 16 : 0;
  std::vector<std::byte> row(static_cast<std::size_t>(reader->row_bytes()));
  for (std::int64_t y = 0; y < side; ++y) {
    reader->read(1, row.data());
    const int expected = is_black ? 0 : static_cast<std::uint8_t>(y * 7);
    for (const auto pixel : {row.front(), row.back()})
      if (std::abs(static_cast<int>(pixel) - expected) > tolerance) throw std::runtime_error("wrong pixels");
  }
}

#ifdef PATCHFOLD_SANITIZED
#define TiffMemory DISABLED_TiffMemory_SanitizersHaveMemoryOfTheirOwn
#endif

class TiffMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (status_value("VmHWM") == 0) GTEST_SKIP() << "this system does not tell";
  }
  static void expect_small(const std::function<void()>& action) {
    const long peak = peak_kilobytes(action);
    EXPECT_GE(peak, 0) << "failed";
    EXPECT_LT(peak, most_kilobytes);
  }
  void expect_small_file(const TiffOptions& options) {
    expect_small([&] { write_rows(path_, options); });
    expect_small([&] { read_rows(path_, false); });
  }

  TempFolder folder_;
  std::filesystem::path path_ = folder_ / "x.tif";
};

TEST_F(TiffMemory, DeflatedStrips) {
  expect_small_file({.compression = TiffOptions::Compression::deflate});
}

TEST_F(TiffMemory, Tiles) {
  expect_small_file({.compression = TiffOptions::Compression::lzw, .tile = 256});
}

TEST_F(TiffMemory, OneUncompressedStrip) {
  write_bytes(path_, tiff_file(grey_entries(side, side), ""));
  std::filesystem::resize_file(path_, 1000 + side * side);
  expect_small([&] { read_rows(path_, true); });
}

TEST_F(TiffMemory, OneCompressedStrip) {
  const TiffSpec spec{.height = 10000, .width = 10000, .compression = 5};
  write_tiff(path_, {spec}, std::string(tiff_bytes(spec), '\0'));
  expect_small([&] {
    const auto reader = open_rows(path_);
    std::vector<std::byte> row(10000);
    for (int y = 0; y < 10000; ++y) reader->read(1, row.data());
  });
}

TEST_F(TiffMemory, OtherFormats) {
  std::vector<std::string> names = {"x.npy"};
  if (has_pictures()) names.insert(names.end(), {"x.png", "x.jpg"});
  for (const auto& name : names) {
    path_ = folder_ / name;
    expect_small_file({});
    std::filesystem::remove(path_);
  }
}

}  // namespace
}  // namespace patchfold::formats
