// SPDX-License-Identifier: Apache-2.0
// State of threads that may be asked for while threads and the process end.
#pragma once

#if defined(__MINGW32__) && !defined(__clang__)
#include <pthread.h>

#include <new>
#endif

namespace patchfold {

/// Returns the calling thread's own T, or null where there is none any more: after the thread has destroyed it, destructors
/// of older thread-local objects, and of static objects in the first thread, may still call the library.
template <class T>
T* of_this_thread() {
#if defined(__MINGW32__) && !defined(__clang__)
  // There, GCC frees the memory of a thread's objects before their destructors run. This T goes after them, and calls that
  // come still later get a new one.
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
