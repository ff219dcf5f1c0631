// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <exception>

#include "patchfold/explain.hpp"
#include "python/native/interpreter_lock.hpp"
#include "python/native/tiling.hpp"
#include "python/native/values.hpp"

namespace patchfold::python {
namespace {

constexpr std::string_view op = "merge";

/// The C++ exception that the library sees when a sink raises. Python's exception waits in TileMerger::Call.
class SinkFailed : public std::exception {
 public:
  const char* what() const noexcept override { return "the output could not be written"; }
};

std::vector<double> doubles(nb::handle object) {
  auto* array = reinterpret_cast<PyArrayObject*>(object.ptr());
  if (!is_numpy(object) || PyArray_TYPE(array) != NPY_DOUBLE || !PyArray_IS_C_CONTIGUOUS(array))
    throw Error({ErrorCode::type, std::string(op), "window", "must hold float64 in row-major order", text_of(object), ""});
  const auto* values = static_cast<const double*>(PyArray_DATA(array));
  return {values, values + PyArray_SIZE(array)};
}

/// Reads a window: None, (name, parameter or None), a list with one array for each tiled axis, or one array for all.
WeightWindow window_of(nb::handle object) {
  WeightWindow window;
  if (object.is_none()) return window;
  if (PyTuple_Check(object.ptr())) {
    const nb::tuple pair = nb::borrow<nb::tuple>(object);
    window.kind = choice<WeightWindow::Kind>(op, "window", pair[0], has_formula);
    if (!pair[1].is_none())
      (window.kind == WeightWindow::Kind::tukey ? window.alpha : window.sigma_scale) = nb::cast<double>(pair[1]);
  } else if (PyList_Check(object.ptr())) {
    window.kind = WeightWindow::Kind::axes;
    for (const nb::handle axis : nb::borrow<nb::list>(object)) window.axes.push_back(doubles(axis));
  } else {
    window.kind = WeightWindow::Kind::array;
    window.array = doubles(object);
  }
  return window;
}

/// Reads the weights of a tile: None, a float, or an array of float64, which must live as long as the result.
TileWeights weights_of(nb::handle object) {
  TileWeights weights;
  if (PyFloat_Check(object.ptr()))
    weights.number = PyFloat_AsDouble(object.ptr());
  else if (!object.is_none())
    weights.array = view_of(reinterpret_cast<PyArrayObject*>(object.ptr()), {op, "weight"});
  return weights;
}

/// Checks everything that does not depend on the type of the tiles, which is unknown until the first tile.
void check_before_tiles(const Tiling& tiling, const MergeSpec& spec) {
  renamed([&] { patchfold::check_merge(tiling, without_results(tiling, spec)); });
}

}  // namespace

DType element_type_named(const std::string& name, std::string_view argument) {
  const auto dtype = patchfold::dtype_of(name);
  if (!dtype)
    throw Error(
        {ErrorCode::dtype, std::string(op), std::string(argument), "must be an element type of this library", name, ""});
  return *dtype;
}

namespace {

/// Returns the shape of the output and its tiled axes, and for argmax the name of its element type; else None in its place.
nb::tuple output_of(const Tiling& tiling, MergeSpec spec, nb::handle channels) {
  spec.channels = shape_of(op, "channels", channels);
  const MergeOutput output = renamed([&] { return merge_output(tiling, spec); });
  const nb::object labels = spec.reduce == Reduce::argmax ? nb::cast(std::string(name_of(output.dtype))) : nb::none();
  return nb::make_tuple(to_tuple(output.shape), to_tuple(output.axes), labels);
}

nb::tuple memory_of_merge(const Tiling& tiling, MergeSpec spec, const std::string& dtype, std::int64_t element_size,
                          nb::handle channels, bool to_sink) {
  spec.dtype = element_type_named(dtype, "tile_dtype");
  spec.element_size = static_cast<std::size_t>(element_size);
  spec.channels = shape_of(op, "channels", channels);
  spec.memory_limit.reset();
  const MergeMemory memory = renamed([&] {
    const Unlocked unlocked;
    return merge_memory(tiling, spec, to_sink);
  });
  return nb::make_tuple(memory.tiles, memory.rows, memory.most);
}

std::string tile_name(const Tiling& tiling, std::int64_t index) {
  if (index < 0 || index >= tiling.size()) return "tile";
  return in_python_terms("tile " + std::to_string(index) + " at position " + to_string(tiling[index].position));
}

/// Returns the operand of a tile. Writing the tile's name takes time, so for NumPy arrays it is written only for an error.
Operand tile_operand(const Tiling& tiling, std::int64_t index, nb::handle tile) {
  if (!is_numpy(tile)) return operand_of(tile, {op, tile_name(tiling, index)}, false);
  try {
    return operand_of(tile, {op, "tile"}, false);
  } catch (const Error& error) {
    Error::Parts parts = error.parts();
    parts.argument = tile_name(tiling, index);
    throw Error(std::move(parts));
  }
}

std::int64_t index_of(nb::handle index) {
  return std::get<std::int64_t>(value(op, "index", ArgumentKind::integer, index));
}

/// Returns the untiled extents and the element type of the first result, which hold for all results. Throws for a tile that
/// the merger would refuse, so that no output is made for such a tile.
nb::tuple facts_of_first(const Tiling& tiling, const MergeSpec& spec, nb::handle index, nb::handle tile) {
  const std::int64_t number = index_of(index);
  try {
    const Tile place = tiling[number];
    if (!spec.mask.empty() && spec.mask[static_cast<std::size_t>(number)] == 0)
      throw Error({ErrorCode::value, std::string(op), "result", "must not come: the mask leaves it out", "", ""});
    const Operand operand = tile_operand(tiling, number, tile);
    return nb::make_tuple(to_tuple(tiling.result_channels(number, operand.view.shape)), operand.dtype);
  } catch (const Error& error) {
    Error::Parts parts = error.parts();
    parts.op = op;
    if (parts.argument == "result") parts.argument = tile_name(tiling, number);
    throw Error(std::move(parts));
  }
}

/// Returns the shape and the element type of an array, and the bytes of an element.
nb::tuple array_facts(nb::handle array, const std::string& function, const std::string& argument) {
  const Operand operand = operand_of(array, {function, argument}, false);
  return nb::make_tuple(to_tuple(operand.view.shape), operand.dtype, operand.view.element_size);
}

bool is_swapped(const Operand& operand) {
  return PyArray_DescrCheck(operand.dtype.ptr()) != 0 &&
         !PyArray_ISNBO(reinterpret_cast<PyArray_Descr*>(operand.dtype.ptr())->byteorder);
}

void add_note(nb::handle exception, const std::string& note) {
  if (nb::hasattr(exception, "add_note")) exception.attr("add_note")(note);
}

}  // namespace

/// Returns the operand to which a merge writes. A RawArray is memory that the package made itself, so it counts as writable.
Operand destination(nb::handle out) {
  return operand_of(out, {op, "out"}, !nb::isinstance<RawArray>(out));
}

void check_destination(const MergeSpec& spec, const Operand& out, const Operand& like) {
  if (!spec.output_dtype && spec.reduce != Reduce::argmax && !same_elements(like, out))
    throw Error({ErrorCode::dtype, std::string(op), "out", "must have the type of the tiles, or dtype must be given",
                 dtype_text(out), dtype_text(like)});
}

namespace {

/// Returns the spec for results of an unknown type: float32, or for a vote int32.
MergeSpec of_some_type(MergeSpec spec) {
  spec.dtype = spec.reduce == Reduce::vote ? DType::int32 : DType::float32;
  return spec;
}

}  // namespace

MergeSpec without_results(const Tiling& tiling, MergeSpec spec) {
  spec = of_some_type(std::move(spec));
  if (spec.reduce == Reduce::argmax) spec.reduce = Reduce::mean;
  spec.channels = tiling.channels();
  spec.output_dtype.reset();
  spec.fill = spec.fill ? std::optional(Scalar(0)) : std::nullopt;
  return spec;
}

Error with_type_of(const Operand& like, const Error& error) {
  Error::Parts parts = error.parts();
  if (error.given() == name_of(DType::opaque)) {
    const std::string& expected = error.expected();
    parts.given = dtype_text(like);
    if (is_swapped(like))
      parts.expected = "this machine's byte order" + std::string(expected.empty() ? "" : ", or ") +
                       expected.substr(std::min(expected.size(), expected.find("one of")));
  }
  return Error(std::move(parts));
}

MergeSpec merge_spec(nb::handle reduce, nb::handle window, const std::string& dtype, nb::handle mask, nb::handle fill,
                     bool copy, nb::handle memory_limit, std::int64_t sink_rows, int running_sums) {
  MergeSpec spec;
  if (!reduce.is_none()) spec.reduce = choice<Reduce>(op, "reduce", reduce);
  spec.window = window_of(window);
  if (!dtype.empty()) spec.output_dtype = element_type_named(dtype, "dtype");
  if (!mask.is_none()) {
    const auto bytes = nb::cast<nb::bytes>(mask);
    const auto* begin = static_cast<const std::uint8_t*>(bytes.data());
    spec.mask.assign(begin, begin + bytes.size());
  }
  if (!fill.is_none()) spec.fill = std::get<Scalar>(value(op, "fill", ArgumentKind::number, fill));
  spec.copy = copy;
  spec.running_sums = static_cast<RunningSums>(running_sums);
  spec.sink_rows = sink_rows;
  if (!memory_limit.is_none())
    spec.memory_limit = std::get<std::int64_t>(value(op, "memory_limit", ArgumentKind::integer, memory_limit));
  return spec;
}

/// A scope in which a call is listed in calls_, as a call that is inside the merger.
class TileMerger::Visit {
 public:
  Visit(TileMerger& merger, nb::handle sink) : merger_(merger) {
    merger.check_outside();
    const std::lock_guard lock(merger.mutex_);
    call_ = merger.calls_.insert(merger.calls_.end(), {std::this_thread::get_id(), sink, {}, {}});
  }
  ~Visit() {
    const std::lock_guard lock(merger_.mutex_);
    merger_.calls_.erase(call_);
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  /// Raises the sink's exception, with a note that names the rows.
  [[noreturn]] void raise(const std::string& what) {
    try {
      std::rethrow_exception(std::exchange(call_->error, {}));
    } catch (nb::python_error& error) {
      add_note(error.value(), "patchfold: " + std::string(op) + ": " + what + ": while writing rows " +
                                  std::to_string(call_->rows.begin) + " to " + std::to_string(call_->rows.end) +
                                  " of the output");
      throw;
    }
  }

 private:
  TileMerger& merger_;
  std::list<Call>::iterator call_{};
};

TileMerger::Call* TileMerger::call_of_this_thread() {
  const std::lock_guard lock(mutex_);
  for (Call& call : calls_)
    if (call.thread == std::this_thread::get_id()) return &call;
  return nullptr;
}

void TileMerger::check_outside() {
  if (call_of_this_thread() != nullptr)
    throw Error({ErrorCode::value, std::string(op), "out", "must not call the merger that writes to it", "", ""});
}

std::shared_ptr<const void> TileMerger::owner_of(nb::object object) {
  PyObject* pointer = object.release().ptr();
  return {static_cast<const void*>(pointer), [this, pointer](const void*) {
            const std::lock_guard lock(mutex_);
            released_.push_back(pointer);
          }};
}

void TileMerger::drop_released() {
  std::vector<PyObject*> objects;
  {
    const std::lock_guard lock(mutex_);
    objects.swap(released_);
  }
  for (PyObject* object : objects) Py_DECREF(object);
}

/// A sink that passes rows to the Python sink of the call that finished them: the library writes in the thread of this call.
class TileMerger::Sink : public RowSink {
 public:
  explicit Sink(TileMerger& merger) : merger_(merger) {}

