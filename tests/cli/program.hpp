// SPDX-License-Identifier: Apache-2.0
// Runs the program, and makes and reads its files. The .npy files are built and parsed here by hand, so that the program is not
// tested with its own reader.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchfold::cli_test {

/// Returns the words of a text, which blanks separate. The word '' stands for an empty word.
std::vector<std::string> words(std::string_view text);

struct Outcome {
  int code = -1;   ///< exit code, or -1 if a signal ended the program
  int signal = 0;  ///< the signal, or 0
  std::string out{};
  std::string err{};
  std::int64_t peak_bytes = 0;  ///< peak of the resident memory
};

/// The circumstances of a run.
struct Setting {
  std::optional<std::uint64_t> largest_file{};  ///< limit of a file in bytes, like a full disk
  bool close_output = false;                    ///< standard output is closed
  bool break_pipe = false;                      ///< standard output is a pipe whose reading end is closed
  bool unprivileged = false;                    ///< runs as a user who is not root
  int signal = 0;                               ///< a signal to send as soon as a temporary file is in the folder
  std::string signal_once{};                    ///< if given: send it when this file exists or, for a pipe, has content
  bool terminal = false;                        ///< standard error is a terminal
  int columns = 0;                              ///< the terminal's width in characters; 0: unknown
  std::vector<std::string> environment{};       ///< "NAME=VALUE", added to the test's environment; a terminal adds TERM=xterm
  bool output_terminal = false;                 ///< standard output is a terminal
  bool input_terminal = false;                  ///< standard input is a terminal
  std::string input{};                          ///< the file that is standard input; empty: /dev/null
  std::optional<std::string> piped{};           ///< content of a pipe to standard input
};

/// A folder in which the program runs. The destructor removes the folder.
class Folder {
 public:
  Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();

  std::filesystem::path path(std::string_view name) const { return path_ / name; }
  void write(std::string_view name, std::string_view bytes) const;
  std::string read(std::string_view name) const;
  /// Returns the names of all entries, sorted, separated by blanks.
  std::string entries() const;
  Outcome run(const std::vector<std::string>& arguments, const Setting& setting = {}) const;
  Outcome run(std::string_view arguments, const Setting& setting = {}) const { return run(words(arguments), setting); }

 private:
  std::filesystem::path path_;
};

/// A .npy file.
struct Npy {
  std::string descr{};  ///< "<i8", or "[('x', '<i2')]" for a record
  std::vector<std::int64_t> shape{};
  std::string data{};
  bool fortran_order = false;

  template <class T>
  std::vector<T> elements() const {
    std::vector<T> values(data.size() / sizeof(T));
    std::memcpy(values.data(), data.data(), values.size() * sizeof(T));
    return values;
  }
};

/// Returns the bytes of a .npy file. The header states the members of `npy`, even if they are false.
std::string npy_bytes(const Npy& npy);
/// Returns the content of a .npy file; descr is empty if the bytes are no .npy file.
Npy npy_of(std::string_view bytes);

template <class T>
Npy npy(std::string descr, std::vector<std::int64_t> shape, const std::vector<T>& values) {
  return {std::move(descr), std::move(shape),
          std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T))};
}

/// Returns an int64 array with the elements 1, 2, 3, ..
Npy counting(const std::vector<std::int64_t>& shape);

}  // namespace patchfold::cli_test
