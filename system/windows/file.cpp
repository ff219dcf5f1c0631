// SPDX-License-Identifier: Apache-2.0
// Descriptors are those of the C runtime, which sets errno. Files are opened so that other programs may read, rename and remove
// them meanwhile, as on other systems.
#include "system/file.hpp"

#include <fcntl.h>
#include <io.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "system/windows/handle.hpp"

namespace patchfold::system {
namespace {

constexpr DWORD shared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
/// The most bytes that one system call reads or writes.
constexpr std::size_t most = std::size_t{1} << 30;

int open(const std::filesystem::path& path, DWORD access, DWORD how, DWORD attributes, int flags) noexcept {
  const HANDLE file = ::CreateFileW(path.c_str(), access, shared, nullptr, how, attributes, nullptr);
  if (file == INVALID_HANDLE_VALUE) return set_errno(), -1;
  const int descriptor = ::_open_osfhandle(reinterpret_cast<std::intptr_t>(file), flags | _O_BINARY | _O_NOINHERIT);
  if (descriptor < 0) ::CloseHandle(file);
  return descriptor;
}

bool status_of(HANDLE file, FileStatus& status) noexcept {
  ::SetLastError(ERROR_SUCCESS);
  const DWORD type = ::GetFileType(file);
  if (type == FILE_TYPE_UNKNOWN && ::GetLastError() != ERROR_SUCCESS) return set_errno(), false;
  status = {};
  if (type != FILE_TYPE_DISK) {
    status.kind = type == FILE_TYPE_PIPE ? FileKind::pipe : FileKind::device;
    return true;
  }
  BY_HANDLE_FILE_INFORMATION found;
  if (::GetFileInformationByHandle(file, &found) == 0) return set_errno(), false;
  if ((found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0) status.kind = FileKind::folder;
  status.size = static_cast<std::int64_t>(std::uint64_t{found.nFileSizeHigh} << 32 | found.nFileSizeLow);
  return true;
}

/// Restores the file's position at the end of its scope: unlike pread, Windows' calls with an offset move the position.
class KeptPosition {
 public:
  explicit KeptPosition(int descriptor) noexcept
      : handle_(handle_of(descriptor)), is_known_(::SetFilePointerEx(handle_, {}, &position_, FILE_CURRENT) != 0) {}
  KeptPosition(const KeptPosition&) = delete;
  KeptPosition& operator=(const KeptPosition&) = delete;
  ~KeptPosition() {
    if (is_known_) ::SetFilePointerEx(handle_, position_, nullptr, FILE_BEGIN);
  }

 private:
  HANDLE handle_;
  LARGE_INTEGER position_{};
  bool is_known_;
};

OVERLAPPED at(std::int64_t offset) noexcept {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(offset);
  place.OffsetHigh = static_cast<DWORD>(static_cast<std::uint64_t>(offset) >> 32);
  return place;
}

/// Reads at the offset `place`; without one, at the file's position.
std::int64_t read(int descriptor, void* dst, std::size_t bytes, OVERLAPPED* place) noexcept {
  DWORD count = 0;
  if (::ReadFile(handle_of(descriptor), dst, static_cast<DWORD>(std::min(bytes, most)), &count, place) != 0) return count;
  const DWORD error = ::GetLastError();
  if (error == ERROR_HANDLE_EOF || error == ERROR_BROKEN_PIPE) return 0;
  return set_errno(), -1;
}

std::int64_t write(int descriptor, const void* src, std::size_t bytes, OVERLAPPED* place) noexcept {
  DWORD count = 0;
  if (::WriteFile(handle_of(descriptor), src, static_cast<DWORD>(std::min(bytes, most)), &count, place) != 0) return count;
  return set_errno(), -1;
}

}  // namespace

int open_to_read(const std::filesystem::path& path) noexcept {
  // Without FILE_FLAG_BACKUP_SEMANTICS, which has no effect on files, folders cannot be opened.
  return open(path, GENERIC_READ, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, _O_RDONLY);
}

int open_to_write(const std::filesystem::path& path) noexcept {
  return open(path, GENERIC_WRITE, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, _O_WRONLY);
}

int create(const std::filesystem::path& path) noexcept {
  const auto make = [&] { return open(path, GENERIC_READ | GENERIC_WRITE, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, _O_RDWR); };
  const int file = make();
  if (file >= 0 || errno != EEXIST) return file;
  // Opening the file for nobody else succeeds only if no process has it open.
  const HANDLE left = ::CreateFileW(path.c_str(), DELETE, 0, nullptr, OPEN_EXISTING, FILE_FLAG_DELETE_ON_CLOSE, nullptr);
  if (left == INVALID_HANDLE_VALUE) return errno = EEXIST, -1;
  ::CloseHandle(left);
  return make();
}

std::string host_name() {
  wchar_t name[MAX_COMPUTERNAME_LENGTH + 1] = L"";
  DWORD length = MAX_COMPUTERNAME_LENGTH + 1;
  return ::GetComputerNameW(name, &length) != 0 ? utf8_of(name) : "";
}

std::string temporary_folder() {
  const wchar_t* chosen = ::_wgetenv(L"TMPDIR");
  wchar_t folder[MAX_PATH + 1] = L"";
  if (chosen == nullptr || *chosen == L'\0') ::GetTempPathW(MAX_PATH + 1, folder), chosen = folder;
  return utf8_of(chosen);
}

int create_unnamed(const std::string& folder) {
  static std::atomic<unsigned> made{0};
  const std::filesystem::path inside(folder);
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string name = "patchfold-" + std::to_string(::GetCurrentProcessId()) + "-" + std::to_string(made++);
    const int file = open(inside / name, GENERIC_READ | GENERIC_WRITE | DELETE, CREATE_NEW,
                          FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, _O_RDWR);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

int duplicate(int descriptor) noexcept {
  // Other programs would inherit the copy, so the flag of its handle is cleared.
  const int copy = ::_dup(descriptor);
  if (copy >= 0) ::SetHandleInformation(handle_of(copy), HANDLE_FLAG_INHERIT, 0);
  return copy;
}

int close(int descriptor) noexcept {
  return ::_close(descriptor) == 0 ? 0 : errno;
}

bool get_status(const std::filesystem::path& path, FileStatus& status) noexcept {
  const HANDLE file = ::CreateFileW(path.c_str(), 0, shared, nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (file == INVALID_HANDLE_VALUE) return set_errno(), false;
  const bool known = status_of(file, status);
  ::CloseHandle(file);
  return known;
}

bool get_status(int descriptor, FileStatus& status) noexcept {
  const HANDLE file = handle_of(descriptor);
  return file != INVALID_HANDLE_VALUE && status_of(file, status);
}

bool may_write(const std::filesystem::path& path) noexcept {
  const DWORD attributes = ::GetFileAttributesW(path.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) return set_errno(), false;
  if ((attributes & FILE_ATTRIBUTE_READONLY) != 0) return errno = EACCES, false;
  return true;
}

/// Does nothing: a new file gets the rights of its folder.
void set_permissions(int, unsigned) noexcept {}

bool is_at_start(int descriptor) noexcept {
  return ::_lseeki64(descriptor, 0, SEEK_CUR) == 0;
}

std::int64_t read(int descriptor, void* dst, std::size_t bytes) noexcept {
  return read(descriptor, dst, bytes, nullptr);
}

std::int64_t write(int descriptor, const void* src, std::size_t bytes) noexcept {
  return write(descriptor, src, bytes, nullptr);
}

std::int64_t read_at(int descriptor, void* dst, std::size_t bytes, std::int64_t offset) noexcept {
  const KeptPosition kept(descriptor);
  OVERLAPPED place = at(offset);
  return read(descriptor, dst, bytes, &place);
}

std::int64_t write_at(int descriptor, const void* src, std::size_t bytes, std::int64_t offset) noexcept {
  const KeptPosition kept(descriptor);
  OVERLAPPED place = at(offset);
  return write(descriptor, src, bytes, &place);
}

int reserve(int descriptor, std::size_t bytes) noexcept {
  FILE_END_OF_FILE_INFO length;
  length.EndOfFile.QuadPart = static_cast<LONGLONG>(bytes);
  if (::SetFileInformationByHandle(handle_of(descriptor), FileEndOfFileInfo, &length, sizeof length) != 0) return 0;
  set_errno();
  return errno == ENOMEM ? EFBIG : errno;  // Windows says "no memory" for a file that is too long
}

bool replace(const std::filesystem::path& from, const std::filesystem::path& to) noexcept {
  return ::MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING) != 0 || (set_errno(), false);
}

void remove(const std::filesystem::path& path) noexcept {
  ::DeleteFileW(path.c_str());
}

int list_folder(const std::filesystem::path& folder, std::vector<std::string>& names) {
  struct Search {
    HANDLE handle;
    ~Search() {
      if (handle != INVALID_HANDLE_VALUE) ::FindClose(handle);
    }
  };
  WIN32_FIND_DATAW entry;
  const Search search{::FindFirstFileW((folder / "*").c_str(), &entry)};
  if (search.handle == INVALID_HANDLE_VALUE) return set_errno(), errno;
  do {
    names.push_back(utf8_of(entry.cFileName));
    if (names.back() == "." || names.back() == "..") names.pop_back();
  } while (::FindNextFileW(search.handle, &entry) != 0);
  return ::GetLastError() == ERROR_NO_MORE_FILES ? 0 : (set_errno(), errno);
}

}  // namespace patchfold::system
