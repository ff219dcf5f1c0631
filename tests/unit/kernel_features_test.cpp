// SPDX-License-Identifier: Apache-2.0
// Tests that every instruction set from AVX3 on has the fast paths, even sets that no build has yet.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "kernels/features.hpp"

namespace patchfold::kernels {
namespace {

TEST(Features, EverySetFromAvx3OnHasTheFastPaths) {
  std::vector<std::int64_t> targets{HWY_AVX3, HWY_AVX3_DL};
#ifdef HWY_AVX3_ZEN4
  targets.push_back(HWY_AVX3_ZEN4);
#endif
#ifdef HWY_AVX3_SPR
  targets.push_back(HWY_AVX3_SPR);
#endif
#ifdef HWY_AVX10_2
  targets.push_back(HWY_AVX10_2);
#endif
  for (std::int64_t later = 1; later < HWY_AVX3; later *= 2) targets.push_back(later);
  for (const std::int64_t target : targets) {
    EXPECT_TRUE(has_avx512(target)) << target;
    EXPECT_TRUE(has_float16_conversions(target)) << target;
    EXPECT_EQ(vector_registers(target), 32) << target;
  }
}

TEST(Features, OlderAndOtherSetsDoNotHaveThem) {
  for (const std::int64_t target : {HWY_AVX2, HWY_SSE4, HWY_SSSE3, HWY_NEON, HWY_SCALAR})
    EXPECT_FALSE(has_avx512(target)) << target;
  for (const std::int64_t target : {HWY_SSE4, HWY_SSSE3, HWY_NEON, HWY_SCALAR})
    EXPECT_FALSE(has_float16_conversions(target)) << target;
  EXPECT_EQ(vector_registers(HWY_AVX2), HWY_ARCH_X86 ? 16 : 32);
}

TEST(Features, NoKernelAsksForASetByName) {
  const std::regex by_name("HWY_TARGET\\s*[=!<>]+\\s*HWY_(?!SCALAR)");
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(PATCHFOLD_KERNELS)) {
    std::ifstream in(file.path());
    std::string line;
    for (int number = 1; std::getline(in, line); ++number)
      EXPECT_FALSE(std::regex_search(line, by_name)) << file.path() << ":" << number << ": " << line;
    ++files;
  }
  EXPECT_GT(files, 10);
}

}  // namespace
}  // namespace patchfold::kernels
