// SPDX-License-Identifier: Apache-2.0
#include "system/large_pages.hpp"

#include <gtest/gtest.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "system/memory.hpp"

namespace patchfold {
namespace {

using system::large_page;
constexpr std::size_t small_page = 4096;

/// Five large pages between two small pages, for which no large pages were requested yet.
class Pages {
 public:
  Pages() : mapped_(static_cast<std::byte*>(system::allocate_pages(size))) {}
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { system::free_pages(mapped_, size); }

  std::byte* begin() const {
    const std::size_t past = reinterpret_cast<std::uintptr_t>(mapped_) % large_page;
    return mapped_ + (large_page - past);
  }

 private:
  static constexpr std::size_t size = 7 * large_page;
  std::byte* mapped_;
};

/// Returns whether large pages were requested for this address.
bool is_advised(const std::byte* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uintptr_t first = 0, past = 0;
    char dash = 0;
    if (words >> std::hex >> first >> dash >> past && dash == '-') here = first <= wanted && wanted < past;
    if (here && line.starts_with("VmFlags:")) return line.find(" hg") != std::string::npos;
  }
  return false;
}

/// Returns whether the system accepts a request for large pages, and shows it in /proc/self/smaps.
bool has_large_pages() {
#ifdef MADV_HUGEPAGE
  const Pages pages;
  return ::madvise(pages.begin(), large_page, MADV_HUGEPAGE) == 0 && is_advised(pages.begin());
#else
  return false;
#endif
}

TEST(LargePages, AreAskedForWhereTheyLieWhollyInTheMemory) {
  if (!has_large_pages()) GTEST_SKIP() << "this system has no large pages to ask for";
  const struct {
    std::size_t offset, bytes, first, past;
  } cases[] = {
      {0, 2 * large_page, 0, 2},
      {small_page, 3 * large_page, 1, 3},
      {1, 4 * large_page - 1, 1, 4},
      {large_page - 1, large_page + 1, 1, 2},
      {large_page, 3 * large_page + 64, 1, 4},
      {0, 0, 0, 0},
      {64, 100, 0, 0},
      {0, large_page - 1, 0, 0},
      {1, 2 * large_page - 2, 0, 0},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(std::to_string(each.bytes) + " bytes from " + std::to_string(each.offset) + " on");
    const Pages pages;
    system::prefer_large_pages(pages.begin() + each.offset, each.bytes);
    EXPECT_FALSE(is_advised(pages.begin() - 1));
    for (std::size_t i = 0; i < 5; ++i) {
      const std::byte* const page = pages.begin() + i * large_page;
      const bool asked_for = each.first <= i && i < each.past;
      EXPECT_EQ(is_advised(page), asked_for) << i;
      EXPECT_EQ(is_advised(page + large_page - 1), asked_for) << i;
    }
  }
}

TEST(LargePages, LeaveWhatTheMemoryHolds) {
  std::vector<std::uint32_t> memory(3 * large_page / sizeof(std::uint32_t));
  std::iota(memory.begin(), memory.end(), 1);
  const auto before = memory;
  system::prefer_large_pages(memory.data(), memory.size() * sizeof(std::uint32_t));
  EXPECT_TRUE(memory == before);
}

}  // namespace
}  // namespace patchfold
