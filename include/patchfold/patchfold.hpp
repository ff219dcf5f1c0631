// SPDX-License-Identifier: Apache-2.0
// The whole public C++ interface.
#pragma once

#include "patchfold/error.hpp"
#include "patchfold/version.hpp"
#if PATCHFOLD_WITH_EXPLAIN
#include "patchfold/explain.hpp"
#endif
#include "patchfold/geometry.hpp"
#include "patchfold/keras.hpp"
#include "patchfold/onnx.hpp"
#include "patchfold/openvino.hpp"
#include "patchfold/operators.hpp"
#include "patchfold/pictures.hpp"
#include "patchfold/plan.hpp"
#include "patchfold/table.hpp"
#include "patchfold/tensor.hpp"
#include "patchfold/tensorflow.hpp"
#if PATCHFOLD_WITH_TILING
#include "patchfold/tiling.hpp"
#endif
#include "patchfold/torch.hpp"
