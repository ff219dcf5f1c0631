// SPDX-License-Identifier: Apache-2.0
// Overlapping tiles: patchfold::Tiling and patchfold::Merger for Python.
#pragma once

#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "patchfold/tiling.hpp"
#include "patchfold/words.hpp"
#include "python/native/arrays.hpp"
#include "python/native/values.hpp"

namespace patchfold::python {

/// Returns the error, with the argument under its name in Python.
Error in_python_names(const Error& error);
template <class F>
auto renamed(F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    throw in_python_names(error);
  }
}

/// Returns the value of an argument of a tiling or a merge, as value_of does for operators.
ArgumentValue value(std::string_view op, std::string_view name, ArgumentKind kind, nb::handle object,
                    std::span<const std::string_view> choices = {});
/// Returns the words of the values of E that `allows` accepts; of all values if `allows` is null.
template <Worded E>
std::vector<std::string_view> words_of(bool (*allows)(E) noexcept) {
  std::vector<std::string_view> list;
  for (const Word<E>& each : words<E>)
    if (allows == nullptr || allows(each.value)) list.push_back(each.word);
  return list;
}
/// Returns the value of E whose word is the str `object`.
template <Worded E>
E choice(std::string_view op, std::string_view name, nb::handle object, bool (*allows)(E) noexcept = nullptr) {
  return *patchfold::value_of<E>(std::get<std::string>(value(op, name, ArgumentKind::choice, object, words_of(allows))));
}

/// Returns a MergeSpec without the tiles' element type and channels, which are unknown until the first tile. `dtype` is the
/// output's element type, and is empty if the output has the tiles' type.
MergeSpec merge_spec(nb::handle reduce, nb::handle window, const std::string& dtype, nb::handle mask, nb::handle fill,
                     bool copy, nb::handle memory_limit, std::int64_t sink_rows, int running_sums = 0);

/// Returns the element type with this name. Throws Error(dtype) for other names.
DType element_type_named(const std::string& name, std::string_view argument);
/// Returns the operand to which a merge writes.
Operand destination(nb::handle out);
/// Throws Error(dtype) unless a merge of tiles with the element type of `like` can write to `out`.
void check_destination(const MergeSpec& spec, const Operand& out, const Operand& like);
/// Returns the spec for checks before the type of the results is known: float32 stands for the type, or int32 for a vote, the mean
/// for argmax, and 0 for a fill.
MergeSpec without_results(const Tiling& tiling, MergeSpec spec);
/// Returns an error of a merge, in which the given value "opaque" is replaced by the element type of `like`, as the array's
/// own library names the type.
Error with_type_of(const Operand& like, const Error& error);

/// patchfold::Merger for Python, which merges into an array or into a sink. A sink is a Python object with two methods: room(shape)
/// returns an object with `memory` and `result()`; write(start, stop, band) takes finished rows. The sink is an argument of every
/// call, and the merger does not keep it, so that the garbage collector sees every reference to the sink.
///
/// Dropping the last reference to a tile may run any Python code, but the merger releases tiles in threads without the
/// interpreter's lock. So released tiles wait in a list until a call has left the merger and holds the lock.
class TileMerger {
 public:
  TileMerger(const Tiling& tiling, MergeSpec spec, nb::handle like, nb::handle channels, nb::handle out);
  TileMerger(const TileMerger&) = delete;
  TileMerger& operator=(const TileMerger&) = delete;
  ~TileMerger();

  void add(nb::handle index, nb::handle tile, nb::handle weight, nb::handle sink);
  void finish(nb::handle sink);
  /// Throws Error(value) if this thread is already inside the merger, as when a sink calls the merger: the call would wait for
  /// itself.
  void check_outside();
  std::int64_t waiting_bytes();
  std::int64_t peak_bytes();

 private:
  class Sink;
  class Visit;
  /// A call that is inside the merger. The object lies on the heap, not on the stack of its thread, since a sink may switch
  /// to another greenlet, which exchanges the stack.
  struct Call {
    std::thread::id thread;
    nb::handle sink;
    std::exception_ptr error;  ///< the sink's exception
    Span rows;                 ///< the rows whose writing raised it
  };
  Call* call_of_this_thread();
  /// Returns an owner for Merger::add. When the owner is destroyed, in any thread, the object is added to the list of released
  /// objects.
  std::shared_ptr<const void> owner_of(nb::object object);
  /// Drops the references to released objects. The interpreter's lock must be held.
  void drop_released();
  template <class What, class F>
  void work(nb::handle sink, What&& what, F&& f);

  Tiling tiling_;
  Operand like_;  ///< has the type of all tiles, and no memory
  Operand out_;
  std::unique_ptr<Sink> sink_{};
  std::mutex mutex_{};  ///< guards calls_ and released_; nothing is called while it is held
  std::list<Call> calls_{};
  std::vector<PyObject*> released_{};
  std::optional<Merger> merger_{};
};

/// patchfold::BoxMerger for Python. Keeps the type of the pieces, without their memory.
class BoxMergerOf {
 public:
  BoxMergerOf(const Tiling& tiling, MergeSpec spec, nb::handle like, nb::handle channels);
  /// Merges a box into `out`. box: (begin, end) for each tiled axis; pieces: pairs (number of a tile, array).
  void merge(const std::vector<std::pair<std::int64_t, std::int64_t>>& box, const nb::list& pieces, nb::handle out) const;

 private:
  Tiling tiling_;
  MergeSpec spec_;  ///< read for the type of the output only
  Operand like_;
  std::optional<BoxMerger> merger_{};
};

void bind_boxes(nb::module_& module);
void bind_tiling(nb::module_& module);
void bind_merger(nb::module_& module);

}  // namespace patchfold::python
