// SPDX-License-Identifier: Apache-2.0
// Overlapping tiles: patchfold::Tiling and patchfold::Merger as Python calls them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "patchfold/tiling.hpp"
#include "python/native/arrays.hpp"

namespace patchfold::python {

/// Errors of the library with Python's names for arguments.
Error in_python_names(const Error& error);
template <class F>
auto renamed(F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    throw in_python_names(error);
  }
}

/// How tiles become one array, without what the first tile tells: type and channels.
MergeSpec merge_spec(const std::string& reduce, nb::handle window, const std::string& dtype, nb::handle mask,
                     nb::handle fill, bool copy, nb::handle memory_limit);

/// Objects that a merger let go while the interpreter's lock was not held, or while its own was: their last reference may
/// run any code.
class Released {
 public:
  /// What lets go of the object when it is destroyed itself, from any thread.
  static std::shared_ptr<const void> owner_of(const std::shared_ptr<Released>& released, nb::object object);
  /// Drops them; the interpreter's lock must be held.
  void drop();

 private:
  std::mutex mutex_{};
  std::vector<PyObject*> objects_{};
};

/// A merge into an array, or into a sink: an object with room(shape), which gives an object with `memory` and `result()`,
/// and write(start, stop, band). The sink comes with every call, so that no reference to it hides from the garbage
/// collector.
class TileMerger {
 public:
  TileMerger(const Tiling& tiling, MergeSpec spec, nb::handle like, nb::handle out);
  TileMerger(const TileMerger&) = delete;
  TileMerger& operator=(const TileMerger&) = delete;
  ~TileMerger();

  void add(std::int64_t index, nb::handle tile, nb::handle sink);
  void finish(nb::handle sink);
  std::int64_t waiting_bytes();
  std::int64_t peak_bytes();

 private:
  class Sink;
  class Turn;
  template <class F>
  auto alone(F&& f);
  template <class F>
  void work(nb::handle sink, std::string_view what, F&& f);

  Tiling tiling_;
  Operand like_;  ///< without memory: the type of all tiles
  Operand out_;
  std::shared_ptr<Released> released_ = std::make_shared<Released>();
  std::unique_ptr<Sink> sink_{};
  std::mutex mutex_{};
  std::atomic<std::thread::id> inside_{};
  std::optional<Merger> merger_{};
};

void bind_tiling(nb::module_& module);
void bind_merger(nb::module_& module);

}  // namespace patchfold::python
