// SPDX-License-Identifier: Apache-2.0
#include "operators.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "tests/random/problem.hpp"

namespace patchfold::faults {

std::vector<std::string> problems_of_operators() {
  std::vector<std::string> problems;
  for (const auto& subject : testing::subjects()) {
    testing::Random random(testing::seed_of_case(testing::seed_of_run(), subject.op, 0));
    const testing::Request request{.type = {DType::float32, 4}, .width = 9};
    problems.push_back(to_string(subject.make(random, request).text));
  }
  return problems;
}

std::vector<std::string> problems_of_strategies() {
  // Two threads share each of these problems, except the first, the last, and the one that is moved row by row.
  return {
      "unfold f32 1x1x2 kernel_size=3, allow_empty=true",
      "unfold f32 2x3x256x256 kernel_size=1,1",
      "unfold f32 2x3x256x256 kernel_size=2,2 stride=2",
      "fold f32 1x4x32768 output_size=65536, kernel_size=2 stride=2",
      "reorder f32 2x2000x90 kernel_size=3,3 layout=channels_last",
      "space_to_depth f32 1x128x512x3 block=2 layout=channels_last",
      "unfold f32 2x3x100x100 kernel_size=3,3 padding=1",
      "unfold f32 32x4x16x16 kernel_size=3,3 padding=1",
      "unfold f32 1x100x100x8 kernel_size=3,3 padding=1 layout=channels_last order=kernel positions=grid",
      "batch_to_space f32 16x2x64x64 block=2 crops=1",
      "unfold f32 1x3x301x301 kernel_size=3,3 stride=3 padding=1",
      "unfold f32 64x3x3x3 kernel_size=3,3 padding=1 layout=channels_last",
      "unfold f32 2x3x3x3 kernel_size=3,3 padding=1 layout=channels_last",
      "fold f32 2x9x10000 output_size=100,100 kernel_size=3 padding=1",
      "fold f32 1x36x10000 output_size=100,100 kernel_size=3 padding=1 stride=1",
      "fold f32 1x64x14400 output_size=240,240 kernel_size=8 stride=2 padding=3",
      "fold f32 1x100x100x72 output_size=100,100 kernel_size=3 padding=1 layout=channels_last order=kernel positions=grid",
      "fold f32 1x100x100x72 output_size=100,100 kernel_size=3 padding=1 layout=channels_last order=channel positions=grid",
      "fold f16 1x100x100x72 output_size=100,100 kernel_size=3 padding=1 layout=channels_last order=channel positions=grid",
      "fold f16 1x27x40000 output_size=200,200 kernel_size=3 padding=1 accumulate=true",
      "coverage f32 1 output_size=200,200 kernel_size=3 padding=1",
      "fold f32 1x9x40000 output_size=200,200 kernel_size=3 padding=1 accumulate=true",
      "fold f32 1x2x2 output_size=4, kernel_size=2 stride=1099511627776 dilation=1099511627776 padding=0:2199023255552",
  };
}

std::vector<std::string> all_problems() {
  auto problems = problems_of_operators();
  for (auto& problem : problems_of_strategies()) problems.push_back(std::move(problem));
  return problems;
}

Task::Task(const std::string& text) : problem_(parse_problem(text)), spec_(&find_operator(problem_.op)) {
  const auto view_of = [&](const Dims& shape, std::vector<std::byte>& bytes) {
    bytes.resize(static_cast<std::size_t>(element_count(shape)) * problem_.element_size);
    return TensorView{bytes.data(), shape, contiguous_strides(shape, problem_.element_size), problem_.dtype,
                      problem_.element_size};
  };
  src_ = view_of(problem_.shape, input_);
  dst_ = view_of(spec_->bind(problem_.arguments).output_shape(problem_.shape), output_);
  testing::Random random(1);
  for (std::size_t at = 0; at + sizeof(float) <= input_.size(); at += sizeof(float)) {
    const auto value = static_cast<float>(random.between(-9, 9));
    std::memcpy(input_.data() + at, &value, sizeof(float));
  }
  spoil();
}

void Task::run(Executor& executor) const {
  throw_if_failed(plan().run(src_.data, dst_.data, executor), spec_->name);
}

void Task::spoil() {
  std::fill(output_.begin(), output_.end(), std::byte{0x11});
}

struct Pair::Other {
  std::mutex mutex{};
  std::condition_variable changed{};
  enum class State { waits, works, ends } state = State::waits;
  std::int64_t pieces = 0;
  Body body = nullptr;
  void* context = nullptr;
  std::thread thread{};

  void work() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return state != State::waits; });
      if (state == State::ends) return;
      for (std::int64_t piece = 1; piece < pieces; piece += 2) body(context, piece);
      state = State::waits;
      changed.notify_all();
    }
  }
  void become(State next) {
    const std::lock_guard lock(mutex);
    state = next;
    changed.notify_all();
  }
};

Pair::Pair() : other_(std::make_unique<Other>()) {
  other_->thread = std::thread([this] { other_->work(); });
}

Pair::~Pair() {
  other_->become(Other::State::ends);
  other_->thread.join();
}

bool Pair::run(std::int64_t pieces, Body body, void* context) noexcept {
  other_->pieces = pieces;
  other_->body = body;
  other_->context = context;
  other_->become(Other::State::works);
  for (std::int64_t piece = 0; piece < pieces; piece += 2) body(context, piece);
  std::unique_lock lock(other_->mutex);
  other_->changed.wait(lock, [&] { return other_->state == Other::State::waits; });
  return true;
}

}  // namespace patchfold::faults
