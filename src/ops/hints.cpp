// SPDX-License-Identifier: Apache-2.0
#include <concepts>
#include <string>
#include <utility>

#include "ops/axes.hpp"
#include "ops/change.hpp"
#include "ops/patches.hpp"
#include "patchfold/words.hpp"

namespace patchfold::ops {
namespace {

constexpr int most_channels = 4;  // if the last axis is at most this long, the image counts as a picture with channels last

/// The arguments that a hint may change; null for an argument that the operator lacks.
template <class Op>
struct Changeable {
  Axes Op::*kernel = nullptr;
  Padding Op::*padding = nullptr;
  Layout Op::*layout = nullptr;  ///< null also if the operator has no axis of channels
};
template <class Op>
constexpr Changeable<Op> changeable{};
template <>
constexpr Changeable<Unfold> changeable<Unfold>{&Unfold::kernel_size, &Unfold::padding, &Unfold::layout};
template <>
constexpr Changeable<Fold> changeable<Fold>{&Fold::kernel_size, &Fold::padding};
template <>
constexpr Changeable<Coverage> changeable<Coverage>{&Coverage::kernel_size, &Coverage::padding};
template <>
constexpr Changeable<Reorder> changeable<Reorder>{&Reorder::kernel_size};
template <>
constexpr Changeable<SpaceToBatch> changeable<SpaceToBatch>{&SpaceToBatch::block, &SpaceToBatch::padding};
template <>
constexpr Changeable<BatchToSpace> changeable<BatchToSpace>{&BatchToSpace::block, &BatchToSpace::crops};
template <>
constexpr Changeable<SpaceToDepth> changeable<SpaceToDepth>{&SpaceToDepth::block, nullptr, &SpaceToDepth::layout};
template <>
constexpr Changeable<DepthToSpace> changeable<DepthToSpace>{&DepthToSpace::block, nullptr, &DepthToSpace::layout};

/// Returns the call with a kernel of one entry for each of `rank` axes.
template <class Op>
Change<Op> with_kernel_of(const Change<Op>& call, int rank) {
  const Dims list = spread(call.op.*changeable<Op>.kernel, rank);
  return call.set(changeable<Op>.kernel, Axes(list), Setting(call.names.kernel_size, list));
}

template <class Op>
Change<Op> with_channels_last(const Change<Op>& call) {
  return call.set(changeable<Op>.layout, Layout::channels_last, Setting("layout", "channels_last"));
}

/// Adds a part to a list such as "a, b or c".
void add_choice(ErrorValue& list, std::string_view separator, const ErrorValue& choice) {
  if (!list.empty()) list.append(separator);
  list += choice;
}

/// Returns hints that give the kernel as a list, for calls whose single numbers do not tell the number of spatial axes.
template <class Op>
ErrorValue kernels(const Change<Op>& call) {
  ErrorValue list;
  const int other = call.data.size() == 3 ? 1 : 3;
  for (const int rank : {2, other}) {
    Change<Op> change = with_kernel_of(call, rank);
    if constexpr (changeable<Op>.layout != nullptr)
      if (rank > 1 && !change.plans() && call.names.op == Op::name) change = with_channels_last(change);
    if (!change.plans()) continue;
    add_choice(list, ", ", change.text);
    list.append(rank == 1 ? " for one" : rank == 2 ? " for two" : " for three", rank == 2 ? " spatial axes" : "");
  }
  return list.empty() ? ErrorValue("a list with one entry for each spatial axis") : list;
}

/// Returns the hint for padding with an entry for each end of an axis in place of an entry for each axis.
template <class Op>
ErrorValue pads(const Change<Op>& call) {
  const Padding& given = call.op.*changeable<Op>.padding;
  const int entries = given.pads().size(), rank = entries / 2;
  if (given.rule() != Padding::Rule::given || given.is_scalar() || entries < 2 || entries % 2 != 0) return {};
  const std::int64_t pad = given.pads()[0].begin;
  bool is_uniform = true;
  PadsList pairs;
  for (int i = 0; i < entries; ++i) {
    const Pads entry = given.pads()[i];
    if (entry.begin != entry.end) return {};
    is_uniform = is_uniform && entry.begin == pad;
    if (i % 2 == 1) pairs.push_back({given.pads()[i - 1].begin, entry.begin});
  }
  const std::string_view name = call.names.padding;
  const ErrorValue reason(name, " has ", entries, " entries, so ", entries, " spatial axes; write ");
  const bool takes_pairs = call.names.op == Op::name;
  if (!is_uniform) {
    // Systems order such entries differently, so the entries can be paired in two ways.
    ErrorValue hint = reason;
    if (!takes_pairs) hint.append("one number for each axis, or for the neutral ", Op::name, " ");
    hint.append("a pair (begin, end) for each axis");
    return call.set(changeable<Op>.padding, Padding(pairs), Setting(name, pairs)).plans() ? hint : ErrorValue();
  }
  ErrorValue list;
  for (const auto& [padding, typed] :
       {std::pair(Padding(pad), Setting(name, pad)), std::pair(Padding(pairs), Setting(name, Dims::filled(rank, pad))),
        std::pair(Padding(pairs), Setting(name, pairs))}) {
    const Change<Op> change = call.set(changeable<Op>.padding, padding, typed);
    const bool is_last = typed.value.index() == (takes_pairs ? 4 : 3);
    if (change.plans() && (takes_pairs || typed.value.index() != 4)) add_choice(list, is_last ? " or " : ", ", change.text);
  }
  if (list.empty()) return {};
  ErrorValue hint = reason;
  return hint += list;
}

/// Returns the hint for an image whose axes seem to have another order, or no axis of channels.
template <class Op>
ErrorValue axes_of_image(const Change<Op>& call, ErrorCode code) {
  const Dims& shape = call.data;
  const bool last = call.op.*changeable<Op>.layout == Layout::channels_last;
  if (code == ErrorCode::rank && shape.size() == 2) {
    const Dims grey = last ? Dims{shape[0], shape[1], 1} : Dims{1, shape[0], shape[1]};
    Change<Op> change = call.reshaped(grey);
    if ((call.op.*changeable<Op>.kernel).is_scalar()) change = with_kernel_of(change, 2);
    return change.hint("a grey picture: ");
  }
  const bool maybe_last = call.names.op == Op::name && !last && shape.size() > 2 && shape.back() <= most_channels;
  if ((code != ErrorCode::value && code != ErrorCode::divisible) || !maybe_last || shape.back() < 1) return {};
  return with_channels_last(call).hint("channels last? ");
}

/// Returns the hint for columns whose axes seem to have another order.
template <class Op>
ErrorValue axes_of_columns(const Change<Op>& call) {
  const int axes = call.data.size();
  if (call.op.positions != Positions::flat || axes < 2) return {};
  if (call.names.op == Fold::name) {  // dialects do not have a grid of positions
    const auto grid = call.set(&Op::positions, Positions::grid, Setting("positions", "grid"));
    if (ErrorValue hint = grid.hint("columns with one axis for each spatial axis: "); !hint.empty()) return hint;
  }
  Dims swapped = call.data;
  std::swap(swapped[axes - 2], swapped[axes - 1]);
  return call.arranged(Rearrangement::Kind::swap_axes, swapped, {axes - 2, axes - 1}).hint("axes look swapped: ");
}

template <class Op>
void propose(Error::Parts& parts, const Change<Op>& call) {
  const bool counts_axes = parts.code == ErrorCode::rank || parts.code == ErrorCode::length;
  if constexpr (changeable<Op>.kernel != nullptr)
    if (counts_axes && parts.rule.starts_with(one_number_is_ambiguous)) parts.expected = kernels(call);
  if constexpr (std::same_as<Op, Reorder>)
    if (const auto change = with_kernel_of(call, 2); parts.code == ErrorCode::length && change.plans()) {
      parts.expected = change.text;
      parts.expected.append(" for two");
    }
  if constexpr (changeable<Op>.padding != nullptr)
    if (const ErrorValue hint = counts_axes ? pads(call) : ErrorValue(); !hint.empty()) parts.hint = hint;
  if constexpr (changeable<Op>.layout != nullptr)
    if (parts.hint.empty()) parts.hint = axes_of_image(call, parts.code);
  if constexpr (std::same_as<Op, Unfold>)
    if (parts.hint.empty() && parts.code == ErrorCode::value && call.names.op == Op::name) {
      const auto change = call.set(&Unfold::allow_empty, true, Setting("allow_empty", true));
      if (change.plans()) {
        parts.hint = change.text;
        parts.hint.append(" returns no columns");
      }
    }
  if constexpr (std::same_as<Op, Fold> || std::same_as<Op, Reorder>)
    if (parts.code == ErrorCode::divisible || parts.code == ErrorCode::position_count) parts.hint = axes_of_columns(call);
}

}  // namespace

Error with_hints(const Error& error, const Neutral& op, const Dims& data, const Names& names) {
  Error::Parts parts = error.parts();
  std::visit([&]<class Op>(const Op& each) { propose(parts, Change<Op>{neutral, each, data, names}); }, op);
  return Error(std::move(parts));
}

}  // namespace patchfold::ops
