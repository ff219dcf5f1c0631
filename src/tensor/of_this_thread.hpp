// SPDX-License-Identifier: Apache-2.0
// State of a thread that may be used while the thread or the process ends.
#pragma once

#if defined(__MINGW32__) && !defined(__clang__)
#include <pthread.h>

#include <new>
#endif

namespace patchfold {

/// Returns the calling thread's own T, or null if the thread has already destroyed it. Destructors of older thread-local objects,
/// and of static objects in the first thread, may still call the library after T is destroyed.
template <class T>
T* of_this_thread() {
#if defined(__MINGW32__) && !defined(__clang__)
  // On this system, GCC frees the memory of a thread's objects before their destructors run. So T is destroyed after these
  // destructors, and later calls get a new T.
  struct Key {
    pthread_key_t key{};
    bool is_there = pthread_key_create(&key, [](void* held) { delete static_cast<T*>(held); }) == 0;
  };
  static const Key made;
  if (!made.is_there) return nullptr;
  if (void* const held = pthread_getspecific(made.key)) return static_cast<T*>(held);
  T* const held = new (std::nothrow) T{};
  if (pthread_setspecific(made.key, held) == 0) return held;
  delete held;
  return nullptr;
#else
  thread_local bool is_gone = false;
  if (is_gone) return nullptr;
  struct Held {
    T value{};
    ~Held() { is_gone = true; }
  };
  thread_local Held held;
  return &held.value;
#endif
}

}  // namespace patchfold
