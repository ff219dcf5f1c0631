// SPDX-License-Identifier: Apache-2.0
// run_problem TIMES PROBLEM plans a problem once and runs it so many times on the calling thread;
// scripts/checks/instructions counts what a run costs. run_problem --instruction-sets prints those that this processor has.
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "patchfold/table.hpp"

/// What is counted: Valgrind finds it by its name.
extern "C" __attribute__((noinline)) void run_once(const patchfold::Plan& plan, const void* src, void* dst) {
  patchfold::throw_if_failed(plan.run(src, dst, patchfold::serial_executor()), "run_problem");
}

int main(int argc, char** argv) {
  using namespace patchfold;
  if (argc == 2 && argv[1] == std::string_view("--instruction-sets")) {
    for (const std::string& set : instruction_sets()) std::puts(set.c_str());
    return 0;
  }
  if (argc != 3) {
    std::fputs("usage: run_problem TIMES PROBLEM | --instruction-sets\n", stderr);
    return 2;
  }
  try {
    const ProblemText problem = parse_problem(argv[2]);
    const BoundOperator bound = find_operator(problem.op).bind(problem.arguments);
    const Dims shape = bound.output_shape(problem.shape);
    const std::size_t size = problem.element_size;
    std::vector<std::byte> src(static_cast<std::size_t>(element_count(problem.shape)) * size, std::byte{1});
    std::vector<std::byte> dst(static_cast<std::size_t>(element_count(shape)) * size);
    const Plan plan =
        bound.plan(TensorView{src.data(), problem.shape, contiguous_strides(problem.shape, size), problem.dtype, size},
                   TensorView{dst.data(), shape, contiguous_strides(shape, size), problem.dtype, size});
    for (int times = std::atoi(argv[1]); times > 0; --times) run_once(plan, src.data(), dst.data());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "run_problem: %s\n", error.what());
    return 1;
  }
}
