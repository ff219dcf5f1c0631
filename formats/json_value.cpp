// SPDX-License-Identifier: Apache-2.0
#include "formats/json_value.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>

namespace patchfold::formats {
namespace {

using Nlohmann = nlohmann::json;

/// Builds the tree of values from the parser's events.
class Builder final : public nlohmann::json_sax<Nlohmann> {
 public:
  Builder(int most_depth, const JsonFilter& filter) : most_depth_(static_cast<std::size_t>(most_depth)), filter_(filter) {}

  JsonValue take() { return std::move(root_); }

  bool null() override { return put(JsonValue()); }
  bool boolean(bool value) override { return put(JsonValue(value)); }
  bool number_integer(std::int64_t value) override { return put(JsonValue(value)); }
  bool number_unsigned(std::uint64_t value) override {
    return put(value <= std::uint64_t{INT64_MAX} ? JsonValue(static_cast<std::int64_t>(value)) : JsonValue(value));
  }
  bool number_float(double value, const std::string&) override { return put(JsonValue(value)); }
  bool string(std::string& value) override { return put(JsonValue(std::move(value))); }
  bool binary(Nlohmann::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(JsonValue(JsonValue::Object())); }
  bool start_array(std::size_t) override { return open(JsonValue(JsonValue::Array())); }
  bool key(std::string& value) override {
    open_.back().key = std::move(value);
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t byte, const std::string&, const Nlohmann::exception& error) override {
    constexpr int number_out_of_range = 406;
    if (error.id == number_out_of_range) throw JsonError{JsonError::Kind::number};
    throw JsonError{JsonError::Kind::syntax, byte};
  }

 private:
  struct Open {
    JsonValue value{};
    std::string key{};
  };

  bool open(JsonValue value) {
    if (open_.size() >= most_depth_) throw JsonError{JsonError::Kind::depth};
    open_.push_back({std::move(value), {}});
    return true;
  }
  bool close() {
    JsonValue value = std::move(open_.back().value);
    open_.pop_back();
    return put(std::move(value));
  }
  bool put(JsonValue value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return true;
    }
    if (open_.size() == 2 && filter_ && !filter_(open_.front().key, value)) return true;
    Open& parent = open_.back();
    if (auto* list = parent.value.as<JsonValue::Array>())
      list->push_back(std::move(value));
    else
      parent.value.as<JsonValue::Object>()->insert_or_assign(std::move(parent.key), std::move(value));
    return true;
  }

  std::size_t most_depth_;
  const JsonFilter& filter_;
  std::vector<Open> open_{};
  JsonValue root_{};
};

}  // namespace

std::string quoted(const std::string& text, bool ascii) {
  return Nlohmann(text).dump(-1, ' ', ascii, Nlohmann::error_handler_t::replace);
}

std::string to_string(const JsonValue& value) {
  struct Writer {
    std::string operator()(std::monostate) const { return "null"; }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(std::uint64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return Nlohmann(number).dump(); }
    std::string operator()(const std::string& text) const { return quoted(text, true); }
    std::string operator()(const JsonValue::Array& list) const {
      std::string text = "[";
      for (const JsonValue& entry : list) text += (text.size() > 1 ? "," : "") + to_string(entry);
      return text + "]";
    }
    std::string operator()(const JsonValue::Object& object) const {
      std::string text = "{";
      for (const auto& [key, entry] : object)
        text += (text.size() > 1 ? "," : "") + quoted(key, true) + ":" + to_string(entry);
      return text + "}";
    }
  };
  return value.visit(Writer());
}

JsonValue parse_json(std::string_view text, int most_depth, const JsonFilter& filter) {
  Builder builder(most_depth, filter);
  Nlohmann::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace patchfold::formats
