// SPDX-License-Identifier: Apache-2.0
// Fuzzes .npy files: an accepted file can be written again, and then gives the same array, as a whole and by rows.
#include "formats/npy.hpp"

#include "formats/output_file.hpp"
#include "formats/rows.hpp"
#include "fuzz/rows.hpp"
#include "fuzz/target.hpp"

namespace patchfold::fuzz {
namespace {

void run(std::span<const std::uint8_t> bytes) {
  const auto path = put_file("array.npy", bytes);
  refusal([&] { formats::read_npy(path, DType::bfloat16); });
  formats::LoadedTensor tensor;
  if (refusal([&] { tensor = formats::read_npy(path); })) {
    expect(refusal([&] { formats::open_rows(path); }).has_value(), "is refused as a whole, but not by rows");
    return;
  }
  refusal([&] { check_rows(path, std::nullopt, 3, tensor); });  // reading by rows refuses Fortran order and rank 0
  const auto written = folder() / "written.npy";
  formats::write_npy(written, tensor.view, tensor.type);
  const formats::LoadedTensor again = formats::read_npy(written);
  expect(again.view.shape == tensor.view.shape && again.view.dtype == tensor.view.dtype &&
             elements_of(again.view) == elements_of(tensor.view),
         "is not the same when it is written and read again");
  if (tensor.view.shape.empty()) return;
  expect(!refusal([&] { check_rows(written, std::nullopt, 1, again); }), "what was written cannot be read by rows");
}

}  // namespace
}  // namespace patchfold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  patchfold::fuzz::run({data, size});
  return 0;
}
