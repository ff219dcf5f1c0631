// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <tuple>
#include <variant>

#include "bench/growth.hpp"
#include "bench/measure.hpp"
#include "bench/problems.hpp"
#include "bench/stitch.hpp"
#include "cli/bench_random.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"

namespace patchfold::cli {
namespace {

using bench::Growth;
using bench::Measurement;

/// The least time of an operator as a fraction of its roof. An operator below this value shows that the roof was not measured with
/// the fastest copy.
constexpr double defect_of_roof = 0.90;

/// The time per byte counts as constant if it grows at most by this factor from the smallest size past the cache to the largest
/// size.
constexpr double flat_within = 1.30;
/// The most bytes of scratch memory per thread for which no remark is printed.
constexpr double large_scratch = 1e6;

struct Task {
  std::variant<bench::PlacedProblem, bench::Stitching> problem{};
  double target = 0;  ///< time / mix; 0: there is no target
};

std::variant<bench::PlacedProblem, bench::Stitching> parse_task(std::string_view text) {
  if (auto stitching = bench::parse_stitching(text)) return *stitching;
  return bench::parse_placed(text);
}

/// Returns the lines "TARGET PROBLEM" of the built-in lists.
std::vector<Task> listed() {
  std::vector<Task> tasks;
  std::istringstream lines{std::string(bench::problems) + "\n" + std::string(bench::stitchings)};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t gap = line.find(' ');
    Task task{parse_task(std::string_view(line).substr(line.find_first_not_of(' ', gap))), 0};
    std::from_chars(line.data(), line.data() + gap, task.target);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

std::vector<int> parse_threads(const std::string& text) {
  std::vector<int> counts;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    int count = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
    if (error != std::errc{} || end != word.data() + word.size() || count < 1 || count > 4096)
      fail_usage("bench", "--threads", "must be numbers of threads, at least 1", text, "1,2");
    counts.push_back(count);
  }
  if (counts.empty()) fail_usage("bench", "--threads", "must be numbers of threads, at least 1", text, "1,2");
  return counts;
}

std::string as_json(const std::vector<Measurement>& rows) {
  std::string text = "[";
  for (const Measurement& row : rows)
    text += fmt::format(
        "{}\n  {{\"problem\": \"{}\", \"threads\": {}, \"seconds\": {:.9f}, \"bytes\": {:.0f}, \"time_of_roof\": {:.3f}, "
        "\"time_of_mix\": {:.3f}, \"time_of_copy\": {:.3f}, \"strategy\": \"{}\", \"roof\": \"{}\"}}",
        text.size() > 1 ? "," : "", row.problem, row.threads, row.seconds, row.bytes, row.of_roof, row.of_mix, row.of_copy,
        row.strategy, row.roof);
  return text + "\n]\n";
}

void print_row(const Measurement& row) {
  print(fmt::format("{:>3}  {:>12.3f}  {:>7.2f}  {:>7.2f}  {:>7.2f}  {:>7.2f}  {:16}  {}\n", row.threads, row.seconds * 1e6,
                    row.gigabytes_per_second(), row.of_roof, row.of_mix, row.of_copy, row.strategy, row.problem));
}

/// Prints the rows that miss their target, and the roofs that were not reliable.
void print_conclusion(const std::vector<Measurement>& rows, const std::vector<double>& targets) {
  std::string over, defects;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Measurement& row = rows[i];
    if (targets[i] > 0 && row.of_mix > targets[i])
      over += fmt::format("  {:.2f} of the mix, target {:.2f}: {} threads, {}\n", row.of_mix, targets[i], row.threads,
                          row.problem);
    if (row.of_roof < defect_of_roof)
      defects += fmt::format("  {:.2f} of the roof ({}): {} threads, {}\n", row.of_roof, row.roof, row.threads, row.problem);
  }
  if (!over.empty()) print("\nOver the target:\n" + over);
  if (!defects.empty()) print("\nFaster than the roof, which is a defect of the roof:\n" + defects);
}

std::string kilobytes(std::optional<std::int64_t> bytes) {
  return bytes ? fmt::format("{:.0f}", static_cast<double>(*bytes) / 1e3) : "?";
}

void print_growth(const Growth& growth) {
  const std::size_t first = growth.past_cache();
  double least = 0;
  for (std::size_t i = first; i < growth.sizes.size(); ++i)
    least = i == first ? growth.sizes[i].nanoseconds_per_byte() : std::min(least, growth.sizes[i].nanoseconds_per_byte());
  for (std::size_t i = 0; i < growth.sizes.size(); ++i) {
    const bench::Size& size = growth.sizes[i];
    const std::string of_least = i < first ? "" : fmt::format("{:.2f}", size.nanoseconds_per_byte() / least);
    print(fmt::format("{:>3}  {:>7.1f}  {:>12.3f}  {:>7.4f}  {:>6}  {:>9}  {}\n", growth.threads, size.bytes / 1e6,
                      size.seconds * 1e6, size.nanoseconds_per_byte(), of_least, kilobytes(size.beyond), size.problem));
  }
  const std::string subject =
      fmt::format("{}, {} {}", growth.op, growth.threads, growth.threads == 1 ? "thread" : "threads");
  const double cache = growth.cache_bytes / (1 << 20);
  if (const auto spread = growth.spread())
    print(fmt::format("{}: {}flat within {:.2f} from {:.0f} MB on ({} sizes past twice the cache of {:.3g} MB{})\n", subject,
                      *spread > flat_within ? "NOT " : "", *spread, growth.sizes[first].bytes / 1e6,
                      growth.sizes.size() - first, cache,
                      *spread > flat_within ? fmt::format("; {:.2f} counts as flat", flat_within) : ""));
  else
    print(fmt::format("{}: no verdict, fewer than two sizes are past twice the cache of {:.3g} MB\n", subject, cache));
  print(fmt::format("{}: peak memory = input + output + {} kB; a plan's scratch is {:.1f} kB\n", subject,
                    kilobytes(growth.beyond()), static_cast<double>(growth.scratch_bytes) / 1e3));
  if (static_cast<double>(growth.scratch_bytes) > large_scratch * growth.threads)
    print(fmt::format("{}: the scratch of a plan EXCEEDS 1 MB a thread\n", subject));
  print("\n");
}

std::string as_json(const std::vector<Growth>& growths) {
  const auto number = [](const auto& value) { return value ? fmt::format("{}", *value) : "null"; };
  std::string text = "[";
  for (const Growth& growth : growths) {
    const auto spread = growth.spread();
    text += fmt::format(
        "{}\n  {{\"op\": \"{}\", \"threads\": {}, \"cache_bytes\": {:.0f}, \"flat\": {}, \"spread\": {}, "
        "\"scratch_bytes\": {}, \"bytes_beyond\": {}, \"sizes\": [",
        text.size() > 1 ? "," : "", growth.op, growth.threads, growth.cache_bytes,
        spread ? (*spread > flat_within ? "false" : "true") : "null", spread ? fmt::format("{:.3f}", *spread) : "null",
        growth.scratch_bytes, number(growth.beyond()));
    for (std::size_t i = 0; i < growth.sizes.size(); ++i) {
      const bench::Size& size = growth.sizes[i];
      text += fmt::format(
          "{}\n    {{\"problem\": \"{}\", \"bytes\": {:.0f}, \"seconds\": {:.9f}, \"nanoseconds_per_byte\": {:.5f}, "
          "\"past_cache\": {}, \"bytes_beyond\": {}}}",
          i > 0 ? "," : "", size.problem, size.bytes, size.seconds, size.nanoseconds_per_byte(), i >= growth.past_cache(),
          number(size.beyond));
    }
    text += "\n  ]}";
  }
  return text + "\n]\n";
}

void run_growth(const std::vector<int>& counts, const bench::GrowthSettings& settings, bool json) {
  std::vector<Growth> growths;
  if (!json) print("thr       MB            us     ns/B  /least  beyond kB  problem\n");
  const std::vector<std::string_view> names = bench::growing_operators();
  Progress progress("bench", "operators", static_cast<std::int64_t>(names.size() * counts.size()), false);
  for (const std::string_view op : names)
    for (const int count : counts) {
      progress.show(fmt::format("{}, {} threads", op, count));
      growths.push_back(bench::grow(op, count, settings));
      progress.count(0);
      progress.clear();
      if (!json) print_growth(growths.back());
    }
  if (json) print(as_json(growths));
}

/// Reads the words of `patchfold bench`.
struct BenchCommand {
  BenchCommand();

