// SPDX-License-Identifier: Apache-2.0
// Tests files with false headers, truncated files, and files with elements of refused types.
#include "formats/npy.hpp"
#include "tests/formats/support.hpp"

namespace patchfold::formats {
namespace {

using namespace test;
using namespace std::string_literals;

struct Case {
  std::string name;
  std::string bytes;
  ErrorCode code;
  std::string fragment;
};

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

const ErrorCode format = ErrorCode::file_format;
const ErrorCode unsupported = ErrorCode::file_unsupported;
const std::string entries = "must have a header with the entries 'descr', 'fortran_order' and 'shape', each once";
const std::string dictionary = "must have a Python dictionary as its header";
const std::string extents = "must have a 'shape' that is a tuple of numbers from 0";
const std::string size = "has a shape whose size does not fit into 63 bits";
const std::string unknown = "has an element type that is not known";
const std::string objects = "holds Python objects, which cannot be moved as bytes";
const std::string too_wide = "has elements of more than 2147483647 bytes";
const std::string field = "must describe each field of a record as (name, type) or (name, type, shape)";

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
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
  return all;
}

TEST(NpyHostile, EveryCaseIsTheErrorThatItShouldBe) {
  const TempFolder folder;
  const auto path = folder / "x.npy";
  for (const auto& [name, bytes, code, fragment] : cases()) {
    SCOPED_TRACE(name);
    write_bytes(path, bytes);
    expect_error([&] { read_npy(path); }, code, "npy", path, fragment);
  }
}

}  // namespace
}  // namespace patchfold::formats
