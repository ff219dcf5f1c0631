// SPDX-License-Identifier: Apache-2.0
// Tests every writer at every unwritable place, and with all data that it cannot write. An error names the writer and the
// file, existing files stay unchanged, and no new file stays.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "formats/output_file.hpp"
#include "formats/picture.hpp"
#include "formats/rows.hpp"
#include "formats/tile_plan.hpp"
#include "refusal.hpp"
#include "tests/formats/support.hpp"
#include "tests/limits/edges.hpp"

namespace patchfold::inputs {
namespace {

namespace fs = std::filesystem;
using namespace formats::test;

/// The side of a picture that does not fit on the full disk, even compressed.
constexpr std::int64_t side = 300;
constexpr std::size_t full_disk = 4096;

const ConstTensorView& picture() {
  static const std::string pixels = noise(side * side * 3);
  static const ConstTensorView picture = view(reinterpret_cast<const std::uint8_t*>(pixels.data()), {side, side, 3});
  return picture;
}

struct Writer {
  std::string name;
  std::string file;
  std::string op;
  std::function<void(const fs::path&)> write;
  /// Creates the writer by rows, for formats that have one.
  std::function<std::unique_ptr<formats::RowWriter>(const fs::path&, const Dims&, DType)> create{};
};

Writer row_writer(const std::string& name, const std::string& file, const std::string& op,
                  const formats::TiffOptions& options = {}) {
  const auto create = [=](const fs::path& path, const Dims& shape, DType dtype) {
    return formats::create_rows(path, shape, formats::element_type(dtype), options);
  };
  return {name, file, op,
          [=](const fs::path& path) {
            const auto writer = create(path, picture().shape, DType::uint8);
            writer->write(picture());
            writer->commit();
          },
          create};
}

std::vector<Writer> writers() {
  const formats::ElementType type = formats::element_type(DType::uint8);
  std::vector<Writer> all = {
      {"npy", "x.npy", "npy", [=](const fs::path& path) { formats::write_npy(path, picture(), type); }},
      {"mapped npy", "x.npy", "npy",
       [=](const fs::path& path) {
         formats::NpyOutput output(path, picture().shape, type);
         std::memcpy(output.view().data, picture().data, side * side * 3);
         output.commit();
       }},
      {"tile plan", "plan.json", "plan",
       [](const fs::path& path) {
         std::vector<std::string> files;
         for (int tile = 0; tile < 100; ++tile) files.push_back("tile-" + std::to_string(tile) + ".npy");
         formats::write_tile_plan(path, {.source = "in.npy",
                                         .type = "uint8",
                                         .tiling = Tiling({.shape = {100, 4}, .tile = {1, 4}}),
                                         .files = files,
                                         .crcs = std::vector<std::uint32_t>(100)});
       }},
      row_writer("npy rows", "x.npy", "npy"),
  };
  if (formats::has_pictures()) {
    const auto write = [](const fs::path& path) { formats::write_picture(path, picture()); };
    all.push_back({"PNG", "x.png", "png", write});
    all.push_back({"JPEG", "x.jpg", "jpeg", write});
    all.push_back(row_writer("PNG rows", "x.png", "png"));
    all.push_back(row_writer("JPEG rows", "x.jpeg", "jpeg"));
  }
  if (formats::has_tiff()) {
    all.push_back({"TIFF", "x.tif", "tiff", [](const fs::path& path) { formats::write_picture(path, picture()); }});
    all.push_back(row_writer("TIFF rows", "x.tif", "tiff"));
    all.push_back(
        row_writer("TIFF tiles", "x.tiff", "tiff", {.compression = formats::TiffOptions::Compression::deflate, .tile = 64}));
  }
  return all;
}

void PrintTo(const Writer& writer, std::ostream* out) {
  *out << writer.name;
}

class Writers : public ::testing::TestWithParam<Writer> {
 protected:
  void expect_refused(const fs::path& path) {
    SCOPED_TRACE(path);
    const auto before = folder_.names();
    const auto error = refusal([&] { GetParam().write(path); });
    ASSERT_TRUE(error) << "nothing refused";
    expect_named(*error, path);
    EXPECT_EQ(error->code(), ErrorCode::file_write) << error->what();
    EXPECT_EQ(folder_.names(), before);
  }
  void expect_named(const Error& error, const fs::path& path) {
    EXPECT_EQ(error.op(), GetParam().op) << error.what();
    EXPECT_EQ(error.argument(), path.string()) << error.what();
    EXPECT_FALSE(error.rule().empty()) << error.what();
  }

  TempFolder folder_;
  fs::path path_ = folder_ / GetParam().file;
};

TEST_P(Writers, WriteWhereTheyMay) {
  GetParam().write(path_);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{GetParam().file});
  EXPECT_GT(fs::file_size(path_), full_disk);
}

TEST_P(Writers, AtPlacesThatAreNoneRefuse) {
  expect_refused(folder_ / ("missing/" + GetParam().file));
  write_bytes(folder_ / "file", "as it was");
  expect_refused(folder_ / ("file/" + GetParam().file));
  fs::create_directory(path_);
  expect_refused(path_);
  fs::remove(path_);
  fs::create_symlink(path_, path_);
  expect_refused(path_);
  fs::remove(path_);
  expect_refused(folder_ / (std::string(300, 'n') + GetParam().file));
  expect_refused(fs::path("/proc") / GetParam().file);
  EXPECT_EQ(read_bytes(folder_ / "file"), "as it was");
}

TEST_P(Writers, WithoutPermissionRefuse) {
  fs::create_directory(folder_ / "locked");
  const fs::path inside = folder_ / ("locked/" + GetParam().file);
  write_bytes(inside, "as it was");
  write_bytes(path_, "as it was");
  fs::permissions(path_, fs::perms::owner_read | fs::perms::others_read);
  fs::permissions(folder_.path(), fs::perms::all);
  fs::permissions(folder_ / "locked",
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  {
    const Unprivileged unprivileged;
    expect_refused(path_);
    expect_refused(inside);
    expect_refused(folder_ / ("locked/new-" + GetParam().file));
  }
  fs::permissions(folder_ / "locked", fs::perms::owner_all);
  EXPECT_EQ(read_bytes(path_), "as it was");
  EXPECT_EQ(read_bytes(inside), "as it was");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "locked"), {}), 1);
}

