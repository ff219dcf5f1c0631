// SPDX-License-Identifier: Apache-2.0
// Cuts a photograph into overlapping patches and puts it together again exactly, then removes noise from a copy.
//   photo PICTURE FOLDER      writes before.png, rebuilt.png, noisy.png, after.png and side_by_side.png into FOLDER
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <patchfold/patchfold.hpp>
#include <random>
#include <stdexcept>
#include <vector>

#include "dct.hpp"
#include "formats/picture.hpp"
#include "picture_tools.hpp"
#include "system/memory.hpp"

namespace pf = patchfold;

namespace {

using example::Picture;
using example::side;

constexpr std::int64_t step = 3;  // less than a patch, so that patches overlap
constexpr float sigma = 25;       // standard deviation of the noise; white is 255

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

std::vector<float> buffer(const pf::Dims& shape) {
  return std::vector<float>(static_cast<std::size_t>(pf::element_count(shape)));
}

/// Plans an operator and runs it three times. Prints the time of the fastest run, and its GB/s (bytes of source and
/// destination).
template <class Op>
void run_timed(const Op& op, const pf::ConstTensorView& src, const pf::TensorView& dst) {
  const pf::Plan plan = pf::plan(op, src, dst);
  double best = 1e30;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    pf::throw_if_failed(plan.run(src.data, dst.data), Op::name);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  const auto bytes = 4.0 * static_cast<double>(pf::element_count(src.shape) + pf::element_count(dst.shape));
  std::printf("  %-32s %-22s -> %-22s %8.2f ms %7.1f GB/s\n", std::string(Op::name).c_str(),
              pf::to_string(src.shape).c_str(), pf::to_string(dst.shape).c_str(), best * 1e3, bytes / best * 1e-9);
}

/// Returns the padding of an axis with which there are ceil(extent / step) patches. If the number of padded elements is odd,
/// the end gets one more.
pf::Pads same_upper(std::int64_t extent) {
  const std::int64_t positions = (extent + step - 1) / step;
  const std::int64_t total = std::max<std::int64_t>(0, (positions - 1) * step + side - extent);
  return {total / 2, total - total / 2};
}

/// Checks random elements of the columns against the picture's elements that the definition names.
void check_columns(const Picture& picture, const std::vector<float>& columns, const pf::Dims& grid, pf::Pads rows,
                   pf::Pads lines) {
  const std::int64_t positions = grid[2] * grid[3];
  std::mt19937_64 random(1);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); };
  int equal = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t channel = below(picture.channels), ky = below(side), kx = below(side);
    const std::int64_t by = below(grid[2]), bx = below(grid[3]);
    const std::int64_t y = by * step + ky - rows.begin, x = bx * step + kx - lines.begin;
    const bool inside = y >= 0 && y < picture.height && x >= 0 && x < picture.width;
    const float expected = inside ? picture.at(y, x, channel) : 0.0F;
    const std::int64_t row = (channel * side + ky) * side + kx;
    equal += columns[static_cast<std::size_t>(row * positions + by * grid[3] + bx)] == expected;
  }
  std::printf("  %d of 1000 random column elements are what the definition says\n", equal);
  require(equal == 1000, "a column element differs from its definition");
}

/// Returns the picture, cut by one operator of OpenVINO and put together again by another.
Picture rebuild(const Picture& picture) {
  const pf::Pads rows = same_upper(picture.height), lines = same_upper(picture.width);
  const pf::openvino::ExtractImagePatches extract{
      .sizes = {side, side}, .strides = {step, step}, .rates = {1, 1}, .auto_pad = pf::openvino::AutoPad::same_upper};
  const pf::Dims grid = extract.output_shape({1, picture.channels, picture.height, picture.width});
  const pf::Dims flat = {grid[0], grid[1], grid[2] * grid[3]};

  std::vector<float> patches = buffer(grid);
  run_timed(extract, picture.nchw(), pf::view(patches.data(), grid));

  // In the columns of ExtractImagePatches the tap comes before the channel, in those for Col2Im after it.
  const pf::Reorder reorder{.kernel_size = {side, side},
                            .source = pf::Order::kernel,
                            .target = pf::Order::channel,
                            .positions = pf::Positions::grid};
  std::vector<float> columns = buffer(grid);
  run_timed(reorder, pf::view(patches.data(), grid), pf::view(columns.data(), grid));
  check_columns(picture, columns, grid, rows, lines);

  // Columns on a grid lie in memory as flat columns do; only the shape of the view differs.
  const pf::openvino::Col2Im col2im{.output_size = {picture.height, picture.width},
                                    .kernel_size = {side, side},
                                    .strides = {step, step},
                                    .pads_begin = {rows.begin, lines.begin},
                                    .pads_end = {rows.end, lines.end}};
  Picture rebuilt = example::like(picture);
  run_timed(col2im, pf::view(columns.data(), flat), rebuilt.nchw());

  const pf::Coverage coverage{.output_size = {picture.height, picture.width},
                              .kernel_size = {side, side},
                              .stride = {step, step},
                              .padding = {rows, lines}};
  example::divide(rebuilt, coverage);
  return rebuilt;
}

