// SPDX-License-Identifier: Apache-2.0
// PyTorch's tests of fold, unfold, pixel_shuffle and pixel_unshuffle: documentation examples, refused arguments and the
// grid of unfold samples. The data is 1, 2, 3, ..; oracle.py makes the expected tensors and fingerprints.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

using torch::Fold;
using torch::Unfold;

constexpr DType types[] = {DType::float32, DType::float64, DType::complex64, DType::complex128,
                           DType::float16, DType::int32,   DType::int64};

TEST(TorchFold, doc_example) {
  expect_iota(Fold{.output_size = {4, 5}, .kernel_size = {2, 2}}, {1, 12, 12}, {1, 3, 4, 5},
              {1,  15,  17,  19,  16,  30,  86,  90,  94,  60,  38,  102, 106, 110, 68,  33,  79,  81,  83,  48,
               49, 111, 113, 115, 64,  126, 278, 282, 286, 156, 134, 294, 298, 302, 164, 81,  175, 177, 179, 96,
               97, 207, 209, 211, 112, 222, 470, 474, 478, 252, 230, 486, 490, 494, 260, 129, 271, 273, 275, 144},
              types);
}

TEST(TorchUnfold, doc_example) {
  expect_iota(Unfold{.kernel_size = {2, 3}}, {2, 5, 3, 4}, {2, 30, 4},
              {1,   2,   5,   6,   2,   3,   6,   7,   3,   4,   7,   8,   5,   6,   9,   10,  6,   7,   10,  11,  7,   8,
               11,  12,  13,  14,  17,  18,  14,  15,  18,  19,  15,  16,  19,  20,  17,  18,  21,  22,  18,  19,  22,  23,
               19,  20,  23,  24,  25,  26,  29,  30,  26,  27,  30,  31,  27,  28,  31,  32,  29,  30,  33,  34,  30,  31,
               34,  35,  31,  32,  35,  36,  37,  38,  41,  42,  38,  39,  42,  43,  39,  40,  43,  44,  41,  42,  45,  46,
               42,  43,  46,  47,  43,  44,  47,  48,  49,  50,  53,  54,  50,  51,  54,  55,  51,  52,  55,  56,  53,  54,
               57,  58,  54,  55,  58,  59,  55,  56,  59,  60,  61,  62,  65,  66,  62,  63,  66,  67,  63,  64,  67,  68,
               65,  66,  69,  70,  66,  67,  70,  71,  67,  68,  71,  72,  73,  74,  77,  78,  74,  75,  78,  79,  75,  76,
               79,  80,  77,  78,  81,  82,  78,  79,  82,  83,  79,  80,  83,  84,  85,  86,  89,  90,  86,  87,  90,  91,
               87,  88,  91,  92,  89,  90,  93,  94,  90,  91,  94,  95,  91,  92,  95,  96,  97,  98,  101, 102, 98,  99,
               102, 103, 99,  100, 103, 104, 101, 102, 105, 106, 102, 103, 106, 107, 103, 104, 107, 108, 109, 110, 113, 114,
               110, 111, 114, 115, 111, 112, 115, 116, 113, 114, 117, 118, 114, 115, 118, 119, 115, 116, 119, 120},
              types);
}

TEST(TorchFold, unbatched) {
  expect_iota(Fold{.output_size = {4, 5}, .kernel_size = {2, 2}}, {8, 12}, {2, 4, 5},
              {1,  15,  17,  19,  16, 30,  86,  90,  94,  60,  38,  102, 106, 110, 68,  33, 79,  81,  83,  48,
               49, 111, 113, 115, 64, 126, 278, 282, 286, 156, 134, 294, 298, 302, 164, 81, 175, 177, 179, 96},
              types);
}

