// SPDX-License-Identifier: Apache-2.0
#include "system/processors.hpp"

#include <windows.h>

#include <algorithm>
#include <bit>
#include <thread>

namespace patchfold::system {

int count_processors() noexcept {
  DWORD_PTR own = 0, all = 0;
  if (::GetProcessAffinityMask(::GetCurrentProcess(), &own, &all) != 0 && own != 0) return std::popcount(own);
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

int call_at_fork(void (*)(), void (*)(), void (*)()) noexcept {
  return 0;
}

}  // namespace patchfold::system
