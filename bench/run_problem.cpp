// SPDX-License-Identifier: Apache-2.0
// `run_problem TIMES PROBLEM` plans a problem once and runs it TIMES times on the calling thread; scripts/checks/instructions
// counts the instructions of a run. `run_problem --instruction-sets` prints this processor's instruction sets.
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "bench/placed.hpp"

/// Runs the plan once. Valgrind finds this function by its name and counts its instructions.
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
    const auto [plan, from, to] = bench::plan_of(bench::parse_placed(argv[2]));
    const std::vector<std::byte> src(from.bytes, std::byte{1});
    std::vector<std::byte> dst(to.bytes);
    for (int times = std::atoi(argv[1]); times > 0; --times)
      run_once(plan, src.data() + from.offset, dst.data() + to.offset);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "run_problem: %s\n", error.what());
    return 1;
  }
}
