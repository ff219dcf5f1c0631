// SPDX-License-Identifier: Apache-2.0
// Measures the microseconds of small calls in C++. small_calls prints "NAME CALL PLANNED" for each problem: CALL is
// patchfold::run(op, src, dst), which checks, plans and runs; PLANNED is the run of a plan made before. bench/python_calls.py times
// these problems in Python.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "patchfold/patchfold.hpp"

namespace {

constexpr int rounds = 15;
constexpr int calls = 5000;

/// Returns the best time of several rounds: disturbances only make a call longer.
template <class F>
double microseconds(F&& f) {
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) f();
    const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - start;
    best = std::min(best, spent.count() / calls);
  }
  return best;
}

template <class Op>
void measure(const char* name, const Op& op, const patchfold::Dims& shape) {
  const patchfold::Dims result = op.output_shape(shape);
  std::vector<float> image(static_cast<std::size_t>(patchfold::element_count(shape)), 1.0f);
  std::vector<float> output(static_cast<std::size_t>(patchfold::element_count(result)));
  const auto src = patchfold::view(image.data(), shape);
  const auto dst = patchfold::view(output.data(), result);
  const patchfold::Plan plan = op.plan(src, dst);
  const double call = microseconds([&] { patchfold::run(op, src, dst); });
  const double planned = microseconds([&] { (void)plan.run(image.data(), output.data()); });
  std::printf("%s %.3f %.3f\n", name, call, planned);
}

}  // namespace

int main() {
  measure("unfold", patchfold::Unfold{.kernel_size = 2}, {1, 3, 16, 16});
  measure("fold", patchfold::Fold{.output_size = {16, 16}, .kernel_size = 2}, {1, 12, 225});
  measure("space_to_depth", patchfold::SpaceToDepth{.block = 2}, {1, 3, 16, 16});
  measure("unfold_of_one", patchfold::Unfold{.kernel_size = 1}, {1, 1, 1, 1});
}
