// SPDX-License-Identifier: Apache-2.0
#include "formats/picture.hpp"
#include "tests/formats/support.hpp"

namespace patchfold::formats {
namespace {

using namespace test;

TEST(Picture, IsNeitherReadNorWrittenByThisBuild) {
  EXPECT_FALSE(has_pictures());
  EXPECT_TRUE(is_picture_path("x.PNG"));
  const std::uint8_t pixel = 0;
  expect_error([] { read_picture("x.png"); }, ErrorCode::file_unsupported, "picture", "x.png",
               "this build reads no pictures");
  expect_error(
      [&] {
        write_picture("x.png", view(&pixel, {1, 1, 1}));
      },
      ErrorCode::file_unsupported, "picture", "x.png", "this build writes no pictures");
}

}  // namespace
}  // namespace patchfold::formats
