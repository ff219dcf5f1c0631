// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/program.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/temporary_folder.hpp"

namespace patchfold::cli_test {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the value after `key`: a text without its quotes, a list with its brackets, or the first letter of True or False.
std::string header_entry(std::string_view header, std::string_view key) {
  auto at = header.find(key);
  if (at == std::string_view::npos) return {};
  at = header.find_first_not_of(" :", at + key.size());
  if (header[at] == '\'') return std::string(header.substr(at + 1, header.find('\'', at + 1) - at - 1));
  int depth = 0;
  auto end = at;
  do {
    depth += header[end] == '[' || header[end] == '(';
    depth -= header[end] == ']' || header[end] == ')';
  } while (++end < header.size() && depth > 0);
  return std::string(header.substr(at, end - at));
}

}  // namespace

std::vector<std::string> words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> result{std::istream_iterator<std::string>(stream), {}};
  std::replace(result.begin(), result.end(), std::string("''"), std::string());
  return result;
}

Folder::Folder() : path_(tests::make_temporary_folder("patchfold-test-")) {}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void Folder::write(std::string_view name, std::string_view bytes) const {
  std::filesystem::create_directories(path(name).parent_path());
  std::ofstream(path(name), std::ios::binary) << bytes;
}

std::string Folder::read(std::string_view name) const {
  return read_file(path(name));
}

std::string Folder::entries() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

std::string npy_bytes(const Npy& npy) {
  std::string shape;
  for (const auto extent : npy.shape) shape += std::to_string(extent) + ",";
  const std::string descr = npy.descr.starts_with('[') ? npy.descr : "'" + npy.descr + "'";
  std::string header = "{'descr': " + descr + ", 'fortran_order': " + (npy.fortran_order ? "True" : "False") +
                       ", 'shape': (" + shape + "), }";
  header.append(63 - (header.size() + 10) % 64, ' ');
  header += '\n';
  const auto size = static_cast<std::uint16_t>(header.size());
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(size & 255) + static_cast<char>(size >> 8) + header +
         npy.data;
}

Npy npy_of(std::string_view bytes) {
  if (bytes.size() < 12 || bytes.substr(1, 5) != "NUMPY") return {};
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
  const bool wide = byte(6) > 1;
  const std::size_t start = wide ? 12 : 10;
  const std::size_t size = byte(8) + byte(9) * 256 + (wide ? byte(10) * 65536 + byte(11) * 16777216 : 0);
  const auto header = bytes.substr(start, size);
  Npy npy;
  npy.descr = header_entry(header, "'descr'");
  npy.fortran_order = header.find("True") != std::string_view::npos;
  std::string shape = header_entry(header, "'shape'");
  std::replace_if(
      shape.begin(), shape.end(), [](char c) { return c < '0' || c > '9'; }, ' ');
  std::istringstream extents(shape);
  for (std::int64_t extent; extents >> extent;) npy.shape.push_back(extent);
  npy.data = bytes.substr(start + size);
  return npy;
}

Npy counting(const std::vector<std::int64_t>& shape) {
  std::size_t count = 1;
  for (const auto extent : shape) count *= static_cast<std::size_t>(extent);
  std::vector<std::int64_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::int64_t>(i) + 1;
  return npy("<i8", shape, values);
}

}  // namespace patchfold::cli_test