TEST(TorchUnfold, unbatched) {
  expect_iota(Unfold{.kernel_size = {2, 3}}, {2, 3, 4}, {12, 4},
              {1,  2,  5,  6,  2,  3,  6,  7,  3,  4,  7,  8,  5,  6,  9,  10, 6,  7,  10, 11, 7,  8,  11, 12,
               13, 14, 17, 18, 14, 15, 18, 19, 15, 16, 19, 20, 17, 18, 21, 22, 18, 19, 22, 23, 19, 20, 23, 24},
              types);
}

TEST(TorchFold, single_numbers_mean_two_axes) {
  expect_iota(Fold{.output_size = 3, .kernel_size = 2}, {1, 4, 4}, {1, 1, 3, 3}, {1, 7, 6, 12, 34, 22, 11, 27, 16});
  expect_error(Fold{.output_size = 3, .kernel_size = 2}, {1, 4, 2}, {ErrorCode::position_count}, {"2", "4"});
}

TEST(TorchFold, positional_order_is_dilation_padding_stride) {
  expect_iota(Fold{{3, 4}, {2, 2}, {1, 2}, {1, 0}, {2, 1}}, {1, 4, 4}, {1, 1, 3, 4},
              {9, 10, 13, 14, 3, 4, 7, 8, 11, 12, 15, 16});
}

TEST(TorchFold, invalid_arg) {
  const Fold op = {.output_size = {4, 5}, .kernel_size = {2, 3}};
  expect_error(op, {1, 5}, {ErrorCode::divisible}, {"6"});
  expect_error(op, {1, 5, 9}, {ErrorCode::divisible}, {"5", "6"});
  expect_error(op, {1, 19, 9}, {ErrorCode::divisible}, {"19", "6"});
  expect_error(op, {1, 6, 10}, {ErrorCode::position_count}, {"10", "9"});
  expect_error(Fold{.output_size = {4, 5}, .kernel_size = {2, 3}, .stride = {2, 2}}, {1, 6, 5}, {ErrorCode::position_count},
               {"5", "4"});
  expect_error(Fold{.output_size = {4, 5}, .kernel_size = {2, 3}, .dilation = {1, 2}, .padding = {2, 0}, .stride = {2, 2}},
               {1, 6, 5}, {ErrorCode::position_count}, {"5", "4"});
  expect_shape(Fold{.output_size = {4, 5}, .kernel_size = {2, 3}, .dilation = {1, 2}, .padding = {2, 0}, .stride = {2, 2}},
               {1, 6, 4}, {1, 1, 4, 5});
}

TEST(TorchFold, ranks_and_signs) {
  const Fold op = {.output_size = {4, 5}, .kernel_size = {2, 3}};
  expect_error(op, {6}, {ErrorCode::rank});
  expect_error(op, {1, 1, 6, 9}, {ErrorCode::rank});
  expect_error(Fold{.output_size = {4, 5}, .kernel_size = {0, 3}}, {1, 6, 9}, {ErrorCode::value}, {"kernel_size"});
  expect_error(Fold{.output_size = {4, 5}, .kernel_size = {-2, -3}}, {1, 6, 9}, {ErrorCode::value}, {"kernel_size"});
  expect_error(Fold{.output_size = {4, 5}, .kernel_size = {2, 3}, .dilation = -1}, {1, 6, 9}, {ErrorCode::value});
  expect_error(Fold{.output_size = {4, 5}, .kernel_size = {2, 3}, .stride = -1}, {1, 6, 9}, {ErrorCode::value});
  expect_error(Fold{.output_size = {4, 5}, .kernel_size = {2, 3}, .padding = -1}, {1, 6, 9}, {ErrorCode::value});
  expect_error(Fold{.output_size = {-4, 5}, .kernel_size = {1, 1}}, {1, 1, 9},
               {ErrorCode::value, ErrorCode::position_count});
  expect_error(Fold{.output_size = {4, 5}, .kernel_size = {2, 3}, .stride = {1, 1, 1}}, {1, 6, 9}, {ErrorCode::length});
}

