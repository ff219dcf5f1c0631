// SPDX-License-Identifier: Apache-2.0
// Compares maps that the kernel of sum programs makes with a plain loop, bit for bit.
// Compares columns that the kernel of extract programs makes with a plain loop, byte for byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "every_set.hpp"
#include "fenced.hpp"
#include "kernel_bytes.hpp"
#include "kernel_lanes.hpp"
#include "kernels/extract_map.hpp"
#include "kernels/mean_scalar.hpp"
#include "kernels/sum_map.hpp"

namespace patchfold::kernels {
namespace {

/// A sum program with random terms and masks. The object notes, for each lane of the map, the terms that the program adds.
class RandomProgram {
 public:
  RandomProgram(Dice& dice, const SumMapKernel& kernel, std::int64_t bytes, bool has_steps)
      : kernel_(kernel), bytes_(bytes), has_steps_(has_steps) {
    const std::int64_t parts = dice.between(1, 4);
    for (std::int64_t i = 0; i < parts; ++i) has_steps ? add_step(dice, i == 0) : add_run(dice);
    masks_.resize(masks_.size() + 8);
    for (const auto& terms : met_) counts_.push_back(std::max(1.0, static_cast<double>(terms.size())));
    counts_.resize(counts_.size() + static_cast<std::size_t>(2 * kernel.lanes), 1.0);
  }

  SumProgram program() const { return {steps_, runs_, terms_.data(), masks_.data(), lanes(), counts_.data()}; }
  std::int64_t lanes() const { return std::ssize(met_); }
  /// Returns the offsets of a lane's terms in the columns, in the order in which they are added.
  const std::vector<std::int64_t>& met(std::int64_t lane) const { return met_[static_cast<std::size_t>(lane)]; }

 private:
  std::int64_t random_offset(Dice& dice, std::int64_t width) const {
    // Most terms lie within the columns. The others reach beyond the columns, and masks leave out the lanes that lie
    // outside.
    const std::int64_t size = kernel_.lane_size;
    return dice.between(dice.chance(20) ? -width : 0,
                        std::max<std::int64_t>(0, bytes_ / size - (dice.chance(20) ? 0 : width))) *
           size;
  }

  /// Returns a random choice of the lanes of `vectors` vectors, without lanes outside of the columns.
  std::vector<bool> random_lanes(Dice& dice, std::int64_t offset, std::int64_t vectors) const {
    std::vector<bool> has(static_cast<std::size_t>(vectors * kernel_.lanes));
    for (std::size_t i = 0; i < has.size(); ++i) {
      const std::int64_t at = offset + static_cast<std::int64_t>(i) * kernel_.lane_size;
      has[i] = at >= 0 && at + kernel_.lane_size <= bytes_ && dice.chance(80);
    }
    return has;
  }

  /// Adds a mask of zeros for one vector, and returns its offset.
  std::size_t add_mask() {
    masks_.resize(masks_.size() + static_cast<std::size_t>(kernel_.mask_bytes));
    return masks_.size() - static_cast<std::size_t>(kernel_.mask_bytes);
  }
  void set(std::size_t mask, std::int64_t lane) {
    masks_[mask + static_cast<std::size_t>(lane / 8)] |= static_cast<std::uint8_t>(1 << lane % 8);
  }

  void add_run(Dice& dice) {
    SumRun run;
    run.to = lanes();
    run.first = std::ssize(terms_);
    run.vectors = 1 << dice.between(0, 2);
    const std::int64_t width = run.vectors * kernel_.lanes;
    // The next run may begin before the end of this run's last vector.
    met_.resize(met_.size() + static_cast<std::size_t>(width - dice.between(0, kernel_.lanes - 1)));
    run.count = static_cast<std::int32_t>(dice.between(0, 5));
    for (std::int32_t t = 0; t < run.count; ++t) {
      const std::int64_t offset = random_offset(dice, width);
      terms_.push_back({offset, std::ssize(masks_)});
      widen(run, offset, width);
      const std::vector<bool> has = random_lanes(dice, offset, run.vectors);
      for (std::int64_t v = 0; v < run.vectors; ++v) {
        const std::size_t mask = add_mask();
        for (std::int64_t l = 0; l < kernel_.lanes; ++l) meet(mask, has, run.to, v, l, offset);
      }
    }
    runs_.push_back(run);
  }

