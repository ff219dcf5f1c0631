// SPDX-License-Identifier: Apache-2.0
// Tests one plan that several threads run at once, mergers to which several threads add tiles, and mergers that are
// destroyed before their end. Tests processes that are forked, or that end, while threads run.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <numeric>

#include "at_once.hpp"
#include "executors.hpp"
#include "geometry.hpp"
#include "patchfold/patchfold.h"
#include "patchfold/patchfold.hpp"
#include "patchfold/tiling.hpp"
#include "sanitizers.hpp"
#include "work.hpp"

namespace patchfold::testing {
namespace {

constexpr int threads = 4;
constexpr int runs = 6;

/// Runs the plan in every thread, on the thread's own source and on the first thread's source, with executors of all kinds.
/// Destinations begin anywhere within a cache line. Returns the fault, if any.
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

/// Returns the problem with its batch halved as long as the batch is even and the strategy stays the same.
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

/// A sink that keeps the rows, and records whether two threads call it at once.
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

/// Adds the tiles before `last` from four threads, each of which adds every fourth tile. The owners of the tiles count the
/// releases in `released`. Returns the fault, if any.
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

/// The seconds after which a child is killed: far more than it needs on a busy machine, unless it waits for a missing
/// thread.
constexpr unsigned deadline = 60;

const Work& small_work() {
  static const auto* work = new Work(parse_problem("unfold f32 1x3x12x12 kernel_size=3 padding=1"), 1);
  return *work;  // never destroyed
}
const Work& large_work() {
  static const auto* work = new Work(parse_problem("fold f32 1x144x4096 output_size=64,64 kernel_size=3 padding=1"), 1);
  return *work;
}

/// Returns the exit status of a child that calls f() and exits with its result.
template <class F>
int status_of_child(F f) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(deadline);
    ::_exit(f());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

/// Makes calls of every kind; returns 0 if all are right.
int compute() {
  if (small_work().run(0, default_executor()) || large_work().run(0, default_executor())) return 1;
  if (large_work().run(large_work().plan_anew(), 0, default_executor())) return 2;
  set_num_threads(3);
  if (large_work().run(0, default_executor())) return 3;
  set_num_threads(0);
  if (get_num_threads() < 1) return 4;
  std::vector<float> x(1 << 18), columns(x.size());
  std::iota(x.begin(), x.end(), 1.0f);
  run(Unfold{.kernel_size = 1}, view(x.data(), {1, 4, 256, 256}), view(columns.data(), {1, 4, 65536}));
  return x == columns ? 0 : 5;
}

#ifdef PATCHFOLD_SANITIZED
#define WITHOUT_SANITIZERS(name) DISABLED_##name##_TheSanitizersAllocatorStaysLockedInAChild
#else
#define WITHOUT_SANITIZERS(name) name
#endif

TEST(Fork, AfterLargeCalls) {
  ASSERT_EQ(compute(), 0);
  for (int n = 0; n < 20; ++n) ASSERT_EQ(status_of_child(compute), 0) << n;
  ASSERT_EQ(compute(), 0);
}

TEST(Fork, OfAForkedProcess) {
  ASSERT_EQ(compute(), 0);
  EXPECT_EQ(status_of_child([] { return compute() + status_of_child(compute); }), 0);
}

TEST(Fork, WITHOUT_SANITIZERS(WhileOtherThreadsRunLargeCalls)) {
  ASSERT_EQ(compute(), 0);
  std::atomic<bool> stop{false};
  std::atomic<int> started{0};
  const auto wrong = at_once(4, [&](int i) -> std::optional<std::string> {
    if (i == 0) {
      while (started < 3) std::this_thread::yield();
      std::optional<std::string> failed;
      for (int n = 0; n < 60 && !failed; ++n)
        if (const int status = status_of_child(compute); status != 0)
          failed = "child " + std::to_string(n) + " ended with " + std::to_string(status);
      stop = true;
      return failed;
    }
    for (int n = 0; !stop; ++n) {
      if (auto one = large_work().run(0, default_executor())) return one;
      if (i == 1 && n % 8 == 0) set_num_threads(n % 3);
      if (n == 0) ++started;
    }
    return std::nullopt;
  });
  set_num_threads(0);
  EXPECT_EQ(wrong, std::nullopt);
}

TEST(Fork, WITHOUT_SANITIZERS(FromSeveralThreadsAtOnce)) {
  // Makes the static objects first: a child that is forked while another thread makes them would wait for this thread.
  small_work();
  large_work();
  const auto wrong = at_once(4, [](int i) -> std::optional<std::string> {
    for (int n = 0; n < 10; ++n) {
      if (i % 2 == 0 && compute() != 0) return "wrong in the parent";
      if (const int status = status_of_child(compute); status != 0) return "a child ended with " + std::to_string(status);
    }
    return std::nullopt;
  });
  EXPECT_EQ(wrong, std::nullopt);
}

TEST(Fork, LeavesAChildOneThreadOnlyIfItsParentSharedWork) {
  set_num_threads(3);
  const int of_parent = get_num_threads();
  const auto threads = [] { return get_num_threads(); };
  if (of_parent > 1) {  // other tests of this process may have started threads
    ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_EXIT(
        {
          set_num_threads(3);
          const int before = status_of_child(threads);
          compute();
          set_num_threads(3);
          std::_Exit(before == 3 && status_of_child(threads) == 1 && get_num_threads() == 3 ? 0 : 1);
        },
        ::testing::ExitedWithCode(0), "");
  } else {
    EXPECT_EQ(status_of_child(threads), of_parent);
  }
  set_num_threads(0);
}

/// Starts threads that make calls without end. Returns when each thread has made all calls once.
void start_callers() {
  static std::atomic<int> ready{0};
  for (int i = 0; i < 4; ++i)
    std::thread([i] {
      for (bool first = true;; first = false) {
        bool right = compute() == 0;
        right = right && pf_operator_count() > 0 && find_operator("fold").name == "fold";
        std::int32_t index = 0;
        right = right && pf_find_operator("nothing", &index) == PF_ERROR_UNKNOWN_OPERATOR && *pf_last_error() != '\0';
        right = right && pf_status_name(PF_ERROR_SHAPE) == std::string_view("shape");
        right = right && (i != 0 || !small_work().run(small_work().plan_anew(), 0, serial_executor()));
        if (!right) std::_Exit(10);
        if (first) ++ready;
      }
    }).detach();
  while (ready < 4) std::this_thread::yield();
}

/// A static object that is destroyed after the library's static objects, since these are made later.
struct LastWords {
  ~LastWords() {
    if (armed && compute() != 0) std::_Exit(11);
    std::int32_t index = 0;
    if (armed && (pf_find_operator("nothing", &index) != PF_ERROR_UNKNOWN_OPERATOR || !pf_last_error())) std::_Exit(12);
  }
  bool armed = false;
};

class Exit : public ::testing::Test {
 protected:
  void SetUp() override { ::testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
};

TEST_F(Exit, WhileOtherThreadsCall) {
  for (int n = 0; n < 3; ++n)
    EXPECT_EXIT(
        {
          start_callers();
          std::exit(0);
        },
        ::testing::ExitedWithCode(0), "");
}

TEST_F(Exit, InAThreadWhileTheFirstOneCalls) {
  EXPECT_EXIT(
      {
        start_callers();
        std::thread([] { std::exit(0); }).detach();
        while (compute() == 0) {
        }
        std::_Exit(13);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(Exit, RunsDestructorsThatCall) {
  EXPECT_EXIT(
      {
        static LastWords last;
        last.armed = true;
        if (compute() != 0) std::_Exit(14);
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(Exit, OfAThreadRunsDestructorsThatCall) {
  for (int n = 0; n < 3; ++n)
    std::thread([] {
      thread_local LastWords last;
      last.armed = true;
      EXPECT_EQ(compute(), 0);
    }).join();
}

}  // namespace
}  // namespace patchfold::testing