TEST_P(Writers, OnAFullDiskLeaveWhatWasThere) {
  for (const bool exists : {false, true}) {
    if (exists) write_bytes(path_, "as it was");
    const FileSizeLimit limit(full_disk);
    expect_refused(path_);
    EXPECT_EQ(exists ? read_bytes(path_) : "as it was", "as it was");
  }
}

TEST_P(Writers, OnAFullDeviceRefuse) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  // The extension selects the format, so the device gets a name with an extension.
  fs::create_symlink("/dev/full", path_);
  expect_refused(path_);
  EXPECT_TRUE(fs::is_symlink(path_));
}

class RowWriters : public Writers {};

/// Tests rows of a wrong shape or type, and unfinished files.
TEST_P(RowWriters, RefuseOtherRows) {
  write_bytes(path_, "as it was");
  const auto create = [&] { return GetParam().create(path_, {4, 5, 3}, DType::uint8); };
  const std::vector<float> memory(4 * 5 * 4);
  const auto rows = [&](const Dims& shape, DType dtype = DType::uint8) {
    return contiguous(static_cast<const void*>(memory.data()), shape, dtype);
  };
  const struct {
    std::string_view what;
    ErrorCode code;
    std::function<void(formats::RowWriter&)> act;
  } wrong[] = {
      {"rank", ErrorCode::rank,
       [&](auto& w) {
         w.write(rows({2, 15}));
       }},
      {"width", ErrorCode::shape,
       [&](auto& w) {
         w.write(rows({2, 4, 3}));
       }},
      {"channels", ErrorCode::shape,
       [&](auto& w) {
         w.write(rows({2, 5, 4}));
       }},
      {"too many rows", ErrorCode::shape,
       [&](auto& w) {
         w.write(rows({5, 5, 3}));
       }},
      {"too many rows at last", ErrorCode::shape,
       [&](auto& w) {
         w.write(rows({3, 5, 3}));
         w.write(rows({2, 5, 3}));
       }},
      {"negative rows", ErrorCode::shape,
       [&](auto& w) {
         ConstTensorView negative = rows({1, 5, 3});
         negative.shape[0] = -1;
         w.write(negative);
       }},
      {"type", ErrorCode::dtype,
       [&](auto& w) {
         w.write(rows({1, 5, 3}, DType::int8));
       }},
      {"element size", ErrorCode::dtype,
       [&](auto& w) {
         w.write(rows({1, 5, 3}, DType::float32));
       }},
      {"no rows", ErrorCode::shape, [&](auto& w) { w.commit(); }},
      {"a row too few", ErrorCode::shape,
       [&](auto& w) {
         w.write(rows({3, 5, 3}));
         w.commit();
       }},
      {"twice complete", ErrorCode::file_write,
       [&](auto& w) {
         w.write(rows({4, 5, 3}));
         w.commit();
         write_bytes(path_, "as it was");
         w.commit();
       }},
  };
  for (const auto& [what, code, act] : wrong) {
    SCOPED_TRACE(what);
    {
      const auto writer = create();
      const auto error = refusal([&, &act = act] { act(*writer); });
      ASSERT_TRUE(error) << "nothing refused";
      EXPECT_EQ(error->code(), code) << error->what();
      expect_named(*error, path_);
    }
    EXPECT_EQ(read_bytes(path_), "as it was");
    EXPECT_EQ(folder_.names(), std::vector<std::string>{GetParam().file});
  }
}

TEST_P(RowWriters, RefuseSizesThatNoFileHas) {
  const FileSizeLimit limit(full_disk);
  for (int axis = 0; axis < 3; ++axis) {
    for (const std::int64_t extent : limits::edges()) {
      Dims shape = {4, 5, 3};
      shape[axis] = extent;
      SCOPED_TRACE(to_string(shape));
      const auto error = refusal([&] { GetParam().create(path_, shape, DType::uint8); });
      EXPECT_TRUE(error || extent >= 0);
      if (error) expect_named(*error, path_);
      EXPECT_TRUE(folder_.names().empty());
    }
  }
}

TEST_P(RowWriters, RefuseTypesThatTheFormatHasNot) {
  for (const DType dtype : dtypes()) {
    const auto error = refusal([&] { GetParam().create(path_, {4, 5, 3}, dtype); });
    if (!error) continue;
    EXPECT_EQ(error->code(), dtype == DType::opaque && GetParam().op == "npy" ? ErrorCode::value : ErrorCode::dtype)
        << error->what();
    expect_named(*error, path_);
    EXPECT_TRUE(folder_.names().empty());
  }
}

std::vector<Writer> row_writers() {
  std::vector<Writer> all = writers();
  std::erase_if(all, [](const Writer& writer) { return !writer.create; });
  return all;
}

std::string name_of_test(const ::testing::TestParamInfo<Writer>& info) {
  std::string name = info.param.name;
  std::ranges::replace(name, ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Every, Writers, ::testing::ValuesIn(writers()), name_of_test);
INSTANTIATE_TEST_SUITE_P(Every, RowWriters, ::testing::ValuesIn(row_writers()), name_of_test);

}  // namespace
}  // namespace patchfold::inputs
