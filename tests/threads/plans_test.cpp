// SPDX-License-Identifier: Apache-2.0
// Tests one plan that several threads run at once.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "at_once.hpp"
#include "executors.hpp"
#include "geometry.hpp"
#include "work.hpp"

namespace patchfold::testing {
namespace {

constexpr int threads = 4;
constexpr int runs = 6;

/// Lets every thread run the plan on its own source and on the first thread's source, with executors of all kinds, and with
/// destinations that begin anywhere within a cache line.
std::optional<std::string> run_from_all(const Work& work) {
  PlainThreads shared(3);
  return at_once(threads, [&](int i) -> std::optional<std::string> {
    PlainThreads own(2);
    Executor* const executors[] = {&serial_executor(), &default_executor(), &shared, &own};
    for (int n = 0; n < runs; ++n) {
      const std::size_t shift = n % 2 == 0 ? 0 : static_cast<std::size_t>(i + n) * work.text().element_size % 64;
      if (auto wrong = work.run(n % 2 == 0 ? 0 : i, *executors[(i + n) % 4], shift)) return wrong;
    }
    return std::nullopt;
  });
}

class OnePlan : public ::testing::TestWithParam<Subject> {};

TEST_P(OnePlan, GivesEveryThreadWhatOneThreadGets) {
  const Subject& subject = GetParam();
  const auto types = subject.sums ? summable_types() : all_types();
  for (int number = 0; number < 6; ++number) {
    Random random(seed_of_case(seed_of_run(), subject.op, number));
    const Request request{random.pick(types), number % 3 == 0, number % 3 == 1 ? 64 : 0};
    const Problem problem = subject.make(random, request);
    const auto wrong = run_from_all(Work(problem.text, random.next(), threads));
    ASSERT_EQ(wrong, std::nullopt) << "PATCHFOLD_SEED=" << seed_of_run() << ", case " << number;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryOperator, OnePlan, ::testing::ValuesIn(subjects().begin(), subjects().end()),
                         [](const auto& subject) {
                           std::string name(subject.param.op);
                           for (char& c : name)
                             if (c == '.' || c == '-') c = '_';
                           return name;
                         });

std::string_view strategy_of(const ProblemText& text) {
  const BoundOperator op = find_operator(text.op).bind(text.arguments);
  const auto view_of = [&](const Dims& shape) {
    return TensorView{nullptr, shape, contiguous_strides(shape, text.element_size), text.dtype, text.element_size};
  };
  return op.plan(view_of(text.shape), view_of(op.output_shape(text.shape))).strategy();
}

/// Returns the problem with the smallest batch that keeps its strategy.
ProblemText small_batch(ProblemText text) {
  const std::string_view strategy = strategy_of(text);
  for (ProblemText smaller = text; !text.shape.empty() && text.shape[0] % 2 == 0; text = smaller) {
    smaller.shape[0] /= 2;
    try {
      if (strategy_of(smaller) != strategy) break;
    } catch (const Error&) {
      break;
    }
  }
  return text;
}

TEST(Strategies, GiveEveryThreadTheSameWithEveryStrategyOfTheBenchmarks) {
  std::map<std::string_view, ProblemText> of_strategy;
  const auto size = [](const ProblemText& text) { return product(text.shape) * static_cast<double>(text.element_size); };
  std::ifstream file(PATCHFOLD_PROBLEMS);
  ASSERT_TRUE(file);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const ProblemText text = small_batch(parse_problem(line.substr(line.find("  ") + 2)));
    const auto [known, is_new] = of_strategy.try_emplace(strategy_of(text), text);
    if (!is_new && size(text) < size(known->second)) known->second = text;
  }
  EXPECT_GE(of_strategy.size(), 8u);
  for (const auto& [strategy, text] : of_strategy) {
    const Work work(text, seed_of_run(), 2);
    const auto wrong = at_once(2, [&](int i) -> std::optional<std::string> {
      PlainThreads plain(2);
      if (auto one = work.run(i, default_executor())) return one;
      return work.run(0, plain, work.text().element_size);
    });
    EXPECT_EQ(wrong, std::nullopt);
  }
}

}  // namespace
}  // namespace patchfold::testing
