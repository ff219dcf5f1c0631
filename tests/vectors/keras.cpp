// SPDX-License-Identifier: Apache-2.0
// Keras: infinities stay.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

using keras::ExtractPatches;
using keras::Unfold;

// Keras multiplies by ones and zeros, and infinity times zero is NaN.
TEST(KerasExtractPatches, an_infinity_stays_in_its_place) {
  constexpr std::uint32_t inf = 0x7f800000, one = 0x3f800000, nan = 0x7f800001;
  expect_same<std::uint32_t>(ExtractPatches{.size = 2}, DType::float32, {1, 2, 4, 1},
                             {one, inf, one, nan, one, one, one, one}, {1, 1, 2, 4},
                             {one, inf, one, one, one, nan, one, one});
  expect_same<std::uint32_t>(Unfold{.kernel_size = 2}, DType::float32, {1, 1, 2, 2}, {one, inf, nan, one}, {1, 4, 1},
                             {one, inf, nan, one});
}

}  // namespace
}  // namespace patchfold::vectors
