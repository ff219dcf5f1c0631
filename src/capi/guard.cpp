// SPDX-License-Identifier: Apache-2.0
#include "capi/guard.hpp"

#include <array>
#include <optional>
#include <utility>

#include "tensor/lasting.hpp"
#include "tensor/of_this_thread.hpp"

namespace patchfold::capi {
namespace {

constexpr pf_status status_of(ErrorCode code) {
  return static_cast<pf_status>(code) + 1;
}

constexpr std::pair<ErrorCode, pf_status> statuses[] = {
    {ErrorCode::rank, PF_ERROR_RANK},
    {ErrorCode::length, PF_ERROR_LENGTH},
    {ErrorCode::type, PF_ERROR_TYPE},
    {ErrorCode::value, PF_ERROR_VALUE},
    {ErrorCode::divisible, PF_ERROR_DIVISIBLE},
    {ErrorCode::position_count, PF_ERROR_POSITION_COUNT},
    {ErrorCode::shape, PF_ERROR_SHAPE},
    {ErrorCode::dtype, PF_ERROR_DTYPE},
    {ErrorCode::overflow, PF_ERROR_OVERFLOW},
    {ErrorCode::limit, PF_ERROR_LIMIT},
    {ErrorCode::strides, PF_ERROR_STRIDES},
    {ErrorCode::overlap, PF_ERROR_OVERLAP},
    {ErrorCode::null_data, PF_ERROR_NULL_DATA},
    {ErrorCode::missing, PF_ERROR_MISSING},
    {ErrorCode::unknown_argument, PF_ERROR_UNKNOWN_ARGUMENT},
    {ErrorCode::unknown_operator, PF_ERROR_UNKNOWN_OPERATOR},
    {ErrorCode::out_of_memory, PF_ERROR_OUT_OF_MEMORY},
    {ErrorCode::executor, PF_ERROR_EXECUTOR},
    {ErrorCode::file_open, PF_ERROR_FILE_OPEN},
    {ErrorCode::file_write, PF_ERROR_FILE_WRITE},
    {ErrorCode::file_format, PF_ERROR_FILE_FORMAT},
    {ErrorCode::file_unsupported, PF_ERROR_FILE_UNSUPPORTED},
    {ErrorCode::usage, PF_ERROR_USAGE},
};
static_assert(std::ranges::all_of(statuses, [](const auto& pair) { return status_of(pair.first) == pair.second; }));

/// Returns the place of this thread's last error. If the place is null or empty, the last message is the sentence `plain`.
std::optional<Error>* last_error() noexcept {
  return of_this_thread<std::optional<Error>>();
}
thread_local const char* plain = "";

template <class F>
void remember(const char* without_memory, F make) noexcept {
  plain = without_memory;
  try {
    if (auto* error = last_error()) error->emplace(make());
  } catch (...) {
  }
}

/// The texts of the catalogue, ended by NUL. The index of a text is the number of its status; PF_OK is the first.
struct Texts {
  using List = std::array<std::string, std::size(statuses) + 1>;
  List names, docs;
};

const Texts& texts() {
  return lasting([] {
    Texts made;
    made.names[PF_OK] = "ok";
    made.docs[PF_OK] = "There is no error.";
    for (const auto& entry : error_catalogue()) {
      made.names.at(static_cast<std::size_t>(status_of(entry.code))) = entry.name;
      made.docs.at(static_cast<std::size_t>(status_of(entry.code))) = entry.when;
    }
    return made;
  });
}

/// Returns the text of a status; nullptr for an unknown status, or if memory runs out.
const char* text_of(pf_status status, Texts::List Texts::*texts_of) noexcept {
  try {
    const Texts::List& list = texts().*texts_of;
    if (status < 0 || static_cast<std::size_t>(status) >= list.size()) return nullptr;
    return list[static_cast<std::size_t>(status)].c_str();
  } catch (...) {
    return nullptr;
  }
}

}  // namespace

void clear_error() noexcept {
  if (auto* error = last_error()) error->reset();
  plain = "";
}

pf_status store_error(const Error& error) noexcept {
  remember("there was no memory for the message", [&]() -> const Error& { return error; });
  return status_of(error.code());
}

pf_status store_error(ErrorCode code, std::string_view rule) noexcept {
  remember("out of memory", [&] { return Error::Parts{.code = code, .rule = std::string(rule)}; });
  return status_of(code);
}

pf_status store_internal(const char* what) noexcept {
  store_error(ErrorCode::value, what);
  return PF_ERROR_INTERNAL;
}

}  // namespace patchfold::capi

using namespace patchfold::capi;  // NOLINT: the functions below are the interface itself

const char* pf_last_error(void) {
  const auto* error = last_error();
  return error && *error ? (*error)->what() : plain;
}

const char* pf_last_error_part(int32_t part) {
  const auto* last = last_error();
  if (!last || !*last) return part == PF_PART_RULE ? plain : "";
  const patchfold::Error& error = **last;
  switch (part) {
    case PF_PART_OPERATOR: return error.op().c_str();
    case PF_PART_ARGUMENT: return error.argument().c_str();
    case PF_PART_RULE: return error.rule().c_str();
    case PF_PART_GIVEN: return error.given().c_str();
    case PF_PART_EXPECTED: return error.expected().c_str();
    case PF_PART_HINT: return error.hint().c_str();
    default: return "";
  }
}

const char* pf_status_name(pf_status status) {
  return status == PF_ERROR_INTERNAL ? "internal" : text_of(status, &Texts::names);
}

const char* pf_status_doc(pf_status status) {
  return status == PF_ERROR_INTERNAL ? "The library has a fault." : text_of(status, &Texts::docs);
}
