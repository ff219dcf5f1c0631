// SPDX-License-Identifier: Apache-2.0
// The options of `run` and `merge` for writing pictures.
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
  std::string range{};  ///< as typed: "0,1"
  std::optional<int> quality{};
  std::string compress{};
  int tiff_tile = 0;
  bool always_big = false;
  bool is_cloud = false;
  std::string overviews{};
  bool as_bands = false;

  void add_to(Command& command);
  /// Throws Error(usage) for an option that the output's format does not take.
  void check(std::string_view command, formats::FileFormat format, const std::string& output) const;
  formats::WriteOptions options() const;
};

/// Returns the losses of a file, which are given data that the file does not hold, as a JSON list.
JsonText losses_json(const std::vector<std::string>& losses);
void print_losses(const std::string& output, const std::vector<std::string>& losses, bool quiet);

}  // namespace patchfold::cli
