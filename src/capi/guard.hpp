// SPDX-License-Identifier: Apache-2.0
// The frame of every function of the C interface: turns exceptions into a status and a message, and reads and writes structs only
// up to the size that the caller states.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "base/fail.hpp"
#include "patchfold/error.hpp"
#include "patchfold/patchfold.h"

namespace patchfold::capi {

// The library patchfold_device calls these functions too.
/// Deletes this thread's message.
PATCHFOLD_API void clear_error() noexcept;
/// Store a message for this thread and return its status. If there is no memory for the parts of the message, a plain sentence is
/// stored.
PATCHFOLD_API pf_status store_error(const Error& error) noexcept;
PATCHFOLD_API pf_status store_error(ErrorCode code, std::string_view rule) noexcept;
PATCHFOLD_API pf_status store_internal(const char* what) noexcept;

/// Calls f and returns the status of its exception, or PF_OK. Deletes messages that were stored on this thread while f called
/// functions of the caller.
template <class F>
pf_status guarded(F&& f) noexcept {
  clear_error();
  try {
    f();
    clear_error();
    return PF_OK;
  } catch (const Error& error) {
    return store_error(error);
  } catch (const std::bad_alloc&) {
    return store_error(ErrorCode::out_of_memory, "out of memory");
  } catch (const std::exception& error) {
    return store_internal(error.what());
  } catch (...) {
    return store_internal("an unknown exception");
  }
}

/// Returns the pointer. Throws Error(missing) if the pointer is NULL.
template <class T>
T* required(T* pointer, std::string_view op, std::string_view argument) {
  if (pointer == nullptr) fail(ErrorCode::missing, op, argument, "must not be NULL");
  return pointer;
}

/// Returns a copy of a caller's struct that begins with its size; fields behind this size are 0. `first_size` is the size of
/// the struct in its first version.
template <class T>
T load(const void* from, std::size_t first_size, std::string_view op, std::string_view argument) {
  std::uint32_t size = 0;
  std::memcpy(&size, from, sizeof size);
  if (size < first_size) fail(ErrorCode::value, op, argument, "size must be the size of the struct", size, sizeof(T));
  const auto* bytes = static_cast<const unsigned char*>(from);
  for (std::size_t i = sizeof(T); i < size; ++i)
    if (bytes[i] != 0)
      fail(ErrorCode::value, op, argument, "fields that this version does not know must be 0", size, sizeof(T));
  T known{};
  std::memcpy(&known, from, std::min<std::size_t>(size, sizeof known));
  return known;
}

/// Writes all fields except the size, up to the size that `to` states; bytes of `to` behind the last field become zeros.
template <class T>
void save(const T& from, T* to, std::size_t first_size, std::string_view op, std::string_view argument) {
  const std::size_t size = required(to, op, argument)->size;
  if (size < first_size) fail(ErrorCode::value, op, argument, "size must be the size of the struct", size, sizeof(T));
  auto* bytes = reinterpret_cast<unsigned char*>(to);
  const std::size_t end = std::min(size, sizeof from);
  std::memcpy(bytes + sizeof to->size, reinterpret_cast<const unsigned char*>(&from) + sizeof to->size,
              end - sizeof to->size);
  std::memset(bytes + end, 0, size - end);
}

}  // namespace patchfold::capi
