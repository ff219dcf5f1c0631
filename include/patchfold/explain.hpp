// SPDX-License-Identifier: Apache-2.0
// Explains an operator at one shape of its tensor, and the places of tiles, as text and as pictures for people.
// The shared library holds these functions, unless it was built without PATCHFOLD_WITH_EXPLAIN; users of the static library also
// link patchfold::explain.
#pragma once

#include <span>
#include <string>

#include "patchfold/table.hpp"
#include "patchfold/tiling.hpp"

namespace patchfold {

/// The largest number of elements of input or output for which explain() shows coverage and order. For an operator without a data
/// input, the taps of all patches count instead. explain() visits each of these elements once and needs memory for them; for larger
/// problems its text has a note in place of coverage and order.
inline constexpr std::int64_t explain_limit = std::int64_t{1} << 22;

/// The parts of an explanation that are optional.
struct ExplainOptions {
  bool plan = false;  ///< show how this library runs the operator, and where the operator is defined
};

/// Explains one operator for one shape of its data input (ignored if the operator has none):
///   its purpose; its arguments in force; shapes, with the formula of each extent; for operators with windows the
///   positions on every axis, and the patches over the padded image; coverage: how often each pixel is used, or how many elements
///   are added in it; order: which element comes from which, or goes where; for tiny shapes the columns as a matrix; the
///   order inside a patch beside those of torch, TensorFlow, ONNX, OpenVINO and MATLAB; bytes and their roof; the plan, if
///   it is asked for.
/// The text is ASCII, in lines of at most 100 characters, each ended by a newline. `element_size` is used only for opaque
/// elements. Throws the same Error as planning the operator.
PATCHFOLD_API std::string explain(const OperatorSpec& op, std::span<const Argument> arguments, const Dims& data_shape,
                                  DType dtype = DType::float32, std::size_t element_size = 0, ExplainOptions options = {});
PATCHFOLD_API std::string explain(const ProblemText& problem, ExplainOptions options = {});

/// Draws the explanation as a picture: shapes and formulas, the grid of patches over the padded image, and coverage as a heat map
/// with numbers. The picture also shows the order inside a patch in each system, and the columns of a tiny problem. Returns an SVG
/// document in UTF-8, 960 pixels wide. The document loads no other file, has a title and a description, follows the reader's light
/// or dark scheme, and may be embedded in a page of HTML. The size of the document and the time to draw it have a limit: for long
/// axes the picture shows only the beginning and the end, with a note. Throws as explain() does.
PATCHFOLD_API std::string explain_svg(const ProblemText& problem);

/// Explains a problem that its operator refuses: the fault, similar problems that the operator accepts, the most similar first, and
/// the formulas of the first of these. Returns an empty text if the operator accepts the problem, or if no small change of one or
/// two numbers makes the problem correct. Throws Error(unknown_operator).
PATCHFOLD_API std::string explain_error(const ProblemText& problem);

/// Explains the places of tiles, their overlap, and the weights and memory of their merge. explain() returns text, in lines of at
/// most 100 ASCII characters, and explain_svg() a picture in the form of the other explain_svg(). If a merger would refuse `merge`,
/// the text has a note, since this function only describes the spec.
PATCHFOLD_API std::string explain(const Tiling& tiling, const MergeSpec& merge = {});
PATCHFOLD_API std::string explain_svg(const Tiling& tiling, const MergeSpec& merge = {});

}  // namespace patchfold
