// SPDX-License-Identifier: Apache-2.0
// The plans that this thread made last, found again by all that went into them. A repeated small call would otherwise spend
// most of its time on planning.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "python/native/call.hpp"

namespace patchfold::python {

/// All that a plan depends on, as numbers: the operator, its values, both tensors' shapes, strides and types, and the
/// generation of plans, which changes with the instruction set.
class PlanKey {
 public:
  PlanKey(const OperatorSpec& op, const ConstTensorView& src, const TensorView* dst, const Values& values) {
    add(static_cast<std::int64_t>(detail::plan_generation()));
    add(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&op)));
    if (!op.data_input.empty()) add(src);
    add(dst != nullptr);
    if (dst) add(*dst);
    for (const auto& value : values) {
      add(value ? static_cast<std::int64_t>(value->index()) : -1);
      if (value) std::visit([this](const auto& held) { add(held); }, *value);
    }
  }
  bool fits() const { return size_ <= words_.size(); }
  std::uint64_t hash() const {
    std::uint64_t hash = 14695981039346656037u;
    for (std::size_t i = 0; i < size_; ++i) hash = (hash ^ static_cast<std::uint64_t>(words_[i])) * 1099511628211u;
    return hash ^ hash >> 32;
  }
  friend bool operator==(const PlanKey& a, const PlanKey& b) {
    return a.size_ == b.size_ && std::equal(a.words_.begin(), a.words_.begin() + a.size_, b.words_.begin());
  }

 private:
  void add(std::int64_t word) {
    if (size_ < words_.size()) words_[size_] = word;
    ++size_;
  }
  void add(const Dims& dims) {
    add(dims.size());
    for (const std::int64_t value : dims) add(value);
  }
  void add(const PadsList& pads) {
    add(pads.size());
    for (int i = 0; i < pads.size(); ++i) add(pads[i].begin), add(pads[i].end);
  }
  void add(const Scalar& scalar) {
    add(static_cast<std::int64_t>(scalar.kind()));
    add(scalar.as_signed());
    add(std::bit_cast<std::int64_t>(scalar.real()));
    add(std::bit_cast<std::int64_t>(scalar.imaginary()));
  }
  void add(const std::string& word) {
    add(static_cast<std::int64_t>(word.size()));
    for (const char c : word) add(c);
  }
  void add(const IndexTensor& tensor) {
    add(tensor.values);
    add(tensor.shape);
    add(static_cast<std::int64_t>(tensor.dtype));
  }
  void add(const ConstTensorView& view) {
    add(view.shape);
    add(view.strides);
    add(static_cast<std::int64_t>(view.dtype));
    add(static_cast<std::int64_t>(view.element_size));
  }

  std::array<std::int64_t, 160> words_;
  std::size_t size_ = 0;
};

class PlanCache {
 public:
  /// The plan of this key; make() is called if it is not there.
  template <class F>
  const Prepared& find(const PlanKey& key, F&& make) {
    if (!key.fits()) return fill(spare_, key, make);
    Pair& pair = pairs_[key.hash() % pairs_.size()];
    for (std::size_t i = 0; i < 2; ++i)
      if (pair.slots[i].key && *pair.slots[i].key == key) {
        pair.oldest = 1 - i;
        return pair.slots[i].prepared;
      }
    const std::size_t oldest = pair.oldest;
    pair.oldest = 1 - oldest;
    return fill(pair.slots[oldest], key, make);
  }

 private:
  struct Slot {
    std::optional<PlanKey> key{};
    Prepared prepared{};
  };
  /// Two calls whose keys have the same hash do not drive each other out.
  struct Pair {
    std::array<Slot, 2> slots{};
    std::size_t oldest = 0;
  };

  template <class F>
  static const Prepared& fill(Slot& slot, const PlanKey& key, F&& make) {
    slot.key.reset();
    slot.prepared = make();
    slot.key = key;
    return slot.prepared;
  }

  std::array<Pair, 32> pairs_{};
  Slot spare_{};  ///< for keys that are too long to be found again
};

}  // namespace patchfold::python
