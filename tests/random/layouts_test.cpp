// SPDX-License-Identifier: Apache-2.0
// Compares problems with the reference in every pair of memory layouts of source and destination: with the planned strategy,
// and with each strategy that takes any layout.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "as_always.hpp"
#include "check.hpp"
#include "engine/table.hpp"
#include "instruction_sets.hpp"
#include "memory.hpp"
#include "reference/reference.hpp"

namespace patchfold::testing {
namespace {

/// The layouts of a tensor in memory. The last two axes are called H and W.
constexpr std::string_view layouts[] = {
    "row-major",
    "channels last",  // axis 1 is the last one in memory
    "swapped",        // H and W are exchanged in memory
    "flipped",        // the last row comes first
    "mirrored",       // the last element of each row comes first
    "cropped",        // rows are parts of longer rows
    "every second",   // after each element one is skipped
    "batch last",     // axis 0 is the last one in memory
};

/// Problems without element types: with patches side by side, overlapping, dilated and with gaps, with and without padding.
constexpr std::string_view problems[] = {
    "unfold 2x3x20x37 kernel_size=5,4 stride=5,4",
    "unfold 1x17x9x21 kernel_size=3 stride=2 dilation=2 padding=3",
    "unfold 2x2x35x18 kernel_size=7 stride=4 padding=3 order=kernel",
    "fold 2x60x45 output_size=25,38 kernel_size=5,4 stride=5,4",
    "fold 1x153x72 output_size=16,13 kernel_size=3 stride=2 padding=1:2,2:2",
    "fold 2x98x20 output_size=23,31 kernel_size=7 stride=5 dilation=2 padding=3",
    "copy 2x3x27x38",
    "space_to_depth 2x5x18x33 block=3",
    "depth_to_space 2x48x7x17 block=4 mode=depth_first",
    "space_to_batch 3x4x21x34 block=4,3 padding=2:1,1:1",
    "batch_to_space 24x3x6x19 block=4,3 crops=1:2,0:2",
};
constexpr std::string_view types[] = {"u8", "i16", "f16", "f32", "f64", "c64", "c128"};
constexpr std::string_view strategies[] = {"", "strided", "parts", "bands", "sum bands"};

Arrangement arranged(std::string_view layout, const Dims& shape, std::size_t element_size) {
  const int rank = shape.size(), w = rank - 1, h = rank - 2;
  std::vector<int> order;  // the axes, those of the largest stride first
  for (int axis = 0; axis < rank; ++axis) order.push_back(axis);
  if (layout == "swapped") std::swap(order.end()[-1], order.end()[-2]);
  if (layout == "channels last") std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  if (layout == "batch last") std::rotate(order.begin(), order.begin() + 1, order.end());
  Arrangement result{shape, Dims::filled(rank, 0), element_size};
  auto step = static_cast<std::int64_t>(element_size);
  for (int k = rank - 1; k >= 0; --k) {
    const int axis = order[static_cast<std::size_t>(k)];
    const bool is_apart = axis == w && layout == "every second", is_cut = axis == w && layout == "cropped";
    result.strides[axis] = is_apart ? 2 * step : step;
    step = result.strides[axis] * (shape[axis] + (is_cut ? 3 : 0));
  }
  result.bytes = static_cast<std::size_t>(step);
  if (layout == "cropped") result.origin = element_size;
  if (layout == "flipped" || layout == "mirrored") {
    const int axis = layout == "flipped" ? h : w;
    result.origin = static_cast<std::size_t>((shape[axis] - 1) * result.strides[axis]);
    result.strides[axis] *= -1;
  }
  return result;
}

/// Returns small whole numbers, whose sums are exact in every type.
std::vector<std::byte> whole_numbers(DType dtype, std::size_t element_size, std::int64_t count) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * element_size);
  for (std::int64_t i = 0; i < count; ++i) {
    std::byte* at = bytes.data() + static_cast<std::size_t>(i) * element_size;
    const auto value = static_cast<int>(i * 7 % 5);
    visit(dtype, [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_arithmetic_v<T>) {
        const auto number = static_cast<T>(value);
        std::memcpy(at, &number, sizeof number);
      } else if constexpr (ComplexNumber<T>) {
        const typename T::value_type parts[2] = {static_cast<typename T::value_type>(value),
                                                 static_cast<typename T::value_type>(i % 3)};
        std::memcpy(at, parts, sizeof parts);
      } else {
        constexpr std::uint16_t halves[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400};  // float16: 0 to 4
        std::memcpy(at, &halves[value], std::min(element_size, sizeof halves[value]));
      }
    });
  }
  return bytes;
}

