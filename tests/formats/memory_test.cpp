// SPDX-License-Identifier: Apache-2.0
// Tests that pictures are read and written with much less memory than their pixels need.
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "formats/picture.hpp"
#include "formats/rows.hpp"
#include "tests/formats/support.hpp"
#include "tests/sanitizers.hpp"

#ifdef PATCHFOLD_TESTS_WITH_PICTURES
#include "tests/formats/picture_files.hpp"
#endif
#ifdef PATCHFOLD_TESTS_WITH_TIFF
#include <tiffio.h>

#include "tests/formats/tiff_files.hpp"
#endif

namespace patchfold::formats {
namespace {

using namespace test;

constexpr std::int64_t side = 8000;

/// Returns the value "VmRSS" or "VmHWM" of /proc/self/status, in kilobytes.
long status_value(std::string_view name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name)) return std::strtol(line.c_str() + name.size() + 1, nullptr, 10);
  return 0;
}

/// Runs `action` in a child process. Returns by how many kilobytes `action` raises the peak memory, or -1 if `action` fails.
long peak_kilobytes(const std::function<void()>& action) {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
#ifdef __GLIBC__
  ::malloc_trim(0);  // otherwise the child would use memory that this process has freed
#endif
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

/// Writes a picture in which all pixels of a row are equal.
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
#define FileMemory DISABLED_FileMemory_SanitizersHaveMemoryOfTheirOwn
#endif

/// A fixture of tests with pictures of 64 MB that are read or written row by row. Limits are 1.5 times the measured
/// kilobytes on x86-64.
class FileMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (status_value("VmHWM") == 0) GTEST_SKIP() << "this system does not tell";
  }
  static void expect_at_most(long kilobytes, const std::function<void()>& action, const std::string& what) {
    const long peak = peak_kilobytes(action);
    EXPECT_GE(peak, 0) << what << " failed";
    EXPECT_LE(peak, kilobytes) << what;
    std::printf("%s: %ld kB of %ld kB\n", what.c_str(), peak, kilobytes);
  }
  void expect_small_file(const std::string& name, const TiffOptions& options, long written, long read) {
    path_ = folder_ / name;
    expect_at_most(
        written, [&] { write_rows(path_, options); }, "writing " + name);
    expect_at_most(
        read, [&] { read_rows(path_, false); }, "reading " + name);
    std::filesystem::remove(path_);
  }
  /// Expects that reading a file with width x height bytes of pixels needs at most `kilobytes`.
  void expect_read(long kilobytes, std::int64_t height, std::int64_t width, const std::string& what) {
    expect_at_most(
        kilobytes,
        [&] {
          const auto reader = open_rows(path_);
          if (!(reader->shape() == Dims{height, width, 1})) throw std::runtime_error("wrong shape");
          std::vector<std::byte> row(static_cast<std::size_t>(reader->row_bytes()));
          for (std::int64_t y = 0; y < height; ++y) reader->read(1, row.data());
        },
        "reading " + what);
  }

  TempFolder folder_;
  std::filesystem::path path_ = folder_ / "x.tif";
};

TEST_F(FileMemory, Npy) {
  expect_small_file("x.npy", {}, 3300, 3400);
}

#ifdef PATCHFOLD_TESTS_WITH_PICTURES

/// Returns the limit in kilobytes for a PNG file that several threads write; each thread has a part of the picture and two
/// compressors.
constexpr long png_kilobytes(int threads) {
  return 1100 + 2900L * threads;
}

TEST_F(FileMemory, Png) {
  expect_small_file("x.png", {}, png_kilobytes(default_executor().threads()), 3200);
}

TEST_F(FileMemory, PngOfManyThreads) {
  class Threads final : public Executor {
   public:
    int threads() const noexcept override { return 8; }
    bool run(std::int64_t pieces, Body body, void* context) noexcept override {
      for (std::int64_t piece = 0; piece < pieces; ++piece) body(context, piece);
      return true;
    }
  } executor;
  path_ = folder_ / "x.png";
  expect_at_most(
      png_kilobytes(8),
      [&] {
        WriteOptions options;
        options.executor = &executor;
        const auto writer = create_rows(path_, {side, side, 1}, element_type(DType::uint8), options);
        std::vector<std::uint8_t> row(side);
        std::uint32_t state = 1;
        for (std::int64_t y = 0; y < side; ++y) {
          for (auto& value : row) value = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
          writer->write(view(row.data(), {1, side, 1}));
        }
        writer->commit();
      },
      "writing PNG by 8 threads");
}

TEST_F(FileMemory, Jpeg) {
  expect_small_file("x.jpg", {}, 4200, 3500);
}

// Tests codecs that need the whole picture of 16 MB in memory, as pixels or as coefficients of 16 bits.
TEST_F(FileMemory, InterlacedPng) {
  constexpr std::uint32_t extent = 4000;
  path_ = folder_ / "x.png";
  write_bytes(path_, png_file({extent, extent, 8, 0, adam7(std::string(extent * extent, 'a'), extent, extent), true}));
  expect_read(26500, extent, extent, "interlaced PNG");
}

TEST_F(FileMemory, ProgressiveJpeg) {
  constexpr int extent = 4000;
  path_ = folder_ / "x.jpg";
  write_bytes(path_, jpeg_file({.width = extent, .height = extent, .components = 1, .progressive = true},
                               std::string(std::size_t{extent} * extent, 'a')));
  expect_read(49800, extent, extent, "progressive JPEG");
}

#endif

#ifdef PATCHFOLD_TESTS_WITH_TIFF

TEST_F(FileMemory, TiffStrips) {
  using enum TiffOptions::Compression;
  struct Case {
    TiffOptions::Compression compression;
    long written, read;
  };
  for (const auto& [compression, written, read] :
       {Case{none, 4100, 3200}, Case{deflate, 5600, 3600}, Case{lzw, 4800, 3200}, Case{zstd, 24100, 4000}}) {
    if (compression == zstd && TIFFIsCODECConfigured(COMPRESSION_ZSTD) == 0) continue;
    SCOPED_TRACE(static_cast<int>(compression));
    expect_small_file("x.tif", {.compression = compression}, written, read);
  }
}

TEST_F(FileMemory, TiffTiles) {
  expect_small_file("x.tif", {.compression = TiffOptions::Compression::lzw, .tile = 256}, 7200, 6400);
}

TEST_F(FileMemory, OneUncompressedStripOfTiff) {
  write_bytes(path_, tiff_file(grey_entries(side, side), ""));
  std::filesystem::resize_file(path_, 1000 + side * side);
  expect_at_most(
      3200, [&] { read_rows(path_, true); }, "reading one strip");
}

TEST_F(FileMemory, OneCompressedStripOfTiff) {
  constexpr std::uint32_t extent = 10000;
  const TiffSpec spec{.height = extent, .width = extent, .compression = 5};
  write_tiff(path_, {spec}, std::string(tiff_bytes(spec), '\0'));
  expect_read(2800, extent, extent, "one compressed strip");
}

#endif

}  // namespace
}  // namespace patchfold::formats
