// SPDX-License-Identifier: Apache-2.0
#include "bench/random.hpp"

#include <algorithm>
#include <cmath>

namespace patchfold::bench {
namespace {

/// The least and the most bytes of the elements of both tensors together.
constexpr std::int64_t least_bytes = std::int64_t{1} << 17, most_bytes = std::int64_t{1} << 26;

/// Random numbers by splitmix64, the same everywhere, while distributions of the standard library differ between its
/// versions.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }
  /// Returns a number from `low` to `high`, inclusive.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <class T, std::size_t N>
  T pick(const T (&values)[N]) {
    return values[between(0, std::int64_t{N} - 1)];
  }

 private:
  std::uint64_t state_;
};

/// The operators to draw from; one that is listed more often is more likely.
constexpr const char* operators_drawn[] = {"unfold",         "unfold",         "unfold",         "fold",          "fold",
                                           "space_to_depth", "depth_to_space", "space_to_batch", "batch_to_space"};
constexpr DType types[] = {DType::float32, DType::float32,  DType::float32, DType::float32,   DType::uint8,     DType::uint8,
                           DType::float16, DType::bfloat16, DType::int16,   DType::float64,   DType::complex64, DType::int32,
                           DType::float16, DType::float64,  DType::int64,   DType::complex128};
constexpr std::int64_t kernels[] = {1,  2,  3,  3,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                    13, 14, 14, 15, 16, 16, 18, 20, 22, 24, 25, 28, 31, 32};
constexpr std::int64_t channel_counts[] = {1, 1, 2, 3, 3, 3, 4, 8, 16, 32, 64, 96};
constexpr std::int64_t batch_counts[] = {1, 1, 1, 2, 4, 8};
/// The heights to draw from, in quarters of the width: 4 is a square.
constexpr std::int64_t aspects[] = {4, 4, 4, 1, 2, 8, 16};
constexpr MemoryLayout image_layouts[] = {MemoryLayout::plain,         MemoryLayout::plain,   MemoryLayout::plain,
                                          MemoryLayout::channels_last, MemoryLayout::swapped, MemoryLayout::flipped,
                                          MemoryLayout::mirrored,      MemoryLayout::cropped, MemoryLayout::every_second};
constexpr MemoryLayout column_layouts[] = {
    MemoryLayout::plain,  MemoryLayout::plain,  MemoryLayout::plain,   MemoryLayout::plain,    MemoryLayout::tokens,
    MemoryLayout::tokens, MemoryLayout::tokens, MemoryLayout::cropped, MemoryLayout::mirrored, MemoryLayout::every_second};

/// Two numbers, for H and W.
struct Pair {
  std::int64_t h = 0;
  std::int64_t w = 0;
  friend bool operator==(const Pair&, const Pair&) = default;
};

void add_argument(ProblemText& problem, const char* name, const Pair& pair) {
  if (pair.h == pair.w)
    problem.arguments.push_back({name, pair.h});
  else
    problem.arguments.push_back({name, Dims{pair.h, pair.w}});
}

void add_pads(ProblemText& problem, const char* name, const Pair& begin, const Pair& end) {
  if (begin == Pair{} && end == Pair{}) return;
  if (begin == end && begin.h == begin.w)
    problem.arguments.push_back({name, begin.h});
  else
    problem.arguments.push_back({name, PadsList{{begin.h, end.h}, {begin.w, end.w}}});
}

/// Returns a height and a width whose product is about `area`.
Pair extents(Generator& random, double area) {
  const auto quarters = static_cast<double>(random.pick(aspects));
  const auto h = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::sqrt(area * quarters / 4)));
  return {h, std::max<std::int64_t>(1, static_cast<std::int64_t>(area / static_cast<double>(h)))};
}

/// What the problems of all operators have: layouts, a batch, channels, a kernel, and a size in bytes.
struct Draft {
  PlacedProblem placed{};
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  Pair kernel{};
  double wanted = 0;  ///< bytes of both tensors

  /// Returns the bytes of one pixel in all images and channels of the batch.
  double bytes_of_pixel() const {
    return static_cast<double>(batch * channels) * static_cast<double>(placed.problem.element_size);
  }
};

/// Returns the random extent of a kernel: mostly a usual one, sometimes any from 1 to 32.
std::int64_t draw_kernel(Generator& random) {
  return random.chance(75) ? random.pick(kernels) : random.between(1, 32);
}

/// Returns a random number of bytes; every power of two is equally likely. No function of <cmath> is used, since its rounding may
/// differ between machines.
double draw_bytes(Generator& random) {
  const std::int64_t base = least_bytes << random.between(0, 8);
  return static_cast<double>(base + random.between(0, base - 1));
}

Draft draw_draft(Generator& random) {
  Draft draft;
  ProblemText& problem = draft.placed.problem;
  problem.op = random.pick(operators_drawn);
  problem.dtype = random.pick(types);
  problem.element_size = size_of(problem.dtype);
  if (problem.op != "fold" && random.chance(6)) {
    constexpr std::size_t odd_sizes[] = {3, 5, 6, 12};
    problem.dtype = DType::opaque;
    problem.element_size = random.pick(odd_sizes);
  }
  draft.batch = random.pick(batch_counts);
  draft.channels = random.pick(channel_counts);
  draft.kernel.h = draw_kernel(random);
  draft.kernel.w = random.chance(80) ? draft.kernel.h : draw_kernel(random);
  draft.wanted = draw_bytes(random);
  return draft;
}

