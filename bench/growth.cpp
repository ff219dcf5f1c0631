// SPDX-License-Identifier: Apache-2.0
#include "bench/growth.hpp"

#include <algorithm>
#include <fstream>

#include "bench/buffer.hpp"

namespace patchfold::bench {
namespace {

/// The problem of 1 MB: images of 112 x 112 pixels. Channels double first, then the batch.
struct Seed {
  std::string_view op;
  std::int64_t channels;
  std::int64_t rows_per_channel;  ///< of the data input
  std::string_view tail;
};

constexpr Seed seeds[] = {
    {"fold", 2, 9, "x12544 output_size=112,112 kernel_size=3 padding=1"},
    {"unfold", 2, 1, "x112x112 kernel_size=3 padding=1"},
    {"space_to_batch", 10, 1, "x112x112 block=2"},
};
constexpr std::int64_t most_channels = 64;

std::vector<ProblemText> problems_of(const Seed& seed, double largest_megabytes) {
  std::vector<ProblemText> problems;
  std::int64_t batch = 1, channels = seed.channels;
  for (double megabytes = 1; megabytes <= largest_megabytes; megabytes *= 2) {
    problems.push_back(parse_problem(std::string(seed.op) + " f32 " + std::to_string(batch) + "x" +
                                     std::to_string(channels * seed.rows_per_channel) + std::string(seed.tail)));
    (channels < most_channels ? channels : batch) *= 2;
  }
  return problems;
}

/// Returns an entry of /proc/self/status in bytes, or nothing where the system has no such entry.
std::optional<std::int64_t> status(std::string_view name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name) && line[name.size()] == ':') return std::stoll(line.substr(name.size() + 1)) * 1024;
  return std::nullopt;
}

/// A meter of memory: the most that the process held while the meter lived.
class Peak {
 public:
  Peak() {
    std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak of memory, where the system can
    before_ = status("VmHWM");
    held_ = status("VmRSS");
  }
  /// Returns the peak in bytes, or nothing if an older peak is higher.
  std::optional<std::int64_t> bytes() const {
    constexpr std::int64_t slack = 256 * 1024;  // the system counts pages in batches
    const auto after = status("VmHWM");
    if (!after || !before_ || !held_ || (*after == *before_ && *before_ > *held_ + slack)) return std::nullopt;
    return after;
  }

 private:
  std::optional<std::int64_t> before_{}, held_{};
};

struct Trial {
  Plan plan;
  std::size_t read = 0;
  std::size_t written = 0;
};

Trial trial_of(const ProblemText& problem) {
  const BoundOperator bound = find_operator(problem.op).bind(problem.arguments);
  const Dims shape = bound.output_shape(problem.shape);
  const auto view_of = [&](const Dims& extents) {
    return TensorView{nullptr, extents, contiguous_strides(extents, problem.element_size), problem.dtype,
                      problem.element_size};
  };
  return {bound.plan(view_of(problem.shape), view_of(shape)),
          static_cast<std::size_t>(element_count(problem.shape)) * problem.element_size,
          static_cast<std::size_t>(element_count(shape)) * problem.element_size};
}

}  // namespace

std::size_t Growth::past_cache() const {
  return static_cast<std::size_t>(
      std::find_if(sizes.begin(), sizes.end(), [&](const Size& size) { return size.bytes > 2 * cache_bytes; }) -
      sizes.begin());
}

std::optional<double> Growth::spread() const {
  const std::size_t first = past_cache();
  if (sizes.size() < first + 2) return std::nullopt;
  const auto [least, most] =
      std::minmax_element(sizes.begin() + static_cast<std::ptrdiff_t>(first), sizes.end(),
                          [](const Size& a, const Size& b) { return a.nanoseconds_per_byte() < b.nanoseconds_per_byte(); });
  return most->nanoseconds_per_byte() / least->nanoseconds_per_byte();
}

std::optional<std::int64_t> Growth::beyond() const {
  std::optional<std::int64_t> most;
  for (const Size& size : sizes) most = std::max(most, size.beyond);
  return most;
}

std::vector<std::string_view> growing_operators() {
  std::vector<std::string_view> names;
  for (const Seed& seed : seeds) names.push_back(seed.op);
  return names;
}

Growth grow(std::string_view op, int threads, const GrowthSettings& settings) {
  const Seed& seed = *std::find_if(std::begin(seeds), std::end(seeds), [&](const Seed& each) { return each.op == op; });
  const std::vector<ProblemText> problems = problems_of(seed, settings.largest_megabytes);
  Growth growth{std::string(op), threads, settings.cache_bytes, 0, {}};

  set_num_threads(threads);
  Executor& executor = threads == 1 ? serial_executor() : default_executor();
  // All sizes share the buffers of the largest size, so that they can run in turn and only a run needs memory.
  const Trial largest = trial_of(problems.back());
  const Buffer src(largest.read), dst(largest.written);
  std::vector<Trial> trials;
  trials.reserve(problems.size());
  growth.sizes.reserve(problems.size());
  const auto run = [&](const Trial& trial) { throw_if_failed(trial.plan.run(src.data(), dst.data(), executor), op); };

  const std::optional<std::int64_t> buffers = status("VmRSS");
  for (const ProblemText& problem : problems) {
    const Peak peak;
    const Trial& trial = trials.emplace_back(trial_of(problem));
    run(trial);
    const auto most = peak.bytes();
    Size& size = growth.sizes.emplace_back();
    size.problem = to_string(problem);
    size.bytes = static_cast<double>(trial.read + trial.written);
    if (most && buffers) size.beyond = std::max<std::int64_t>(0, *most - *buffers);
    growth.scratch_bytes = std::max(growth.scratch_bytes, trial.plan.scratch_bytes(threads));
  }

  std::vector<std::function<void()>> works;
  for (const Trial& trial : trials) works.push_back([&] { run(trial); });
  std::vector<double> medians;
  for (const auto& seconds : race(works, settings.timing)) medians.push_back(median(seconds));
  for (std::size_t i = 0; i < medians.size(); ++i) growth.sizes[i].seconds = medians[i];
  return growth;
}

double last_level_cache() {
  double bytes = 0;
  // The levels come in ascending order. sysconf() may return the sum over all sockets and clusters of a machine.
  for (int i = 0; i < 8; ++i) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/size");
    double size = 0;
    char unit = ' ';
    if (file >> size) {
      file >> unit;
      bytes = std::max(bytes, size * (unit == 'M' ? 1 << 20 : unit == 'K' ? 1 << 10 : 1));
    }
  }
  return bytes > 0 ? bytes : 32 << 20;
}

}  // namespace patchfold::bench
