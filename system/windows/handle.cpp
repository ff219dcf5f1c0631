// SPDX-License-Identifier: Apache-2.0
#include "system/windows/handle.hpp"

#include <io.h>

#include <cerrno>

namespace patchfold::system {
namespace {

int errno_of(DWORD error) noexcept {
  switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_DRIVE:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME: return ENOENT;
    case ERROR_TOO_MANY_OPEN_FILES: return EMFILE;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
    case ERROR_WRITE_PROTECT: return EACCES;
    case ERROR_INVALID_HANDLE: return EBADF;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_COMMITMENT_LIMIT: return ENOMEM;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS: return EEXIST;
    case ERROR_HANDLE_DISK_FULL:
    case ERROR_DISK_FULL: return ENOSPC;
    case ERROR_BROKEN_PIPE:
    case ERROR_NO_DATA: return EPIPE;
    case ERROR_FILENAME_EXCED_RANGE:
    case ERROR_BUFFER_OVERFLOW: return ENAMETOOLONG;
    case ERROR_DIRECTORY: return ENOTDIR;
    case ERROR_FILE_TOO_LARGE: return EFBIG;
    case ERROR_INVALID_PARAMETER: return EINVAL;
    default: return EIO;
  }
}

}  // namespace

HANDLE handle_of(int descriptor) noexcept {
  return reinterpret_cast<HANDLE>(::_get_osfhandle(descriptor));
}

void set_errno() noexcept {
  errno = errno_of(::GetLastError());
}

std::string utf8_of(std::wstring_view text) {
  const auto convert = [&](char* to, int bytes) {
    return ::WideCharToMultiByte(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), to, bytes, nullptr, nullptr);
  };
  std::string result(static_cast<std::size_t>(convert(nullptr, 0)), '\0');
  convert(result.data(), static_cast<int>(result.size()));
  return result;
}

}  // namespace patchfold::system
