// SPDX-License-Identifier: Apache-2.0
#include "formats/literal.hpp"

#include <charconv>

namespace patchfold::formats {
namespace {

constexpr int max_depth = 32;

class Parser {
 public:
  explicit Parser(std::string_view source) : source_(source) {}

  Literal whole() {
    Literal literal = value(0);
    skip_space();
    if (at_ != source_.size()) fail("the end of the header");
    return literal;
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const { throw LiteralError{at_, expected}; }
  char peek() const { return at_ < source_.size() ? source_[at_] : '\0'; }
  void skip_space() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++at_;
  }
  /// Skips spaces, and then `c` if it is the next character. Returns whether `c` was skipped.
  bool accept(char c) {
    skip_space();
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  bool accept_word(std::string_view word) {
    if (source_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Literal value(int depth) {
    skip_space();
    const char c = peek();
    if (depth == max_depth && (c == '(' || c == '[' || c == '{')) fail("fewer levels of brackets");
    if (c == '\'' || c == '"') return text();
    if (accept('(')) return sequence(Literal::Kind::tuple, ')', depth);
    if (accept('[')) return sequence(Literal::Kind::list, ']', depth);
    if (accept('{')) return dictionary(depth);
    if (c == '-' || (c >= '0' && c <= '9')) return integer();
    if (accept_word("True")) return {Literal::Kind::boolean, {}, 1, {}};
    if (accept_word("False")) return {Literal::Kind::boolean, {}, 0, {}};
    fail("a value");
  }

  Literal text() {
    const std::size_t begin = at_;
    const char quote = source_[at_++];
    while (peek() != quote) {
      if (peek() == '\\') ++at_;
      if (static_cast<unsigned char>(peek()) < ' ') fail("the end of a string");
      ++at_;
    }
    ++at_;
    return {Literal::Kind::text, source_.substr(begin, at_ - begin), 0, {}};
  }

  Literal integer() {
    Literal literal{Literal::Kind::integer, {}, 0, {}};
    const char* begin = source_.data() + at_;
    const auto [end, error] = std::from_chars(begin, source_.data() + source_.size(), literal.number);
    if (error != std::errc()) fail("an integer of 64 bits");
    at_ += static_cast<std::size_t>(end - begin);
    if (peek() == 'L') ++at_;
    return literal;
  }

  Literal sequence(Literal::Kind kind, char close, int depth) {
    Literal literal{kind, {}, 0, {}};
    bool comma = true;
    while (!accept(close)) {
      if (!comma) fail("',' or the closing bracket");
      literal.items.push_back(value(depth + 1));
      comma = accept(',');
    }
    // Without a comma, brackets around one value only group it; a tuple of one value has a comma.
    if (kind == Literal::Kind::tuple && literal.items.size() == 1 && !comma) {
      Literal only = std::move(literal.items.front());
      return only;
    }
    return literal;
  }

  Literal dictionary(int depth) {
    Literal literal{Literal::Kind::dictionary, {}, 0, {}};
    bool comma = true;
    while (!accept('}')) {
      if (!comma) fail("',' or '}'");
      literal.items.push_back(value(depth + 1));
      if (!accept(':')) fail("':'");
      literal.items.push_back(value(depth + 1));
      comma = accept(',');
    }
    return literal;
  }

  std::string_view source_;
  std::size_t at_ = 0;
};

}  // namespace

Literal parse_literal(std::string_view source) {
  return Parser(source).whole();
}

}  // namespace patchfold::formats
