// SPDX-License-Identifier: Apache-2.0
// Runs random operators, tilings and merges from several threads for a given time: `soak SECONDS [--threads N] [--seed S]`.
// Checks each result, and watches the memory of the process. Ctrl-C ends it early. Exits with 1 after a mismatch or growth.
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "jobs.hpp"
#include "patchfold/plan.hpp"
#include "sanitizers.hpp"

namespace patchfold::testing {
namespace {

struct Held {
  std::int64_t resident = 0;   ///< bytes, after free memory went back to the system
  std::int64_t allocated = 0;  ///< bytes that are allocated and not freed
};

/// The growth of memory from the median of the second fifth of the samples, when caches are full, to that of the last fifth.
/// Allocated bytes may grow by 256 KiB, resident bytes by 8 MiB and a tenth.
struct Growth {
  Held early{}, late{};
  bool is_judged = false;  ///< there were enough samples, and judges_memory is true
  bool is_too_much = false;
};

/// The least number of samples from which growth is judged.
constexpr std::size_t fewest_samples = 15;

// Sanitizers keep freed memory, so the memory of their builds is not judged.
#ifdef PATCHFOLD_SANITIZED
constexpr bool judges_memory = false;
#else
constexpr bool judges_memory = true;
#endif

constexpr std::int64_t most_allocated = 256 << 10;
constexpr std::int64_t most_resident = 8 << 20;

std::int64_t median(const std::vector<Held>& samples, std::size_t fifth, std::int64_t Held::*member) {
  std::vector<std::int64_t> values;
  for (std::size_t i = samples.size() * fifth / 5; i < samples.size() * (fifth + 1) / 5; ++i)
    values.push_back(samples[i].*member);
  std::ranges::sort(values);
  return values[values.size() / 2];
}

Held medians(const std::vector<Held>& samples, std::size_t fifth) {
  return {median(samples, fifth, &Held::resident), median(samples, fifth, &Held::allocated)};
}

/// Makes the C library return free memory to the system; call it first. Otherwise the C library keeps up to 64 MiB for each
/// arena, which would look like growth.
#ifdef __GLIBC__
void keep_no_free_memory() {
  constexpr int bytes = 256 << 10, arenas = 4;
  ::mallopt(M_MMAP_THRESHOLD, bytes);
  ::mallopt(M_TRIM_THRESHOLD, bytes);
  ::mallopt(M_ARENA_MAX, arenas);
}
#else
// Other C libraries neither accept such bounds nor report allocated bytes, so only resident bytes are judged.
void keep_no_free_memory() {}
#endif

/// Returns the memory in use; call it while no other thread runs.
Held held_now() {
  Held held;
#ifdef __GLIBC__
  ::malloc_trim(0);
  const auto heap = ::mallinfo2();
  held.allocated = static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
#endif
  std::int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  held.resident = resident * ::sysconf(_SC_PAGESIZE);
  return held;
}

/// Returns the largest resident memory so far.
std::int64_t peak_resident() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

Growth growth_of(const std::vector<Held>& samples) {
  Growth growth;
  if (samples.size() < fewest_samples) return growth;
  growth.early = medians(samples, 1);
  growth.late = medians(samples, 4);
  growth.is_judged = judges_memory;
  growth.is_too_much = growth.late.allocated > growth.early.allocated + most_allocated ||
                       growth.late.resident > growth.early.resident + growth.early.resident / 10 + most_resident;
  growth.is_too_much = growth.is_too_much && growth.is_judged;
  return growth;
}

using Clock = std::chrono::steady_clock;

std::atomic<bool> is_interrupted{false};

struct Options {
  double seconds = 0;
  int threads = 0;
  std::uint64_t seed = 0;
};

struct Count {
  std::int64_t jobs = 0;
  std::int64_t bytes = 0;
};

class Soak {
 public:
  explicit Soak(const Options& options) : options_(options), end_(begin_ + seconds(options.seconds)) {}

  /// Returns 0, or 1 after a mismatch or growth, or if the memory could not be judged as required.
  int run() {
    constexpr double rounds = 100, shortest = 0.1;
    const auto round = seconds(std::max(options_.seconds / rounds, shortest));
    std::printf("soak: %g s, %d threads, seed %llu\n", options_.seconds, options_.threads,
                static_cast<unsigned long long>(options_.seed));
    std::fflush(stdout);
    samples_.reserve(4096);
    // Even on a slow machine, there are at least as many rounds as the judgement of memory needs.
    while ((Clock::now() < end_ || samples_.size() < fewest_samples) && !is_interrupted && wrong_.empty())
      run_round(Clock::now() + round);
    return report();
  }

 private:
  static Clock::duration seconds(double count) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
  }

