// SPDX-License-Identifier: Apache-2.0
// Compares the library with the reference on random problems. There is one test for each operator, and a last test that counts the
// features of all problems.
//   PATCHFOLD_SEED    another seed           PATCHFOLD_CASES   a factor of the number of cases
//   PATCHFOLD_DIGESTS a file that gets one line for each problem: operator, number, digest of the result. Two builds with equal
//   results write the same file, even if arguments have other names.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "check.hpp"
#include "instruction_sets.hpp"
#include "reference/reference.hpp"

namespace patchfold::testing {
namespace {

constexpr int small_cases = 800;
constexpr int big_cases = 16;
constexpr int most_failures = 3;  // of one operator

struct Counts {
  int cases = 0;
  std::map<std::string, int> features{};
  std::uint64_t digest = 0;  ///< hash of all problems and their results; it is the same on every machine
};

std::map<std::string, Counts>& table() {
  static std::map<std::string, Counts> counts;
  return counts;
}

void write_digest(std::string_view op, int number, const Problem& problem) {
  static std::FILE* const file = [] {
    const char* path = std::getenv("PATCHFOLD_DIGESTS");
    return path == nullptr ? nullptr : std::fopen(path, "w");
  }();
  if (file == nullptr) return;
  std::fprintf(file, "%.*s %d %016llx\n", static_cast<int>(op.size()), op.data(), number,
               static_cast<unsigned long long>(problem.result_digest));
}

class Operator : public ::testing::Test {
 public:
  explicit Operator(const Subject& subject) : subject_(subject) {}

  void TestBody() override {
    const auto types = subject_.sums ? summable_types() : all_types();
    const int small = std::max(1, static_cast<int>(small_cases * scale_of_run()));
    const int big = std::max(1, static_cast<int>(big_cases * scale_of_run()));
    Counts& counts = table()[std::string(subject_.op)];
    int failures = 0;
    for (int number = 0; number < small + big && failures < most_failures; ++number) {
      Random random(seed_of_case(seed_of_run(), subject_.op, number));
      Request request{types[static_cast<std::size_t>(number) % types.size()], number >= small};
      Problem problem = subject_.make(random, request);
      const std::string text = to_string(problem.text);
      const std::string label =
          text + "  (PATCHFOLD_SEED=" + std::to_string(seed_of_run()) + ", case " + std::to_string(number) + ")\n";
      announce(label);
      std::optional<std::string> wrong;
      try {
        wrong = check(problem, subject_.sums, random);
      } catch (const std::exception& error) {
        use_instruction_set("");
        wrong = std::string("threw ") + error.what();
      }
      if (wrong) {
        ++failures;
        ADD_FAILURE() << label << *wrong;
      }
      ++counts.cases;
      write_digest(subject_.op, number, problem);
      counts.digest = counts.digest * 0x100000001B3u ^ problem.digest;
      for (const auto& feature : problem.features) ++counts.features[feature];
    }
  }

 private:
  const Subject& subject_;
};

/// Returns the features that every run of this operator must have shown.
std::vector<std::string> required(const Subject& subject) {
  std::vector<std::string> names = subject.features;
  for (int rank = subject.lowest_rank; rank <= subject.highest_rank; ++rank) names.push_back("rank " + std::to_string(rank));
  for (const auto& type : subject.sums ? summable_types() : all_types()) names.push_back(name_of(type));
  for (const auto* name : {"contiguous", "permuted", "gaps", "negative stride", "odd stride of extent 1", "misaligned"}) {
    if (subject.op != "coverage") names.push_back("src " + std::string(name));
    names.push_back("dst " + std::string(name));
  }
  if (subject.op == "coverage") return names;
  for (const auto* name : {"src zero stride", "-0.0", "NaN", "Inf"}) names.emplace_back(name);
  return names;
}

TEST(Table, EveryOperatorIsTested) {
  std::vector<std::string> tested;
  for (const auto& subject : subjects()) tested.emplace_back(subject.op);
  std::vector<std::string> listed;
  for (const auto& op : operators()) listed.emplace_back(op.name);
  std::sort(tested.begin(), tested.end());
  std::sort(listed.begin(), listed.end());
  EXPECT_EQ(tested, listed);
  EXPECT_EQ(tested, reference::operators());
}

/// Tests that an operator without a generator of its own gets more problems than its example.
TEST(Table, ExamplesOfAllRowsCanBeChanged) {
  constexpr int draws = 200;
  for (const Subject& subject : subjects_from_table({})) {
    const auto types = subject.sums ? summable_types() : all_types();
    std::set<std::string> made;
    int unchanged = 0;
    for (int number = 0; number < draws; ++number) {
      Random random(seed_of_case(seed_of_run(), subject.op, number));
      Request request{types[static_cast<std::size_t>(number) % types.size()]};
      if (number % 4 == 0) request.width = 9;
      const Problem problem = subject.make(random, request);
      ProblemText text = problem.text;
      text.dtype = DType::float32;
      text.element_size = 4;
      made.insert(to_string(text));
      unchanged += problem.features.contains(std::string(unchanged_example));
    }
    EXPECT_LE(unchanged, draws / 50) << subject.op;
    EXPECT_GE(made.size(), draws / 4U) << subject.op;
  }
}

/// A test that runs last. It prints, for every operator, the number of cases with each feature, and fails for a missing
/// feature.
class Coverage : public ::testing::Test {
 public:
  void TestBody() override {
    std::set<std::string> sets;
    for (const auto& subject : subjects()) {
      const auto found = table().find(std::string(subject.op));
      if (found == table().end()) continue;
      const Counts& counts = found->second;
      std::string line = std::string(subject.op) + " (" + std::to_string(counts.cases) + " cases):";
      for (const auto& [feature, count] : counts.features) line += " " + feature + " = " + std::to_string(count) + ";";
      std::printf("%s\ndigest: %016llx %s\n", line.c_str(), static_cast<unsigned long long>(counts.digest),
                  subject.op.data());
      const auto unchanged = counts.features.find(std::string(unchanged_example));
      EXPECT_LE(unchanged == counts.features.end() ? 0 : unchanged->second, counts.cases / 50)
          << subject.op << " got the example of its row too often";
      for (const auto& set : sets_to_run()) {
        EXPECT_TRUE(counts.features.contains(set)) << subject.op << " was never run on " << set;
        if (counts.features.contains(set)) sets.insert(set);
      }
      if (scale_of_run() < 1) continue;
      for (const auto& feature : required(subject))
        EXPECT_TRUE(counts.features.contains(feature)) << subject.op << " never showed: " << feature;
    }
    std::printf("instruction sets:");
    for (const auto& set : sets) std::printf(" %s", set.c_str());
    std::printf("\n");
  }
};

}  // namespace
}  // namespace patchfold::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (const auto& subject : patchfold::testing::subjects()) {
    std::string name(subject.op);
    for (char& c : name)
      if (c == '.' || c == '-') c = '_';
    ::testing::RegisterTest("Random", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [&subject]() -> ::testing::Test* { return new patchfold::testing::Operator(subject); });
  }
  ::testing::RegisterTest("Random", "NothingThatAppliesWasMissed", nullptr, nullptr, __FILE__, __LINE__,
                          []() -> ::testing::Test* { return new patchfold::testing::Coverage; });
  return RUN_ALL_TESTS();
}