/// Draws the arguments of unfold and fold.
void draw_windows(Generator& random, Draft& draft) {
  ProblemText& problem = draft.placed.problem;
  const Pair kernel = draft.kernel;
  Pair stride = kernel;
  if (random.chance(50)) {
    stride.h = random.between(1, kernel.h);
    stride.w = kernel.h == kernel.w && random.chance(80) ? stride.h : random.between(1, kernel.w);
  }
  const std::int64_t dilation = random.chance(80) ? 1 : random.between(2, 3);
  const Pair reach{dilation * (kernel.h - 1) + 1, dilation * (kernel.w - 1) + 1};
  Pair begin, end;
  if (random.chance(25)) {
    begin = end = {(reach.h - 1) / 2, (reach.w - 1) / 2};
  } else if (random.chance(20)) {
    begin.h = random.between(0, reach.h - 1);
    begin.w = random.between(0, reach.w - 1);
    end.h = random.between(0, reach.h - 1);
    end.w = random.between(0, reach.w - 1);
  }
  const double taps = static_cast<double>(kernel.h * kernel.w);
  const double times_copied = taps / static_cast<double>(stride.h * stride.w);
  Pair image = extents(random, draft.wanted / (draft.bytes_of_pixel() * (1 + times_copied)));
  image.h = std::max(image.h, std::max<std::int64_t>(1, reach.h - begin.h - end.h));
  image.w = std::max(image.w, std::max<std::int64_t>(1, reach.w - begin.w - end.w));
  const std::int64_t positions =
      ((image.h + begin.h + end.h - reach.h) / stride.h + 1) * ((image.w + begin.w + end.w - reach.w) / stride.w + 1);

  const bool folds = problem.op == "fold";
  if (folds) {
    problem.shape = {draft.batch, draft.channels * kernel.h * kernel.w, positions};
    problem.arguments.push_back({"output_size", Dims{image.h, image.w}});
  } else {
    problem.shape = {draft.batch, draft.channels, image.h, image.w};
  }
  add_argument(problem, "kernel_size", kernel);
  if (stride != Pair{1, 1}) add_argument(problem, "stride", stride);
  if (dilation != 1) add_argument(problem, "dilation", {dilation, dilation});
  add_pads(problem, "padding", begin, end);
  if (random.chance(20)) problem.arguments.push_back({"order", "kernel"});
  const MemoryLayout of_image = random.pick(image_layouts);
  const MemoryLayout of_columns = random.pick(column_layouts);
  draft.placed.src = folds ? of_columns : of_image;
  draft.placed.dst = folds ? of_image : of_columns;
}

/// Draws the arguments of space_to_depth, depth_to_space, space_to_batch and batch_to_space.
void draw_blocks(Generator& random, Draft& draft) {
  ProblemText& problem = draft.placed.problem;
  const Pair block{std::max<std::int64_t>(2, draft.kernel.h), std::max<std::int64_t>(2, draft.kernel.w)};
  const std::int64_t size = block.h * block.w;
  const Pair blocks = extents(random, draft.wanted / (2 * draft.bytes_of_pixel() * static_cast<double>(size)));
  const bool in_depth = problem.op == "space_to_depth" || problem.op == "depth_to_space";
  const bool cuts = problem.op.starts_with("space_to");
  Pair begin, end;
  if (!in_depth && random.chance(30)) {
    begin.h = random.between(0, block.h - 1);
    begin.w = random.between(0, block.w - 1);
    end.h = random.between(0, block.h - 1 - begin.h);
    end.w = random.between(0, block.w - 1 - begin.w);
  }
  if (cuts)
    problem.shape = {draft.batch, draft.channels, blocks.h * block.h - begin.h - end.h,
                     blocks.w * block.w - begin.w - end.w};
  else if (in_depth)
    problem.shape = {draft.batch, draft.channels * size, blocks.h, blocks.w};
  else
    problem.shape = {draft.batch * size, draft.channels, blocks.h, blocks.w};
  add_argument(problem, "block", block);
  if (in_depth && random.chance(50)) problem.arguments.push_back({"mode", "depth_first"});
  add_pads(problem, cuts ? "padding" : "crops", begin, end);
  draft.placed.src = random.pick(image_layouts);
  draft.placed.dst = random.pick(image_layouts);
}

/// Returns the bytes of the elements of both tensors.
std::int64_t bytes_of(const ProblemText& problem) {
  const Dims shape = find_operator(problem.op).bind(problem.arguments).output_shape(problem.shape);
  return (element_count(problem.shape) + element_count(shape)) * static_cast<std::int64_t>(problem.element_size);
}

}  // namespace

PlacedProblem draw(std::uint64_t seed, std::int64_t index) {
  // Hashes both numbers, so that neighbouring seeds and indices give unrelated problems.
  Generator random(Generator(Generator(seed).bits() + static_cast<std::uint64_t>(index)).bits());
  while (true) {
    Draft draft = draw_draft(random);
    if (draft.placed.problem.op == "fold" || draft.placed.problem.op == "unfold")
      draw_windows(random, draft);
    else
      draw_blocks(random, draft);
    const std::int64_t bytes = bytes_of(draft.placed.problem);
    if (least_bytes <= bytes && bytes <= most_bytes) return draft.placed;
  }
}

}  // namespace patchfold::bench
