// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "formats/literal.hpp"
#include "formats/npy_header.hpp"
#include "formats/output_file.hpp"
#include "tests/formats/support.hpp"

namespace patchfold::formats {
namespace {

using namespace test;
using namespace std::string_literals;

class NpyRead : public ::testing::Test {
 protected:
  LoadedTensor read(std::string_view descr, std::string_view shape, std::string_view data, bool fortran_order = false,
                    int major = 1) {
    write_bytes(path_, npy_file(npy_dictionary(descr, shape, fortran_order), data, major));
    return read_npy(path_);
  }
  LoadedTensor read_as(std::string_view descr, std::string_view data, DType dtype) {
    write_bytes(path_, npy_file(npy_dictionary(descr, "(2,)"), data));
    return read_npy(path_, dtype);
  }

  TempFolder folder_;
  std::filesystem::path path_ = folder_ / "x.npy";
};

TEST_F(NpyRead, ShowsTheFileItself) {
  const auto tensor = read("'<f4'", "(2, 3)", bytes_of(std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(tensor.view.dtype, DType::float32);
  EXPECT_EQ(tensor.view.element_size, 4U);
  EXPECT_EQ(tensor.view.shape, (Dims{2, 3}));
  EXPECT_EQ(tensor.view.strides, (Dims{12, 4}));
  EXPECT_EQ(tensor.type.descr, "'<f4'");
  EXPECT_EQ(elements_of(tensor.view), bytes_of(std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST_F(NpyRead, EveryVersionGivesTheSame) {
  for (const int major : {1, 2, 3}) EXPECT_EQ(elements_of(read("'<u2'", "(3,)", "abcdef", false, major).view), "abcdef");
}

TEST_F(NpyRead, FortranOrderIsAMatterOfStrides) {
  const auto tensor = read("'|u1'", "(2, 3, 2)", "abcdefghijkl", true);
  EXPECT_EQ(tensor.view.strides, (Dims{1, 2, 6}));
  EXPECT_EQ(elements_of(tensor.view), "agciekbhdjfl");
}

TEST_F(NpyRead, NoAxesAndNoElements) {
  EXPECT_EQ(elements_of(read("'<i8'", "()", bytes_of<std::int64_t>(-5)).view), bytes_of<std::int64_t>(-5));
  EXPECT_EQ(read("'<i8'", "()", bytes_of<std::int64_t>(-5)).view.shape, Dims{});
  for (const auto* shape : {"(0,)", "(3, 0, 5)", "(0, 1000000000000, 1000000)"}) {
    const auto tensor = read("'<f8'", shape, "");
    EXPECT_EQ(element_count(tensor.view.shape), 0);
    EXPECT_NE(tensor.view.data, nullptr);
  }
  EXPECT_EQ(read("'>f8'", "(3, 0, 5)", "").view.shape, (Dims{3, 0, 5}));
}

TEST_F(NpyRead, MostAxes) {
  std::string shape;
  for (int i = 0; i < max_rank; ++i) shape += "1,";
  EXPECT_EQ(read("'|u1'", "(" + shape + ")", "x").view.shape, Dims::filled(max_rank, 1));
}

TEST_F(NpyRead, IgnoresWhatFollowsTheData) {
  EXPECT_EQ(elements_of(read("'|u1'", "(2,)", "ab and more").view), "ab");
}

TEST_F(NpyRead, TurnsForeignBytesAround) {
  EXPECT_EQ(elements_of(read("'>i2'", "(2,)", "abcd").view), "badc");
  EXPECT_EQ(elements_of(read("'>u4'", "(2,)", "abcdefgh").view), "dcbahgfe");
  EXPECT_EQ(elements_of(read("'>f8'", "(1,)", "abcdefgh").view), "hgfedcba");
  EXPECT_EQ(elements_of(read("'>f2'", "(1,)", "ab").view), "ba");
  EXPECT_EQ(elements_of(read("'>c8'", "(1,)", "abcdefgh").view), "dcbahgfe");
  EXPECT_EQ(elements_of(read("'>c16'", "(1,)", "abcdefghABCDEFGH").view), "hgfedcbaHGFEDCBA");
  EXPECT_EQ(elements_of(read("'>f16'", "(1,)", "abcdefghABCDEFGH").view), "HGFEDCBAhgfedcba");
  EXPECT_EQ(elements_of(read("'>U2'", "(1,)", "\0\0\0a\0\0\0b"s).view), "a\0\0\0b\0\0\0"s);
  EXPECT_EQ(elements_of(read("'>M8[ns]'", "(1,)", "abcdefgh").view), "hgfedcba");
  EXPECT_EQ(elements_of(read("'>m8[s]'", "(1,)", "abcdefgh").view), "hgfedcba");
}

TEST_F(NpyRead, LeavesSingleBytesAsTheyAre) {
  for (const auto* descr : {"'>S4'", "'>V4'", "'|S4'", "'<S4'"})
    EXPECT_EQ(elements_of(read(descr, "(2,)", "abcdefgh").view), "abcdefgh");
  for (const auto* descr : {"'>u1'", "'>i1'", "'>b1'"}) EXPECT_EQ(elements_of(read(descr, "(2,)", "ab").view), "ab");
}

TEST_F(NpyRead, ForeignAndFortranTogether) {
  const auto tensor = read("'>u2'", "(2, 2)", "abcdefgh", true);
  EXPECT_EQ(elements_of(tensor.view), "bafedchg");
  EXPECT_EQ(tensor.type.descr, "'<u2'");
}

TEST_F(NpyRead, RecordsAreOpaque) {
  const auto tensor = read("[('a', '<f4'), ('b', '|S3')]", "(2,)", "abcdXYZefghUVW");
  EXPECT_EQ(tensor.view.dtype, DType::opaque);
  EXPECT_EQ(tensor.view.element_size, 7U);
  EXPECT_EQ(tensor.type.descr, "[('a', '<f4'), ('b', '|S3')]");
  EXPECT_EQ(elements_of(tensor.view), "abcdXYZefghUVW");
}

TEST_F(NpyRead, ForeignFieldsOfRecordsAreTurnedAround) {
  const auto tensor = read("[('a', '>i2', (2,)), ('b', '<i2'), ('c', [('d', '>u4'), ('e', '|S1')], (2,))]", "(2,)",
                           "abcdefghijKlmnoPABCDEFGHIJkLMNOp");
  EXPECT_EQ(elements_of(tensor.view), "badcefjihgKonmlPBADCEFJIHGkONMLp");
  EXPECT_EQ(tensor.type.descr, "[('a', '<i2', (2,)), ('b', '<i2'), ('c', [('d', '<u4'), ('e', '|S1')], (2,))]");
}

TEST_F(NpyRead, EmptyForeignFieldsTakeNoTime) {
  const auto tensor = read("[('a', [('x', '>U0')], (2000000000,)), ('b', '>i2')]", "(1,)", "ab");
  EXPECT_EQ(elements_of(tensor.view), "ba");
}

TEST_F(NpyRead, ReinterpretsRawBytesAndIntegers) {
  for (const auto* descr : {"'|V2'", "'<V2'", "'<u2'", "'<i2'"}) {
    const auto tensor = read_as(descr, "abcd", DType::bfloat16);
    EXPECT_EQ(tensor.view.dtype, DType::bfloat16);
    EXPECT_EQ(tensor.type.dtype, DType::bfloat16);
    EXPECT_EQ(tensor.type.descr, "'|V2'");
    EXPECT_EQ(elements_of(tensor.view), "abcd");
  }
  for (const auto* descr : {"'|V1'", "'|u1'", "'|i1'"})
    for (const auto dtype : {DType::float8_e4m3fn, DType::float8_e4m3fnuz, DType::float8_e5m2, DType::float8_e5m2fnuz})
      EXPECT_EQ(read_as(descr, "ab", dtype).view.dtype, dtype);
  EXPECT_EQ(elements_of(read_as("'>u2'", "abcd", DType::bfloat16).view), "badc");
  EXPECT_EQ(read_as("'<f4'", "abcdefgh", DType::float32).type.descr, "'<f4'");
  EXPECT_EQ(read_as("'<f4'", "abcdefgh", DType::opaque).view.dtype, DType::opaque);
  EXPECT_EQ(read_as("'<f4'", "abcdefgh", DType::opaque).type.descr, "'<f4'");
}

TEST_F(NpyRead, RefusesToReinterpretOtherTypes) {
  const auto refuse = [&](std::string_view descr, DType dtype) {
    expect_error([&] { read_as(descr, std::string(64, 'x'), dtype); }, ErrorCode::file_unsupported, "npy", path_,
                 "must hold raw bytes or integers of the same size to be read as another type; given " + std::string(descr));
  };
  refuse("'|V1'", DType::bfloat16);
  refuse("'<f2'", DType::bfloat16);
  refuse("'<f4'", DType::float64);
  refuse("'|S2'", DType::bfloat16);
  refuse("'|b1'", DType::float8_e5m2);
  refuse("[('a', '|V2')]", DType::bfloat16);
}

TEST_F(NpyRead, ViewOutlivesTheFileAndItsName) {
  auto tensor = read("'|u1'", "(3,)", "abc");
  std::filesystem::remove(path_);
  const LoadedTensor copy = tensor;
  tensor = {};
  EXPECT_EQ(elements_of(copy.view), "abc");
}

TEST_F(NpyRead, FilesThatCannotBeOpened) {
  const auto missing = folder_ / "missing.npy";
  expect_error([&] { read_npy(missing); }, ErrorCode::file_open, "npy", missing,
               "cannot be opened: No such file or directory");
  expect_error([&] { read_npy(folder_.path()); }, ErrorCode::file_open, "npy", folder_.path(),
               "must be a regular file; given a folder");
  const auto pipe = folder_ / "pipe.npy";
  make_pipe(pipe);
  expect_error([&] { read_npy(pipe); }, ErrorCode::file_open, "npy", pipe, "must be a regular file; given a pipe");
  expect_error([&] { read_npy("/dev/zero"); }, ErrorCode::file_open, "npy", "/dev/zero",
               "must be a regular file; given a device");
  const auto loop = folder_ / "loop.npy";
  std::filesystem::create_symlink(loop, loop);
  expect_error([&] { read_npy(loop); }, ErrorCode::file_open, "npy", loop, "cannot be opened");
  expect_error([&] { read_npy(""); }, ErrorCode::file_open, "npy", "", "cannot be opened");
}

NpyHeader parse(const std::string& file) {
  const std::filesystem::path path = "x.npy";
  return parse_npy_header(std::as_bytes(std::span(file)), {"npy", path});
}

std::string descr_of(std::string_view descr) {
  return parse(npy_file(npy_dictionary(descr, "()"), "")).type.descr;
}

// Compares headers with those that NumPy 2.4 writes.
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

using Kind = Literal::Kind;

TEST(Literal, ReadsEveryKind) {
  EXPECT_EQ(parse_literal("'a b'").text(), "a b");
  EXPECT_EQ(parse_literal("\"it's\"").text(), "it's");
  EXPECT_EQ(parse_literal(R"('it\'s')").source, R"('it\'s')");
  EXPECT_EQ(parse_literal("-12").number, -12);
  EXPECT_EQ(parse_literal("9223372036854775807").number, 9223372036854775807);
  EXPECT_EQ(parse_literal("3L").number, 3);
  EXPECT_EQ(parse_literal("True").number, 1);
  EXPECT_EQ(parse_literal("False").kind, Kind::boolean);
  EXPECT_EQ(parse_literal("[1, [2], ('x',)]").items[2].items[0].text(), "x");
  EXPECT_EQ(parse_literal("{'a': 1, 'b': (),}").items.size(), 4U);
  EXPECT_EQ(parse_literal("{}").kind, Kind::dictionary);
  EXPECT_EQ(parse_literal(" \t\n( 1 ,2 )\r\n").items.size(), 2U);
}

TEST(Literal, BracketsWithoutACommaOnlyGroup) {
  EXPECT_EQ(parse_literal("(3)").kind, Kind::integer);
  EXPECT_EQ(parse_literal("(3,)").kind, Kind::tuple);
  EXPECT_EQ(parse_literal("()").kind, Kind::tuple);
  EXPECT_EQ(parse_literal("[3]").kind, Kind::list);
}

TEST(Literal, MayHaveThirtyTwoLevels) {
  for (const std::string innermost : {"", "1", "'a'"})
    EXPECT_NO_THROW(parse_literal(std::string(32, '[') + innermost + std::string(32, ']'))) << innermost;
}

TEST(Literal, SaysWhereAndWhatItExpected) {
  const struct {
    std::string source;
    std::size_t position;
    std::string_view expected;
  } cases[] = {
      {"", 0, "a value"},
      {"None", 0, "a value"},
      {"u'x'", 0, "a value"},
      {std::string(1, '\0'), 0, "a value"},
      {"'abc", 4, "the end of a string"},
      {"'abc\\", 5, "the end of a string"},
      {"'a\nb'", 2, "the end of a string"},
      {"-", 0, "an integer of 64 bits"},
      {"9223372036854775808", 0, "an integer of 64 bits"},
      {"1 2", 2, "the end of the header"},
      {"1.5", 1, "the end of the header"},
      {"(1 2)", 3, "',' or the closing bracket"},
      {"[1,,2]", 3, "a value"},
      {"(1, 2", 5, "',' or the closing bracket"},
      {"{'a' 1}", 5, "':'"},
      {"{'a': 1 'b': 2}", 8, "',' or '}'"},
      {"{'a': 1", 7, "',' or '}'"},
      {"{'a': }", 6, "a value"},
      {std::string(100000, '('), 32, "fewer levels of brackets"},
      {std::string(100000, '['), 32, "fewer levels of brackets"},
      {std::string(33, '[') + std::string(33, ']'), 32, "fewer levels of brackets"},
      {std::string(32, '[') + "{}" + std::string(32, ']'), 32, "fewer levels of brackets"},
  };
  for (const auto& [source, position, expected] : cases) {
    SCOPED_TRACE(source.substr(0, 40));
    try {
      parse_literal(source);
      ADD_FAILURE() << "no error";
    } catch (const LiteralError& error) {
      EXPECT_EQ(error.position, position);
      EXPECT_EQ(error.expected, expected);
    }
  }
}

}  // namespace
}  // namespace patchfold::formats
