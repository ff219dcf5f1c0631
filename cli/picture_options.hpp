// SPDX-License-Identifier: Apache-2.0
// The options of `run` and `merge` about pictures that are written.
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

/// The losses of a file, which does not hold all that it was given: as JSON, and as a line each on standard error.
JsonText losses_json(const std::vector<std::string>& losses);
void print_losses(const std::string& output, const std::vector<std::string>& losses, bool quiet);

}  // namespace patchfold::cli
