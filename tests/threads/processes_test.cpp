// SPDX-License-Identifier: Apache-2.0
// Tests processes that are forked, and processes that end, while threads run.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <numeric>

#include "at_once.hpp"
#include "executors.hpp"
#include "patchfold/patchfold.h"
#include "patchfold/patchfold.hpp"
#include "sanitizers.hpp"
#include "work.hpp"

namespace patchfold::testing {
namespace {

/// The seconds after which a child is killed: far more than it needs on a busy machine, unless it waits for a missing thread.
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