TEST(TorchUnfold, ranks_and_signs) {
  const Dims image = {1, 2, 4, 5};
  expect_error(Unfold{.kernel_size = {2, 3}}, {4, 5}, {ErrorCode::rank});
  expect_error(Unfold{.kernel_size = {2, 3}}, {1, 1, 2, 4, 5}, {ErrorCode::rank});
  expect_error(Unfold{.kernel_size = {0, 3}}, image, {ErrorCode::value}, {"kernel_size"});
  expect_error(Unfold{.kernel_size = {2, 3}, .dilation = 0}, image, {ErrorCode::value}, {"dilation"});
  expect_error(Unfold{.kernel_size = {2, 3}, .padding = {0, -1}}, image, {ErrorCode::value}, {"padding"});
  expect_error(Unfold{.kernel_size = {2, 3}, .stride = 0}, image, {ErrorCode::value}, {"stride"});
  expect_error(Unfold{.kernel_size = {2, 3}, .stride = {1, 1, 1}}, image, {ErrorCode::length});
  expect_error(Unfold{.kernel_size = {5, 3}}, image, {ErrorCode::value, ErrorCode::position_count}, {"at least one"});
}

struct Expected {
  std::int64_t positions;
  std::uint64_t values;
};

// In the order of the loops below: kernel_size, dilation, padding, stride.
const Expected expected[] = {
    {16, 0x7168de6e2968e895u}, {4, 0x57bb249693c3dd2du},  {8, 0xc6dbd1d9165cc16du},  {36, 0x4975aab0755d57e5u},
    {9, 0x54740f8086443852u},  {18, 0x56d0178b819cab85u}, {48, 0xd36fe82f15dd37e5u}, {12, 0x9ea15e7bb35f252u},
    {24, 0x25d1c0b867be6a5u},  {9, 0xb2f4bc9dcd5d8ec5u},  {4, 0xcdfaa090ca2e6615u},  {6, 0x559d9f537c0ea935u},
    {25, 0x775cc769930ed315u}, {9, 0x1fcbf98deac0b325u},  {15, 0xfbd8b52e2bf3325u},  {35, 0x1082f4686c42c865u},
    {12, 0xc59d564e2efba825u}, {20, 0x23f8ae9bb8474b25u}, {12, 0x36534f19a59b6bb5u}, {4, 0xbee3defb913065cdu},
    {8, 0x9d07b132de534215u},  {30, 0xd87f74cc2f096e5u},  {9, 0x3e7dd3b564bae025u},  {18, 0x2006db2da110e125u},
    {42, 0x1516ce05c501c025u}, {12, 0xb4840493001f7205u}, {24, 0x12421d7884aeb865u}, {16, 0x7168de6e2968e895u},
    {4, 0x57bb249693c3dd2du},  {8, 0xc6dbd1d9165cc16du},  {36, 0x4975aab0755d57e5u}, {9, 0x54740f8086443852u},
    {18, 0x56d0178b819cab85u}, {48, 0xd36fe82f15dd37e5u}, {12, 0x9ea15e7bb35f252u},  {24, 0x25d1c0b867be6a5u},
    {9, 0xb2f4bc9dcd5d8ec5u},  {4, 0xcdfaa090ca2e6615u},  {6, 0x559d9f537c0ea935u},  {25, 0x775cc769930ed315u},
    {9, 0x1fcbf98deac0b325u},  {15, 0xfbd8b52e2bf3325u},  {35, 0x1082f4686c42c865u}, {12, 0xc59d564e2efba825u},
    {20, 0x23f8ae9bb8474b25u}, {12, 0x36534f19a59b6bb5u}, {4, 0xbee3defb913065cdu},  {8, 0x9d07b132de534215u},
    {30, 0xd87f74cc2f096e5u},  {9, 0x3e7dd3b564bae025u},  {18, 0x2006db2da110e125u}, {42, 0x1516ce05c501c025u},
    {12, 0xb4840493001f7205u}, {24, 0x12421d7884aeb865u}, {12, 0xa557c735b5dd23b5u}, {4, 0xeb4bac444ed4641du},
    {8, 0xbe87bce192cfdcb5u},  {30, 0xd8baaac7b5121cc5u}, {9, 0xe3f79e20789ea012u},  {18, 0x9c8938e896ecdec5u},
    {42, 0x6bd878391b0ffcc5u}, {12, 0x70620be9b365dfa5u}, {24, 0x22abd9a8447a025u},  {3, 0xfcd96b7851e838c5u},
    {2, 0xb4f4b84e46102275u},  {3, 0xfcd96b7851e838c5u},  {15, 0x79135509a0d639b5u}, {6, 0xe2914c52d9077b25u},
    {10, 0x441eb649a90ca265u}, {25, 0xf72a5afca598dc5u},  {9, 0x7f86f28e4bcf1de5u},  {15, 0x7f6f376c46256685u},
    {4, 0x6480696770377935u},  {2, 0x60ff426183ccc349u},  {4, 0x6480696770377935u},  {18, 0x744182a81d881745u},
    {6, 0xc1a4f6d79f8f8ce5u},  {12, 0x12d48279d42d5425u}, {30, 0xc0caca8262ac785u},  {9, 0x8b777a1499f7eda2u},
    {18, 0xe73bdfd818309405u}};

