// SPDX-License-Identifier: Apache-2.0
#include "system_calls.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

namespace patchfold::faults {
namespace {

enum Index {
  open_,
  fstat_,
  stat_,
  pread_,
  write_,
  pwrite_,
  close_,
  rename_,
  fchmod_,
  fallocate_,
  ftruncate_,
  mmap_,
  access_
};
/// The names of the calls, in the order of Index. CallFault::call is one of these names, or "any".
constexpr const char* names[] = {"open",   "fstat",  "stat",      "pread",     "write", "pwrite",   "close",
                                 "rename", "fchmod", "fallocate", "ftruncate", "mmap",  "faccessat"};

CallFault fault{};
std::atomic<bool> is_on{false};
std::atomic<std::int64_t> counted{0};
std::atomic<std::int64_t> failed{0};

/// Counts a call. Returns the kind of its failure, or nothing if the call succeeds.
std::optional<Kind> meet(Index index) {
  if (!is_on || (fault.call != "any" && fault.call != names[index])) return std::nullopt;
  const std::int64_t number = counted++;
  if (fault.n < 0 || (number != fault.n && !(fault.lasting && number > fault.n))) return std::nullopt;
  ++failed;
  if (fault.kind == Kind::signal) ::raise(fault.number);
  if (fault.kind == Kind::error) errno = fault.number;
  return fault.kind;
}

/// Returns -1 if the fault says that this call fails, otherwise the result of `real`.
template <class F>
auto unless_failing(Index index, F&& real) -> decltype(real()) {
  if (meet(index) == Kind::error) return -1;
  return real();
}

/// Returns what `real` returns for all of the bytes, or for half of them if the fault is `part`. Returns 0 for the fault
/// `nothing`, and -1 for `error`.
template <class F>
ssize_t moved(Index index, std::size_t bytes, F&& real) {
  const auto kind = meet(index);
  if (kind == Kind::error) return -1;
  if (kind == Kind::nothing) return 0;
  return real(kind == Kind::part ? std::max<std::size_t>(1, bytes / 2) : bytes);
}

constexpr std::pair<const char*, int> numbers[] = {{"EIO", EIO},     {"ENOSPC", ENOSPC},        {"EDQUOT", EDQUOT},
                                                   {"EINTR", EINTR}, {"EACCES", EACCES},        {"EMFILE", EMFILE},
                                                   {"EPERM", EPERM}, {"EINVAL", EINVAL},        {"ENOMEM", ENOMEM},
                                                   {"EROFS", EROFS}, {"EOPNOTSUPP", EOPNOTSUPP}};
constexpr std::pair<const char*, int> signals[] = {{"SIGKILL", SIGKILL}, {"SIGTERM", SIGTERM}, {"SIGINT", SIGINT}};

/// True if the environment variable PATCHFOLD_FAULT is set. The variable's fault is in force from the start of the program.
[[maybe_unused]] const bool is_given = [] {
  const char* text = std::getenv("PATCHFOLD_FAULT");
  if (text == nullptr) return false;
  fault = fault_of(text);
  is_on = true;
  return true;
}();

}  // namespace

FailingCalls::FailingCalls(const CallFault& given) {
  fault = given;
  counted = 0;
  failed = 0;
  is_on = true;
}
FailingCalls::~FailingCalls() {
  is_on = false;
}
std::int64_t FailingCalls::count() const noexcept {
  return counted;
}
bool FailingCalls::has_failed() const noexcept {
  return failed > 0;
}

CallFault fault_of(std::string_view text) {
  const auto first = text.find(':'), second = text.find(':', first + 1);
  CallFault made{.call = std::string(text.substr(0, first)),
                 .n = std::atoll(std::string(text.substr(first + 1, second - first - 1)).c_str())};
  const std::string_view kind = text.substr(second + 1);
  if (kind == "part") made.kind = Kind::part;
  if (kind == "nothing") made.kind = Kind::nothing;
  for (const auto& [name, number] : numbers)
    if (kind == name) made.number = number;
  for (const auto& [name, number] : signals)
    if (kind == name) made.kind = Kind::signal, made.number = number;
  return made;
}

}  // namespace patchfold::faults

using namespace patchfold::faults;

extern "C" {

int __real_open(const char* path, int flags, ...);
int __real_fstat(int descriptor, struct stat* status);
int __real_stat(const char* path, struct stat* status);
ssize_t __real_pread(int descriptor, void* dst, size_t bytes, off_t offset);
ssize_t __real_write(int descriptor, const void* src, size_t bytes);
ssize_t __real_pwrite(int descriptor, const void* src, size_t bytes, off_t offset);
int __real_close(int descriptor);
int __real_rename(const char* from, const char* to);
int __real_fchmod(int descriptor, mode_t mode);
int __real_posix_fallocate(int descriptor, off_t offset, off_t length);
int __real_ftruncate(int descriptor, off_t length);
void* __real_mmap(void* address, size_t bytes, int protection, int flags, int descriptor, off_t offset);
int __real_faccessat(int folder, const char* path, int mode, int flags);

int __wrap_open(const char* path, int flags, ...) {
  va_list values;
  va_start(values, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(values, mode_t) : 0;
  va_end(values);
  return unless_failing(open_, [&] { return __real_open(path, flags, mode); });
}
int __wrap_fstat(int descriptor, struct stat* status) {
  return unless_failing(fstat_, [&] { return __real_fstat(descriptor, status); });
}
int __wrap_stat(const char* path, struct stat* status) {
  return unless_failing(stat_, [&] { return __real_stat(path, status); });
}
ssize_t __wrap_pread(int descriptor, void* dst, size_t bytes, off_t offset) {
  return moved(pread_, bytes, [&](std::size_t part) { return __real_pread(descriptor, dst, part, offset); });
}
ssize_t __wrap_write(int descriptor, const void* src, size_t bytes) {
  return moved(write_, bytes, [&](std::size_t part) { return __real_write(descriptor, src, part); });
}
ssize_t __wrap_pwrite(int descriptor, const void* src, size_t bytes, off_t offset) {
  return moved(pwrite_, bytes, [&](std::size_t part) { return __real_pwrite(descriptor, src, part, offset); });
}
int __wrap_close(int descriptor) {
  // Linux closes the descriptor even if it reports an error.
  const int result = __real_close(descriptor);
  return unless_failing(close_, [&] { return result; });
}
int __wrap_rename(const char* from, const char* to) {
  return unless_failing(rename_, [&] { return __real_rename(from, to); });
}
int __wrap_fchmod(int descriptor, mode_t mode) {
  return unless_failing(fchmod_, [&] { return __real_fchmod(descriptor, mode); });
}
int __wrap_posix_fallocate(int descriptor, off_t offset, off_t length) {
  // posix_fallocate returns its error instead of setting errno.
  return meet(fallocate_) == Kind::error ? errno : __real_posix_fallocate(descriptor, offset, length);
}
int __wrap_ftruncate(int descriptor, off_t length) {
  return unless_failing(ftruncate_, [&] { return __real_ftruncate(descriptor, length); });
}
void* __wrap_mmap(void* address, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
  return meet(mmap_) == Kind::error ? MAP_FAILED : __real_mmap(address, bytes, protection, flags, descriptor, offset);
}
int __wrap_faccessat(int folder, const char* path, int mode, int flags) {
  return unless_failing(access_, [&] { return __real_faccessat(folder, path, mode, flags); });
}
}