  void write(Span rows, const ConstTensorView& band) override {
    const Locked locked;
    Call& call = *merger_.call_of_this_thread();
    try {
      // The rows are copied, since the receiver may keep them.
      const nb::object room = or_stop([&] { return nb::object(call.sink.attr("room")(to_tuple(band.shape))); });
      const Operand dst = destination(nb::object(room.attr("memory")));
      const auto bytes = static_cast<std::size_t>(element_count(band.shape)) * band.element_size;
      if (bytes > 0) std::memcpy(dst.view.data, band.data, bytes);
      or_stop([&] { call.sink.attr("write")(rows.begin, rows.end, nb::object(room.attr("result")())); });
    } catch (const nb::python_error&) {
      call.error = std::current_exception();
      call.rows = rows;
      throw SinkFailed();
    }
  }

 private:
  TileMerger& merger_;
};

/// Calls f without the interpreter's lock. `what` returns a name for the work of f, for errors.
template <class What, class F>
void TileMerger::work(nb::handle sink, What&& what, F&& f) {
  Visit visit(*this, sink);
  try {
    const Unlocked unlocked;
    f();
  } catch (const SinkFailed&) {
    drop_released();
    visit.raise(what());
  } catch (const Error& error) {
    drop_released();
    throw in_python_names(error);
  } catch (...) {
    drop_released();
    throw;
  }
  drop_released();
}

TileMerger::TileMerger(const Tiling& tiling, MergeSpec spec, nb::handle like, nb::handle channels, nb::handle out)
    : tiling_(tiling), like_(operand_of(like, {op, "tile"}, false)) {
  spec.channels = shape_of(op, "channels", channels);
  spec.dtype = like_.view.dtype;
  spec.element_size = like_.view.element_size;
  if (!out.is_none()) {
    out_ = destination(out);
    check_destination(spec, out_, like_);
  } else {
    sink_ = std::make_unique<Sink>(*this);
  }
  try {
    renamed([&] {
      if (sink_)
        merger_.emplace(tiling_, spec, *sink_);
      else
        merger_.emplace(tiling_, spec, out_.view);
    });
  } catch (const Error& error) {
    throw with_type_of(like_, error);
  }
  like_.owner.reset();
  like_.view.data = nullptr;
}

TileMerger::~TileMerger() {
  merger_.reset();
  drop_released();
}

void TileMerger::add(nb::handle index, nb::handle tile, nb::handle weight, nb::handle sink) {
  const std::int64_t number = index_of(index);
  const auto name = [&] { return tile_name(tiling_, number); };
  Operand operand = tile_operand(tiling_, number, tile);
  if (!same_elements(operand, like_))
    throw Error({ErrorCode::dtype, std::string(op), name(), "must have the element type of the first tile",
                 dtype_text(operand), dtype_text(like_)});
  auto owner = owner_of(std::move(operand.owner));
  const TileWeights weights = weights_of(weight);
  work(sink, name, [&] { merger_->add(number, operand.view, weights, std::move(owner)); });
}

void TileMerger::finish(nb::handle sink) {
  work(
      sink, [] { return std::string("finish"); }, [&] { merger_->finish(); });
}

std::int64_t TileMerger::waiting_bytes() {
  const Visit visit(*this, {});
  const Unlocked unlocked;
  return merger_->waiting_bytes();
}
std::int64_t TileMerger::peak_bytes() {
  const Visit visit(*this, {});
  const Unlocked unlocked;
  return merger_->peak_bytes();
}

void bind_merger(nb::module_& module) {
  nb::class_<MergeSpec>(module, "MergeSpec")
      .def_static("make", &merge_spec, nb::arg("reduce").none(), nb::arg("window").none(), nb::arg("dtype"),
                  nb::arg("mask").none(), nb::arg("fill").none(), nb::arg("copy"), nb::arg("memory_limit").none(),
                  nb::arg("sink_rows") = 1, nb::arg("running_sums") = 0);
  nb::class_<TileMerger>(module, "Merger")
      .def(
          "__init__",
          [](TileMerger* self, const Tiling& tiling, const MergeSpec& spec, nb::handle like, nb::handle channels,
             nb::handle out) { new (self) TileMerger(tiling, spec, like, channels, out); },
          nb::arg("tiling"), nb::arg("spec"), nb::arg("like"), nb::arg("channels"), nb::arg("out").none())
      .def("add", &TileMerger::add, nb::arg("index").none(), nb::arg("tile").none(), nb::arg("weight").none(),
           nb::arg("sink").none())
      .def("finish", &TileMerger::finish, nb::arg("sink").none())
      .def("check_outside", &TileMerger::check_outside)
      .def("waiting_bytes", &TileMerger::waiting_bytes)
      .def("peak_bytes", &TileMerger::peak_bytes);
  module.def(
      "explain_tiling", [](const Tiling& tiling, const MergeSpec& spec) { return explain(tiling, of_some_type(spec)); },
      nb::arg("tiling"), nb::arg("spec"));
  module.def(
      "draw_tiling", [](const Tiling& tiling, const MergeSpec& spec) { return explain_svg(tiling, of_some_type(spec)); },
      nb::arg("tiling"), nb::arg("spec"));
  module.def("check_merge", &check_before_tiles, nb::arg("tiling"), nb::arg("spec"));
  module.def("merge_output", &output_of, nb::arg("tiling"), nb::arg("spec"), nb::arg("channels"));
  module.def("merge_memory", &memory_of_merge, nb::arg("tiling"), nb::arg("spec"), nb::arg("dtype"), nb::arg("element_size"),
             nb::arg("channels"), nb::arg("to_sink"));
  module.def("facts_of_first", &facts_of_first, nb::arg("tiling"), nb::arg("spec"), nb::arg("index").none(),
             nb::arg("tile").none());
  module.def("array_facts", &array_facts, nb::arg("array").none(), nb::arg("op"), nb::arg("argument"));
}

}  // namespace patchfold::python
