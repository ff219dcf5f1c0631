// SPDX-License-Identifier: Apache-2.0
// Fuzzes pictures (PNG, JPEG and TIFF): read as a whole and by rows, and written again.
#include "formats/picture.hpp"

#include "fuzz/rows.hpp"
#include "fuzz/target.hpp"

namespace patchfold::fuzz {
namespace {

void run(std::span<const std::uint8_t> bytes) {
  const auto path = put_file("picture", bytes);
  // The page to read: the first one if the file has several pages.
  std::optional<int> page;
  const auto refused = refusal([&] { formats::open_rows(path); });
  if (refused == ErrorCode::value || refused == ErrorCode::file_unsupported) page = 0;
  formats::LoadedTensor picture;
  if (refusal([&] { picture = formats::read_picture(path, page); })) {
    refusal([&] {
      const auto reader = formats::open_rows(path, page);
      std::vector<std::byte> row(static_cast<std::size_t>(reader->row_bytes()));
      for (std::int64_t i = 0; i < reader->shape()[0]; ++i) reader->read(1, row.data());
    });
    return;
  }
  const auto by_rows = refusal([&] { check_rows(path, page, 1 + static_cast<std::int64_t>(bytes.size() % 5), picture); });
  expect(!by_rows, "can be read as a whole, but not by rows");
  refusal([&] { formats::read_picture(path, 0, nullptr, 1); });
  const auto written = folder() / "written.tif";
  if (refusal([&] { formats::write_picture(written, picture.view); })) return;
  const auto again = formats::read_picture(written);
  expect(again.view.shape == picture.view.shape && elements_of(again.view) == elements_of(picture.view),
         "is not the same when it is written as TIFF and read again");
}

}  // namespace
}  // namespace patchfold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  patchfold::fuzz::run({data, size});
  return 0;
}
