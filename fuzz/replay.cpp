// SPDX-License-Identifier: Apache-2.0
// Runs a target over files, where there is no libFuzzer: usage: TARGET FOLDER_OR_FILE...
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz/target.hpp"

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;  // absolute: a target may work in a folder of its own
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      files.push_back(std::filesystem::absolute(argv[i]));
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::absolute(argv[i])))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
    if (!stream) {
      std::fprintf(stderr, "cannot read %s\n", file.c_str());
      return 1;
    }
    std::printf("%s\n", file.filename().c_str());
    std::fflush(stdout);  // the last name is that of the input that crashes
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  std::printf("%zu inputs\n", files.size());
  return files.empty() ? 1 : 0;
}
