// SPDX-License-Identifier: Apache-2.0
// Releases and takes the interpreter's lock.
//
// Before CPython 3.14, a daemon thread that asks for the lock while the interpreter ends is ended by pthread_exit. pthread_exit
// unwinds the thread's stack: through destructors that must not throw, through destructors that need the lock, and through
// nanobind. With this header a daemon thread blocks until the process ends, as in CPython from 3.14 on.
#pragma once

#include <utility>

#include "python/native/errors.hpp"

// On other systems pthread_exit does not unwind the thread's stack.
#if defined(__GLIBCXX__) && defined(__linux__)
#include <cxxabi.h>
#include <unistd.h>
#define PATCHFOLD_THREADS_ARE_UNWOUND 1
#else
#define PATCHFOLD_THREADS_ARE_UNWOUND 0
#endif

namespace patchfold::python {

/// Returns the result of f(), which may ask for the lock. Never returns if the interpreter ends the thread.
template <class F>
auto or_stop(F&& f) {
#if PATCHFOLD_THREADS_ARE_UNWOUND
  try {
    return std::forward<F>(f)();
  } catch (const abi::__forced_unwind&) {
    while (true) ::pause();
  }
#else
  return std::forward<F>(f)();
#endif
}

/// A scope in which this thread does not hold the lock.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked() {
    or_stop([this] { PyEval_RestoreThread(state_); });
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

/// A scope in which a thread that had released the lock holds it again.
class Locked {
 public:
  Locked() : state_(or_stop([] { return PyGILState_Ensure(); })) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace patchfold::python
