// SPDX-License-Identifier: Apache-2.0
// Tells ThreadSanitizer how threads are ordered, in a program that is compiled with ThreadSanitizer. This library and oneTBB
// are not compiled with it, so it does not see their atomics.
#pragma once

#ifdef __ELF__
// Both functions are null in programs that are compiled without ThreadSanitizer.
extern "C" {
[[gnu::weak, gnu::visibility("default")]] void __tsan_acquire(void* object);
[[gnu::weak, gnu::visibility("default")]] void __tsan_release(void* object);
}
#endif

namespace patchfold::engine {

/// All that a thread does before note_release() happens before all that another thread does after note_acquire() of the same
/// object.
inline void note_release([[maybe_unused]] void* object) noexcept {
#ifdef __ELF__
  if (__tsan_release != nullptr) __tsan_release(object);
#endif
}
inline void note_acquire([[maybe_unused]] void* object) noexcept {
#ifdef __ELF__
  if (__tsan_acquire != nullptr) __tsan_acquire(object);
#endif
}

}  // namespace patchfold::engine
