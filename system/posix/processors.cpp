// SPDX-License-Identifier: Apache-2.0
#include "system/processors.hpp"

#include <pthread.h>

#include <algorithm>
#include <thread>

namespace patchfold::system {

int count_processors() noexcept {
#ifdef __linux__
  cpu_set_t allowed;
  if (::pthread_getaffinity_np(::pthread_self(), sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
#endif
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

int call_at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept {
  return pthread_atfork(before, in_parent, in_child);
}

}  // namespace patchfold::system
