// SPDX-License-Identifier: Apache-2.0
#include "formats/npy_header.hpp"

#include "tests/formats/support.hpp"

namespace patchfold::formats {
namespace {

using namespace test;
using namespace std::string_literals;

NpyHeader parse(const std::string& file) {
  const std::filesystem::path path = "x.npy";
  return parse_npy_header(std::as_bytes(std::span(file)), {"npy", path});
}

std::string descr_of(std::string_view descr) {
  return parse(npy_file(npy_dictionary(descr, "()"), "")).type.descr;
}

// Compares with the header that NumPy 2.4 writes.
TEST(NpyHeader, IsNumPysByteForByte) {
  EXPECT_EQ(npy_header({2, 3}, element_type(DType::float32)),
            "\x93NUMPY\x01\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"s + std::string(58, ' ') + "\n");
  EXPECT_EQ(npy_header({}, element_type(DType::float64)),
            "\x93NUMPY\x01\0v\0{'descr': '<f8', 'fortran_order': False, 'shape': (), }"s + std::string(62, ' ') + "\n");
  EXPECT_EQ(npy_header({2}, {DType::opaque, 4, "[('\xC3\xA9', '<f4')]"}),
            "\x93NUMPY\x01\0v\0{'descr': [('\xE9', '<f4')], 'fortran_order': False, 'shape': (2,), }"s +
                std::string(51, ' ') + "\n");
  EXPECT_EQ(npy_header({2}, {DType::opaque, 4, "[('\xE9\x9B\xAA', '<f4')]"}),
            "\x93NUMPY\x03\0t\0\0\0{'descr': [('\xE9\x9B\xAA', '<f4')], 'fortran_order': False, 'shape': (2,), }"s +
                std::string(47, ' ') + "\n");
}

TEST(NpyHeader, IsAlwaysAMultipleOf64) {
  for (std::int64_t extent = 1; extent < 1000000000000000000; extent *= 10)
    for (int rank = 0; rank <= max_rank; ++rank)
      EXPECT_EQ(npy_header(Dims::filled(rank, extent), element_type(DType::complex128)).size() % 64, 0U);
}

TEST(NpyHeader, LongerThan65535BytesIsVersion2) {
  std::string descr = "[";
  for (int i = 0; i < 5000; ++i) descr += (i ? ", ('f" : "('f") + std::to_string(i) + "', '|u1')";
  const ElementType type{DType::opaque, 5000, descr + "]"};
  const std::string header = npy_header({7}, type);
  EXPECT_EQ(header[6], 2);
  EXPECT_EQ(header.size() % 64, 0U);
  const NpyHeader read = parse(header);
  EXPECT_EQ(read.bytes, header.size());
  EXPECT_EQ(read.type.size, 5000U);
  EXPECT_EQ(read.type.descr, type.descr);
  EXPECT_EQ(read.shape, Dims{7});
}

TEST(NpyHeader, ReadsVersions1To3) {
  for (const int major : {1, 2, 3}) {
    const std::string file = npy_file(npy_dictionary("'<i2'", "(4, 5)", true), "", major);
    const NpyHeader header = parse(file);
    EXPECT_EQ(header.type.descr, "'<i2'");
    EXPECT_EQ(header.shape, (Dims{4, 5}));
    EXPECT_TRUE(header.fortran_order);
    EXPECT_EQ(header.bytes, file.size());
  }
}

TEST(NpyHeader, TakesEntriesInAnyOrderAndSpacing) {
  for (const auto* text : {"{'shape': (3L, 4L), 'descr': '<f4', 'fortran_order': False}",
                           "{\"fortran_order\":False,\"shape\":(3,4),\"descr\":\"<f4\"}",
                           "{ 'descr' : ('<f4') , 'shape' : ( 3 , 4 , ) ,\n 'fortran_order' : False , }\n\n"}) {
    const NpyHeader header = parse(npy_file(text, ""));
    EXPECT_EQ(header.shape, (Dims{3, 4}));
    EXPECT_EQ(header.type.descr, "'<f4'");
  }
}

TEST(NpyHeader, NeedsNoPadding) {
  const std::string text = npy_dictionary("'<f4'", "(1,)");
  EXPECT_EQ(parse("\x93NUMPY\x01\0"s + static_cast<char>(text.size()) + '\0' + text).bytes, text.size() + 10);
}

TEST(NpyHeader, WritesDescrInNativeOrderAndPythonsSpacing) {
  EXPECT_EQ(descr_of("'>f8'"), "'<f8'");
  EXPECT_EQ(descr_of("'=i4'"), "'<i4'");
  EXPECT_EQ(descr_of("'i4'"), "'<i4'");
  EXPECT_EQ(descr_of("'<u1'"), "'|u1'");
  EXPECT_EQ(descr_of("'<V2'"), "'|V2'");
  EXPECT_EQ(descr_of("'a5'"), "'|S5'");
  EXPECT_EQ(descr_of("'>U5'"), "'<U5'");
  EXPECT_EQ(descr_of("'>M8[25s]'"), "'<M8[25s]'");
  EXPECT_EQ(descr_of("'>m8'"), "'<m8'");
  EXPECT_EQ(descr_of("[ ('a' ,'>f4'),('b','>i2',(2,)),('c','|S3',4) ]"),
            "[('a', '<f4'), ('b', '<i2', (2,)), ('c', '|S3', (4,))]");
  EXPECT_EQ(descr_of("[(('title','name'),[('x','>c8',(2,3))],()),('','|V4')]"),
            "[(('title', 'name'), [('x', '<c8', (2, 3))], ()), ('', '|V4')]");
}

TEST(NpyHeader, NamesOutsideAsciiSurvive) {
  const NpyHeader latin = parse(npy_file(npy_dictionary("[('\xE9', '<f4')]", "()"), ""));
  EXPECT_EQ(latin.type.descr, "[('\xC3\xA9', '<f4')]");
  const NpyHeader snow = parse(npy_file(npy_dictionary("[('\xE9\x9B\xAA', '<f4')]", "()"), "", 3));
  EXPECT_EQ(snow.type.descr, "[('\xE9\x9B\xAA', '<f4')]");
}

TEST(NpyHeader, KnowsEveryElementType) {
  const struct {
    std::string_view descr;
    DType dtype;
    std::size_t size;
  } cases[] = {
      {"'|b1'", DType::boolean, 1},
      {"'|i1'", DType::int8, 1},
      {"'<i2'", DType::int16, 2},
      {"'<i4'", DType::int32, 4},
      {"'<i8'", DType::int64, 8},
      {"'|u1'", DType::uint8, 1},
      {"'<u2'", DType::uint16, 2},
      {"'<u4'", DType::uint32, 4},
      {"'<u8'", DType::uint64, 8},
      {"'<f2'", DType::float16, 2},
      {"'<f4'", DType::float32, 4},
      {"'<f8'", DType::float64, 8},
      {"'<c8'", DType::complex64, 8},
      {"'<c16'", DType::complex128, 16},
      {"'<f16'", DType::opaque, 16},
      {"'<c32'", DType::opaque, 32},
      {"'|S7'", DType::opaque, 7},
      {"'<U3'", DType::opaque, 12},
      {"'|V5'", DType::opaque, 5},
      {"'<M8[ns]'", DType::opaque, 8},
      {"'<m8[D]'", DType::opaque, 8},
      {"[('a', '<f4')]", DType::opaque, 4},
      {"[('a', '<f4', (2, 3)), ('b', '|b1')]", DType::opaque, 25},
  };
  for (const auto& [descr, dtype, size] : cases) {
    const ElementType type = element_type(parse(npy_file(npy_dictionary(descr, "()"), "")).type);
    EXPECT_EQ(type.dtype, dtype) << descr;
    EXPECT_EQ(type.size, size) << descr;
    EXPECT_EQ(type.descr, descr);
  }
}

TEST(NpyHeader, EveryDtypeButOpaqueHasADescrOfItsSize) {
  for (const auto dtype : dtypes()) {
    const ElementType type = element_type(dtype);
    EXPECT_EQ(type.dtype, dtype);
    EXPECT_EQ(type.size, size_of(dtype));
    if (dtype == DType::opaque) continue;
    EXPECT_EQ(parse(npy_header({2}, type)).type.size, type.size);
    EXPECT_EQ(parse(npy_header({2}, type)).type.descr, type.descr);
  }
}

}  // namespace
}  // namespace patchfold::formats
