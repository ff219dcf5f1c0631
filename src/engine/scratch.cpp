// SPDX-License-Identifier: Apache-2.0
#include "engine/scratch.hpp"

#include <new>

namespace patchfold::engine {

ThreadScratch::ThreadScratch(std::size_t size) noexcept {
  Memory* const kept = detail::of_this_thread<Memory>();
  if (kept != nullptr && !kept->in_use) used_ = kept;
  used_->in_use = true;
  if (used_->size >= size) return;
  used_->bytes.reset(new (std::nothrow) std::byte[size]);
  used_->size = used_->bytes ? size : 0;
  is_there_ = used_->bytes != nullptr;
}

}  // namespace patchfold::engine
