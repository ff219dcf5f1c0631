// SPDX-License-Identifier: Apache-2.0
#include "patchfold/error.hpp"

#include <utility>

#include "tensor/fail.hpp"

namespace patchfold {
namespace {

constexpr ErrorEntry catalogue[] = {
    {ErrorCode::rank, "rank", "A tensor has another number of axes than the operator takes."},
    {ErrorCode::length, "length", "A list has another number of entries than there are axes, or lists disagree."},
    {ErrorCode::type, "type", "An attribute or a shape input has a type that the argument does not take."},
    {ErrorCode::value, "value", "A number or a word lies outside the range of its argument."},
    {ErrorCode::divisible, "divisible", "An extent is not a multiple of a block or of the kernel's size."},
    {ErrorCode::position_count, "position_count", "Columns hold another number of positions than the formula gives."},
    {ErrorCode::shape, "shape", "A tensor has another shape than the operator gives, or a shape cannot be held."},
    {ErrorCode::dtype, "dtype", "Element types differ, or an element type cannot do what is asked (a sum of strings)."},
    {ErrorCode::overflow, "overflow", "A size or an offset is 2^60 or more, or does not fit into 63 bits."},
    {ErrorCode::limit, "limit", "A tensor or a problem has more axes than the library handles."},
    {ErrorCode::strides, "strides", "Elements of the destination share memory, so results would overwrite each other."},
    {ErrorCode::overlap, "overlap", "Source and destination share memory."},
    {ErrorCode::null_data, "null_data", "A tensor that has elements has no data pointer."},
    {ErrorCode::missing, "missing", "A required argument is not given."},
    {ErrorCode::unknown_argument, "unknown_argument", "The operator has no argument of that name, or it is given twice."},
    {ErrorCode::unknown_operator, "unknown_operator", "There is no operator of that name."},
    {ErrorCode::out_of_memory, "out_of_memory", "Memory could not be had."},
    {ErrorCode::executor, "executor", "The caller's executor did not run the work."},
    {ErrorCode::file_open, "file_open", "A file cannot be opened or read."},
    {ErrorCode::file_write, "file_write", "A file cannot be written; what was there before is untouched."},
    {ErrorCode::file_format, "file_format", "A file is not what it says it is, or is cut short."},
    {ErrorCode::file_unsupported, "file_unsupported", "A file is sound but holds something that is not read or written."},
    {ErrorCode::usage, "usage", "A command line or a problem string is not understood."},
};

/// What callers and files bring along may be of any length and hold any bytes.
Error::Parts printable(Error::Parts parts) {
  constexpr std::size_t most = 1000;
  for (std::string* part : {&parts.op, &parts.argument, &parts.rule, &parts.given, &parts.expected}) {
    if (part->size() > most) part->replace(most, std::string::npos, "..");
    for (char& c : *part)
      if (static_cast<unsigned char>(c) < ' ' || c == 0x7F) c = '?';
  }
  return parts;
}

std::string join(const Error::Parts& parts) {
  std::string message;
  for (const std::string* part : {&parts.op, &parts.argument, &parts.rule}) {
    if (part->empty()) continue;
    if (!message.empty()) message += ": ";
    message += *part;
  }
  if (!parts.given.empty()) message += "; given " + parts.given;
  if (!parts.expected.empty()) message += (parts.given.empty() ? "; expected " : ", expected ") + parts.expected;
  return message;
}

}  // namespace

std::span<const ErrorEntry> error_catalogue() noexcept {
  return catalogue;
}

void fail_memory() {
  throw Error({.code = ErrorCode::out_of_memory, .rule = "out of memory"});
}

Error::Error(Parts parts) : parts_(printable(std::move(parts))), message_(join(parts_)) {}

}  // namespace patchfold
