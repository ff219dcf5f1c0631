// SPDX-License-Identifier: Apache-2.0
// Fuzzes plan.json: an accepted file can be written again, and then gives the same plan.
#include "formats/tile_plan.hpp"

#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace patchfold;
  using namespace patchfold::fuzz;
  const auto path = put_file("plan.json", {data, size});
  std::optional<formats::TilePlan> plan;
  if (refusal([&] { plan = formats::read_tile_plan(path); })) return 0;
  for (const auto& name : plan->files)
    expect(!name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos,
           "a file outside its folder: " + name);
  const auto written = folder() / "written.json";
  formats::write_tile_plan(written, *plan);
  const formats::TilePlan again = formats::read_tile_plan(written);
  expect(!formats::difference(*plan, again) && plan->crcs == again.crcs,
         "is not the same when it is written and read again");
  return 0;
}
