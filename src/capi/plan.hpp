// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patchfold/patchfold.h"
#include "patchfold/plan.hpp"
#include "patchfold/table.hpp"

/// A plan, with its operator for error messages.
struct pf_plan {
  patchfold::Plan plan;
  const patchfold::OperatorSpec* spec;
};
