// SPDX-License-Identifier: Apache-2.0
#include "fuzz/target.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace patchfold::fuzz {
namespace {

struct Folder {
  std::filesystem::path path;

  Folder() {
    const std::filesystem::path memory = "/dev/shm";
    const bool has_memory = ::access(memory.c_str(), W_OK) == 0;
    std::string name = (has_memory ? memory : std::filesystem::temp_directory_path()) / "patchfold-fuzz-XXXXXX";
    expect(::mkdtemp(name.data()) != nullptr, "no folder can be made at " + name);
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

}  // namespace

void report(std::string_view what) {
  std::fprintf(stderr, "WRONG: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

void check_sentence(const Error& error) {
  const std::string_view message = error.what();
  expect(!error.rule().empty(), "an error without a rule: " + std::string(message));
  expect(message.size() < 4000, "an error of " + std::to_string(message.size()) + " characters");
  expect(std::none_of(message.begin(), message.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; }),
         "an error with control characters: " + std::string(message));
}

const std::filesystem::path& folder() {
  static const Folder made;
  return made.path;
}

void clear_folder() {
  for (const auto& entry : std::filesystem::directory_iterator(folder())) std::filesystem::remove_all(entry.path());
}

std::filesystem::path put_file(std::string_view name, std::span<const std::uint8_t> content) {
  const auto path = folder() / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  expect(static_cast<bool>(stream.flush()), "cannot write " + path.string());
  return path;
}

}  // namespace patchfold::fuzz
