// SPDX-License-Identifier: Apache-2.0
// Compares the columns that programs make with a plain loop, byte for byte.
#include <gtest/gtest.h>

#include <algorithm>

#include "every_set.hpp"
#include "fenced.hpp"
#include "kernel_bytes.hpp"
#include "kernels/extract_map.hpp"

namespace patchfold::kernels {
namespace {

/// Random steps over maps of `bytes` bytes, with the lanes that each row has.
struct RandomSteps {
  std::vector<ExtractStep> steps{};
  std::vector<std::uint8_t> masks{};
  std::vector<std::vector<bool>> lanes{};  ///< of a row, for each step
  std::int64_t columns = 0;                ///< bytes for each map
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
