// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "patchfold/plan.hpp"
#include "tiling/cell_plan.hpp"

namespace patchfold::tiling {

/// Makes the elements of all cells; the rows are divided among threads. Throws Error(out_of_memory, executor), and std::bad_alloc.
void run_cells(const std::vector<CellPlan>& work, Executor& executor);

}  // namespace patchfold::tiling
