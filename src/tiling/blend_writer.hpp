// SPDX-License-Identifier: Apache-2.0
// Writes rows whose elements are reduced from elements of several tiles.
#pragma once

#include <memory>
#include <vector>

#include "kernels/blend.hpp"
#include "tiling/cell_writer.hpp"

namespace patchfold::tiling {

/// Writes the cells of Unweighted plans, and is the base of the writers for weights, which override weigh(). A BlendWriter finds
/// the elements, packs elements that do not lie side by side, calls the kernel that reduces them, and stores the result. Whole rows
/// are made several at a time if all elements lie side by side and the weights allow it. Otherwise rows are made in parts that stay
/// in the first-level cache.
///
/// For argmax the scores of a part are made class by class, in memory for one class, and each is compared with the best so far.
class BlendWriter : public CellWriter {
 public:
  /// Makes a writer. `most_rows` is the largest number of whole rows whose weights can be set at a time; 0 if weights can only be
  /// set for parts of rows.
  BlendWriter(const CellPlan& plan, std::int64_t piece, std::int64_t most_rows = any_rows);

 protected:
  /// Sets the weights in terms_, and in raw_ if some weights are 0, for elements [begin, begin + count) of the next `rows` rows.
  virtual void weigh(std::int64_t rows, std::int64_t begin, std::int64_t count) noexcept;
  void write(std::int64_t rows, std::int64_t begin, std::int64_t count) noexcept final;

  /// Returns memory for one call of write(): `for_each` numbers for each number of each element.
  std::unique_ptr<double[]> numbers(std::size_t for_each) const;

  std::vector<kernels::BlendTerm> terms_;
  /// For each source, the weights before they are normalised, one for each number of an element. A tile contributes to the
  /// elements whose weights are not 0 here.
  std::vector<kernels::RawWeights::Term> raw_;
  kernels::RawWeights::Term inverse_{};  ///< BlendRows::inverse

 private:
  bool takes_part(std::size_t source, std::int64_t j) const noexcept {
    return raw_[source].from[j * plan_.rules.parts] != 0;
  }
  void place_elements(std::int64_t rows, std::int64_t begin, std::int64_t count) noexcept;
  void make_labels(std::byte* dst, std::int64_t begin, std::int64_t count) noexcept;
  void rank(std::int64_t first, std::int64_t count) noexcept;
  void make_stretches(std::byte* dst, std::int64_t count) noexcept;
  void reduce_chosen(std::byte* dst, std::int64_t count, std::size_t chosen) noexcept;

  bool streams_;                              ///< rows are made in the first-level cache, then written past the cache
  kernels::Blend blend_;                      ///< the kernel that reduces the terms
  kernels::Blend lines_ = nullptr;            ///< if streams_: the kernel for parts that are whole lines of the output
  std::unique_ptr<std::byte[]> packed_;       ///< elements of the sources, packed without gaps, or null
  std::unique_ptr<std::byte[]> made_;         ///< elements of the output, packed before they are moved there, or null
  std::vector<kernels::BlendTerm> chosen_{};  ///< for make_stretches(): the terms whose weight is not 0
  std::vector<std::int64_t> chosen_tiles_{};
  std::unique_ptr<std::uint64_t[]> room_;   ///< BlendRows::room, for median and vote
  std::unique_ptr<double[]> best_;          ///< Ranking::best, for argmax
  std::unique_ptr<std::int32_t[]> labels_;  ///< Ranking::labels
};

}  // namespace patchfold::tiling