  /// Runs a round with new threads, and then measures the memory that remains.
  void run_round(Clock::time_point end) {
    {
      // A thread keeps the scratch memory of its largest problem until it ends, so another thread makes the plans and ends before
      // memory is measured.
      const std::uint64_t seed = seed_of_case(options_.seed, "shared", static_cast<int>(samples_.size()));
      const std::vector<Work> shared = std::async(std::launch::async, shared_works, seed).get();
      std::vector<std::thread> threads;
      for (int i = 0; i < options_.threads; ++i) threads.emplace_back([&] { work(end, shared); });
      for (std::thread& thread : threads) thread.join();
    }
    samples_.push_back(held_now());
  }

  void work(Clock::time_point end, const std::vector<Work>& shared) {
    std::map<std::string_view, Count> counts;
    do {
      const int number = next_++;
      const Outcome outcome = run_job(Random(seed_of_case(options_.seed, "soak", number)), shared);
      Count& count = counts[outcome.kind];
      ++count.jobs;
      count.bytes += outcome.bytes;
      if (!outcome.wrong) continue;
      const std::lock_guard lock(mutex_);
      wrong_.push_back("job " + std::to_string(number) + ", " + std::string(outcome.kind) + ": " + *outcome.wrong);
      break;
    } while (Clock::now() < end && !is_interrupted);
    const std::lock_guard lock(mutex_);
    for (const auto& [kind, count] : counts) {
      counts_[kind].jobs += count.jobs;
      counts_[kind].bytes += count.bytes;
    }
  }

  int report() const {
    const double took = std::chrono::duration<double>(Clock::now() - begin_).count();
    constexpr double mib = 1 << 20;
    Count all;
    for (const std::string_view kind : kinds) {
      const auto found = counts_.find(kind);
      const Count count = found == counts_.end() ? Count() : found->second;
      std::printf("%10lld  %9.1f MiB  %.*s\n", static_cast<long long>(count.jobs), static_cast<double>(count.bytes) / mib,
                  static_cast<int>(kind.size()), kind.data());
      all.jobs += count.jobs;
      all.bytes += count.bytes;
    }
    std::printf("%lld operations in %.1f s%s, %.0f operations/s, %.1f MiB, %zu mismatches\n",
                static_cast<long long>(all.jobs), took, is_interrupted ? " (interrupted)" : "",
                static_cast<double>(all.jobs) / took, static_cast<double>(all.bytes) / mib, wrong_.size());
    for (const std::string& wrong : wrong_)
      std::printf("MISMATCH seed %llu, %s\n", static_cast<unsigned long long>(options_.seed), wrong.c_str());

    const Growth growth = growth_of(samples_);
    const auto show = [&](const char* when, const Held& held) {
      if (held.resident == 0) return;  // there were too few samples
      std::printf("%s: resident %.1f MiB, allocated %.3f MiB\n", when, static_cast<double>(held.resident) / mib,
                  static_cast<double>(held.allocated) / mib);
    };
    show("memory at the start, second fifth", growth.early);
    show("memory at the end, last fifth", growth.late);
    std::printf("memory at the peak: resident %.1f MiB; %zu samples\n", static_cast<double>(peak_resident()) / mib,
                samples_.size());
    if (growth.is_too_much) std::printf("GROWTH seed %llu\n", static_cast<unsigned long long>(options_.seed));
    if (!judges_memory)
      std::printf("growth is not judged: a sanitizer keeps memory\n");
    else if (!growth.is_judged)
      std::printf("TOO SHORT: memory needs %zu rounds\n", fewest_samples);
    return wrong_.empty() && !growth.is_too_much && (growth.is_judged || !judges_memory) ? 0 : 1;
  }

  Options options_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point end_;
  std::atomic<int> next_{0};
  std::mutex mutex_;
  std::map<std::string_view, Count> counts_{};
  std::vector<std::string> wrong_{};
  std::vector<Held> samples_{};
};

bool parse(int argc, char** argv, Options& options) {
  options.threads = static_cast<int>(std::max(2u, std::thread::hardware_concurrency()));
  options.seed = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  if (argc < 2 || argc % 2 != 0) return false;
  options.seconds = std::strtod(argv[1], nullptr);
  for (int i = 2; i < argc; i += 2) {
    if (std::strcmp(argv[i], "--threads") == 0)
      options.threads = std::atoi(argv[i + 1]);
    else if (std::strcmp(argv[i], "--seed") == 0)
      options.seed = std::strtoull(argv[i + 1], nullptr, 10);
    else
      return false;
  }
  return options.seconds > 0 && options.threads > 0;
}

}  // namespace
}  // namespace patchfold::testing

int main(int argc, char** argv) {
  using namespace patchfold::testing;
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr, "usage: soak SECONDS [--threads N] [--seed S]\n");
    return 2;
  }
  keep_no_free_memory();
  for (const int number : {SIGINT, SIGTERM}) std::signal(number, [](int) { is_interrupted = true; });
  return Soak(options).run();
}
