// SPDX-License-Identifier: Apache-2.0
#include "formats/picture.hpp"
#include "tests/formats/support.hpp"

namespace patchfold::formats {
namespace {

using namespace test;
using namespace std::string_literals;

TEST(Tiff, IsNeitherReadNorWrittenByThisBuild) {
  EXPECT_FALSE(has_tiff());
  EXPECT_TRUE(is_picture_path("x.TIFF"));
  const TempFolder folder;
  const auto path = folder / "x.tif";
  write_bytes(path, "II*\0and so on"s);
  expect_error([&] { read_picture(path); }, ErrorCode::file_unsupported, "tiff", path, "this build reads no TIFF files");
  const std::uint8_t pixel = 0;
  expect_error(
      [&] {
        write_picture(path, view(&pixel, {1, 1, 1}));
      },
      ErrorCode::file_unsupported, "tiff", path, "this build writes no TIFF files");
}

}  // namespace
}  // namespace patchfold::formats
