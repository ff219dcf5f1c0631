// SPDX-License-Identifier: Apache-2.0
// Tests the common behaviour of all readers and writers by rows.
#include "formats/rows.hpp"

#include "formats/output_file.hpp"
#include "formats/picture.hpp"
#include "tests/formats/support.hpp"

namespace patchfold::formats {
namespace {

using namespace test;
using Names = std::vector<std::string>;

/// Writes the rows of a tensor in portions of 1, 2, 3, .. rows, and commits the file.
void write_unevenly(RowWriter& writer, const ConstTensorView& tensor) {
  for (std::int64_t portion = 1; writer.next() < tensor.shape[0]; ++portion) {
    ConstTensorView rows = tensor;
    rows.data = static_cast<const std::byte*>(tensor.data) + writer.next() * tensor.strides[0];
    rows.shape[0] = std::min(portion, tensor.shape[0] - writer.next());
    writer.write(rows);
  }
  writer.commit();
}

std::vector<std::string> extensions() {
  std::vector<std::string> names = {"npy"};
  if (has_pictures()) names.insert(names.end(), {"png", "jpg"});
  if (has_tiff()) names.emplace_back("tif");
  return names;
}

class Rows : public ::testing::Test {
 protected:
  void expect_round_trip(const std::string& name, const Dims& shape, DType dtype, const TiffOptions& options = {}) {
    SCOPED_TRACE(name + " " + to_string(shape) + " " + std::string(name_of(dtype)));
    const std::string data = counting(static_cast<std::size_t>(element_count(shape)) * size_of(dtype));
    const auto path = folder_ / name;
    const auto writer = create_rows(path, shape, element_type(dtype), options);
    write_unevenly(*writer, contiguous(data.data(), shape, dtype));
    const auto reader = open_rows(path);
    EXPECT_EQ(reader->shape(), shape);
    EXPECT_EQ(reader->type().dtype, element_type(dtype).dtype == DType::bfloat16 ? DType::opaque : dtype);
    EXPECT_EQ(rows_of(*reader), data);
  }

