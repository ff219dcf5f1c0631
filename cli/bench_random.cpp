// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "bench/random.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"

namespace patchfold::cli {
namespace {

using bench::RandomMeasurement;

/// The fewest bytes of a problem that is compared with the roof: smaller problems stay in a cache.
constexpr double least_bytes_compared = 4e6;
constexpr std::int64_t most_problems = 1'000'000;

template <class T>
T parse_number(const std::string& text, T low, T high, const char* name) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < low || number > high)
    fail_usage("bench", fmt::format("--random {}", name), fmt::format("must be an integer from {} to {}", low, high), text);
  return number;
}

std::string row_of(const RandomMeasurement& row) {
  return fmt::format("{:>4}  {:>3}  {:>7.2f}  {:>12.3f}  {:>6.2f}  {:16}  {}\n", row.index, row.threads, row.bytes / 1e6,
                     row.seconds * 1e6, row.of_copy, row.plan.strategy(), to_string(row.placed));
}

std::string as_json(const std::vector<RandomMeasurement>& rows) {
  std::string text = "[";
  for (const RandomMeasurement& row : rows)
    text += fmt::format(
        "{}\n  {{\"index\": {}, \"problem\": \"{}\", \"src\": \"{}\", \"dst\": \"{}\", \"threads\": {}, \"seconds\": "
        "{:.9f}, "
        "\"bytes\": {:.0f}, \"time_of_copy\": {:.3f}, \"strategy\": \"{}\"}}",
        text.size() > 1 ? "," : "", row.index, to_string(row.placed.problem), word_of(row.placed.src),
        word_of(row.placed.dst), row.threads, row.seconds, row.bytes, row.of_copy, row.plan.strategy());
  return text + "\n]\n";
}

/// Returns median, worst and counts of one kind of problem; nothing if there is no problem of that kind.
std::string summary_line(std::string_view name, const std::vector<RandomMeasurement>& rows,
                         const std::function<bool(const RandomMeasurement&)>& belongs) {
  std::vector<double> times;
  for (const RandomMeasurement& row : rows)
    if (row.bytes >= least_bytes_compared && belongs(row)) times.push_back(row.of_copy);
  if (times.empty()) return {};
  const auto over = [&](double limit) {
    return std::count_if(times.begin(), times.end(), [&](double time) { return time > limit; });
  };
  return fmt::format("{:24}  {:>8}  {:>6.2f}  {:>6.2f}  {:>8}  {:>6}\n", name, times.size(), bench::median(times),
                     *std::max_element(times.begin(), times.end()), over(1.5), over(3));
}

std::string summary_of(const std::vector<RandomMeasurement>& rows, int threads) {
  const auto runs = [&](const RandomMeasurement& row) { return row.threads == threads; };
  std::string text = fmt::format("\n{} {}, problems of at least {:.0f} MB, in multiples of a copy:\n", threads,
                                 threads == 1 ? "thread" : "threads", least_bytes_compared / 1e6);
  const std::string all = summary_line("all", rows, runs);
  if (all.empty()) return text + "none\n";
  text += "                          problems  median   worst  over 1.5  over 3\n" + all;
  for (const OperatorSpec& op : operators())
    text += summary_line(op.name, rows,
                         [&](const RandomMeasurement& row) { return runs(row) && row.placed.problem.op == op.name; });
  for (const auto& [layout, word] : words<bench::MemoryLayout>) {
    const bool plain = layout == bench::MemoryLayout::plain;
    text += summary_line(fmt::format("{} {}", word, plain ? "on both sides" : "on a side"), rows,
                         [&, layout = layout](const RandomMeasurement& row) {
                           const bool src = row.placed.src == layout, dst = row.placed.dst == layout;
                           return runs(row) && (plain ? src && dst : src || dst);
                         });
  }
  return text;
}

std::string worst_of(std::vector<RandomMeasurement> rows, int count) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const RandomMeasurement& a, const RandomMeasurement& b) { return a.of_copy > b.of_copy; });
  rows.resize(std::min(rows.size(), static_cast<std::size_t>(count)));
  std::string text = "\nThe slowest of all, with their plans:\n";
  for (const RandomMeasurement& row : rows) text += "\n" + row_of(row) + row.plan.describe();
  return text;
}

}  // namespace

void parse_random(const std::vector<std::string>& seed_and_count, RandomRequest& request) {
  request.seed = parse_number<std::uint64_t>(seed_and_count.at(0), 0, ~std::uint64_t{0}, "SEED");
  request.count = parse_number<std::int64_t>(seed_and_count.at(1), 1, most_problems, "COUNT");
  if (request.only && *request.only >= request.count)
    fail_usage("bench", "--only", "must be the index of one of the COUNT problems", std::to_string(*request.only),
               fmt::format("0 to {}", request.count - 1));
}

void run_random(const RandomRequest& request) {
  const std::int64_t begin = request.only.value_or(0);
  const std::int64_t end = request.only ? begin + 1 : request.count;
  std::vector<RandomMeasurement> rows;
  if (!request.json) print("   #  thr       MB            us   /copy  strategy          problem\n");
  Progress progress("bench", "problems", (end - begin) * static_cast<std::int64_t>(request.threads.size()), false);
  for (std::int64_t index = begin; index < end; ++index)
    for (const int threads : request.threads) {
      progress.show(fmt::format("{} threads", threads));
      rows.push_back(measure_random(index, bench::draw(request.seed, index), threads, request.settings));
      progress.count(0);
      progress.clear();
      if (!request.json) print(row_of(rows.back()));
    }
  if (request.json) return print(as_json(rows));
  if (!request.only)
    for (const int threads : request.threads) print(summary_of(rows, threads));
  if (request.worst) print(worst_of(rows, *request.worst));
}

}  // namespace patchfold::cli
