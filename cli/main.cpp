// SPDX-License-Identifier: Apache-2.0
#include "cli/program.hpp"
#include "system/process.hpp"

int main(int argc, char** argv) {
  patchfold::system::prepare_process();
  return patchfold::cli::run_program(patchfold::system::arguments(argc, argv));
}