/// A problem whose source and destination have given layouts, with the bytes that the whole range of the destination must
/// have after a run, gaps included.
class Placed {
 public:
  Placed(const ProblemText& text, std::string_view src, std::string_view dst)
      : text_(text),
        op_(find_operator(text.op).bind(text.arguments)),
        src_(arranged(src, text.shape, text.element_size)),
        dst_(arranged(dst, op_.output_shape(text.shape), text.element_size)),
        from_(src_.bytes, true),
        to_(dst_.bytes, true),
        before_(dst_.bytes, std::byte{0xa5}) {
    const std::vector<std::byte> elements = whole_numbers(text.dtype, text.element_size, element_count(text.shape));
    scatter(src_, elements, from_.bytes());
    const auto list = [](const Dims& dims) { return reference::List(dims.begin(), dims.end()); };
    const reference::Array data{list(text.shape), reference_type(text.dtype), text.element_size, elements};
    expected_ = before_;
    scatter(dst_, reference::run(text.op, data, reference_arguments(text.arguments), nullptr).bytes, expected_);
  }

  /// Returns the strategy that ran; fails if the result is wrong.
  std::string run() {
    const TensorView image{from_.bytes().data() + src_.origin, src_.shape, src_.strides, text_.dtype, text_.element_size};
    const TensorView result{to_.bytes().data() + dst_.origin, dst_.shape, dst_.strides, text_.dtype, text_.element_size};
    const Plan plan = op_.plan(image, result);
    std::memcpy(to_.bytes().data(), before_.data(), before_.size());
    throw_if_failed(plan.run(image.data, result.data), text_.op);
    EXPECT_EQ(std::memcmp(to_.bytes().data(), expected_.data(), expected_.size()), 0) << plan.strategy();
    return std::string(plan.strategy());
  }

 private:
  ProblemText text_;
  BoundOperator op_;
  Arrangement src_, dst_;
  kernels::Fenced from_, to_;
  std::vector<std::byte> before_, expected_{};
};

TEST(Layouts, EveryPairGivesWhatTheReferenceGives) {
  const AsAlways after;
  std::map<std::string, int> ran;
  int number = 0;
  for (const std::string_view src : layouts)
    for (const std::string_view dst : layouts)
      for (const std::string_view problem : problems) {
        const std::string_view type = types[static_cast<std::size_t>(number++) % std::size(types)];
        const std::size_t space = problem.find(' ');
        const ProblemText text = parse_problem(std::string(problem.substr(0, space)) + " " + std::string(type) +
                                               std::string(problem.substr(space)));
        SCOPED_TRACE(to_string(text) + " from " + std::string(src) + " into " + std::string(dst));
        Placed placed(text, src, dst);
        for (const std::string_view strategy : strategies) {
          engine::force({.strategy = strategy});
          for (const std::string& set : sets_to_run()) {
            SCOPED_TRACE(set);
            use_instruction_set(set);
            ++ran[placed.run()];
          }
        }
        ASSERT_FALSE(HasFailure());
      }
  for (const std::string_view strategy : strategies)
    EXPECT_TRUE(strategy.empty() || ran[std::string(strategy)] > 0) << strategy;
}

}  // namespace
}  // namespace patchfold::testing
