// SPDX-License-Identifier: Apache-2.0
// Errors, thrown while arguments are checked, plans are made, and files are read or written.
#pragma once

#include <exception>
#include <span>
#include <string>
#include <string_view>

#include "patchfold/export.hpp"

namespace patchfold {

/// Every kind of error there is. `error_catalogue()` describes each one.
enum class ErrorCode {
  rank,              ///< a tensor has the wrong number of axes
  length,            ///< a list has the wrong number of entries
  type,              ///< an attribute or a shape input has the wrong type
  value,             ///< a number or a word is outside its range
  divisible,         ///< an extent is not a multiple of a block or a kernel
  position_count,    ///< the number of positions of the columns differs from the formula
  shape,             ///< the shape of a tensor differs from the operator's
  dtype,             ///< two element types differ, or the operator does not support one
  overflow,          ///< a size or an offset is 2^60 or more, or does not fit into 63 bits
  limit,             ///< more axes than a problem may have
  strides,           ///< two elements of the destination share memory
  overlap,           ///< source and destination share memory
  null_data,         ///< a tensor with elements has no data
  missing,           ///< a required argument is not given
  unknown_argument,  ///< the operator has no argument of that name
  unknown_operator,  ///< there is no operator of that name
  out_of_memory,     ///< memory ran out; see also Error
  executor,          ///< the caller's executor did not run the work
  file_open,         ///< a file cannot be opened or read
  file_write,        ///< a file cannot be written; what was there before is untouched
  file_format,       ///< a file is damaged, cut short, or of another format than its name says
  file_unsupported,  ///< a file is valid but uses a feature that is not supported
  usage,             ///< a command line is wrong
};

/// One row of the catalogue, from which docs/errors.md is made.
struct ErrorEntry {
  ErrorCode code;
  std::string_view name;     ///< the enumerator
  std::string_view python;   ///< the Python package's exception; empty for codes that never reach Python
  std::string_view when;     ///< when it is raised, as a sentence
  std::string_view example;  ///< what() of one such error
  std::string_view advice;   ///< what to do about it, in sentences
};

/// Every code once, in the order of the enumerators.
PATCHFOLD_API std::span<const ErrorEntry> error_catalogue() noexcept;
/// The catalogue's row of a code.
PATCHFOLD_API const ErrorEntry& describe(ErrorCode code) noexcept;

/// An error says which operator and argument, the rule, what was given and what was expected.
/// `what()` joins them: "OPERATOR: ARGUMENT: RULE; given GIVEN, expected EXPECTED". Empty parts are left out.
/// Control characters become '?', and parts of more than 1000 characters are cut.
/// Every C++ function of the library that is not noexcept throws std::bad_alloc when memory runs out; nothing has changed
/// then, and the library can be used as before. Error(out_of_memory) is thrown where more can be said: whose memory it was,
/// how many bytes. The C ABI returns PF_ERROR_OUT_OF_MEMORY and Python raises MemoryError in both cases.
class PATCHFOLD_API Error : public std::exception {
 public:
  struct Parts {
    ErrorCode code = ErrorCode::value;
    std::string op{};        ///< operator, or the reader or writer of a file
    std::string argument{};  ///< argument, or the path of a file
    std::string rule{};
    std::string given{};
    std::string expected{};
  };

  explicit Error(Parts parts);

  const char* what() const noexcept override { return message_.c_str(); }
  ErrorCode code() const noexcept { return parts_.code; }
  const std::string& op() const noexcept { return parts_.op; }
  const std::string& argument() const noexcept { return parts_.argument; }
  const std::string& rule() const noexcept { return parts_.rule; }
  const std::string& given() const noexcept { return parts_.given; }
  const std::string& expected() const noexcept { return parts_.expected; }
  const Parts& parts() const noexcept { return parts_; }

 private:
  Parts parts_;
  std::string message_;
};

}  // namespace patchfold
