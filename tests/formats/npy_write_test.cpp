// SPDX-License-Identifier: Apache-2.0
// Tests that false headers, truncated files and element types that are not supported are errors. Tests the bytes that
// writers write.
#include <numeric>

#include "formats/npy.hpp"
#include "formats/output_file.hpp"
#include "tests/formats/support.hpp"

namespace patchfold::formats {
namespace {

using namespace test;
using namespace std::string_literals;

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

std::string with_descr(std::string_view descr) {
  return npy_file(npy_dictionary(descr, "(2,)"), std::string(64, 'x'));
}
std::string with_shape(std::string_view shape) {
  return npy_file(npy_dictionary("'<f4'", shape), std::string(64, 'x'));
}

std::string deep_record(int depth) {
  std::string descr = "'<f4'";
  for (int i = 0; i < depth; ++i) descr = "[('a', " + descr + ")]";
  return descr;
}

std::string long_list(int fields) {
  std::string list = "[";
  for (int i = 0; i < fields; ++i) list += "('a','|u1'),";
  return list + "]";
}

std::string ones(int axes) {
  std::string shape;
  for (int i = 0; i < axes; ++i) shape += "1, ";
  return "(" + shape + ")";
}

const std::string entries = "must have a header with the entries 'descr', 'fortran_order' and 'shape', each once";
const std::string dictionary = "must have a Python dictionary as its header";
const std::string extents = "must have a 'shape' that is a tuple of numbers from 0";
const std::string size = "has a shape whose size does not fit into 63 bits";
const std::string unknown = "has an element type that is not known";
const std::string objects = "holds Python objects, which cannot be moved as bytes";
const std::string too_wide = "has elements of more than 2147483647 bytes";
const std::string field = "must describe each field of a record as (name, type) or (name, type, shape)";

TEST(NpyHostile, EveryCaseIsTheErrorThatItShouldBe) {
  const TempFolder folder;
  const std::vector<Damaged> files = {
      {"empty", "", format, "is cut short; given 0 bytes, expected at least 10 bytes"},
      {"part of the magic", "\x93NUM", format, "is cut short; given 4 bytes"},
      {"other magic", "GIF89a          ", format, "must start like a .npy file; given GIF89a"},
      {"other bytes", "\x93NUMPX\x01\0\0\0"s, format, "must start like a .npy file; given ?NUMPX"},
      {"text", "hello", format, "must start like a .npy file; given hello"},
      {"archive", "PK\x03\x04..........", unsupported, "is an archive (.npz), which is not read"},
      {"version 0", "\x93NUMPY\0\0\x02\0{}"s, unsupported, "must be of version 1.0, 2.0 or 3.0; given 0.0"},
      {"version 4", "\x93NUMPY\x04\0\x02\0{}"s, unsupported, "must be of version 1.0, 2.0 or 3.0; given 4.0"},
      {"version 1.1", "\x93NUMPY\x01\x01\x02\0{}"s, unsupported, "must be of version 1.0, 2.0 or 3.0; given 1.1"},
      {"version 255", "\x93NUMPY\xFF\xFF\x02\0{}"s, unsupported, "given 255.255"},
      {"no length", "\x93NUMPY\x01\0"s, format, "is cut short"},
      {"half a length", "\x93NUMPY\x02\0\x02\0\0"s, format, "is cut short; given 11 bytes, expected at least 12 bytes"},
      {"no header", "\x93NUMPY\x01\0\0\0"s, format, dictionary},
      {"header beyond the end", "\x93NUMPY\x01\0\xFF\xFF{}"s, format,
       "is cut short; given 12 bytes, expected at least 65545 bytes"},
      {"header of 4 GB", "\x93NUMPY\x02\0\xFF\xFF\xFF\xFF{}"s, format, "expected at least 4294967307 bytes"},
      {"header too long", npy_file(std::string(2 << 20, ' '), "", 2), unsupported, "has too long a header"},
      {"header of spaces", npy_file("   ", ""), format, dictionary + "; given the end at character 54, expected a value"},
      {"header of garbage", npy_file("\x80\xFF\0\x01"s, ""), format, dictionary + "; given ????"},
      {"header not UTF-8", npy_file("{'descr': '\xFF'}", "", 3), format, "must have a header in UTF-8"},
      {"header with half a character", npy_file("\xE9\x9B", "", 3), format, "must have a header in UTF-8"},
      {"header with a stray byte", npy_file("\x9B", "", 3), format, "must have a header in UTF-8"},
      {"header is a list", npy_file("[1, 2]", ""), format, entries},
      {"header is empty", npy_file("{}", ""), format, entries},
      {"header not closed", npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", ""), format, dictionary},
      {"header followed by more", npy_file(npy_dictionary("'<f4'", "()") + "x", ""), format,
       "expected the end of the header"},
      {"code", npy_file("__import__('os').abort()", ""), format, dictionary + "; given __import__"},
      {"brackets", npy_file(std::string(60000, '('), ""), format, "expected fewer levels of brackets"},
      {"entry missing", npy_file("{'descr': '<f4', 'fortran_order': False}", ""), format, entries},
      {"entry twice", npy_file("{'descr': '<f4', 'descr': '<f4', 'shape': ()}", ""), format, entries},
      {"entry unknown", npy_file("{'descr': '<f4', 'fortran_order': False, 'sharp': ()}", ""), format, entries},
      {"entry too many", npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}", ""), format, entries},
      {"entry is a number", npy_file("{1: '<f4', 'fortran_order': False, 'shape': ()}", ""), format, entries},
      {"order is a number", npy_file("{'descr': '<f4', 'fortran_order': 1, 'shape': ()}", ""), format,
       "must have a 'fortran_order'"},
      {"order is None", npy_file("{'descr': '<f4', 'fortran_order': None, 'shape': ()}", ""), format, "given None"},

      {"shape is a number", with_shape("(2)"), format, extents},
      {"shape is a list", with_shape("[2]"), format, extents},
      {"shape of text", with_shape("('2',)"), format, extents},
      {"shape of booleans", with_shape("(True,)"), format, extents},
      {"shape is negative", with_shape("(-1,)"), format, extents},
      {"shape is nested", with_shape("((2,),)"), format, extents},
      {"extent of 64 bits", with_shape("(9223372036854775808,)"), format, "expected an integer of 64 bits"},
      {"extent of many digits", with_shape("(" + std::string(500, '9') + ",)"), format, "expected an integer of 64 bits"},
      {"size of 65 bits", with_shape("(9223372036854775807,)"), format, size},
      {"size of 63 bits", with_shape("(2305843009213693951,)"), format, "is cut short"},
      {"size that wraps to 0", with_shape("(4294967296, 4294967296)"), format, size},
      {"size that wraps to 4", with_shape("(4611686018427387905,)"), format, size},
      {"size that overflows but for a 0", with_shape("(9223372036854775807, 9223372036854775807, 0)"), format, size},
      {"33 axes", with_shape(ones(33)), unsupported, "has too many axes; given 33, expected at most 32"},
      {"20000 axes", with_shape(ones(20000)), unsupported, "has too many axes; given 20000, expected at most 32"},
      {"data missing", npy_file(npy_dictionary("'<f4'", "(2,)"), ""), format,
       "is cut short; given 0 bytes of data, expected 8 bytes"},
      {"data short", npy_file(npy_dictionary("'<f4'", "(2,)"), "1234567"), format,
       "is cut short; given 7 bytes of data, expected 8 bytes"},

      {"objects", with_descr("'|O'"), unsupported, objects},
      {"objects with a size", with_descr("'|O8'"), unsupported, objects},
      {"objects in a record", with_descr("[('a', '<f4'), ('o', '|O')]"), unsupported, objects},
      {"objects in a nested record", with_descr("[('a', [('o', 'O')], (0,))]"), unsupported, objects},
      {"type without a name", with_descr("''"), format, "must name an element type"},
      {"type of only an order", with_descr("'<'"), format, "must name an element type"},
      {"type is a number", with_descr("4"), format, "must have a 'descr' that is a string or a list of fields"},
      {"type is a tuple", with_descr("('<f4', (2,))"), format, "must have a 'descr' that is a string or a list of fields"},
      {"type in words", with_descr("'float32'"), unsupported, unknown},
      {"type of other size", with_descr("'<f3'"), unsupported, unknown},
      {"type with an exponent", with_descr("'<f4e'"), unsupported, unknown},
      {"type of negative size", with_descr("'|V-4'"), unsupported, unknown},
      {"type of text", with_descr("'|T16'"), unsupported, unknown},
      {"type with a bad unit", with_descr("'<M8[n\"s]'"), unsupported, unknown},
      {"type with half a unit", with_descr("'<M8[ns'"), unsupported, unknown},
      {"type with an escape", with_descr("'<\\x664'"), unsupported, unknown},
      {"type not in ASCII", with_descr("'\xE9'"), unsupported, unknown + "; given ??"},
      {"element of no bytes", with_descr("'|S0'"), unsupported, "has elements of zero bytes; given '|S0'"},
      {"record of no fields", with_descr("[]"), unsupported, "has elements of zero bytes; given []"},
      {"element of 2 GB", with_descr("'|V2147483648'"), unsupported, too_wide},
      {"element of 64 bits", with_descr("'|V18446744073709551616'"), unsupported, too_wide},
      {"text of 2 GB", with_descr("'<U536870912'"), unsupported, too_wide},
      {"text of 65 bits", with_descr("'<U4611686018427387904'"), unsupported, too_wide},
      {"field of 2 GB", with_descr("[('a', '<f8', (268435456,))]"), unsupported, too_wide},
      {"field of 65 bits", with_descr("[('a', '<f8', (4294967296, 4294967296))]"), unsupported, too_wide},
      {"record of 2 GB", with_descr("[('a', '|V2147483647'), ('b', '|u1')]"), unsupported, too_wide},
      {"field without a type", with_descr("[('a',)]"), format, field},
      {"field of four", with_descr("[('a', '<f4', (1,), 2)]"), format, field},
      {"field is text", with_descr("['<f4']"), format, field},
      {"field name is a number", with_descr("[(1, '<f4')]"), format, field},
      {"field title is a number", with_descr("[((1, 'a'), '<f4')]"), format, field},
      {"field shape is negative", with_descr("[('a', '<f4', (-1,))]"), format,
       "must give the shape of a field as a tuple of numbers"},
      {"field shape is text", with_descr("[('a', '<f4', 'b')]"), format,
       "must give the shape of a field as a tuple of numbers"},
      {"field type is a number", with_descr("[('a', 4)]"), format,
       "must have a 'descr' that is a string or a list of fields"},
      {"deep record", with_descr(deep_record(40)), format, "expected fewer levels of brackets"},
      {"long record", npy_file(npy_dictionary(long_list(20000), "(2,)"), "x", 2), format,
       "is cut short; given 1 byte of data, expected 40000 bytes"},
  };
  expect_errors(
      folder / "x.npy", "npy", [](const auto& file) { read_npy(file); }, files);
}

}  // namespace
}  // namespace patchfold::formats
