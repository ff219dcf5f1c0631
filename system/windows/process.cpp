// SPDX-License-Identifier: Apache-2.0
#include "system/process.hpp"

#include <fcntl.h>
#include <io.h>

#include <atomic>
#include <memory>

#include "system/terminal.hpp"
#include "system/windows/handle.hpp"
// windows.h must come first.
#include <shellapi.h>

namespace patchfold::system {
namespace {

std::atomic<bool> received = false;

/// Handles a request, on a thread that Windows starts. FALSE passes the request to the next handler, which ends the process.
BOOL WINAPI receive(DWORD request) {
  if (received.exchange(true)) return FALSE;
  // At the end of the console, Windows ends the process when this function returns, or after a few seconds. So the function waits
  // while the other threads clean up.
  if (request != CTRL_C_EVENT && request != CTRL_BREAK_EVENT) ::Sleep(INFINITE);
  return TRUE;
}

}  // namespace

void prepare_process() noexcept {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    // Opens standard streams that are missing: their descriptor does not exist, or has no handle.
    if (::_get_osfhandle(descriptor) < 0) {
      const int none = ::_open("NUL", (descriptor == 0 ? _O_RDONLY : _O_WRONLY) | _O_BINARY);
      if (none >= 0 && none != descriptor) {
        ::_dup2(none, descriptor);
        ::_close(none);
      }
    }
    ::_setmode(descriptor, _O_BINARY);
  }
  // The program writes all text in UTF-8.
  if (is_terminal(1) || is_terminal(2)) ::SetConsoleOutputCP(CP_UTF8);
}

void end_if_nothing_reads() noexcept {}

std::vector<std::string> arguments(int, char**) {
  int count = 0;
  const std::unique_ptr<wchar_t*, decltype(&::LocalFree)> words(::CommandLineToArgvW(::GetCommandLineW(), &count),
                                                                &::LocalFree);
  std::vector<std::string> result;
  for (int i = 1; i < count; ++i) result.push_back(utf8_of(words.get()[i]));
  return result;
}

StopRequests::StopRequests(bool noted) noexcept : noted_(noted) {
  received = false;
  if (noted_) ::SetConsoleCtrlHandler(receive, TRUE);
}

StopRequests::~StopRequests() {
  if (!noted_) return;
  ::SetConsoleCtrlHandler(receive, FALSE);
  if (have_come()) ::ExitProcess(static_cast<UINT>(STATUS_CONTROL_C_EXIT));
}

bool StopRequests::have_come() noexcept {
  return received.load(std::memory_order_relaxed);
}

}  // namespace patchfold::system
