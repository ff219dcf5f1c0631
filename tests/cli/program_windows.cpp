// SPDX-License-Identifier: Apache-2.0
// Runs the program with files and pipes. Throws for settings that Windows does not have in this form (terminals, signals,
// rights, limits). The CMake preset `windows` excludes the tests with these settings.
#include <windows.h>
// must follow windows.h
#include <psapi.h>

#include <algorithm>
#include <cwctype>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/cli/program.hpp"

namespace patchfold::cli_test {
namespace {

std::wstring wide(const std::string& text) {
  return std::filesystem::path(text).wstring();
}

/// A handle that its destructor closes.
class Handle {
 public:
  explicit Handle(HANDLE handle) : handle_(handle) {
    if (handle == INVALID_HANDLE_VALUE || handle == nullptr) throw std::runtime_error("no handle");
  }
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() { close(); }
  HANDLE get() const { return handle_; }
  void close() {
    if (handle_ != nullptr) ::CloseHandle(std::exchange(handle_, nullptr));
  }

 private:
  HANDLE handle_;
};

SECURITY_ATTRIBUTES inherited() {
  return {sizeof(SECURITY_ATTRIBUTES), nullptr, TRUE};
}

Handle open_existing(const std::filesystem::path& path) {
  SECURITY_ATTRIBUTES attributes = inherited();
  return Handle(::CreateFileW(path.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                              &attributes, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
}

/// Opens a temporary file, outside of the folders whose entries tests compare.
Handle open_anonymous() {
  wchar_t folder[MAX_PATH + 1], name[MAX_PATH + 1];
  ::GetTempPathW(MAX_PATH + 1, folder);
  ::GetTempFileNameW(folder, L"pft", 0, name);
  SECURITY_ATTRIBUTES attributes = inherited();
  return Handle(::CreateFileW(name, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                              &attributes, CREATE_ALWAYS, FILE_FLAG_DELETE_ON_CLOSE, nullptr));
}

std::string drain(const Handle& file) {
  std::string text;
  char buffer[4096];
  ::SetFilePointer(file.get(), 0, nullptr, FILE_BEGIN);
  for (DWORD count = 0; ::ReadFile(file.get(), buffer, sizeof buffer, &count, nullptr) != 0 && count > 0;)
    text.append(buffer, count);
  return text;
}

/// Returns a word quoted for CommandLineToArgvW.
std::wstring quoted(const std::wstring& word) {
  std::wstring text = L"\"";
  std::size_t backslashes = 0;
  for (const wchar_t c : word) {
    if (c == L'"') text.append(backslashes + 1, L'\\');
    backslashes = c == L'\\' ? backslashes + 1 : 0;
    text += c;
  }
  return text.append(backslashes, L'\\') + L'"';
}

/// Returns the environment of the program: the setting's variables, TERM and NO_COLOR, and this process's variables. If
/// several variables have one name, the first of them counts.
std::wstring environment_of(const Setting& setting) {
  std::vector<std::wstring> variables;
  for (const std::string& variable : setting.environment) variables.push_back(wide(variable));
  for (const wchar_t* standard : {L"TERM=xterm", L"NO_COLOR="}) variables.emplace_back(standard);
  wchar_t* const own = ::GetEnvironmentStringsW();
  for (const wchar_t* variable = own; *variable != L'\0'; variable += std::wcslen(variable) + 1)
    variables.emplace_back(variable);
  ::FreeEnvironmentStringsW(own);
  std::vector<std::wstring> names;
  std::wstring block;
  for (const std::wstring& variable : variables) {
    std::wstring name = variable.substr(0, variable.find(L'=', 1));
    std::transform(name.begin(), name.end(), name.begin(), [](wchar_t c) { return static_cast<wchar_t>(std::towupper(c)); });
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    names.push_back(name);
    block += variable + L'\0';
  }
  return block + L'\0';
}

/// Returns a text with slashes in place of the backslashes in names of files. A text that begins with { is JSON. There, a
/// name has two backslashes for one, and a single backslash, which stands before a quotation mark, stays.
std::string with_slashes(const std::string& text) {
  const std::string_view backslash = text.starts_with('{') ? R"(\\)" : R"(\)";
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const bool is_one = std::string_view(text).substr(at).starts_with(backslash);
    result += is_one ? '/' : text[at];
    at += is_one ? backslash.size() : 1;
  }
  return result;
}

}  // namespace

Outcome Folder::run(const std::vector<std::string>& arguments, const Setting& setting) const {
  if (setting.largest_file || setting.close_output || setting.break_pipe || setting.unprivileged || setting.signal != 0 ||
      setting.terminal || setting.output_terminal || setting.input_terminal)
    throw std::runtime_error("this setting is not offered on Windows");
  std::wstring line = quoted(wide(PATCHFOLD_PROGRAM));
  for (const std::string& word : arguments) line += L" " + quoted(wide(word));
  std::wstring environment = environment_of(setting);
  const Handle out = open_anonymous(), err = open_anonymous();
  std::thread writer;
  HANDLE read_end = nullptr, write_end = nullptr;
  if (setting.piped) {
    SECURITY_ATTRIBUTES attributes = inherited();
    if (::CreatePipe(&read_end, &write_end, &attributes, 0) == 0) throw std::runtime_error("no pipe");
    ::SetHandleInformation(write_end, HANDLE_FLAG_INHERIT, 0);
  }
  Handle in = setting.piped           ? Handle(read_end)
              : setting.input.empty() ? open_existing("NUL")
                                      : open_existing(path_ / setting.input);

  STARTUPINFOW start{};
  start.cb = sizeof start;
  start.dwFlags = STARTF_USESTDHANDLES;
  start.hStdInput = in.get();
  start.hStdOutput = out.get();
  start.hStdError = err.get();
  PROCESS_INFORMATION made{};
  const auto starts = [&] {
    return ::CreateProcessW(wide(PATCHFOLD_PROGRAM).c_str(), line.data(), nullptr, nullptr, TRUE, CREATE_UNICODE_ENVIRONMENT,
                            environment.data(), path_.c_str(), &start, &made) != 0;
  };
  // Tries twice, since one start in some thousands fails in Wine itself.
  if (!starts() && !starts()) throw std::runtime_error("the program does not start");
  const Handle process(made.hProcess), thread(made.hThread);
  in.close();
  if (setting.piped)
    writer = std::thread([&] {
      // Writes until the reading end is closed.
      for (std::size_t at = 0; at < setting.piped->size();) {
        const auto rest = static_cast<DWORD>(std::min<std::size_t>(setting.piped->size() - at, 1 << 16));
        DWORD count = 0;
        if (::WriteFile(write_end, setting.piped->data() + at, rest, &count, nullptr) == 0) break;
        at += count;
      }
      ::CloseHandle(write_end);
    });
  ::WaitForSingleObject(process.get(), INFINITE);
  if (writer.joinable()) writer.join();

  Outcome outcome;
  DWORD code = 0;
  ::GetExitCodeProcess(process.get(), &code);
  outcome.code = static_cast<int>(code);
  PROCESS_MEMORY_COUNTERS counters{};
  ::GetProcessMemoryInfo(process.get(), &counters, sizeof counters);
  outcome.peak_bytes = static_cast<std::int64_t>(counters.PeakWorkingSetSize);
  outcome.out = drain(out);
  outcome.err = drain(err);
  outcome.err = with_slashes(outcome.err);
  return outcome;
}

}  // namespace patchfold::cli_test