  void add_step(Dice& dice, bool begins) {
    SumStep step;
    step.begins = begins;
    step.vectors = dice.between(1, 12);
    const std::int64_t width = step.vectors * kernel_.lanes;
    if (begins) met_.resize(static_cast<std::size_t>(width - dice.between(0, kernel_.lanes - 1)));
    if (!begins) {
      step.vectors = dice.between(1, std::max<std::int64_t>(1, lanes() / kernel_.lanes));
      step.to = dice.between(0, std::max<std::int64_t>(0, lanes() - step.vectors * kernel_.lanes));
    }
    step.first = std::ssize(terms_);
    step.count = static_cast<std::int32_t>(dice.between(0, most_step_terms));
    step.masks = std::ssize(masks_);
    std::vector<std::vector<bool>> has;
    bool all = true;
    for (std::int64_t t = 0; t < step.count; ++t) {
      const std::int64_t offset = random_offset(dice, step.vectors * kernel_.lanes);
      terms_.push_back({offset, 0});
      widen(step, offset, step.vectors * kernel_.lanes);
      has.push_back(random_lanes(dice, offset, step.vectors));
      if (dice.chance(50) && offset >= 0 && offset + step.vectors * kernel_.lanes * kernel_.lane_size <= bytes_)
        has.back().assign(has.back().size(), true);
      all &= std::ranges::find(has.back(), false) == has.back().end();
    }
    for (std::int64_t v = 0; v < step.vectors; ++v)
      for (std::int64_t t = 0; t < step.count; ++t) {
        const std::size_t mask = add_mask();
        for (std::int64_t l = 0; l < kernel_.lanes; ++l)
          meet(mask, has[static_cast<std::size_t>(t)], step.to, v, l,
               terms_[static_cast<std::size_t>(step.first + t)].offset);
      }
    if (all) step.masks = -1;
    steps_.push_back(step);
  }

  template <class Part>
  void widen(Part& part, std::int64_t offset, std::int64_t width) const {
    const std::int64_t end = offset + width * kernel_.lane_size;
    const bool is_first = part.low == 0 && part.high == 0;
    part.low = is_first ? offset : std::min(part.low, offset);
    part.high = is_first ? end : std::max(part.high, end);
  }

  void meet(std::size_t mask, const std::vector<bool>& has, std::int64_t to, std::int64_t vector, std::int64_t lane,
            std::int64_t offset) {
    const std::int64_t at = vector * kernel_.lanes + lane;
    // Steps add to the existing value, so lanes beyond the map must have no terms.
    if (!has[static_cast<std::size_t>(at)] || (has_steps_ && to + at >= lanes())) return;
    set(mask, lane);
    if (to + at < lanes()) met_[static_cast<std::size_t>(to + at)].push_back(offset + at * kernel_.lane_size);
  }

  const SumMapKernel& kernel_;
  std::int64_t bytes_;
  bool has_steps_;
  std::vector<SumStep> steps_{};
  std::vector<SumRun> runs_{};
  std::vector<SumTerm> terms_{};
  std::vector<std::uint8_t> masks_{};
  std::vector<std::vector<std::int64_t>> met_{};
  std::vector<double> counts_{};
};

/// Random columns, a random sum program, and the map that the kernel makes.
struct Made {
  Made(Dice& dice, const SumMapKernel& kernel, const Lane& lane, bool has_steps)
      : columns(static_cast<std::size_t>(dice.between(1, 20 * kernel.lanes) * kernel.lane_size), dice.chance(50)),
        random(dice, kernel, std::ssize(columns.bytes()), has_steps) {
    const std::int64_t size = kernel.lane_size, spare = kernel.lanes * kernel.most_vectors;
    const auto mood = static_cast<Mood>(dice.between(0, 3));
    for (std::byte* at = columns.data(); at < columns.end(); at += size) put(random_lane(dice, lane, mood), size, at);
    std::vector<std::byte> sums(static_cast<std::size_t>((random.lanes() + spare) * kernel.sum_size), std::byte{0xff});
    elements.assign(static_cast<std::size_t>((random.lanes() + spare) * size), std::byte{0xff});
    SumMap map;
    map.src = map.begin = map.ahead = columns.data();
    map.end = columns.end();
    map.ahead_end = dice.chance(50) ? columns.end() : columns.data();
    map.to = elements.data();
    map.sums = sums.data();
    map.certain = &certain;
    kernel.sum(random.program(), map);
  }

