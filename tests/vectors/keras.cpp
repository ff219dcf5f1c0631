// SPDX-License-Identifier: Apache-2.0
// Keras: zeros and negative pads are refused, and infinities stay.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

using keras::ExtractPatches;
using keras::Fold;
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

TEST(KerasWindows, zeros_and_negative_pads_are_refused) {
  const auto refuse = [](const Problem& problem, const Dims& in, std::string_view argument) {
    expect_error(problem, in, {ErrorCode::value}, {argument});
  };
  refuse(ExtractPatches{.size = {0, 2}}, {1, 4, 4, 1}, "size");
  refuse(ExtractPatches{.size = 2, .strides = {1, 0}}, {1, 4, 4, 1}, "strides");
  refuse(ExtractPatches{.size = 2, .dilation_rate = 0}, {1, 4, 4, 1}, "dilation_rate");
  refuse(Unfold{.kernel_size = 0}, {1, 1, 4, 4}, "kernel_size");
  refuse(Unfold{.kernel_size = 2, .dilation = {0, 1}}, {1, 1, 4, 4}, "dilation");
  refuse(Unfold{.kernel_size = 2, .padding = -1}, {1, 1, 4, 4}, "padding");
  refuse(Unfold{.kernel_size = 2, .stride = 0}, {1, 1, 4, 4}, "stride");
  refuse(Fold{.output_size = {4, 4}, .kernel_size = {2, 0}}, {1, 4, 9}, "kernel_size");
  refuse(Fold{.output_size = {4, 4}, .kernel_size = 2, .dilation = 0}, {1, 4, 9}, "dilation");
  refuse(Fold{.output_size = {4, 4}, .kernel_size = 2, .padding = {0, -1}}, {1, 4, 9}, "padding");
  refuse(Fold{.output_size = {4, 4}, .kernel_size = 2, .stride = {1, 0}}, {1, 4, 9}, "stride");
}

}  // namespace
}  // namespace patchfold::vectors
