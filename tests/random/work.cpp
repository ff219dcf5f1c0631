// SPDX-License-Identifier: Apache-2.0
#include "work.hpp"

#include <algorithm>
#include <memory>

#include "check.hpp"
#include "memory.hpp"
#include "reference/reference.hpp"

namespace patchfold::testing {
namespace {

/// The most elements for which the reference runs; it then takes about a second.
constexpr std::int64_t most_for_the_reference = 1'000'000;

}  // namespace

Work::Work(const ProblemText& text, std::uint64_t seed, int sources)
    : text_(text),
      sums_(find_operator(text.op).sums),
      op_(find_operator(text.op).bind(text.arguments)),
      shape_(op_.output_shape(text.shape)),
      plan_(plan_anew()) {
  const ElementType type{text.dtype, text.element_size};
  Random random(seed);
  Features ignored;
  before_ = random_elements(random, type, element_count(shape_), ignored);
  const auto array = [&](const Dims& shape, const std::vector<std::byte>& bytes) {
    return reference::Array{{shape.begin(), shape.end()}, reference_type(type.dtype), type.size, bytes};
  };
  const reference::Array held = array(shape_, before_);
  for (int i = 0; i < sources; ++i) {
    sources_.push_back(random_elements(random, type, element_count(text.shape), ignored));
    if (i == 0 && element_count(text.shape) + element_count(shape_) <= most_for_the_reference) {
      const auto data = array(text.shape, sources_.back());
      expected_.push_back(reference::run(text.op, data, reference_arguments(text.arguments), &held).bytes);
    } else {
      std::vector<std::byte> result = before_;
      throw_if_failed(plan_.run(sources_.back().data(), result.data(), serial_executor()), text.op);
      expected_.push_back(std::move(result));
    }
  }
}

ConstTensorView Work::source_view(const void* data) const {
  return {data, text_.shape, contiguous_strides(text_.shape, text_.element_size), text_.dtype, text_.element_size};
}

TensorView Work::destination_view() const {
  return {nullptr, shape_, contiguous_strides(shape_, text_.element_size), text_.dtype, text_.element_size};
}

Plan Work::plan_anew() const {
  return op_.plan(source_view(nullptr), destination_view());
}

std::int64_t Work::bytes() const {
  return static_cast<std::int64_t>(sources_.front().size() + before_.size());
}

std::optional<std::string> Work::run(const Plan& plan, int source, Executor& executor, std::size_t shift) const {
  constexpr std::size_t line = 64;
  const std::size_t size = before_.size();
  const std::unique_ptr<std::byte[]> memory(new std::byte[size + shift + 2 * line]);
  std::byte* begin = memory.get() + line - reinterpret_cast<std::uintptr_t>(memory.get()) % line + shift;
  const std::span<std::byte> result(begin, size);
  std::copy(before_.begin(), before_.end(), result.begin());
  const auto number = static_cast<std::size_t>(source);
  const Status status = plan.run(sources_[number].data(), result.data(), executor);
  if (status != Status::ok) return to_string(text_) + ": " + std::string(describe(status));
  const Arrangement placed{shape_, contiguous_strides(shape_, text_.element_size), text_.element_size, 0, size};
  const auto wrong = difference(placed, text_.dtype, sums_, result, expected_[number]);
  if (!wrong) return std::nullopt;
  return to_string(text_) + "; strategy " + std::string(plan.strategy()) + "; " + *wrong;
}

}  // namespace patchfold::testing