  Fenced columns;
  RandomProgram random;
  std::vector<std::byte> elements{};
  bool certain = true;
};

void check_map(Dice& dice, DType dtype, bool has_steps, const std::string& set) {
  const SumMapKernel& kernel = sum_map_kernel(dtype);
  const Lane lane = lane_of(dtype);
  const std::int64_t size = kernel.lane_size;
  const Made made(dice, kernel, lane, has_steps);
  for (std::int64_t l = 0; l < made.random.lanes(); ++l) {
    std::vector<const std::byte*> terms;
    for (const std::int64_t offset : made.random.met(l)) terms.push_back(made.columns.data() + offset);
    const Sum sum = sum_of(lane, terms);
    const std::uint64_t given = get(made.elements.data() + l * size, size);
    std::uint64_t expected = 0;
    std::memcpy(&expected, &sum.bits, static_cast<std::size_t>(size));
    if (sum.nans > 1 && is_nan(sum.bits, format_of(lane)) && is_nan(given, format_of(lane))) continue;
    ASSERT_EQ(given, expected) << set << ", " << name_of(dtype) << (has_steps ? ", steps" : ", runs") << ", lane " << l
                               << " of " << made.random.lanes() << ", " << terms.size() << " terms";
  }
}

/// Returns whether a fused multiply-add gives -0 for -0 * 1 + -0; under Valgrind 3.19 it gives +0.
bool keeps_signs_of_zero() {
  volatile double zero = -0.0;
  return std::signbit(std::fma(zero, 1.0, zero));
}

template <class T>
void check_means(Dice& dice, DType dtype, bool has_steps, const std::string& set) {
  const SumMapKernel& kernel = mean_map_kernel(dtype);
  const Made made(dice, kernel, lane_of(dtype), has_steps);
  const bool keeps_signs = keeps_signs_of_zero();
  for (std::int64_t l = 0; l < made.random.lanes(); ++l) {
    const std::vector<std::int64_t>& met = made.random.met(l);
    if (met.empty()) continue;
    typename MeanOf<T>::Accumulator sum(MeanOf<T>::nothing);
    for (const std::int64_t offset : met) MeanOf<T>::add(sum, load<T>(made.columns.data() + offset));
    T mean{};
    const bool is_certain = MeanOf<T>::store(sum, static_cast<double>(met.size()), mean);
    ASSERT_TRUE(is_certain || !made.certain) << set << ", " << name_of(dtype);
    if (!is_certain) continue;
    std::uint64_t expected = 0;
    std::memcpy(&expected, &mean, sizeof(T));
    const std::uint64_t given = get(made.elements.data() + l * kernel.lane_size, kernel.lane_size);
    if (!keeps_signs && expected == std::uint64_t{1} << (8 * sizeof(T) - 1) && given == 0) continue;
    ASSERT_EQ(given, expected)
        << set << ", " << name_of(dtype) << (has_steps ? ", steps" : ", runs") << ", lane " << l << " of "
        << made.random.lanes() << ", " << met.size() << " terms";
  }
}

TEST(SumMaps, DivideWhatAPlainLoopDivides) {
  Dice dice(2);
  on_every_instruction_set("mean map", [&](const std::string& set) {
    for (const DType dtype : dtypes())
      for (int round = 0; round < 200; ++round)
        for (const bool has_steps : {false, true})
          visit(dtype, [&]<class T>(std::type_identity<T>) {
            if constexpr (!std::is_void_v<AveragedAs<T>>)
              if (!::testing::Test::HasFatalFailure()) check_means<AveragedAs<T>>(dice, dtype, has_steps, set);
          });
  });
}

TEST(SumMaps, SumWhatAPlainLoopSums) {
  Dice dice(1);
  on_every_instruction_set("sum map", [&](const std::string& set) {
    for (const DType dtype : dtypes())
      for (int round = 0; round < 200 && is_summable(dtype); ++round)
        for (const bool has_steps : {false, true}) {
          ASSERT_NO_FATAL_FAILURE(check_map(dice, dtype, has_steps, set));
        }
  });
}

/// Random steps of an extract program over maps of `bytes` bytes, and the lanes that each step copies.
struct RandomSteps {
  std::vector<ExtractStep> steps{};
  std::vector<std::uint8_t> masks{};
  std::vector<std::vector<bool>> lanes{};  ///< for each step, whether it copies each lane of a row
  std::int64_t columns = 0;                ///< size of the columns of one map, in bytes
};

RandomSteps random_steps(Dice& dice, const ExtractMapKernel& kernel, std::int64_t bytes) {
  RandomSteps random;
  const std::int64_t size = kernel.lane_size, count = dice.between(1, 6);
  for (std::int64_t i = 0; i < count; ++i) {
    ExtractStep step;
    const std::int64_t most = bytes / size, width = dice.between(1, dice.chance(70) ? std::min(kernel.lanes, most) : most);
    step.row_bytes = width * size;
    step.rows = dice.between(1, 5);
    const std::int64_t room = (bytes - step.row_bytes) / size;
    step.pitch = step.rows == 1 ? 0 : dice.between(0, room / (step.rows - 1)) * size;
    step.offset = dice.between(0, room - (step.rows - 1) * step.pitch / size) * size;
    if (dice.chance(20)) {  // rows from the last to the first
      step.offset += (step.rows - 1) * step.pitch;
      step.pitch = -step.pitch;
    }
    const std::int64_t kind = dice.between(0, 3);
    std::vector<bool> lanes(static_cast<std::size_t>(width), kind != 1);
    if (kind > 1) {
      step.masks = std::ssize(random.masks);
      random.masks.resize(random.masks.size() +
                          static_cast<std::size_t>((width + kernel.lanes - 1) / kernel.lanes * kernel.mask_bytes));
      for (std::int64_t l = 0; l < width; ++l) {
        lanes[static_cast<std::size_t>(l)] = dice.chance(70);
        const std::int64_t byte = step.masks + l / kernel.lanes * kernel.mask_bytes + l % kernel.lanes / 8;
        if (lanes[static_cast<std::size_t>(l)])
          random.masks[static_cast<std::size_t>(byte)] |= static_cast<std::uint8_t>(1 << l % kernel.lanes % 8);
      }
    } else {
      step.masks = kind == 0 ? ExtractStep::all : ExtractStep::none;
    }
    random.columns += step.rows * step.row_bytes;
    random.steps.push_back(step);
    random.lanes.push_back(std::move(lanes));
  }
  random.masks.resize(random.masks.size() + 8);
  return random;
}

void check_maps(Dice& dice, std::int64_t size, const std::string& set) {
  const ExtractMapKernel& kernel = *extract_map_kernel(size);
  const std::int64_t bytes = dice.between(1, dice.chance(20) ? 3000 : 5 * kernel.lanes) * size;
  const RandomSteps random = random_steps(dice, kernel, bytes);
  ExtractMaps maps;
  maps.count = dice.between(1, 3);
  maps.src_step = dice.between(0, bytes + 20);
  const Fenced source(static_cast<std::size_t>(bytes + (maps.count - 1) * maps.src_step), dice.chance(50));
  dice.fill(source.bytes());
  FillLine fill;
  dice.fill(fill);
  for (std::size_t i = static_cast<std::size_t>(size); i < fill.size(); ++i)
    fill[i] = fill[i - static_cast<std::size_t>(size)];
  Target target(maps.count * random.columns, dice.between(0, 63));
  maps.src = maps.begin = source.data();
  maps.end = source.end();
  maps.dst = target.data();
  maps.dst_end = maps.dst + maps.count * random.columns;
  maps.fill = &fill;
  maps.store = dice.pick(stores);
  ExtractProgram program{random.steps, random.masks.data()};
  const std::int64_t vector = kernel.lanes * kernel.lane_size;
  for (const ExtractStep& step : random.steps) {
    const std::int64_t end = step.offset + (step.rows - 1) * step.pitch;
    program.low = std::min({program.low, step.offset, end});
    program.high = std::max(program.high, std::max(step.offset, end) + (step.row_bytes + vector - 1) / vector * vector);
  }
  kernel.extract(program, maps);

  std::byte* expected = target.expected();
  for (std::int64_t k = 0; k < maps.count; ++k)
    for (std::size_t i = 0; i < random.steps.size(); ++i) {
      const ExtractStep& step = random.steps[i];
      for (std::int64_t row = 0; row < step.rows; ++row)
        for (std::size_t l = 0; l < random.lanes[i].size(); ++l, expected += size) {
          const std::byte* from =
              maps.src + k * maps.src_step + step.offset + row * step.pitch + static_cast<std::int64_t>(l) * size;
          std::memcpy(expected, random.lanes[i][l] ? from : fill.data(), static_cast<std::size_t>(size));
        }
    }
  ASSERT_EQ(target.wrong(), "") << set << ", lanes of " << size << " bytes, " << random.steps.size() << " steps, "
                                << maps.count << " maps, " << name_of(maps.store);
}

TEST(ExtractMaps, AreThoseOfAPlainLoop) {
  Dice dice(1);
  on_every_instruction_set("extract map", [&](const std::string& set) {
    for (const std::int64_t size : {1, 2, 4, 8})
      for (int round = 0; round < 1000; ++round) {
        ASSERT_NO_FATAL_FAILURE(check_maps(dice, size, set));
      }
  });
}

}  // namespace
}  // namespace patchfold::kernels
