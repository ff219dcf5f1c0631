// SPDX-License-Identifier: Apache-2.0
#include "formats/picture.hpp"
#include "tests/formats/support.hpp"

namespace patchfold::formats {
namespace {

using namespace test;

TEST(Picture, IsNeitherReadNorWrittenByThisBuild) {
  EXPECT_FALSE(has_pictures());
  EXPECT_TRUE(is_picture_path("x.PNG"));
  const TempFolder folder;
  const auto path = folder / "x.png";
  for (const auto* first : {"\x89PNG\r\n\x1A\n", "\xFF\xD8 and so on"}) {
    write_bytes(path, first);
    expect_error([&] { read_picture(path); }, ErrorCode::file_unsupported, "picture", path,
                 "this build reads no PNG and JPEG pictures");
  }
  const std::uint8_t pixel = 0;
  for (const auto* name : {"x.png", "x.jpg"})
    expect_error(
        [&] {
          write_picture(name, view(&pixel, {1, 1, 1}));
        },
        ErrorCode::file_unsupported, "picture", name, "this build writes no PNG and JPEG pictures");
}

}  // namespace
}  // namespace patchfold::formats
