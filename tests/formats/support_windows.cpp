// SPDX-License-Identifier: Apache-2.0
// Functions that cannot work on Windows: each throws. The CMake preset `windows` excludes the tests that need these
// functions.
#include <stdexcept>

#include "tests/formats/support.hpp"

namespace patchfold::formats::test {

Unprivileged::Unprivileged() : was_root_(false) {
  throw std::runtime_error("rights cannot be put aside here");
}
Unprivileged::~Unprivileged() = default;

FileSizeLimit::FileSizeLimit(std::uint64_t) {
  throw std::runtime_error("the size of files has no limit here");
}
FileSizeLimit::~FileSizeLimit() = default;

void make_pipe(const std::filesystem::path&) {
  throw std::runtime_error("pipes are no files here");
}

}  // namespace patchfold::formats::test
