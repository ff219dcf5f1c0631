// SPDX-License-Identifier: Apache-2.0
// Tests readers and writers of files with failing allocations, in patchfold and in the libraries that it calls.
#include <gtest/gtest.h>

#include "files.hpp"
#include "formats/picture.hpp"
#include "memory.hpp"

namespace patchfold::faults {
namespace {

using formats::test::read_bytes;
using formats::test::TempFolder;
using formats::test::write_bytes;

std::string shown(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += name + " ";
  return text;
}

bool is_tiff(const std::filesystem::path& path) {
  return path.extension() == ".tif";
}

TEST(FilesWithoutMemory, AreReadInFullOrAreAnError) {
  const TempFolder folder;
  for (const Reading& reading : readings(folder))
    if (!is_tiff(reading.path)) fail_each_allocation(reading.name, reading.read);
}

/// Returns the expected state of a folder with one file, after the file was written or the writer failed.
Expectation untouched(const TempFolder& folder, const Writing& writing, bool exists) {
  return {.before =
              [&writing, exists] {
                std::filesystem::remove(writing.path);
                if (exists) write_bytes(writing.path, as_it_was);
              },
          .after =
              [&folder, &writing, exists](bool failed) {
                const bool is_there = exists || !failed;
                const std::string name = writing.path.filename().string() + " ";
                EXPECT_EQ(shown(folder.names()), is_there ? name : "") << writing.name;
                EXPECT_TRUE(!is_there || read_bytes(writing.path) == (failed ? as_it_was : writing.bytes)) << writing.name;
              },
          .most_failures = exists ? 150 : 20};
}

TEST(FilesWithoutMemory, AreWrittenInFullOrStayAsTheyWere) {
  for (const bool exists : {true, false}) {
    const TempFolder folder;
    for (const Writing& writing : writings(folder)) {
      if (!is_tiff(writing.path)) fail_each_allocation(writing.name, writing.write, untouched(folder, writing, exists));
      std::filesystem::remove(writing.path);
    }
  }
}

// libtiff 4.5 may use memory that it failed to allocate, and does not always report the failure. So each failure is tested in its
// own process, and most of these processes, but not all, must report an error.
TEST(FilesWithoutMemory, InTiffAreReadInFullOrAreAnErrorWhereLibtiffDoesNotCrash) {
  if (!formats::has_tiff()) GTEST_SKIP() << "built without TIFF";
  const TempFolder folder;
  Outcomes all;
  for (const Reading& reading : readings(folder)) {
    if (!is_tiff(reading.path)) continue;
    const Outcomes one = try_each_allocation(reading.read, {.most_failures = 25});
    all.memory += one.memory;
    all.other += one.other;
    all.crashed += one.crashed;
  }
  EXPECT_GT(all.memory, 0);
  EXPECT_LT(all.crashed * 10, all.memory);
  EXPECT_LT(all.other * 5, all.memory);
}

TEST(FilesWithoutMemory, InTiffAreWrittenInFullOrStayAsTheyWereWhereLibtiffDoesNotCrash) {
  if (!formats::has_tiff()) GTEST_SKIP() << "built without TIFF";
  const TempFolder folder;
  Outcomes all;
  for (const Writing& writing : writings(folder)) {
    if (!is_tiff(writing.path)) continue;
    Expectation expectation = untouched(folder, writing, true);
    expectation.most_failures = 25;
    expectation.after = [&](bool failed) {
      EXPECT_TRUE(read_bytes(writing.path) == (failed ? as_it_was : writing.bytes)) << writing.name;
    };
    const Outcomes one = try_each_allocation(writing.write, expectation);
    all.memory += one.memory;
    all.other += one.other;
    all.crashed += one.crashed;
    EXPECT_LE(folder.names().size(), static_cast<std::size_t>(1 + one.crashed)) << writing.name;
    for (const auto& name : folder.names()) std::filesystem::remove(folder / name);
  }
  EXPECT_GT(all.memory, 0);
  EXPECT_LT(all.crashed * 10, all.memory);
  EXPECT_LT(all.other * 5, all.memory);
}

}  // namespace
}  // namespace patchfold::faults
