// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "formats/output_file.hpp"
#include "tests/formats/support.hpp"

namespace patchfold::formats {
namespace {

using namespace test;
using namespace std::string_literals;

std::string counting(std::size_t bytes) {
  std::string data(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>(i * 7 + i / 251);
  return data;
}

class NpyWrite : public ::testing::Test {
 protected:
  void expect_round_trip(const ConstTensorView& view, const ElementType& type) {
    write_npy(path_, view, type);
    const auto read = read_npy(path_, type.dtype == DType::opaque ? std::optional<DType>() : type.dtype);
    EXPECT_EQ(read.view.shape, view.shape);
    EXPECT_EQ(read.type.descr, type.descr);
    EXPECT_EQ(read.view.dtype, type.dtype);
    EXPECT_EQ(elements_of(read.view), elements_of(view));
    EXPECT_EQ(folder_.names(), std::vector<std::string>{"x.npy"});
  }

  TempFolder folder_;
  std::filesystem::path path_ = folder_ / "x.npy";
};

TEST_F(NpyWrite, EveryTypeComesBack) {
  for (const auto dtype : dtypes()) {
    if (dtype == DType::opaque) continue;
    SCOPED_TRACE(name_of(dtype));
    const std::string data = counting(6 * size_of(dtype));
    expect_round_trip(contiguous(data.data(), {2, 3}, dtype), element_type(dtype));
  }
}

TEST_F(NpyWrite, OpaqueTypesKeepTheirName) {
  const std::string data = counting(6 * 33);
  const std::pair<std::size_t, std::string> types[] = {
      {3, "'|S3'"},
      {12, "'<U3'"},
      {8, "'<M8[ns]'"},
      {8, "'<m8[25s]'"},
      {5, "'|V5'"},
      {16, "'<f16'"},
      {32, "'<c32'"},
      {33, "[('a', '<f8', (2, 2)), ('', '|V1')]"},
      {4, "[('\xC3\xA9', '<f4')]"},
      {4, "[('\xE9\x9B\xAA', '<f4')]"},
  };
  for (const auto& [size, descr] : types)
    expect_round_trip(contiguous_opaque(data.data(), {2, 3}, size), {DType::opaque, size, descr});
}

TEST_F(NpyWrite, NoAxesAndNoElements) {
  const std::string data = counting(8);
  expect_round_trip(contiguous(data.data(), {}, DType::float64), element_type(DType::float64));
  expect_round_trip(contiguous(data.data(), {3, 0, 5}, DType::float64), element_type(DType::float64));
  expect_round_trip({nullptr, {0}, {8}, DType::float64, 8}, element_type(DType::float64));
}

TEST_F(NpyWrite, AnyStrides) {
  const std::string data = counting(4096);
  for (const std::int64_t size : {1, 2, 3, 4, 7, 8, 16, 24}) {
    const ElementType type{DType::opaque, static_cast<std::size_t>(size), "'|V" + std::to_string(size) + "'"};
    const auto view = [&](std::int64_t offset, const Dims& shape, const Dims& strides) {
      return ConstTensorView{data.data() + offset, shape, strides, DType::opaque, type.size};
    };
    SCOPED_TRACE(size);
    expect_round_trip(view(0, {3, 4, 5}, {20 * size, 5 * size, size}), type);                 // row-major
    expect_round_trip(view(0, {5, 4, 3}, {size, 5 * size, 20 * size}), type);                 // transposed
    expect_round_trip(view(59 * size, {3, 4, 5}, {-20 * size, -5 * size, -size}), type);      // reversed
    expect_round_trip(view(0, {3, 4, 5}, {0, 0, 0}), type);                                   // one element
    expect_round_trip(view(0, {3, 4, 5}, {20 * size, 0, size}), type);                        // rows repeated
    expect_round_trip(view(1, {3, 2, 5}, {41 * size + 1, 10 * size, 2 * size + 1}), type);    // unaligned gaps
    expect_round_trip(view(0, {3, 1, 4, 5, 1}, {24 * size, 777, 5 * size, size, -3}), type);  // extents of 1
    expect_round_trip(view(0, {40}, {2 * size}), type);
  }
}

TEST_F(NpyWrite, MoreThanABuffer) {
  std::vector<std::uint32_t> data(3 << 20);
  std::iota(data.begin(), data.end(), 0U);
  const auto type = element_type(DType::uint32);
  expect_round_trip(view(data.data(), {3, 1 << 20}), type);
  expect_round_trip({data.data(), {1 << 20, 3}, {4, 4 << 20}, DType::uint32, 4}, type);
  expect_round_trip({data.data(), {3, 1000000}, {4 << 20, 4}, DType::uint32, 4}, type);
}

TEST_F(NpyWrite, ForeignFilesAreWrittenBackInNativeOrder) {
  write_bytes(path_, npy_file(npy_dictionary("'>i4'", "(2,)"), "abcdefgh"));
  const auto foreign = read_npy(path_);
  write_npy(path_, foreign.view, foreign.type);
  EXPECT_EQ(read_bytes(path_).substr(0, 26), "\x93NUMPY\x01\0v\0{'descr': '<i4', "s.substr(0, 26));
  EXPECT_EQ(elements_of(read_npy(path_).view), "dcbahgfe");
}

TEST_F(NpyWrite, OverTheFileThatIsBeingRead) {
  const std::string data = counting(1 << 16);
  write_npy(path_, contiguous(data.data(), {256, 256}, DType::uint8), element_type(DType::uint8));
  const auto tensor = read_npy(path_);
  const ConstTensorView transposed{tensor.view.data, {256, 256}, {1, 256}, DType::uint8, 1};
  const std::string expected = elements_of(transposed);
  write_npy(path_, transposed, element_type(DType::uint8));
  EXPECT_EQ(elements_of(read_npy(path_).view), expected);
  EXPECT_EQ(elements_of(tensor.view), data);
}

TEST_F(NpyWrite, SizeMustBeTheTypes) {
  const std::string data = counting(8);
  expect_error([&] { write_npy(path_, contiguous(data.data(), {2}, DType::float32), element_type(DType::float64)); },
               ErrorCode::dtype, "npy", path_,
               "must be written with elements of the tensor's size; given 8 bytes for '<f8', expected 4 bytes");
  EXPECT_TRUE(folder_.names().empty());
}

TEST_F(NpyWrite, OutputIsComputedIntoTheFile) {
  {
    NpyOutput output(path_, {2, 3}, element_type(DType::uint16));
    EXPECT_EQ(output.view().shape, (Dims{2, 3}));
    EXPECT_EQ(output.view().strides, (Dims{6, 2}));
    EXPECT_EQ(output.view().dtype, DType::uint16);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(output.view().data) % 64, 0U);
    std::memcpy(output.view().data, "abcdefghijkl", 12);
    EXPECT_FALSE(std::filesystem::exists(path_));
    output.commit();
  }
  EXPECT_EQ(elements_of(read_npy(path_).view), "abcdefghijkl");
  EXPECT_EQ(read_bytes(path_).size(), 128U + 12U);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"x.npy"});
}

TEST_F(NpyWrite, OutputOfNoElements) {
  NpyOutput output(path_, {0, 7}, element_type(DType::float32));
  EXPECT_NE(output.view().data, nullptr);
  output.commit();
  EXPECT_EQ(read_npy(path_).view.shape, (Dims{0, 7}));
}

TEST_F(NpyWrite, OutputOfImpossibleSize) {
  const auto attempt = [&](const Dims& shape) { NpyOutput output(path_, shape, element_type(DType::float32)); };
  const std::string_view rule = "has a shape whose size does not fit into 63 bits";
  expect_error([&] { attempt({std::int64_t{1} << 62}); }, ErrorCode::overflow, "npy", path_, rule);
  expect_error([&] { attempt({(std::int64_t{1} << 61) - 1}); }, ErrorCode::overflow, "npy", path_, rule);
  expect_error([&] { attempt({-1}); }, ErrorCode::overflow, "npy", path_, rule);
  expect_error([&] { attempt({std::int64_t{1} << 60}); }, ErrorCode::file_write, "npy", path_,
               "cannot be made 4611686018427388032 bytes long");
  EXPECT_TRUE(folder_.names().empty());
}

}  // namespace
}  // namespace patchfold::formats