  TempFolder folder_;
};

TEST_F(Rows, ArraysOfAnyRank) {
  for (const auto dtype : {DType::uint8, DType::int16, DType::float32, DType::complex128}) {
    expect_round_trip("x.npy", {13}, dtype);
    expect_round_trip("x.npy", {11, 3}, dtype);
    expect_round_trip("x.npy", {5, 1, 2, 3, 1}, dtype);
    expect_round_trip("x.npy", {0, 3}, dtype);
    expect_round_trip("x.npy", {3, 0}, dtype);
  }
  expect_round_trip("x.npy", {3000, 1000}, DType::uint8);
}

TEST_F(Rows, Pictures) {
  if (!has_pictures()) GTEST_SKIP() << "built without pictures";
  for (const int channels : {1, 2, 3, 4})
    for (const auto dtype : {DType::uint8, DType::uint16})
      for (const auto& [height, width] : {std::pair{1, 1}, {17, 23}, {40, 3}})
        expect_round_trip("x.png", {height, width, channels}, dtype);
}

TEST_F(Rows, JpegInPortionsIsJpegAtOnce) {
  if (!has_pictures()) GTEST_SKIP() << "built without pictures";
  const std::string data = counting(50 * 31 * 3);
  const auto tensor = contiguous(data.data(), {50, 31, 3}, DType::uint8);
  write_picture(folder_ / "a.jpg", tensor);
  write_unevenly(*create_rows(folder_ / "b.jpg", tensor.shape, element_type(DType::uint8)), tensor);
  EXPECT_EQ(read_bytes(folder_ / "a.jpg"), read_bytes(folder_ / "b.jpg"));
  EXPECT_EQ(rows_of(*open_rows(folder_ / "a.jpg")), elements_of(read_picture(folder_ / "a.jpg").view));
}

TEST_F(Rows, AnyStrides) {
  const std::string data = counting(20 * 30 * 3 * 2);
  for (const auto& extension : extensions()) {
    if (extension == "jpg") continue;
    const auto path = folder_ / ("x." + extension);
    for (const ConstTensorView& tensor : {ConstTensorView{data.data(), {20, 30, 3}, {30, 1, 600}, DType::uint8, 1},
                                          ConstTensorView{data.data() + 1799, {20, 30, 3}, {-90, -3, -1}, DType::uint8, 1},
                                          ConstTensorView{data.data(), {20, 30, 3}, {0, 0, 1}, DType::uint8, 1},
                                          ConstTensorView{data.data() + 1, {20, 29, 3}, {180, 6, 2}, DType::uint16, 2}}) {
      write_unevenly(*create_rows(path, tensor.shape, element_type(tensor.dtype)), tensor);
      EXPECT_EQ(rows_of(*open_rows(path)), elements_of(tensor)) << extension;
    }
  }
}

TEST_F(Rows, ArraysInTheOtherByteOrder) {
  const auto path = folder_ / "x.npy";
  write_bytes(path, npy_file(npy_dictionary("'>u4'", "(2, 2)"), "abcdefghijklmnop"));
  EXPECT_EQ(rows_of(*open_rows(path)), "dcbahgfelkjiponm");
  write_bytes(path, npy_file(npy_dictionary("[('a', '>i2'), ('b', '<i2')]", "(3,)"), "abcdefghijkl"));
  EXPECT_EQ(rows_of(*open_rows(path)), "bacdfeghjikl");
  const std::string data = counting(70001 * 6);
  write_bytes(path, npy_file(npy_dictionary("[('a', '>i2'), ('b', '>i4')]", "(70001,)"), data));
  EXPECT_EQ(rows_of(*open_rows(path)), elements_of(read_npy(path).view));
}

TEST_F(Rows, ArraysThatHaveNone) {
  const auto path = folder_ / "x.npy";
  write_bytes(path, npy_file(npy_dictionary("'|u1'", "(2, 3)", true), "abcdef"));
  expect_error([&] { open_rows(path); }, ErrorCode::file_unsupported, "npy", path, "is in Fortran order");
  write_bytes(path, npy_file(npy_dictionary("'|u1'", "(6, 1)", true), "abcdef"));
  EXPECT_EQ(rows_of(*open_rows(path)), "abcdef");
  write_bytes(path, npy_file(npy_dictionary("'|u1'", "()"), "a"));
  expect_error([&] { open_rows(path); }, ErrorCode::file_unsupported, "npy", path, "must have an axis to be read by rows");
  expect_error([&] { create_rows(path, {}, element_type(DType::uint8)); }, ErrorCode::rank, "npy", path,
               "must have an axis");
}

TEST_F(Rows, ShortArraysAreNotOpened) {
  const auto path = folder_ / "x.npy";
  const std::string whole = npy_file(npy_dictionary("'|u1'", "(2, 3)"), "abcdef");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write_bytes(path, std::string_view(whole).substr(0, length));
    expect_error([&] { open_rows(path); }, ErrorCode::file_format, length < 6 ? "file" : "npy", path, "is cut short");
  }
  write_bytes(path, whole);
  const auto reader = open_rows(path);
  std::filesystem::resize_file(path, whole.size() - 1);
  std::byte rows[6];
  reader->read(1, rows);
  expect_error([&] { reader->read(1, rows); }, ErrorCode::file_format, "npy", path, "is cut short");
  expect_error([&] { reader->read(1, rows); }, ErrorCode::value, "npy", path, "has fewer rows left");
}

TEST_F(Rows, FilesThatAreNoRows) {
  const auto path = folder_ / "x.png";
  expect_error([&] { open_rows(path); }, ErrorCode::file_open, "file", path, "cannot be opened");
  write_bytes(path, "GIF89a..");
  expect_error([&] { open_rows(path); }, ErrorCode::file_unsupported, "file", path,
               "must be a .npy, PNG, JPEG or TIFF file; others are not read; given a file that begins with \"GIF89a..\"");
  write_bytes(path, npy_file(npy_dictionary("'|u1'", "(2,)"), "ab"));
  expect_error([&] { open_rows(path, 1); }, ErrorCode::value, "file", path, "has no pages to choose from");
  EXPECT_EQ(rows_of(*open_rows(path, 0)), "ab");
  expect_error(
      [&] {
        create_rows(folder_ / "x.bmp", {1, 1, 1}, element_type(DType::uint8));
      },
      ErrorCode::file_unsupported, "file", folder_ / "x.bmp",
      "must end in .npy, .png, .jpg, .jpeg, .tif or .tiff; given .bmp");
  EXPECT_EQ(create_rows("/dev/null", {1, 1, 1}, element_type(DType::uint8))->shape(), (Dims{1, 1, 1}));
}

TEST_F(Rows, MoreRowsThanThereAre) {
  const std::string data = counting(8 * 8 * 3);
  for (const auto& extension : extensions()) {
    const auto path = folder_ / ("x." + extension);
    const auto writer = create_rows(path, {8, 8, 3}, element_type(DType::uint8));
    writer->write(contiguous(data.data(), {8, 8, 3}, DType::uint8));
    EXPECT_THROW(writer->write(contiguous(data.data(), {1, 8, 3}, DType::uint8)), Error);
    writer->write(contiguous(data.data(), {0, 8, 3}, DType::uint8));
    writer->commit();
    EXPECT_THROW(writer->commit(), Error);
    const auto reader = open_rows(path);
    std::string rows(data.size(), '?');
    auto* to = reinterpret_cast<std::byte*>(rows.data());
    reader->read(3, to);
    for (const std::int64_t count : {-1, 6}) EXPECT_THROW(reader->read(count, to), Error);
    reader->read(0, to);
    reader->read(5, to + 3 * reader->row_bytes());
    EXPECT_EQ(reader->next(), 8);
    EXPECT_THROW(reader->read(1, to), Error);
  }
}

TEST_F(Rows, WithoutCommitThereIsNoFile) {
  const std::string data = counting(8 * 8 * 3);
  for (const auto& extension : extensions()) {
    const auto path = folder_ / ("x." + extension);
    {
      const auto writer = create_rows(path, {8, 8, 3}, element_type(DType::uint8));
      writer->write(contiguous(data.data(), {5, 8, 3}, DType::uint8));
      const std::string op = extension == "jpg" ? "jpeg" : extension == "tif" ? "tiff" : extension;
      expect_error([&] { writer->commit(); }, ErrorCode::shape, op, path,
                   "must have all its rows before it is complete; given 5, expected 8");
      writer->write(contiguous(data.data(), {3, 8, 3}, DType::uint8));
    }
    EXPECT_EQ(folder_.names(), Names{});
  }
}

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

TEST_F(OutputFileTest, RemovesTheFileOfAKilledProcessAndNoOther) {
  std::filesystem::path left;
  {
    const OutputFile file(path_);
    left = file.temporary();
  }
  write_bytes(left, "of a process that was killed");
  OutputFile first(path_), second(path_);
  EXPECT_NE(first.temporary(), second.temporary());
  first.write("first", 5);
  second.write("second", 6);
  second.commit();
  EXPECT_EQ(read_bytes(path_), "second");
  first.commit();
  EXPECT_EQ(read_bytes(path_), "first");
  EXPECT_EQ(folder_.names(), Names{"x.bin"});
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
