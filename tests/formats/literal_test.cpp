// SPDX-License-Identifier: Apache-2.0
#include "formats/literal.hpp"

#include <gtest/gtest.h>

namespace patchfold::formats {
namespace {

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
