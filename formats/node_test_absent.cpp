// SPDX-License-Identifier: Apache-2.0
// For builds without PATCHFOLD_WITH_ONNX.
#include "formats/file.hpp"
#include "formats/node_test.hpp"

namespace patchfold::formats {

bool has_onnx() noexcept {
  return false;
}

NodeTest read_node_test(const std::filesystem::path& folder) {
  Subject{"onnx", folder}.fail(ErrorCode::file_unsupported, "cannot be read: this build reads no ONNX files");
}

}  // namespace patchfold::formats
