// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/tiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "formats/rows.hpp"

namespace patchfold::cli_test {

std::vector<std::byte> noise(std::size_t bytes) {
  std::vector<std::byte> values(bytes);
  std::uint32_t state = 1;
  for (auto& value : values) value = static_cast<std::byte>((state = state * 1664525 + 1013904223) >> 24);
  return values;
}

Array random_array(const Dims& shape, DType dtype) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  if (dtype != DType::float32) return {shape, dtype, noise(count * size_of(dtype))};
  const auto values = noise(count);
  Array array{shape, dtype, std::vector<std::byte>(count * sizeof(float))};
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(values[i]);
    std::memcpy(array.bytes.data() + i * sizeof(float), &value, sizeof(float));
  }
  return array;
}

void write_array(const Folder& folder, const std::string& name, const Array& array) {
  const auto writer = formats::create_rows(folder.path(name), array.shape, formats::element_type(array.dtype));
  writer->write(contiguous(array.bytes.data(), array.shape, array.dtype));
  writer->commit();
}

Array read_array(const Folder& folder, const std::string& name) {
  const auto reader = formats::open_rows(folder.path(name));
  Array array{reader->shape(), reader->type().dtype, {}};
  array.bytes.resize(static_cast<std::size_t>(reader->row_bytes() * array.shape[0]));
  reader->read(array.shape[0], array.bytes.data());
  return array;
}

std::string entries_of(const Folder& folder, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path(name)))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  std::string text;
  for (const auto& each : names) text += (text.empty() ? "" : " ") + each;
  return text;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " > /dev/null 2>&1").c_str()) == 0;
}

std::string run_well(const Folder& folder, const std::string& command) {
  const Outcome outcome = folder.run(command);
  EXPECT_EQ(outcome.code, 0) << command << "\n" << outcome.err << outcome.signal;
  // A command prints the requested result or a report, never both.
  EXPECT_TRUE(outcome.out.empty() || outcome.err.empty()) << command << "\n" << outcome.out << outcome.err;
  return outcome.out + outcome.err;
}

void run_badly(const Folder& folder, const std::string& command, const std::vector<std::string>& fragments, int code) {
  const std::string before = folder.entries();
  const Outcome outcome = folder.run(command);
  EXPECT_EQ(outcome.code, code) << command << "\nsignal " << outcome.signal << outcome.err;
  EXPECT_EQ(outcome.out, "") << command;
  EXPECT_TRUE(outcome.err.starts_with("patchfold: ") && count_of(outcome.err, "\n") == 1) << command << "\n" << outcome.err;
  for (const auto& fragment : fragments)
    EXPECT_NE(outcome.err.find(fragment), std::string::npos) << fragment << "\n" << outcome.err;
  EXPECT_EQ(folder.entries(), before) << command;
}

}  // namespace patchfold::cli_test