/// Returns a picture with less noise: sets small coefficients of every patch to zero, and averages the patches at each
/// pixel.
Picture denoise(Picture picture) {
  example::rotate_colours(picture, false);
  const pf::Padding padding = side - 1;  // 64 patches cover every pixel, even at the border
  const pf::Unfold unfold{.kernel_size = {side, side}, .padding = padding, .padding_mode = pf::PaddingMode::symmetric};
  const pf::Dims shape = unfold.output_shape({1, picture.channels, picture.height, picture.width});
  std::vector<float> columns = buffer(shape);
  run_timed(unfold, picture.nchw(), pf::view(columns.data(), shape));

  const std::int64_t positions = shape[2], groups = (positions + example::group - 1) / example::group;
  const auto start = std::chrono::steady_clock::now();
  example::parallel(picture.channels * groups, [&](std::int64_t piece) {
    const std::int64_t first = piece % groups * example::group;
    float* rows = columns.data() + piece / groups * example::taps * positions + first;
    example::threshold_patches(rows, positions, std::min<std::int64_t>(example::group, positions - first), 3 * sigma);
  });
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  std::printf("  cosine transform, threshold, inverse of %lld patches: %.0f ms\n",
              static_cast<long long>(picture.channels * positions), took.count());

  const pf::Fold fold{.output_size = {picture.height, picture.width}, .kernel_size = {side, side}, .padding = padding};
  run_timed(fold, pf::view(columns.data(), shape), picture.nchw());
  example::divide(picture, {.output_size = fold.output_size, .kernel_size = {side, side}, .padding = padding});
  example::rotate_colours(picture, true);
  return picture;
}

void demonstrate(const std::filesystem::path& source, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const Picture before = example::read(source);
  require(before.height >= side && before.width >= side, "the picture is smaller than a patch");
  std::printf("%s: %lld x %lld pixels, %lld channels; %d threads, %s\n", source.string().c_str(),
              static_cast<long long>(before.width), static_cast<long long>(before.height),
              static_cast<long long>(before.channels), pf::get_num_threads(), pf::instruction_sets().front().c_str());

  std::printf("cut into patches of %d x %d, %lld apart, and put back:\n", side, side, static_cast<long long>(step));
  example::write(folder / "before.png", before);
  example::write(folder / "rebuilt.png", rebuild(before));
  const std::int64_t different = example::different_pixels(before, example::read(folder / "rebuilt.png"));
  std::printf("  %lld of %lld pixels of the file written differ from the file read\n", static_cast<long long>(different),
              static_cast<long long>(before.height * before.width));
  require(different == 0, "the picture did not come back");

  std::printf("noise of deviation %.0f added, then removed through all overlapping patches of %d x %d:\n",
              static_cast<double>(sigma), side, side);
  // Measures quality on the pixels that a file holds, rounded and clipped to 8 bits.
  example::write(folder / "noisy.png", example::with_noise(before, sigma));
  const Picture noisy = example::read(folder / "noisy.png");
  example::write(folder / "after.png", denoise(noisy));
  const Picture after = example::read(folder / "after.png");
  example::write(folder / "side_by_side.png", example::side_by_side({&before, &noisy, &after}));
  const double noisy_db = example::psnr(before, noisy), after_db = example::psnr(before, after);
  std::printf("  distance from the original (PSNR): noisy %.2f dB, after %.2f dB, gain %.2f dB\n", noisy_db, after_db,
              after_db - noisy_db);
  require(after_db - noisy_db >= 5, "the gain is below 5 dB");

  std::printf("peak memory %.0f MiB\n", static_cast<double>(pf::system::peak_memory()) / (1 << 20));
  std::printf("demo passed: every pixel came back, %.2f dB gained; look at %s\n", after_db - noisy_db,
              (folder / "side_by_side.png").string().c_str());
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: photo PICTURE FOLDER\n");
    return 2;
  }
  try {
    demonstrate(arguments[1], arguments[2]);
    return 0;
  } catch (const std::exception& error) {
    std::printf("demo failed: %s\n", error.what());
    return 1;
  }
}
