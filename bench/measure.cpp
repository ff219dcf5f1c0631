// SPDX-License-Identifier: Apache-2.0
#include "bench/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "bench/buffer.hpp"
#include "bench/roof.hpp"

namespace patchfold::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& work, std::int64_t times) {
  const auto start = Clock::now();
  for (std::int64_t i = 0; i < times; ++i) work();
  return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(times);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Returns the median of the ratios of[i] / to[i], where i is the index of a round.
double median_ratio(const std::vector<double>& of, const std::vector<double>& to) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < of.size(); ++i) ratios.push_back(of[i] / to[i]);
  return median(std::move(ratios));
}

/// Returns the seconds of each piece of work in each round; the pieces take turns: a b c a b c ..
std::vector<std::vector<double>> race(const std::vector<std::function<void()>>& works, const Settings& settings) {
  std::vector<std::int64_t> times;
  for (const auto& work : works) {
    work();
    const double once = std::max(1e-8, seconds_of(work, 1));
    times.push_back(std::clamp<std::int64_t>(std::llround(settings.least_seconds / once), 1, 100000));
  }
  std::vector<std::vector<double>> seconds(works.size());
  for (int round = 0; round < settings.rounds; ++round)
    for (std::size_t i = 0; i < works.size(); ++i) {
      if (times[i] > 1) works[i]();  // short work then begins with its data in the cache, as in a loop of calls
      seconds[i].push_back(seconds_of(works[i], times[i]));
    }
  return seconds;
}

}  // namespace

Measurement measure_work(const std::function<void()>& work, const Traffic& traffic, int threads, Executor& executor,
                         const Settings& settings) {
  const auto& [src, read, dst, written] = traffic;
  const std::size_t half = (read + written) / 2;
  // Finds the three fastest ways to stream in a few rounds; only these take turns with the work afterwards.
  const std::vector<Streaming> ways = streamings(read);
  std::vector<std::function<void()>> trials;
  for (const Streaming& way : ways)
    trials.push_back([&, way] { stream(way, traffic.src, traffic.read, traffic.dst, traffic.written, threads, executor); });
  std::vector<double> first;
  for (const auto& seconds : race(trials, {3, settings.least_seconds / 4})) first.push_back(median(seconds));
  std::vector<std::size_t> order(ways.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  constexpr std::size_t finalists = 3;
  std::partial_sort(order.begin(), order.begin() + finalists, order.end(),
                    [&](std::size_t a, std::size_t b) { return first[a] < first[b]; });

  std::vector<std::function<void()>> works = {
      work,
      [&] { copy_past_cache(traffic.src, traffic.dst, half, threads, executor); },
      [&] { copy_by_library(traffic.src, traffic.dst, half, threads, executor); },
  };
  const std::size_t others = works.size();
  for (std::size_t i = 0; i < finalists; ++i) works.push_back(trials[order[i]]);
  const std::vector<std::vector<double>> seconds = race(works, settings);

  Measurement result{.threads = threads};
  result.seconds = median(seconds[0]);
  result.bytes = static_cast<double>(read + written);
  result.of_copy = median_ratio(seconds[0], seconds[1]);
  for (std::size_t i = 1; i < seconds.size(); ++i) {
    const double here = median_ratio(seconds[0], seconds[i]);
    if (here > result.of_roof) {
      result.of_roof = here;
      result.roof = i == 1 ? "non-temporal copy" : i == 2 ? "memcpy" : describe(ways[order[i - others]]);
    }
    if (i >= others) result.of_mix = std::max(result.of_mix, here);
  }
  return result;
}

Measurement measure(const PlacedProblem& placed, int threads, const Settings& settings) {
  const PlacedPlan placed_plan = plan_of(placed);
  const auto& [plan, from, to] = placed_plan;
  set_num_threads(threads);
  Executor& executor = threads == 1 ? serial_executor() : default_executor();
  const std::size_t larger = std::max(from.bytes, to.bytes);
  const Buffer src(larger), dst(larger);
  const auto work = [&] { placed_plan.run(src.data(), dst.data(), executor, placed.problem.op); };
  Measurement result = measure_work(work, {src.data(), from.bytes, dst.data(), to.bytes}, threads, executor, settings);
  result.problem = to_string(placed);
  result.strategy = plan.strategy();
  return result;
}

}  // namespace patchfold::bench
