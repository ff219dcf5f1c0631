// SPDX-License-Identifier: Apache-2.0
#include "python/native/tiling.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "python/native/interpreter_lock.hpp"
#include "python/native/values.hpp"
#include "src/base/other_words.hpp"

namespace patchfold::python {
namespace {

constexpr std::string_view op_tiling = "tiling";
constexpr std::string_view op_merge = "merge";

void check_entries(std::string_view name, const Dims& dims) {
  if (dims.empty())
    throw Error({ErrorCode::length, std::string(op_tiling), std::string(name),
                 "must have one entry for each tiled axis, at least one", "an empty list", ""});
}

Axes axes(std::string_view name, nb::handle object) {
  if (object.is_none()) return {};
  const ArgumentValue given = value(op_tiling, name, ArgumentKind::axes, object);
  if (const auto* number = std::get_if<std::int64_t>(&given)) return *number;
  check_entries(name, std::get<Dims>(given));
  return std::get<Dims>(given);
}

/// Returns an argument as a list; a number applies to every tiled axis.
Dims spread(std::string_view name, nb::handle object, int tiled) {
  const Axes given = axes(name, object);
  return given.is_scalar() ? Dims::filled(tiled, given.values()[0]) : given.values();
}

using Ratios = std::vector<std::pair<std::int64_t, std::int64_t>>;

Tiling make_tiling(nb::handle shape, nb::handle tile, nb::handle overlap, const std::vector<double>& overlap_fraction,
                   nb::handle stride, nb::handle tail, nb::handle tiled_axes, nb::handle padding_mode, nb::handle fill,
                   const Ratios& scale, nb::handle offset, nb::handle result, nb::handle align, nb::handle margin,
                   nb::handle margin_end, nb::handle output) {
  TilingSpec spec;
  spec.shape = shape_of(op_tiling, "shape", shape);
  spec.tile = shape_of(op_tiling, "tile", tile);
  check_entries("tile", spec.tile);
  spec.overlap = axes("overlap", overlap);
  spec.overlap_fraction = overlap_fraction;
  spec.stride = axes("stride", stride);
  spec.tail = choice<Tail>(op_tiling, "tail", tail);
  spec.padding_mode = choice<PaddingMode>(op_tiling, "padding_mode", padding_mode);
  spec.value = std::get<Scalar>(value(op_tiling, "value", ArgumentKind::number, fill));
  check_fill(op_tiling, "padding_mode", utf8_of(padding_mode), "value", spec.value);
  const Axes which = axes("axes", tiled_axes);
  spec.axes = which.values();
  for (const auto& [num, den] : scale) spec.scale.push_back({num, den});
  spec.offset = spread("offset", offset, spec.tile.size());
  spec.result = spread("result", result, spec.tile.size());
  spec.align = axes("align", align);
  spec.margin = axes("margin", margin);
  spec.margin_end = axes("margin", margin_end);
  spec.output = spread("output", output, spec.tile.size());
  return renamed([&] { return Tiling(spec); });
}

nb::tuple tile_of(const Tiling& tiling, std::int64_t index) {
  const Tile tile = renamed([&] { return tiling[index]; });
  nb::list spans;
  for (const TileSpan& span : tile.spans)
    spans.append(nb::make_tuple(span.read.begin, span.read.end, span.extent, span.write.begin, span.write.end,
                                span.keep.begin, span.keep.end, span.result, span.origin));
  return nb::make_tuple(to_tuple(tile.position), nb::tuple(spans));
}

/// Copies a tile to `out`, or to a new array of x's kind, and returns the array.
nb::object cut(const Tiling& tiling, std::int64_t index, nb::handle x, nb::handle out) {
  const Operand src = operand_of(x, {op_tiling, "x"}, false);
  const auto run = [&](const TensorView& dst) {
    try {
      const Unlocked unlocked;
      tiling.cut(index, src.view, dst);
    } catch (const Error& error) {
      Error::Parts parts = in_python_names(error).parts();
      if (parts.argument == "tile") parts.argument = "out";
      throw Error(std::move(parts));
    }
  };
  if (!out.is_none()) {
    const Operand dst = operand_of(out, {op_tiling, "out"}, true);
    if (!same_elements(src, dst))
      throw Error({ErrorCode::dtype, std::string(op_tiling), "out", "must have the element type of x", dtype_text(dst),
                   dtype_text(src)});
    run(dst.view);
    return nb::borrow(out);
  }
  const Dims shape = renamed([&] { return tiling.tile_shape(index); });
  const Output output(x, src, shape);
  run({output.data(), shape, contiguous_strides(shape, src.view.element_size), src.view.dtype, src.view.element_size});
  return output.result();
}

nb::object coverage(const Tiling& tiling) {
  const nb::object counts = new_array(
      reinterpret_cast<PyArray_Descr*>(nb::steal(reinterpret_cast<PyObject*>(PyArray_DescrFromType(NPY_INT64))).ptr()),
      tiling.output());
  renamed([&] { tiling.coverage(view_of(reinterpret_cast<PyArrayObject*>(counts.ptr()), {op_tiling, "counts"})); });
  return counts;
}

bool may_share_memory(nb::handle x, nb::handle out) {
  const auto [x_begin, x_end] = bytes_of(operand_of(x, {op_tiling, "x"}, false).view, {op_tiling, "x"});
  const auto [out_begin, out_end] = bytes_of(operand_of(out, {op_merge, "out"}, false).view, {op_merge, "out"});
  return x_begin < out_end && out_begin < x_end;
}

}  // namespace

Error in_python_names(const Error& error) {
  Error::Parts parts = error.parts();
  const auto rename = [&](std::string_view library, std::string_view python) {
    if (parts.argument != library) return false;
    parts.argument = python;
    return true;
  };
  if (parts.op == op_tiling)
    rename("array", "x");
  else if (parts.op == op_merge)
    rename("output", "out") || rename("dtype", "tile") || rename("output dtype", "dtype") || rename("sigma_scale", "window") ||
        rename("alpha", "window");
  parts.argument = in_python_terms(parts.argument);
  return Error(std::move(parts));
}

ArgumentValue value(std::string_view op, std::string_view name, ArgumentKind kind, nb::handle object,
                    std::span<const std::string_view> choices) {
  return value_of({.name = op, .doc = {}, .definition = {}, .data_input = {}},
                  {.name = name, .kind = kind, .choices = choices}, object);
}

void bind_tiling(nb::module_& module) {
  // The words of each enumeration, under the name of their type in _typing.py.
  nb::dict words;
  const auto add = [&]<class E>(const char* name, bool (*allows)(E) noexcept) {
    nb::list list;
    for (const std::string_view word : words_of(allows)) list.append(std::string(word));
    words[name] = nb::tuple(list);
  };
  add.operator()<Tail>("Tail", nullptr);
  add.operator()<PaddingMode>("PaddingMode", nullptr);
  add.operator()<Reduce>("Reduce", nullptr);
  add("WindowName", &has_formula);
  module.attr("WORDS") = words;
  nb::class_<Tiling>(module, "Tiling")
      .def_static("make", &make_tiling, nb::arg("shape").none(), nb::arg("tile").none(), nb::arg("overlap").none(),
                  nb::arg("overlap_fraction"), nb::arg("stride").none(), nb::arg("tail").none(), nb::arg("axes").none(),
                  nb::arg("padding_mode").none(), nb::arg("value").none(), nb::arg("scale"), nb::arg("offset").none(),
                  nb::arg("result").none(), nb::arg("align").none(), nb::arg("margin") = nb::none(),
                  nb::arg("margin_end") = nb::none(), nb::arg("output") = nb::none())
      .def_prop_ro("size", &Tiling::size)
      .def_prop_ro("shape", [](const Tiling& t) { return to_tuple(t.spec().shape); })
      .def_prop_ro("tile", [](const Tiling& t) { return to_tuple(t.spec().tile); })
      .def_prop_ro("grid", [](const Tiling& t) { return to_tuple(t.grid()); })
      .def_prop_ro("axes", [](const Tiling& t) { return to_tuple(t.axes()); })
      .def_prop_ro("stride", [](const Tiling& t) { return to_tuple(t.stride()); })
      .def_prop_ro("result", [](const Tiling& t) { return to_tuple(t.result()); })
      .def_prop_ro("output", [](const Tiling& t) { return to_tuple(t.output()); })
      .def_prop_ro("channels", [](const Tiling& t) { return to_tuple(t.channels()); })
      .def_prop_ro("stream_axis", &Tiling::stream_axis)
      .def("tile_at", &tile_of, nb::arg("index"))
      .def(
          "axes_in", [](const Tiling& t, int rank) { return renamed([&] { return to_tuple(t.axes_in(rank)); }); },
          nb::arg("rank"))
      .def(
          "result_shape",
          [](const Tiling& t, std::int64_t index, nb::handle channels) {
            const Dims extents = shape_of(op_tiling, "channels", channels);
            return renamed([&] { return to_tuple(t.result_shape(index, extents)); });
          },
          nb::arg("index"), nb::arg("channels"))
      .def(
          "output_shape",
          [](const Tiling& t, nb::handle channels) {
            const Dims extents = shape_of(op_tiling, "channels", channels);
            return renamed([&] { return to_tuple(t.output_shape(extents)); });
          },
          nb::arg("channels"))
      .def("cut", &cut, nb::arg("index"), nb::arg("x").none(), nb::arg("out").none())
      .def("coverage", &coverage)
      .def("to_json", &Tiling::to_json, nb::arg("with_tiles"));
  module.def("may_share_memory", &may_share_memory, nb::arg("x").none(), nb::arg("out").none());
}

}  // namespace patchfold::python
