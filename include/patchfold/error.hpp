// SPDX-License-Identifier: Apache-2.0
// Errors, thrown while arguments are checked, plans are made, and files are read or written.
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "patchfold/export.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold {

/// The kinds of errors. `error_catalogue()` describes each kind.
enum class ErrorCode {
  rank,              ///< a tensor has the wrong number of axes
  length,            ///< a list has the wrong number of entries
  type,              ///< an attribute or a shape input has the wrong type
  value,             ///< a number or a word is outside its range
  divisible,         ///< an extent is not a multiple of a block or a kernel
  position_count,    ///< the columns have another number of positions than follows from the arguments
  shape,             ///< the shape of a tensor differs from the operator's
  dtype,             ///< two element types differ, or the operator does not support one
  overflow,          ///< a size or an offset is 2^60 or more, or does not fit into 63 bits
  limit,             ///< more axes than a problem may have
  strides,           ///< two elements of the destination share memory
  overlap,           ///< two of source, destination and scratch share memory
  null_data,         ///< a tensor with elements has no data
  missing,           ///< a required argument is not given
  unknown_argument,  ///< the operator has no argument of that name
  unknown_operator,  ///< there is no operator of that name
  out_of_memory,     ///< memory ran out; see also Error
  executor,          ///< the caller's executor (or, in C, the caller's row sink) did not do its work
  file_open,         ///< a file cannot be opened or read
  file_write,        ///< a file cannot be written; an earlier file there is untouched
  file_format,       ///< a file is damaged, cut short, or of another format than its name says
  file_unsupported,  ///< a file is valid but uses a feature that is not supported
  usage,             ///< a command line is wrong
};

/// One row of the catalogue, which `patchfold errors` prints.
struct ErrorEntry {
  ErrorCode code;
  std::string_view name;     ///< the enumerator's name
  std::string_view python;   ///< the Python package's exception; empty for codes that never reach Python
  std::string_view when;     ///< the cause, as a sentence
  std::string_view example;  ///< what() of an error with this code
  std::string_view advice;   ///< the remedy, in sentences
};

/// Returns every code once, in the order of the enumerators.
PATCHFOLD_API std::span<const ErrorEntry> error_catalogue() noexcept;
/// Returns the catalogue's row of a code.
PATCHFOLD_API const ErrorEntry& describe(ErrorCode code) noexcept;

/// An argument with a value that would be correct. Front ends write the argument as a caller types it: kernel_size=3,3 in problem
/// strings, kernel_size=(3, 3) in Python, --kernel_size 3,3 on the command line.
struct Setting {
  using Fractions = std::vector<std::pair<std::int64_t, std::int64_t>>;  ///< numerators and denominators, one or more

  std::string name{};
  std::variant<std::string, std::int64_t, bool, Dims, PadsList, Fractions> value{};  ///< a string is one of the argument's words

  Setting() = default;
  Setting(std::string_view argument, decltype(value) given) : name(argument), value(std::move(given)) {}
  Setting(std::string_view argument, const char* word) : name(argument), value(std::string(word)) {}
  friend bool operator==(const Setting&, const Setting&) = default;
};

/// A change of a tensor's shape, or of the order of its axes, that would be correct.
struct Rearrangement {
  enum class Kind : std::uint8_t { reshape, swap_axes };
  std::string tensor{};
  Kind kind = Kind::reshape;
  Dims numbers{};  ///< the new shape, or the two axes to exchange
  friend bool operator==(const Rearrangement&, const Rearrangement&) = default;
};

/// Writes the values of an error for a front end. The base class writes values as the C++ and C interfaces show them.
class PATCHFOLD_API ErrorWriter {
 public:
  ErrorWriter() = default;
  ErrorWriter(const ErrorWriter&) = delete;
  ErrorWriter& operator=(const ErrorWriter&) = delete;
  virtual ~ErrorWriter() = default;

  virtual std::string list(const Dims& list) const;                ///< [2, 3]
  virtual std::string pair(Pads pads) const;                       ///< 1:2
  virtual std::string setting(const Setting& setting) const;       ///< kernel_size=3,3
  virtual std::string rearranged(const Rearrangement& one) const;  ///< image with shape [1, 5, 5]
};

