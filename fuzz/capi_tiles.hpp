// SPDX-License-Identifier: Apache-2.0
// What the two files of the fuzzer of the C interface share.
#pragma once

#include <cstdint>
#include <span>

#include "fuzz/target.hpp"
#include "patchfold/patchfold.h"

namespace patchfold::fuzz {

/// The least first byte of an input for tiles; inputs with a smaller first byte are for operators.
inline constexpr std::uint8_t first_of_tiles = 200;
void run_tiles(std::span<const std::uint8_t> bytes);

/// Returns a status, after checking that it has a name, and a message if and only if it is an error.
inline pf_status checked(pf_status status) {
  expect(pf_status_name(status) != nullptr && pf_status_doc(status) != nullptr, "a status without a name");
  expect(status != PF_ERROR_INTERNAL, std::string("an internal error: ") + pf_last_error());
  expect((status == PF_OK) == (*pf_last_error() == '\0'), "a message without an error, or an error without one");
  return status;
}

}  // namespace patchfold::fuzz
