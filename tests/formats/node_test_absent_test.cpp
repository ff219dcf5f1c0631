// SPDX-License-Identifier: Apache-2.0
#include "formats/node_test.hpp"
#include "tests/formats/support.hpp"

namespace patchfold::formats {
namespace {

using namespace test;

TEST(NodeTest, IsNotReadByThisBuild) {
  EXPECT_FALSE(has_onnx());
  expect_error([] { read_node_test("folder"); }, ErrorCode::file_unsupported, "onnx", "folder",
               "this build reads no ONNX files");
}

}  // namespace
}  // namespace patchfold::formats