  std::vector<std::string> problems{};
  std::string threads = "1";
  std::vector<std::string> seed_and_count{};
  RandomRequest random{};
  bench::Settings settings{};
  bench::GrowthSettings growth{};
  double cache_megabytes = 0;
  std::string only_row{}, without{};
  bool json = false, grows = false;
  Command command{"Measures problems against the roof: the best plain loop that reads and writes as many bytes.",
                  "patchfold bench"};
  Command::Option draws{};
};

BenchCommand::BenchCommand() {
  command.usage(
      "patchfold bench [PROBLEM]... [--threads N,..] [--rounds N] [--only-row ROW] [--without ROW] [--json]\n"
      "       patchfold bench --random SEED COUNT [--only INDEX] [--worst N] [--threads N,..] [--rounds N] [--json]\n"
      "       patchfold bench --growth [--largest MB] [--cache MB] [--threads N,..] [--rounds N] [--json]");
  command.footer(
      "Without a problem, those of bench/problems.txt and bench/stitchings.txt are measured. Everything runs in turn in "
      "the\n"
      "same rounds; times are medians. us: microseconds of one run; GB/s: bytes read and written. The time in multiples of\n"
      "others: /mix, of the fastest loop that reads and writes as much as the problem, which the targets refer to; /copy,\n"
      "of a non-temporal copy of half of all bytes; /roof, of the fastest of all these and memcpy.\n"
      "\n"
      "After a problem, src=LAYOUT and dst=LAYOUT tell how the tensor that is read and the one that is written lie in "
      "memory:\n"
      "plain (default), channels_last, swapped (H and W), flipped (in H), mirrored (in W), cropped (parts of longer rows),\n"
      "every_second (every second column of W) or tokens (patch after patch, of columns). All their memory counts as read\n"
      "or written, with what is skipped.\n"
      "\n"
      "--random measures COUNT random problems of 128 KB to 64 MB: operators, kernels of 1 to 32, strides, dilations, "
      "pads,\n"
      "element types, shapes and layouts. A seed stands for the same problems on every machine. us: microseconds of one "
      "run;\n"
      "MB: the memory of both tensors; /copy: time in multiples of the fastest copy of half of it. The summary counts\n"
      "problems of at least 4 MB. Needs up to 300 MB of memory.\n"
      "\n"
      "--growth doubles the work of fold, unfold and space_to_batch from 1 MB read and written up to the largest. ns/B:\n"
      "time per byte; /least: in multiples of the least of the sizes past the cache, which are those of more than twice\n"
      "its bytes; time is flat if that stays within 1.30. beyond kB: how much more memory the process held at the peak of\n"
      "a run than it held with input and output before; ? where the system does not tell.\n"
      "\n"
      "merge TYPE SHAPE tile=N [overlap=N] [window=NAME] [axes=N,..] measures putting tiles together.\n"
      "\n"
      "Examples: patchfold bench \"unfold f32 8x64x112x112 k3x3 p1x1\" --threads 1,2\n"
      "          patchfold bench \"unfold f32 2x3x1022x1022 k14 s14 src=flipped dst=tokens\"\n"
      "          patchfold bench --random 1 120 --worst 5");
  command.words("PROBLEM", problems, "OP TYPE SHAPE [ARGUMENT=VALUE]... [src=LAYOUT] [dst=LAYOUT], as one word");
  command.option("--threads", threads, "N,..", "numbers of threads; default 1");
  command.option("--rounds", settings.rounds, 1, 10000, "N", "how often everything runs in turn; default 9");
  command.option("--only-row", only_row, "ROW", "plan with this strategy whatever it fits");
  command.option("--without", without, "ROW", "plan without this strategy: what it is worth");
  const auto json_flag = command.flag("--json", json, "print JSON");
  const auto grow = command.flag("--growth", grows, "how time and memory grow with the work");
  command.needs(command.option("--largest", growth.largest_megabytes, 1, 1 << 20, "MB",
                               "work at which to stop; default 1024, which needs as much memory"),
                grow);
  command.needs(
      command.option("--cache", cache_megabytes, 0.001, 1e6, "MB", "the last-level cache; default: as the system says"),
      grow);
  draws = command.option("--random", seed_and_count, 2, "SEED COUNT", "measure random problems");
  command.excludes(draws, grow);
  command.needs(command.option("--only", random.only, 0, 1 << 30, "INDEX", "measure this one of the random problems alone"),
                draws);
  const auto worst = command.option("--worst", random.worst, 1, 1 << 30, "N", "print the slowest N again, with their plans");
  command.needs(worst, draws);
  command.excludes(worst, json_flag);
}

}  // namespace

