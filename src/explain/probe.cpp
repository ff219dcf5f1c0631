// SPDX-License-Identifier: Apache-2.0
#include "explain/probe.hpp"

#include <algorithm>
#include <bit>

#include "tensor/fail.hpp"

namespace patchfold::explaining {
namespace {

/// The arguments without the fill value, which may be no integer, so that what lies outside becomes 0.
std::vector<Argument> probing_arguments(const Subject& subject, bool plain) {
  std::vector<Argument> arguments;
  for (const Argument& argument : subject.given) {
    const auto spec = std::ranges::find(subject.op.arguments, argument.name, &ArgumentSpec::name);
    if (spec->kind != ArgumentKind::number && !(plain && argument.name == "padding_mode")) arguments.push_back(argument);
  }
  return arguments;
}

}  // namespace

Probe::Probe(const Subject& subject, bool plain)
    : name_(subject.op.name),
      last_extent_(subject.input.empty() ? 1 : subject.input.back()),
      input_(subject.has_input() ? static_cast<std::size_t>(element_count(subject.input)) : 0),
      output_(static_cast<std::size_t>(element_count(subject.output))) {
  const BoundOperator bound = subject.op.bind(probing_arguments(subject, plain));
  plan_ = bound.plan(view(static_cast<const std::uint64_t*>(nullptr), subject.input),
                     view(static_cast<std::uint64_t*>(nullptr), subject.output));
}

const std::vector<std::uint64_t>& Probe::run(const std::vector<std::uint64_t>& input) {
  std::ranges::fill(output_, 0);
  throw_if_failed(plan_.run(input.data(), output_.data()), name_);
  return output_;
}

bool Probe::accumulates() {
  if (output_.empty()) return false;
  std::ranges::fill(output_, 1);
  throw_if_failed(plan_.run(input_.data(), output_.data()), name_);
  return output_[0] == 1;
}

/// Splits the range into parts, and tells by one run how many elements of each part arrive: each part adds to digits of its
/// own, which are wide enough for all of them.
void Probe::descend(std::int64_t begin, std::int64_t end) {
  if (found_.size() == most_) return;
  if (end - begin == 1) {
    found_.push_back(element_of(begin));
    return;
  }
  const std::int64_t parts = std::min<std::int64_t>(64 / digit_bits_, end - begin);
  const auto start_of = [&](std::int64_t part) { return begin + (end - begin) * part / parts; };
  for (std::int64_t part = 0; part < parts; ++part)
    for (std::int64_t n = start_of(part); n < start_of(part + 1); ++n)
      nth_input(n) = std::uint64_t{1} << (part * digit_bits_);
  const std::uint64_t digits = run(input_)[static_cast<std::size_t>(element_)];
  for (std::int64_t n = begin; n < end; ++n) nth_input(n) = 0;
  for (std::int64_t part = 0; part < parts; ++part)
    if (digits >> (part * digit_bits_) & ((std::uint64_t{1} << digit_bits_) - 1))
      descend(start_of(part), start_of(part + 1));
}

std::vector<std::int64_t> Probe::contributors(std::int64_t element, std::uint64_t count, std::size_t most,
                                              bool last_axis_slowest) {
  found_.clear();
  if (count == 0) return found_;
  element_ = element;
  digit_bits_ = std::bit_width(count);
  most_ = most;
  slow_extent_ = last_axis_slowest ? last_extent_ : 1;
  slow_step_ = std::ssize(input_) / slow_extent_;
  descend(0, static_cast<std::int64_t>(input_.size()));
  return found_;
}

std::vector<std::int64_t> Probe::destinations(const std::vector<std::int64_t>& elements) {
  for (std::size_t i = 0; i < elements.size(); ++i) input_[static_cast<std::size_t>(elements[i])] = std::uint64_t{1} << i;
  run(input_);
  for (const std::int64_t each : elements) input_[static_cast<std::size_t>(each)] = 0;
  std::vector<std::int64_t> found(elements.size(), -1);
  for (std::size_t to = 0; to < output_.size(); ++to)
    for (std::uint64_t bits = output_[to]; bits != 0; bits &= bits - 1)
      found[static_cast<std::size_t>(std::countr_zero(bits))] = static_cast<std::int64_t>(to);
  return found;
}

std::vector<std::int64_t> sources(const Subject& subject, bool plain) {
  Probe probe(subject, plain);
  std::vector<std::uint64_t> numbers(static_cast<std::size_t>(element_count(subject.input)));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i + 1;
  const auto& output = probe.run(numbers);
  std::vector<std::int64_t> from(output.size());
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::int64_t>(output[i]) - 1;
  return from;
}

}  // namespace patchfold::explaining