const Axes kernels[] = {2, {2, 2}, {2, 3}};
const Axes dilations[] = {1, 2, {1, 2}};
const Axes paddings[] = {0, 1, {1, 2}};
const Axes strides[] = {1, 2, {1, 2}};

TEST(TorchUnfold, op_info_samples) {
  const auto* row = expected;
  for (const auto& kernel : kernels)
    for (const auto& dilation : dilations)
      for (const auto& padding : paddings)
        for (const auto& stride : strides) {
          SCOPED_TRACE("kernel " + to_string(kernel) + " dilation " + to_string(dilation) + " padding " +
                       to_string(padding) + " stride " + to_string(stride));
          const Unfold op = {kernel, dilation, padding, stride};
          const std::int64_t rows = 3 * 2 * (kernel.values().back() == 3 ? 3 : 2);
          expect_fingerprint(op, {2, 3, 5, 5}, {2, rows, row->positions}, row->values);
          expect_iota(op, {0, 1, 5, 5}, {0, rows / 3, row->positions}, {});
          ++row;
        }
  EXPECT_EQ(row, std::end(expected));
  expect_iota(Unfold{.kernel_size = {3, 3}}, {1, 1, 5, 5}, {1, 9, 9},
              {1,  2,  3,  6,  7,  8,  11, 12, 13, 2,  3,  4,  7,  8,  9,  12, 13, 14, 3,  4,  5,  8,  9,  10, 13, 14, 15,
               6,  7,  8,  11, 12, 13, 16, 17, 18, 7,  8,  9,  12, 13, 14, 17, 18, 19, 8,  9,  10, 13, 14, 15, 18, 19, 20,
               11, 12, 13, 16, 17, 18, 21, 22, 23, 12, 13, 14, 17, 18, 19, 22, 23, 24, 13, 14, 15, 18, 19, 20, 23, 24, 25});
}

// fold(unfold(x)) is x times the number of patches that cover each element.
TEST(TorchFold, inverts_unfold_up_to_the_cover) {
  const Dims columns = {1, 4, 6};
  const auto x = iota({1, 1, 3, 4});
  expect_values(Unfold{.kernel_size = 2}, {1, 1, 3, 4}, x, columns,
                {1, 2, 3, 5, 6, 7, 2, 3, 4, 6, 7, 8, 5, 6, 7, 9, 10, 11, 6, 7, 8, 10, 11, 12});
  expect_values(Fold{.output_size = {3, 4}, .kernel_size = 2}, columns,
                {1, 2, 3, 5, 6, 7, 2, 3, 4, 6, 7, 8, 5, 6, 7, 9, 10, 11, 6, 7, 8, 10, 11, 12}, {1, 1, 3, 4},
                {1, 4, 6, 4, 10, 24, 28, 16, 9, 20, 22, 12});
  expect_values(Fold{.output_size = {3, 4}, .kernel_size = 2}, columns, Ints(24, 1), {1, 1, 3, 4},
                {1, 2, 2, 1, 2, 4, 4, 2, 1, 2, 2, 1});
}