std::vector<OptionInfo> bench_options() {
  return BenchCommand().command.options();
}

void run_bench(const std::vector<std::string>& words) {
  BenchCommand all;
  if (const std::string help = all.command.parse(words); !help.empty()) return print(help);
  const auto& [problems, threads, seed_and_count, cache_megabytes, json] =
      std::tie(all.problems, all.threads, all.seed_and_count, all.cache_megabytes, all.json);
  RandomRequest& random = all.random;
  bench::GrowthSettings& growth = all.growth;
  const std::vector<int> counts = parse_threads(threads);
  if (!all.only_row.empty() || !all.without.empty()) detail::choose_rows(all.only_row, all.without);
  if (all.grows) {
    if (!problems.empty()) fail_usage("bench", "--growth", "takes no problem", problems.front());
    growth.cache_bytes = cache_megabytes > 0 ? cache_megabytes * (1 << 20) : bench::last_level_cache();
    growth.timing = all.settings;
    return run_growth(counts, growth, json);
  }
  if (all.command.given(all.draws)) {
    if (!problems.empty()) fail_usage("bench", "--random", "takes no problem", problems.front());
    parse_random(seed_and_count, random);
    random.threads = counts;
    random.settings = all.settings;
    random.json = json;
    return run_random(random);
  }
  std::vector<Task> tasks;
  for (const std::string& problem : problems) tasks.push_back({parse_task(problem), 0});
  if (tasks.empty()) tasks = listed();

  std::vector<Measurement> rows;
  std::vector<double> targets;
  if (!json) print("thr            us     GB/s    /roof     /mix    /copy  strategy          problem\n");
  Progress progress("bench", "problems", static_cast<std::int64_t>(tasks.size() * counts.size()), false);
  for (const Task& task : tasks)
    for (const int count : counts) {
      progress.show(fmt::format("{} threads", count));
      rows.push_back(
          std::visit([&](const auto& problem) { return bench::measure(problem, count, all.settings); }, task.problem));
      targets.push_back(task.target);
      progress.count(0);
      progress.clear();
      if (!json) print_row(rows.back());
    }
  if (json)
    print(as_json(rows));
  else
    print_conclusion(rows, targets);
}

}  // namespace patchfold::cli
