// SPDX-License-Identifier: Apache-2.0
// Tests one plan that several threads run at once.
// Tests mergers to which several threads add tiles, and mergers that are destroyed before their end.
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <map>
#include <numeric>

#include "at_once.hpp"
#include "executors.hpp"
#include "geometry.hpp"
#include "patchfold/tiling.hpp"
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

constexpr std::int64_t height = 300, width = 200;

/// A picture cut into overlapping tiles.
struct Cut {
  Tiling tiling{TilingSpec{.shape = {height, width}, .tile = {32, 32}, .overlap = 12}};
  std::vector<float> picture = std::vector<float>(height * width);
  std::vector<std::vector<float>> tiles{};

  Cut() {
    std::iota(picture.begin(), picture.end(), 1.0f);
    for (const Tile tile : tiling) {
      tiles.emplace_back(32 * 32);
      tiling.cut(tile.index, view(std::as_const(picture).data(), {height, width}), view(tiles.back().data(), {32, 32}));
    }
  }
  ConstTensorView tile(std::int64_t index) const { return view(tiles[static_cast<std::size_t>(index)].data(), {32, 32}); }
};

/// A sink that keeps the rows, and records if two threads call it at once.
struct Rows : RowSink {
  std::vector<float> values{};
  std::atomic<bool> inside{false};
  bool at_once = false;
  void write(Span, const ConstTensorView& band) override {
    at_once = inside.exchange(true) || at_once;
    const auto* data = static_cast<const float*>(band.data);
    values.insert(values.end(), data, data + element_count(band.shape));
    inside = false;
  }
};

/// Lets each of four threads add every fourth tile. The owners of the tiles count the releases in `released`.
std::optional<std::string> add_all(Merger& merger, const Cut& cut, std::atomic<int>& released, std::int64_t last) {
  return testing::at_once(4, [&](int i) -> std::optional<std::string> {
    for (std::int64_t k = i; k < last; k += 4) {
      merger.add(k, cut.tile(k), std::shared_ptr<const void>(&cut, [&](const void*) { ++released; }));
      if (merger.waiting_bytes() > merger.peak_bytes()) return "more waits than ever waited";
      try {
        merger.add(k, cut.tile(k));
        return "a tile came twice";
      } catch (const Error&) {
      }
    }
    return std::nullopt;
  });
}

TEST(Merger, TakesTilesFromSeveralThreads) {
  const Cut cut;
  PlainThreads plain(2);
  for (const bool copy : {false, true})
    for (Executor* executor : {&default_executor(), static_cast<Executor*>(&plain)}) {
      std::atomic<int> released{0};
      std::vector<float> picture(height * width);
      Merger into_memory(cut.tiling, {.copy = copy}, view(picture.data(), {height, width}), *executor);
      EXPECT_EQ(add_all(into_memory, cut, released, cut.tiling.size()), std::nullopt);
      into_memory.finish();
      EXPECT_EQ(picture, cut.picture);

      Rows rows;
      Merger into_rows(cut.tiling, {.copy = copy}, rows, *executor);
      EXPECT_EQ(add_all(into_rows, cut, released, cut.tiling.size()), std::nullopt);
      into_rows.finish();
      EXPECT_EQ(rows.values, cut.picture);
      EXPECT_FALSE(rows.at_once);
      EXPECT_EQ(released, 2 * cut.tiling.size());
    }
}

TEST(Merger, IsDestroyedInTheMiddleByAnyThread) {
  const Cut cut;
  for (const bool copy : {false, true}) {
    std::atomic<int> released{0};
    std::vector<float> picture(height * width);
    auto merger = std::make_unique<Merger>(cut.tiling, MergeSpec{.copy = copy}, view(picture.data(), {height, width}));
    EXPECT_EQ(add_all(*merger, cut, released, cut.tiling.size() / 2), std::nullopt);
    std::thread([&] { merger.reset(); }).join();
    EXPECT_EQ(released, cut.tiling.size() / 2);
  }
}

TEST(Mergers, OfDifferentThreadsHaveNothingInCommon) {
  const Cut cut;
  const auto wrong = testing::at_once(4, [&](int i) -> std::optional<std::string> {
    for (int n = 0; n < 3; ++n) {
      std::vector<float> picture(height * width);
      Merger merger(cut.tiling, {.copy = i % 2 == 0}, view(picture.data(), {height, width}));
      for (std::int64_t k = 0; k < cut.tiling.size(); ++k) merger.add(k, cut.tile(k));
      merger.finish();
      if (picture != cut.picture) return "another picture";
    }
    return std::nullopt;
  });
  EXPECT_EQ(wrong, std::nullopt);
}

}  // namespace
}  // namespace patchfold::testing
