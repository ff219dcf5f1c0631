// SPDX-License-Identifier: Apache-2.0
// How pictures are written: what `run` and `merge` share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/json.hpp"
#include "formats/rows.hpp"

namespace patchfold::cli {

class Command;

struct PictureOptions {
  std::string range{};  ///< "0,1"
  std::optional<int> quality{};

  void add_to(Command& command);
  /// Throws Error(usage) for what does not fit the output.
  void check(std::string_view command, formats::FileFormat format, const std::string& output) const;
  formats::WriteOptions options() const;
};

/// What a file does not hold of what it was given: a line each on standard error.
JsonText losses_json(const std::vector<std::string>& losses);
void print_losses(const std::string& output, const std::vector<std::string>& losses, bool quiet);

}  // namespace patchfold::cli
