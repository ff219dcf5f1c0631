// SPDX-License-Identifier: Apache-2.0
#include "samples.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "formats/npy.hpp"
#include "formats/rows.hpp"
#include "formats/tile_plan.hpp"
#include "tests/formats/support.hpp"
#include "tests/limits/edges.hpp"

namespace patchfold::inputs {
namespace {

using namespace formats::test;

std::string read_array(const std::filesystem::path& path) {
  std::string read = elements_of(formats::read_npy(path).view);
  return read + rows_of(*formats::open_rows(path));
}

Sample array_sample(const std::string& name, const std::string& descr, const std::string& shape, std::size_t bytes,
                    int major) {
  const auto file = [=](const std::string& dictionary) { return npy_file(dictionary, noise(bytes), major); };
  return {name,
          "x.npy",
          {"npy", "file"},
          [=](const auto& folder) { write_bytes(folder / "x.npy", file(npy_dictionary(descr, shape))); },
          [](const auto& folder) { return read_array(folder / "x.npy"); },
          [=](const TakeLie& take) {
            lie_in_text(npy_dictionary(descr, shape),
                        [&](const std::string& what, const std::string& text) { take(what, file(text)); });
            // Replaces the length of the header, which is stored from byte 8 on, by each edge.
            const std::string whole = file(npy_dictionary(descr, shape));
            const int bytes_of_length = major == 1 ? 2 : 4;
            for (const std::uint64_t length : edges_of_bits(8 * bytes_of_length)) {
              std::string changed = whole;
              changed.replace(8, static_cast<std::size_t>(bytes_of_length),
                              bytes_of(length).substr(0, static_cast<std::size_t>(bytes_of_length)));
              take("header of " + std::to_string(length), changed);
            }
          }};
}

}  // namespace

void lie_in_text(const std::string& text, const TakeLie& take) {
  std::vector<std::string> numbers = {"9223372036854775808",
                                      "18446744073709551615",
                                      "18446744073709551616",
                                      "123456789012345678901234567890",
                                      "1e400",
                                      "0.5"};
  for (const std::int64_t edge : limits::edges()) numbers.push_back(std::to_string(edge));
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    if (!is_digit(text[begin])) continue;
    std::size_t end = begin;
    while (end < text.size() && is_digit(text[end])) ++end;
    for (const std::string& number : numbers)
      take(text.substr(0, end) + " -> " + number, text.substr(0, begin) + number + text.substr(end));
    begin = end;
  }
}

std::vector<std::uint64_t> edges_of_bits(int bits) {
  std::set<std::uint64_t> all;
  for (const std::int64_t edge : limits::edges()) {
    const auto wide = static_cast<std::uint64_t>(edge);
    all.insert(bits == 64 ? wide : wide & ((std::uint64_t{1} << bits) - 1));
    all.insert(bits == 64 ? wide : (wide >> (64 - bits)));  // the highest bits of the wide number
  }
  return {all.begin(), all.end()};
}

std::vector<Sample> array_samples() {
  return {
      array_sample("npy 1.0", "'<f4'", "(2, 3)", 24, 1),
      array_sample("npy 2.0 of big-endian records", "[('a', '>i2'), ('b', '<f4', (2,))]", "(2,)", 20, 2),
      array_sample("npy 3.0 of text", "'<U2'", "(2, 1, 2)", 32, 3),
      array_sample("npy of raw bytes", "'|V5'", "(3,)", 15, 1),
      array_sample("npy without elements", "'>f8'", "(0, 4)", 0, 1),
  };
}

std::vector<Sample> plan_samples() {
  const auto plan_of = [](const std::filesystem::path& path) {
    const formats::TilePlan plan{.source = "in.npy",
                                 .type = "uint8",
                                 .tiling = Tiling({.shape = {4, 6}, .tile = {4, 4}, .overlap = {1, 1}}),
                                 .files = {"tile-0.npy", "tile-1.npy"},
                                 .crcs = {7, 4294967295}};
    formats::write_tile_plan(path, plan);
  };
  const auto text = [=] {
    const TempFolder folder;
    plan_of(folder / "plan.json");
    return read_bytes(folder / "plan.json");
  };
  return {{"tile plan",
           "plan.json",
           {"plan"},
           [=](const auto& folder) { plan_of(folder / "plan.json"); },
           [](const auto& folder) {
             const formats::TilePlan plan = formats::read_tile_plan(folder / "plan.json");
             return plan.tiling.to_json() + plan.source + plan.type + plan.files[0] + std::to_string(plan.crcs[1]);
           },
           [=](const TakeLie& take) { lie_in_text(text(), take); }}};
}

std::vector<Sample> all_samples() {
  std::vector<Sample> all = array_samples();
  for (auto more : {plan_samples, picture_samples, tiff_samples})
    for (Sample& sample : more()) all.push_back(std::move(sample));
  return all;
}

}  // namespace patchfold::inputs