TEST(TorchPixelShuffle, any_leading_axes) {
  expect_iota(torch::PixelShuffle{2}, {2, 8, 1, 2}, {2, 2, 2, 4},
              {1,  3,  2,  4,  5,  7,  6,  8,  9,  11, 10, 12, 13, 15, 14, 16,
               17, 19, 18, 20, 21, 23, 22, 24, 25, 27, 26, 28, 29, 31, 30, 32},
              types);
  expect_iota(torch::PixelShuffle{2}, {8, 1, 2}, {2, 2, 4}, {1, 3, 2, 4, 5, 7, 6, 8, 9, 11, 10, 12, 13, 15, 14, 16}, types);
  expect_iota(torch::PixelShuffle{2}, {2, 1, 8, 1, 2}, {2, 1, 2, 2, 4},
              {1,  3,  2,  4,  5,  7,  6,  8,  9,  11, 10, 12, 13, 15, 14, 16,
               17, 19, 18, 20, 21, 23, 22, 24, 25, 27, 26, 28, 29, 31, 30, 32},
              types);
  expect_iota(torch::PixelShuffle{3}, {0, 9, 2, 2}, {0, 1, 6, 6}, {});
}

TEST(TorchPixelUnshuffle, any_leading_axes) {
  expect_iota(torch::PixelUnshuffle{2}, {2, 2, 2, 4}, {2, 8, 1, 2},
              {1,  3,  2,  4,  5,  7,  6,  8,  9,  11, 10, 12, 13, 15, 14, 16,
               17, 19, 18, 20, 21, 23, 22, 24, 25, 27, 26, 28, 29, 31, 30, 32},
              types);
  expect_iota(torch::PixelUnshuffle{2}, {2, 2, 4}, {8, 1, 2}, {1, 3, 2, 4, 5, 7, 6, 8, 9, 11, 10, 12, 13, 15, 14, 16},
              types);
  expect_iota(torch::PixelUnshuffle{3}, {1, 1, 0, 3}, {1, 9, 0, 1}, {});
}

TEST(TorchPixelShuffle, Errors) {
  expect_error(torch::PixelShuffle{2}, {4, 4}, {ErrorCode::rank});
  expect_error(torch::PixelShuffle{2}, {1, 6, 4, 4}, {ErrorCode::divisible}, {"6", "4"});
  expect_error(torch::PixelShuffle{0}, {1, 4, 4, 4}, {ErrorCode::value, ErrorCode::missing}, {"upscale_factor"});
  expect_error(torch::PixelShuffle{-2}, {1, 4, 4, 4}, {ErrorCode::value}, {"upscale_factor"});
  expect_error(torch::PixelShuffle{std::int64_t{1} << 32}, {1, 0, 4, 4}, {ErrorCode::overflow});
}

TEST(TorchPixelUnshuffle, Errors) {
  expect_error(torch::PixelUnshuffle{2}, {4, 4}, {ErrorCode::rank});
  expect_error(torch::PixelUnshuffle{2}, {1, 1, 3, 4}, {ErrorCode::divisible}, {"3", "2"});
  expect_error(torch::PixelUnshuffle{2}, {1, 1, 4, 5}, {ErrorCode::divisible}, {"5", "2"});
  expect_error(torch::PixelUnshuffle{0}, {1, 1, 4, 4}, {ErrorCode::value, ErrorCode::missing}, {"downscale_factor"});
  expect_error(torch::PixelUnshuffle{-1}, {1, 1, 4, 4}, {ErrorCode::value}, {"downscale_factor"});
}

}  // namespace
}  // namespace patchfold::vectors
