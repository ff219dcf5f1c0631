// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <sstream>
#include <variant>

#include "bench/measure.hpp"
#include "bench/problems.hpp"
#include "bench/random.hpp"
#include "bench/stitch.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"

namespace patchfold::cli {
namespace {

using bench::Measurement;

/// The least time of an operator as a fraction of its roof. A shorter time shows that the roof was not measured with the fastest
/// copy.
constexpr double defect_of_roof = 0.90;

struct Task {
  std::variant<bench::PlacedProblem, bench::Stitching> problem{};
  double target = 0;  ///< the ratio time / mix that the task should reach; 0: none
};

std::variant<bench::PlacedProblem, bench::Stitching> parse_task(std::string_view text) {
  if (auto stitching = bench::parse_stitching(text)) return *stitching;
  return bench::parse_placed(text);
}

/// Returns the tasks of the built-in lists, whose lines are "TARGET PROBLEM".
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

template <class T>
T parse_number(const std::string& text, T low, T high, const char* name) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < low || number > high)
    fail_usage("bench", fmt::format("--random {}", name), fmt::format("must be an integer from {} to {}", low, high), text);
  return number;
}

/// Returns the random tasks of `--random SEED COUNT`.
std::vector<Task> drawn(const std::vector<std::string>& seed_and_count) {
  const auto seed = parse_number<std::uint64_t>(seed_and_count.at(0), 0, ~std::uint64_t{0}, "SEED");
  const auto count = parse_number<std::int64_t>(seed_and_count.at(1), 1, 1'000'000, "COUNT");
  std::vector<Task> tasks;
  for (std::int64_t index = 0; index < count; ++index) tasks.push_back({bench::draw(seed, index), 0});
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

/// Prints which rows miss their target, and which roofs were not measured well.
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

/// Reads the words of `patchfold bench`.
struct BenchCommand {
  BenchCommand();

  std::vector<std::string> problems{};
  std::string threads = "1";
  bench::Settings settings{};
  std::string only_row{}, without{};
  std::vector<std::string> seed_and_count{};
  bool json = false;
  Command command{"Measures problems against the roof: the best plain loop that reads and writes as many bytes.",
                  "patchfold bench"};
};

BenchCommand::BenchCommand() {
  command.usage(
      "patchfold bench [PROBLEM]... [--threads N,..] [--rounds N] [--only-row ROW] [--without ROW] [--json]\n"
      "       patchfold bench --random SEED COUNT [--threads N,..] [--rounds N] [--only-row ROW] [--without ROW] [--json]");
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
      "element types, shapes and layouts. A seed stands for the same problems on every machine.\n"
      "\n"
      "merge TYPE SHAPE tile=N [overlap=N] [window=NAME] [axes=N,..] measures putting tiles together.\n"
      "\n"
      "Examples: patchfold bench \"unfold f32 8x64x112x112 k3x3 p1x1\" --threads 1,2\n"
      "          patchfold bench \"unfold f32 2x3x1022x1022 k14 s14 src=flipped dst=tokens\"\n"
      "          patchfold bench --random 1 120");
  command.words("PROBLEM", problems, "OP TYPE SHAPE [ARGUMENT=VALUE]... [src=LAYOUT] [dst=LAYOUT], as one word");
  command.option("--threads", threads, "N,..", "numbers of threads; default 1");
  command.option("--rounds", settings.rounds, 1, 10000, "N", "how often everything runs in turn; default 9");
  command.option("--only-row", only_row, "ROW", "plan with this strategy whatever it fits");
  command.option("--without", without, "ROW", "plan without this strategy: what it is worth");
  command.option("--random", seed_and_count, 2, "SEED COUNT", "measure random problems");
  command.flag("--json", json, "print JSON");
}

}  // namespace

std::vector<OptionInfo> bench_options() {
  return BenchCommand().command.options();
}

void run_bench(const std::vector<std::string>& words) {
  BenchCommand all;
  if (const std::string help = all.command.parse(words); !help.empty()) return print(help);
  const std::vector<int> counts = parse_threads(all.threads);
  if (!all.only_row.empty() || !all.without.empty()) detail::choose_rows(all.only_row, all.without);
  std::vector<Task> tasks;
  if (!all.seed_and_count.empty()) tasks = drawn(all.seed_and_count);
  for (const std::string& problem : all.problems) tasks.push_back({parse_task(problem), 0});
  if (tasks.empty()) tasks = listed();

  std::vector<Measurement> rows;
  std::vector<double> targets;
  if (!all.json) print("thr            us     GB/s    /roof     /mix    /copy  strategy          problem\n");
  Progress progress("bench", "problems", static_cast<std::int64_t>(tasks.size() * counts.size()), false);
  for (const Task& task : tasks)
    for (const int count : counts) {
      progress.show(fmt::format("{} threads", count));
      rows.push_back(
          std::visit([&](const auto& problem) { return bench::measure(problem, count, all.settings); }, task.problem));
      targets.push_back(task.target);
      progress.count(0);
      progress.clear();
      if (!all.json) print_row(rows.back());
    }
  if (all.json)
    print(as_json(rows));
  else
    print_conclusion(rows, targets);
}

}  // namespace patchfold::cli