/// The given or the expected value of an error. Numbers, lists, pairs and element types are stored as values, and a front end
/// writes them in its own terms. A value is a sequence of parts, so "a multiple of 3" is a text and a number. The message leaves
/// out a value without parts.
class PATCHFOLD_API ErrorValue {
 public:
  using Part = std::variant<std::string, std::int64_t, std::uint64_t, Dims, Pads, DType, Setting, Rearrangement>;

  ErrorValue() = default;
  ErrorValue(const ErrorValue& other);
  ErrorValue(ErrorValue&&) noexcept = default;
  ErrorValue& operator=(const ErrorValue& other);
  ErrorValue& operator=(ErrorValue&&) noexcept = default;
  ~ErrorValue();
  /// Makes a value of one part, or of several parts that are written one after the other: ErrorValue("a multiple of ", 3).
  template <class... Ts>
  requires(sizeof...(Ts) > 0 && !(std::same_as<std::remove_cvref_t<Ts>, ErrorValue> || ...)) ErrorValue(Ts&&... parts) {
    append(parts...);
  }
  /// Adds parts at the end.
  template <class... Ts>
  void append(const Ts&... parts) {
    reserve(sizeof...(Ts));
    (add(parts), ...);
  }

  bool empty() const noexcept { return parts_.empty(); }
  const std::vector<Part>& parts() const noexcept { return parts_; }
  /// Returns the text, with values as `writer` writes them.
  std::string text(const ErrorWriter& writer = {}) const;

 private:
  // Reserves space for more parts. Defined in the library, so that its code is not compiled at every place that throws an error.
  void reserve(std::size_t more);
  void add(std::string_view text);
  void add(std::int64_t number);
  void add(std::uint64_t number);
  void add(const Dims& list);
  void add(const Axes& axes);
  void add(Pads pads);
  void add(DType dtype);
  void add(const Setting& setting);
  void add(const Rearrangement& one);
  template <std::signed_integral T>
  void add(T number) {
    add(std::int64_t{number});
  }
  template <std::unsigned_integral T>
  void add(T number) {
    add(std::uint64_t{number});
  }

  std::vector<Part> parts_{};
};

/// An error has the operator, the argument, the rule, the given and the expected value, and a hint (the words to type). `what()`
/// joins these parts: "OPERATOR: ARGUMENT: RULE; given GIVEN, expected EXPECTED; HINT". Empty parts are left out. Control
/// characters become '?', and parts of more than 1000 characters are cut. Every C++ function of the library that is not noexcept
/// throws std::bad_alloc when memory runs out. A call that throws std::bad_alloc has changed nothing, and the library can be used
/// as before. Where the library knows what it could not allocate, it throws Error(out_of_memory) instead of std::bad_alloc; the
/// message names the object and the number of bytes. The C ABI returns PF_ERROR_OUT_OF_MEMORY and Python raises MemoryError in both
/// cases.
class PATCHFOLD_API Error : public std::exception {
 public:
  struct Parts {
    ErrorCode code = ErrorCode::value;
    std::string op{};        ///< operator, or the reader or writer of a file
    std::string argument{};  ///< argument, or the path of a file
    std::string rule{};
    ErrorValue given{};
    ErrorValue expected{};
    ErrorValue hint{};  ///< the text to type instead; empty if there is none
  };

  explicit Error(Parts parts);

  const char* what() const noexcept override { return message_.c_str(); }
  ErrorCode code() const noexcept { return parts_.code; }
  const std::string& op() const noexcept { return parts_.op; }
  const std::string& argument() const noexcept { return parts_.argument; }
  const std::string& rule() const noexcept { return parts_.rule; }
  /// Returns the text of the given value as `what()` shows it; `parts()` has the values themselves.
  const std::string& given() const noexcept { return given_; }
  const std::string& expected() const noexcept { return expected_; }
  const std::string& hint() const noexcept { return hint_; }
  /// Returns the message, with values as `writer` writes them.
  std::string message(const ErrorWriter& writer) const;
  const Parts& parts() const noexcept { return parts_; }

 private:
  Parts parts_;
  std::string given_;
  std::string expected_;
  std::string hint_;
  std::string message_;
};

}  // namespace patchfold
