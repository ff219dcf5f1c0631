// SPDX-License-Identifier: Apache-2.0
#include "jobs.hpp"

#include <cstring>

#include "boxes.hpp"
#include "check.hpp"
#include "executors.hpp"
#include "geometry.hpp"
#include "patchfold/patchfold.h"
#include "patchfold/patchfold.hpp"

namespace patchfold::testing {
namespace {

Problem random_problem(Random& random, const Subject& subject, bool big) {
  const auto types = subject.sums ? summable_types() : all_types();
  return subject.make(random, {random.pick(types), big, !big && random.chance(20) ? 64 : 0});
}

const Subject& random_subject(Random& random) {
  return subjects()[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(subjects().size()) - 1))];
}

void check_with_reference(Random& random, bool big, Outcome& outcome) {
  const Subject& subject = random_subject(random);
  Problem problem = random_problem(random, subject, big);
  const ProblemText& text = problem.text;
  const Dims shape = find_operator(text.op).bind(text.arguments).output_shape(text.shape);
  outcome.bytes = (element_count(text.shape) + element_count(shape)) * static_cast<std::int64_t>(text.element_size);
  outcome.wrong = check(problem, subject.sums, random);
  if (outcome.wrong) *outcome.wrong = to_string(text) + ": " + *outcome.wrong;
}

void run_work(Random& random, const Work& work, bool anew, Outcome& outcome) {
  PlainThreads plain(static_cast<int>(random.between(2, 4)));
  Executor* const executors[] = {&default_executor(), &serial_executor(), &plain};
  Executor& executor = *random.pick(executors);
  const auto shift = static_cast<std::size_t>(random.between(0, 63)) / work.text().element_size * work.text().element_size;
  outcome.bytes = work.bytes();
  const auto source = static_cast<int>(random.between(0, work.sources() - 1));
  outcome.wrong = anew ? work.run(work.plan_anew(), source, executor, shift) : work.run(source, executor, shift);
}

/// Runs an operator and its inverse, which must give the data back. There are few shapes, so that later calls find kept
/// plans.
template <class T>
void run_and_invert(Random& random, Outcome& outcome) {
  const std::int64_t block = random.between(1, 4), extent = block * random.pick(std::vector<std::int64_t>{4, 9, 64});
  const Dims shape{random.between(1, 2), 3, extent, extent};
  std::vector<T> x(static_cast<std::size_t>(element_count(shape))), there(x.size()), back(x.size());
  for (T& value : x) value = static_cast<T>(random.next() % 251);
  outcome.bytes = static_cast<std::int64_t>(4 * x.size() * sizeof(T));
  const auto round_trip = [&](const auto& op, const auto& inverse) {
    const Dims between = op.output_shape(shape);
    run(op, view(std::as_const(x).data(), shape), view(there.data(), between));
    run(inverse, view(std::as_const(there).data(), between), view(back.data(), shape));
    if (back != x) outcome.wrong = std::string(op.name) + " of " + to_string(shape) + ", block " + std::to_string(block);
  };
  switch (random.between(0, 3)) {
    case 0: return round_trip(SpaceToDepth{.block = block}, DepthToSpace{.block = block});
    case 1: return round_trip(SpaceToBatch{.block = block}, BatchToSpace{.block = block});
    case 2: return round_trip(torch::PixelUnshuffle{block}, torch::PixelShuffle{block});
    default:
      return round_trip(Unfold{.kernel_size = block, .stride = block},
                        Fold{.output_size = {extent, extent}, .kernel_size = block, .stride = block});
  }
}

void merge_a_box(Random& random, Outcome& outcome) {
  const std::optional<Whole> whole = draw_whole(random);
  if (!whole) return;
  const Box box = draw_box(random, whole->tiling);
  outcome.bytes = static_cast<std::int64_t>(2 * whole->output.size());
  if (wrong_elements(random, *whole, BoxMerger(whole->tiling, whole->spec), box) != 0) outcome.wrong = text_of(*whole, box);
}

void be_refused(Random& random, Outcome& outcome) {
  const std::int64_t block = random.between(2, 9);
  const std::int64_t shape[] = {1, 1, block + 1, block};
  const pf_tensor input{nullptr, shape, nullptr, 4, PF_DTYPE_FLOAT32, 0};
  const pf_attribute attribute = pf_integer("block", block);
  std::int64_t result[PF_MAX_RANK];
  std::int32_t rank = PF_MAX_RANK;
  if (pf_output_shape("space_to_depth", &attribute, 1, &input, 1, result, &rank) != PF_ERROR_DIVISIBLE ||
      std::strstr(pf_last_error(), std::to_string(block).c_str()) == nullptr)
    outcome.wrong = "blocks of " + std::to_string(block) + ": " + pf_last_error();
  try {
    Unfold{.kernel_size = 3}.output_shape({1, 1, block});
    outcome.wrong = "an image without channels was taken";
  } catch (const Error&) {
  }
}

}  // namespace

std::vector<Work> shared_works(std::uint64_t seed) {
  std::vector<Work> works;
  Random random(seed);
  for (int i = 0; i < 6; ++i) {
    const Problem problem = random_problem(random, random_subject(random), i % 2 == 0);
    works.emplace_back(problem.text, random.next(), 2);
  }
  return works;
}

Outcome run_job(Random random, const std::vector<Work>& shared) {
  Outcome outcome;
  const std::int64_t draw = random.between(0, 99);
  const std::size_t kind = draw < 50 ? 0 : draw < 53 ? 1 : draw < 63 ? 2 : draw < 73 ? 3 : draw < 85 ? 4 : draw < 97 ? 5 : 6;
  outcome.kind = kinds[kind];
  try {
    const Work& work = shared[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(shared.size()) - 1))];
    switch (kind) {
      case 0:
      case 1: check_with_reference(random, kind == 1, outcome); break;
      case 2:
      case 3: run_work(random, work, kind == 3, outcome); break;
      case 4:
        random.chance(50) ? run_and_invert<float>(random, outcome) : run_and_invert<std::uint8_t>(random, outcome);
        break;
      case 5: merge_a_box(random, outcome); break;
      default: be_refused(random, outcome);
    }
  } catch (const std::exception& error) {
    outcome.wrong = std::string("threw ") + error.what();
  }
  return outcome;
}

}  // namespace patchfold::testing
