// SPDX-License-Identifier: Apache-2.0
#include "problems.hpp"

#include <gtest/gtest.h>

#include "check.hpp"

namespace patchfold::testing {

Case draw_case(const Subject& subject, int number) {
  constexpr std::int64_t widths[] = {1, 2, 3, 5, 7, 8, 9, 14, 16, 17, 31, 32, 33, 64, 65, 130};
  constexpr int wide_percent = 30, plain_percent = 50;
  Random random(seed_of_case(seed_of_run(), std::string(subject.op) + " on a device", number));
  const auto types = subject.sums ? summable_types() : all_types();
  Request request{types[static_cast<std::size_t>(number) % types.size()]};
  // Few problems of torch have a given width, so drawing one may take long; the neutral operators run the same kernels.
  if (random.chance(wide_percent) && !subject.op.starts_with("torch")) request.width = random.pick(widths);
  const Problem problem = subject.make(random, request);
  const ProblemText& text = problem.text;
  const OperatorSpec& spec = find_operator(text.op);
  const BoundOperator op = spec.bind(text.arguments);
  const Dims shape = op.output_shape(text.shape);
  const ElementType type{text.dtype, text.element_size};
  const bool plain = random.chance(plain_percent);
  const auto arrange = [&](const Dims& extents, bool is_source) {
    Features ignored;
    if (!plain) return random_arrangement(random, extents, type.size, is_source, ignored);
    const auto bytes = static_cast<std::size_t>(element_count(extents)) * type.size;
    return Arrangement{extents, contiguous_strides(extents, type.size), type.size, 0, std::max(bytes, type.size)};
  };
  Case made{.label = {}, .src = arrange(text.shape, true), .dst = arrange(shape, false)};
  Features ignored;
  const auto fill = [&](std::vector<std::byte>& bytes, const Arrangement& arrangement, const Dims& extents) {
    bytes.resize(arrangement.bytes);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random.next());
    scatter(arrangement, random_elements(random, type, element_count(extents), ignored), bytes);
  };
  fill(made.source, made.src, spec.data_input.empty() ? Dims{} : text.shape);
  fill(made.before, made.dst, shape);
  made.plan = op.plan({nullptr, text.shape, made.src.strides, type.dtype, type.size},
                      {nullptr, shape, made.dst.strides, type.dtype, type.size});
  made.dtype = type.dtype;
  made.any_nan = !has_certain_nans(text, subject.sums);
  made.expected = made.before;
  throw_if_failed(made.plan.run(made.source.data() + made.src.origin, made.expected.data() + made.dst.origin), spec.name);
  made.label = to_string(text) + "; src strides " + to_string(made.src.strides) + "; dst strides " +
               to_string(made.dst.strides) + "  (PATCHFOLD_SEED=" + std::to_string(seed_of_run()) + ", case " +
               std::to_string(number) + ")\n";
  return made;
}

void run_cases(int cases, const Runner& run) {
  constexpr int most_failures = 3;
  int total = 0;
  for (const Subject& subject : subjects()) {
    int failures = 0;
    for (int number = 0; number < cases && failures < most_failures; ++number) {
      const Case made = draw_case(subject, number);
      announce(made.label);
      std::vector<std::byte> destination = made.before;
      std::optional<std::string> wrong;
      try {
        run(made, destination);
        wrong = difference(made.dst, made.dtype, made.any_nan, destination, made.expected);
      } catch (const std::exception& error) {
        wrong = error.what();
      }
      if (wrong) {
        ++failures;
        ADD_FAILURE() << made.label << *wrong;
      }
      ++total;
    }
  }
  std::printf("%d problems\n", total);
}

}  // namespace patchfold::testing
