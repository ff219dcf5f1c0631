// SPDX-License-Identifier: Apache-2.0
#include "cli/bench.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <sstream>

#include "bench/measure.hpp"
#include "bench/problems.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"

namespace patchfold::cli {
namespace {

using bench::Measurement;

/// A roof that the operator beats by so much was not the best way to stream.
constexpr double defect_of_roof = 0.90;

struct Task {
  ProblemText problem{};
  double target = 0;  ///< time / roof; 0: none
};

/// Lines "TARGET PROBLEM" of the list that is built in.
std::vector<Task> listed() {
  std::vector<Task> tasks;
  std::istringstream lines{std::string(bench::problems)};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t gap = line.find(' ');
    Task task{parse_problem(line.substr(line.find_first_not_of(' ', gap))), 0};
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
        "\"time_of_copy\": {:.3f}, \"strategy\": \"{}\", \"roof\": \"{}\"}}",
        text.size() > 1 ? "," : "", row.problem, row.threads, row.seconds, row.bytes, row.of_roof(), row.of_copy(),
        row.strategy, row.roof);
  return text + "\n]\n";
}

void print_row(const Measurement& row) {
  print(fmt::format("{:>3}  {:>12.3f}  {:>7.2f}  {:>9.2f}  {:>9.2f}  {:24}  {}\n", row.threads, row.seconds * 1e6,
                    row.gigabytes_per_second(), row.of_roof(), row.of_copy(), row.strategy, row.problem));
}

/// What a reader wants to know at the end: which rows miss their target, and which roofs are not to be trusted.
void print_conclusion(const std::vector<Measurement>& rows, const std::vector<double>& targets) {
  std::string over, defects;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Measurement& row = rows[i];
    if (targets[i] > 0 && row.of_roof() > targets[i])
      over += fmt::format("  {:.2f} of the roof, target {:.2f}: {} threads, {}\n", row.of_roof(), targets[i], row.threads,
                          row.problem);
    if (row.of_roof() < defect_of_roof)
      defects +=
          fmt::format("  {:.2f} of the roof ({}): {} threads, {}\n", row.of_roof(), row.roof, row.threads, row.problem);
  }
  if (!over.empty()) print("\nOver the target:\n" + over);
  if (!defects.empty()) print("\nFaster than the roof, which is a defect of the roof:\n" + defects);
}

}  // namespace

void run_bench(const std::vector<std::string>& words) {
  CLI::App app("Measures problems against the roof: the best plain loop that reads and writes as many bytes.",
               "patchfold bench");
  set_usage(app, "patchfold bench [PROBLEM]... [--threads N,..] [--rounds N] [--json]");
  app.footer(
      "Without a problem, those of bench/problems.txt are measured. Everything runs in turn in the same rounds; times are\n"
      "medians. us: microseconds of one run; GB/s: bytes read and written; /roof and /copy: the time in multiples of the\n"
      "roof's and of a non-temporal copy's.\n"
      "\n"
      "Example: patchfold bench \"unfold f32 8x64x112x112 k3x3 p1x1\" --threads 1,2");
  std::vector<std::string> problems;
  std::string threads = "1";
  bench::Settings settings;
  bool json = false;
  app.add_option("PROBLEM", problems, "OP TYPE SHAPE [ARGUMENT=VALUE]..., as one word")->option_text("...");
  app.add_option("--threads", threads, "numbers of threads; default 1")->option_text("N,..")->type_name("value");
  app.add_option("--rounds", settings.rounds, "how often everything runs in turn; default 9")
      ->option_text("N")
      ->type_name("value")
      ->check(CLI::Range(1, 10000));
  app.add_flag("--json", json, "print JSON");
  if (const std::string help = parse(app, words, "bench"); !help.empty()) return print(help);

  std::vector<Task> tasks;
  for (const std::string& problem : problems) tasks.push_back({parse_problem(problem), 0});
  if (tasks.empty()) tasks = listed();
  const std::vector<int> counts = parse_threads(threads);

  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  std::vector<Measurement> rows;
  std::vector<double> targets;
  if (!json) print("thr            us     GB/s      /roof      /copy  strategy                  problem\n");
  for (const Task& task : tasks)
    for (const int count : counts) {
      if (terminal)
        note(fmt::format("\r\033[K{} of {}: {}", rows.size() + 1, tasks.size() * counts.size(), to_string(task.problem)));
      rows.push_back(bench::measure(task.problem, count, settings));
      targets.push_back(task.target);
      if (terminal) note("\r\033[K");
      if (!json) print_row(rows.back());
    }
  if (json)
    print(as_json(rows));
  else
    print_conclusion(rows, targets);
}

}  // namespace patchfold::cli
