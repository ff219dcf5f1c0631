// SPDX-License-Identifier: Apache-2.0
// What the copies without windows share: split, join, gather, strided.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "engine/compiled.hpp"
#include "engine/machine.hpp"
#include "engine/normalise.hpp"
#include "engine/problem.hpp"

namespace patchfold::engine {

using DimList = FixedList<Dim, 2 * max_rank>;

/// The last dim that is `wanted`, or -1.
inline int find(const DimList& dims, auto&& wanted) {
  for (int i = dims.size() - 1; i >= 0; --i)
    if (wanted(dims[i])) return i;
  return -1;
}

/// Takes the i-th dim out of the list; for i = -1 a dim of extent 1.
inline Dim take(DimList& dims, int i) {
  if (i < 0) return {};
  const Dim dim = dims[i];
  dims.erase(i);
  return dim;
}

/// Bytes of the units that planes are made of, at most: longer ones are runs (arbitrary).
inline constexpr std::int64_t longest_plane_unit = 1024;

/// Runs through the index tuples of dims, the last fastest, and keeps the offsets of the tuple on both sides.
class Counter {
 public:
  Counter(const DimList& dims, std::int64_t start) noexcept : dims_(dims) {
    for (int i = dims.size() - 1; i >= 0; --i) {
      auto& index = index_[static_cast<std::size_t>(i)];
      index = start % dims[i].extent;
      start /= dims[i].extent;
      src += index * dims[i].src_stride;
      dst += index * dims[i].dst_stride;
    }
  }
  void next() noexcept {
    for (int i = dims_.size() - 1; i >= 0; --i) {
      const Dim& dim = dims_[i];
      src += dim.src_stride;
      dst += dim.dst_stride;
      if (++index_[static_cast<std::size_t>(i)] < dim.extent) return;
      index_[static_cast<std::size_t>(i)] = 0;
      src -= dim.extent * dim.src_stride;
      dst -= dim.extent * dim.dst_stride;
    }
  }

  std::int64_t src = 0;
  std::int64_t dst = 0;

 private:
  const DimList& dims_;
  std::array<std::int64_t, 2 * max_rank> index_;
};

inline std::int64_t count_tuples(const DimList& dims) noexcept {
  std::int64_t count = 1;
  for (const Dim& dim : dims) count *= dim.extent;
  return count;
}

/// A copy of a problem that has dims only. In the normal form dims are ordered by destination stride. A strategy takes two
/// or three dims out of `counted_` for its kernel and sets `rows_`; each tuple of the dims that are left is a row of work.
class WindowlessCopy : public Compiled {
 public:
  explicit WindowlessCopy(const Problem& problem) : Compiled(problem), counted_(problem.dims), store_(store_of(problem)) {
    bytes_ = 2.0 * static_cast<double>(problem.element_size);
    for (const Dim& dim : problem.dims) bytes_ *= static_cast<double>(dim.extent);
    Problem rest = problem;
    unit_ = take_unit(rest);
    counted_ = rest.dims;
  }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* scratch) const noexcept override {
    Counter counter(counted_, first);
    const std::byte* src_end = src + problem_.src_range.end;
    src += problem_.src_offset;
    dst += problem_.dst_offset;
    for (std::int64_t row = first; row < last; ++row) {
      const Counter here = counter;
      counter.next();
      run_row({src + here.src, dst + here.dst, row, row + 1 < last ? src + counter.src : nullptr, src_end, scratch});
    }
    if (store_ == kernels::Store::past_cache) kernels::finish_stores();
  }

 protected:
  struct Row {
    const std::byte* src = nullptr;
    std::byte* dst = nullptr;
    std::int64_t index = 0;
    const std::byte* next_src = nullptr;  ///< where the next row begins, if there is one
    const std::byte* src_end = nullptr;   ///< of the tensor
    std::byte* scratch = nullptr;
  };
  virtual void run_row(const Row& row) const noexcept = 0;

  std::int64_t unit_ = 1;
  DimList counted_;
  kernels::Store store_;
};

template <class Plan>
std::unique_ptr<Compiled> if_fits(const Problem& problem) {
  auto plan = std::make_unique<Plan>(problem);
  return plan->fits() ? std::move(plan) : nullptr;
}

}  // namespace patchfold::engine
