// SPDX-License-Identifier: Apache-2.0
#include "tests/formats/support.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/temporary_folder.hpp"

namespace patchfold::formats::test {

TempFolder::TempFolder() : path_(tests::make_temporary_folder("patchfold-")) {}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> TempFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  // Removes an old file, since ext4 waits for the disk when a file is emptied and rewritten, but not for a new file.
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) std::filesystem::remove(path);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string reversed(std::string bytes) {
  std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

std::string counting(std::size_t bytes) {
  std::string data(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>(i * 7 + i / 251);
  return data;
}

std::string noise(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 1;
  for (char& byte : bytes) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

std::string npy_file(std::string_view dictionary, std::string_view data, int major) {
  const std::size_t prefix = major == 1 ? 10 : 12;
  std::string text(dictionary);
  while ((prefix + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string file = "\x93NUMPY";
  file += static_cast<char>(major);
  file += '\0';
  for (std::size_t i = 0; i < prefix - 8; ++i) file += static_cast<char>(text.size() >> (8 * i) & 0xFF);
  return file + text + std::string(data);
}

std::string npy_dictionary(std::string_view descr, std::string_view shape, bool fortran_order) {
  return "{'descr': " + std::string(descr) + ", 'fortran_order': " + (fortran_order ? "True" : "False") +
         ", 'shape': " + std::string(shape) + ", }";
}

std::string elements_of(const ConstTensorView& view) {
  std::string bytes;
  if (element_count(view.shape) == 0) return bytes;
  Dims index = Dims::filled(view.shape.size(), 0);
  while (true) {
    const char* element = static_cast<const char*>(view.data);
    for (int axis = 0; axis < index.size(); ++axis) element += index[axis] * view.strides[axis];
    bytes.append(element, view.element_size);
    int axis = index.size() - 1;
    while (axis >= 0 && ++index[axis] == view.shape[axis]) index[axis--] = 0;
    if (axis < 0) return bytes;
  }
}

std::string rows_of(RowReader& reader) {
  std::string rows(static_cast<std::size_t>(reader.shape()[0] * reader.row_bytes()), '?');
  while (reader.next() < reader.shape()[0]) {
    auto* to = reinterpret_cast<std::byte*>(rows.data()) + reader.next() * reader.row_bytes();
    reader.read(std::min<std::int64_t>(3, reader.shape()[0] - reader.next()), to);
  }
  return rows;
}

void expect_error(const std::function<void()>& action, ErrorCode code, std::string_view op,
                  const std::filesystem::path& path, std::string_view fragment) {
  try {
    action();
    ADD_FAILURE() << "no error; expected: " << fragment;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_EQ(error.op(), op) << error.what();
    EXPECT_EQ(error.argument(), path.string()) << error.what();
    EXPECT_NE(std::string_view(error.what()).find(fragment), std::string_view::npos)
        << error.what() << "\nhas no: " << fragment;
  }
}

void expect_errors(const std::filesystem::path& path, std::string_view op,
                   const std::function<void(const std::filesystem::path&)>& read, const std::vector<Damaged>& files) {
  for (const Damaged& file : files) {
    SCOPED_TRACE(file.name);
    write_bytes(path, file.bytes);
    expect_error([&] { read(path); }, file.code, file.op.empty() ? op : file.op, path, file.fragment);
  }
}

}  // namespace patchfold::formats::test
