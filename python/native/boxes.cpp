// SPDX-License-Identifier: Apache-2.0
// Boxes of the output of a tiling: the tiles that touch a box, and the merge of their results.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "python/native/interpreter_lock.hpp"
#include "python/native/tiling.hpp"
#include "python/native/values.hpp"

namespace patchfold::python {
namespace {

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

Box box_of(const Pairs& pairs) {
  Box box;
  for (const auto& [begin, end] : pairs) box.push_back({begin, end});
  return box;
}

nb::tuple pairs_of(const std::vector<Span>& spans) {
  nb::list pairs;
  for (const Span span : spans) pairs.append(nb::make_tuple(span.begin, span.end));
  return nb::tuple(pairs);
}

/// Checks everything that can be checked before the first result, for results of the type of `like`.
void check_results(const Tiling& tiling, MergeSpec spec, nb::handle like, nb::handle channels) {
  const Operand operand = operand_of(like, {"merge", "results"}, false);
  spec.dtype = operand.view.dtype;
  spec.element_size = operand.view.element_size;
  spec.channels = shape_of("merge", "channels", channels);
  try {
    renamed([&] {
      const Unlocked unlocked;
      patchfold::check_merge(tiling, spec, true);
    });
  } catch (const Error& error) {
    throw with_type_of(operand, error);
  }
}

/// Makes all checks that do not depend on the type of the results.
void check_cover(const Tiling& tiling, const MergeSpec& spec) {
  renamed([&] {
    const Unlocked unlocked;
    patchfold::check_merge(tiling, without_results(tiling, spec), true);
  });
}

std::string reduction(MergeSpec spec, const std::string& dtype) {
  spec.dtype = element_type_named(dtype, "results");
  return std::string(word_of(reduction_of(spec)));
}

}  // namespace

BoxMergerOf::BoxMergerOf(const Tiling& tiling, MergeSpec spec, nb::handle like, nb::handle channels)
    : tiling_(tiling), like_(operand_of(like, {"merge", "piece"}, false)) {
  spec.channels = shape_of("merge", "channels", channels);
  spec.dtype = like_.view.dtype;
  spec.element_size = like_.view.element_size;
  spec_.output_dtype = spec.output_dtype;
  spec_.reduce = spec.reduce;
  try {
    renamed([&] { merger_.emplace(tiling_, spec); });
  } catch (const Error& error) {
    throw with_type_of(like_, error);
  }
  like_.owner.reset();
  like_.view.data = nullptr;
}

void BoxMergerOf::merge(const Pairs& box, const nb::list& pieces, nb::handle out) const {
  std::vector<Operand> operands;
  std::vector<Piece> given;
  for (const nb::handle pair : pieces) {
    const auto index = nb::cast<std::int64_t>(pair[0]);
    const auto name = [&] {
      const std::string tile = " of tile " + std::to_string(index) + " at position ";
      return index < 0 || index >= tiling_.size() ? std::string("piece")
                                                  : in_python_terms("piece" + tile + to_string(tiling_[index].position));
    };
    const Operand& operand = operands.emplace_back(operand_of(pair[1], {"merge", name()}, false));
    if (!same_elements(operand, like_))
      throw Error({ErrorCode::dtype, "merge", name(), "must have the element type of the first piece", dtype_text(operand),
                   dtype_text(like_)});
    given.push_back({index, operand.view});
  }
  const Operand to = destination(out);
  check_destination(spec_, to, like_);
  renamed([&] {
    const Unlocked unlocked;
    merger_->merge(box_of(box), given, to.view);
  });
}

void bind_boxes(nb::module_& module) {
  nb::class_<BoxMergerOf>(module, "BoxMerger")
      .def(
          "__init__",
          [](BoxMergerOf* self, const Tiling& tiling, const MergeSpec& spec, nb::handle like, nb::handle channels) {
            new (self) BoxMergerOf(tiling, spec, like, channels);
          },
          nb::arg("tiling"), nb::arg("spec"), nb::arg("like"), nb::arg("channels"))
      .def("merge", &BoxMergerOf::merge, nb::arg("box"), nb::arg("pieces"), nb::arg("out"));
  module.def(
      "tiles_touching",
      [](const Tiling& tiling, const Pairs& box) { return renamed([&] { return pairs_of(tiling.touching(box_of(box))); }); },
      nb::arg("tiling"), nb::arg("box"));
  module.def(
      "piece_of_tile",
      [](const Tiling& tiling, std::int64_t index, const Pairs& box) {
        return renamed([&] { return pairs_of(tiling.piece(index, box_of(box))); });
      },
      nb::arg("tiling"), nb::arg("index"), nb::arg("box"));
  module.def("check_results", &check_results, nb::arg("tiling"), nb::arg("spec"), nb::arg("like"), nb::arg("channels"));
  module.def("check_cover", &check_cover, nb::arg("tiling"), nb::arg("spec"));
  module.def("reduction", &reduction, nb::arg("spec"), nb::arg("dtype"));
}

}  // namespace patchfold::python
