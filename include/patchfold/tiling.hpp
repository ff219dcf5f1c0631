// SPDX-License-Identifier: Apache-2.0
// Arrays that are processed in overlapping tiles: a Tiling says where the tiles lie and cuts them out, and a Merger puts
// their results together without seams. docs/glossary.md explains the words. A library that was built without
// PATCHFOLD_WITH_TILING holds none of this.
//
//   const Tiling tiling({.shape = {3, 4000, 6000}, .tile = {512, 512}, .overlap = 64});
//   Merger merger(tiling, {.channels = {3}}, output);
//   for (const Tile tile : tiling) .. tiling.cut(tile.index, ..), compute, merger.add(tile.index, ..)
//   merger.finish();
//
// Tile k of a tiled axis reads elements [start, start + tile) of the array, where start = k * stride - margin and stride = tile -
// overlap. Elements outside the array are padding. The tail is the rule for the end of the axis and its margin, where the last tile
// may not fit. Tiles are numbered row-major over the tiled axes: the number along the last axis runs fastest. The function that
// makes a tile's result may scale it; the result lies at [start * scale + offset, start * scale + offset + result) of the output,
// whose extent is ceil(extent * scale) unless another one is given.
//
// Every function that is not noexcept throws std::bad_alloc if memory runs out. A call that throws std::bad_alloc has changed
// nothing, except that it may have closed a Merger (see class Merger).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "patchfold/operators.hpp"
#include "patchfold/plan.hpp"
#include "patchfold/tensor.hpp"
#include "patchfold/words.hpp"

namespace patchfold {

/// The rule for the end of an axis where the last tile does not fit.
///   shift         one more tile, moved back so that it ends with the array, which must be at least as long as a tile. If
///                 TilingSpec::align forbids that beginning, the tile ends in as few elements of padding as possible
///   pad           one more tile, whose part beyond the array is padding
///   partial       one more tile, shorter than the others. No tile has padding: tiles that begin before the array are cut too
///   drop          no more tile: elements at the end belong to no tile
///   error         Error(value)
///   shift_or_pad  shift; along an axis that is shorter than the tile, pad: one tile, whose end is padding
enum class Tail : std::uint8_t { shift, pad, partial, drop, error, shift_or_pad };
template <>
inline constexpr auto words<Tail> = std::to_array<Word<Tail>>({{Tail::shift, "shift"},
                                                               {Tail::shift_or_pad, "shift_or_pad"},
                                                               {Tail::pad, "pad"},
                                                               {Tail::partial, "partial"},
                                                               {Tail::drop, "drop"},
                                                               {Tail::error, "error"}});
/// Returns whether the tail asks for padding. (A shifted tile may have padding too, because of TilingSpec::align.)
constexpr bool pads(Tail tail) noexcept {
  return tail == Tail::pad || tail == Tail::shift_or_pad;
}

/// The value of an output element to which several tiles contribute.
///   mean         sum of weight * value / sum of weights
///   sum          sum of weight * value
///   max, min     the largest, smallest value; NaN if one of them is NaN
///   first, last  the value of the tile with the lowest, highest index
///   center       the value of the tile whose middle is nearest; the lower index if two are equally near. Middles are computed for
///                whole tiles. If the nearest tile is masked or has the weight 0, the value comes from the contributing tile that
///                is the fewest steps away in the grid of tiles
///   nanmean,     as mean, max and min, but NaNs take no part, as in NumPy; where only NaNs come, the fill, or NaN without a fill
///   nanmax, nanmin
///   median       the middle value, or of an even number of values the mean of the two middle ones, rounded once to nearest
///                even; NaN if one of them is NaN
///   vote         the most frequent value, of equally frequent ones the smallest; for integers and booleans
///   argmax       labels from scores: the first axis of results, which must not be tiled, holds a score for each class, and
///                the output lacks this axis. The label of an element is the number of the class whose mean is the largest, of
///                equal ones the lowest number; a NaN counts as the largest, as in NumPy. Means are float64, and 64-bit integers
///                for tiles of such. A class without contributions is left out
/// For median and vote, tiles count alike: weights must be 0 or 1.
enum class Reduce : std::uint8_t { mean, sum, max, min, first, last, center, nanmean, nanmax, nanmin, median, vote, argmax };
template <>
inline constexpr auto words<Reduce> = std::to_array<Word<Reduce>>({{Reduce::mean, "mean"},
                                                                   {Reduce::sum, "sum"},
                                                                   {Reduce::max, "max"},
                                                                   {Reduce::min, "min"},
                                                                   {Reduce::first, "first"},
                                                                   {Reduce::last, "last"},
                                                                   {Reduce::center, "center"},
                                                                   {Reduce::nanmean, "nanmean"},
                                                                   {Reduce::nanmax, "nanmax"},
                                                                   {Reduce::nanmin, "nanmin"},
                                                                   {Reduce::median, "median"},
                                                                   {Reduce::vote, "vote"},
                                                                   {Reduce::argmax, "argmax"}});
/// Returns whether the reduction makes weighted means, whose standard window is hann.
constexpr bool makes_means(Reduce reduce) noexcept {
  return reduce == Reduce::mean || reduce == Reduce::nanmean || reduce == Reduce::argmax;
}

/// A number as a fraction; den is at least 1.
struct Ratio {
  std::int64_t num = 1;
  std::int64_t den = 1;
  friend bool operator==(const Ratio&, const Ratio&) = default;
};

/// A range of elements: [begin, end).
struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  constexpr std::int64_t size() const noexcept { return end - begin; }
  friend bool operator==(const Span&, const Span&) = default;
};

/// A box of the output: a span along each tiled axis. The box has all elements along the other axes.
using Box = std::vector<Span>;

/// One tile along one tiled axis: elements `read` of the array become elements `write` of the output.
struct TileSpan {
  Span read{};              ///< the elements of the array that the tile holds
  std::int64_t extent = 0;  ///< extent of the tile: the elements that it reads, and the padding before and behind them
  Span write{};             ///< the elements of the output to which the result contributes
  Span keep{};              ///< the elements of the tile's result that become `write`; the others lie outside the output
  std::int64_t result = 0;  ///< extent of the tile's result
  std::int64_t start = 0;   ///< the output coordinate of the result's first element; may be negative
  std::int64_t origin = 0;  ///< the array coordinate of the tile's first element; negative if the tile begins with padding
  /// Returns the number of elements of padding before and behind `read`.
  constexpr Span padding() const noexcept {
    const std::int64_t before = origin < 0 ? (-origin < extent ? -origin : extent) : 0;
    return {before, extent - read.size() - before};
  }
  friend bool operator==(const TileSpan&, const TileSpan&) = default;
};

/// The tiles to make. A single number applies to every tiled axis. At most one of stride, overlap and overlap_fraction is given;
/// without any, tiles lie side by side.
struct TilingSpec {
  Dims shape{};                            ///< shape of the array
  Dims tile{};                             ///< extents along the tiled axes, at least 1
  Axes overlap{};                          ///< elements that neighbours share, less than the tile; negative: gaps
  std::vector<double> overlap_fraction{};  ///< the overlap as a fraction of the tile in [0, 1), rounded to whole elements
  Axes stride{};                           ///< elements from one tile's start to the next one's, at least 1
  Tail tail = Tail::shift;
  PaddingMode padding_mode = PaddingMode::constant;  ///< the elements of tiles that lie outside the array
  Scalar value{};                                    ///< fill of PaddingMode::constant
  Dims axes{};  ///< the tiled axes in ascending order; negative numbers count from the end; empty: the last ones
  std::vector<Ratio> scale{};  ///< output elements for each element of the array: one ratio, or one for each tiled axis
  Dims offset{};               ///< for each tiled axis, the output coordinate of the result of a tile that starts at 0; empty: 0
  Dims result{};               ///< extents of the result of a whole tile; empty: tile * scale
  Axes align{};                ///< tiles begin at multiples of align, and strides must be multiples of align; empty: 1
  Axes margin{};      ///< elements that tiles read before the array, and behind it; negative: that tiles leave out; empty: 0
  Axes margin_end{};  ///< elements that tiles read behind the array; empty: as `margin`
  Dims output{};      ///< extents of the output along the tiled axes; empty: ceil(extent * scale)
};

/// One tile: its index, its place in the grid of tiles, and its span along each tiled axis.
struct Tile {
  std::int64_t index = 0;
  Dims position{};
  std::vector<TileSpan> spans{};
};

/// The tiles of an array: a checked TilingSpec, and the arithmetic for the place of each tile.
///
/// Nothing is stored for each tile, so a tiling of 2^60 tiles is as small as one of four. A Tiling never changes, has no element
/// type, and may be used from several threads. A Tiling cuts tiles out of arrays (`cut`) and tells a Merger where results belong.
/// Errors of a Tiling have the op "tiling" and the codes value, length, rank and overflow.
class PATCHFOLD_API Tiling {
 public:
  explicit Tiling(const TilingSpec& spec);

  const TilingSpec& spec() const noexcept { return spec_; }  ///< the spec of the constructor
  std::int64_t size() const noexcept { return size_; }       ///< the number of tiles
  const Dims& grid() const noexcept { return grid_; }        ///< tiles along each tiled axis
  const Dims& axes() const noexcept { return axes_; }        ///< the tiled axes, from 0
  const Dims& stride() const noexcept { return stride_; }
  const Dims& result() const noexcept { return result_; }  ///< extents of the result of a whole tile
  const Dims& output() const noexcept { return output_; }  ///< extents of the output along the tiled axes
  const Dims& margin() const noexcept { return margin_; }  ///< elements that tiles may read before the array
  const Dims& margin_end() const noexcept { return margin_end_; }
  /// Returns the number along tiled axis i of a tile with the most elements; 0 if there are no tiles.
  std::int64_t longest(int i) const noexcept;
  /// Returns the index of a tile with the most elements, whose result has the most elements, too; 0 if there are no tiles.
  std::int64_t largest() const noexcept;
  /// Returns the elements that tiles may read along tiled axis i: those of the array and of its margins.
  Span reach(int i) const noexcept { return {-margin_[i], reach_[i] - margin_[i]}; }
  /// Returns the span of tile k along tiled axis i, for k from 0 to grid()[i] - 1.
  TileSpan span(int i, std::int64_t k) const noexcept;
  /// Returns the first tiled axis. A merge finishes its output in the order of this axis.
  int stream_axis() const noexcept { return static_cast<int>(axes_[0]); }

  /// Returns the tile with this index. Throws Error(value) for an index outside [0, size()).
  Tile operator[](std::int64_t index) const;
  /// An iterator over all tiles, for loops such as for (const Tile tile : tiling).
  class Iterator {
   public:
    using value_type = Tile;
    using difference_type = std::int64_t;
    Iterator() = default;
    Iterator(const Tiling& tiling, std::int64_t index) : tiling_(&tiling), index_(index) {}
    Tile operator*() const { return (*tiling_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++index_;
      return before;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const Tiling* tiling_ = nullptr;
    std::int64_t index_ = 0;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size_}; }
  /// Returns the tiles whose results touch a box of the output: a span [begin, end) of tiles along each tiled axis, of which every
  /// combination touches the box. The returned spans are empty if a span of the box is empty or lies in a gap. Takes O(log n) for n
  /// tiles along an axis. Throws Error(length) unless the box has a span for each tiled axis, Error(value) unless it lies in the
  /// output.
  std::vector<Span> touching(const Box& box) const;
  /// Returns the part of the result of tile `index` that lies in the box: along each tiled axis the elements [begin, end) of the
  /// result, {0, 0} if result and box share none. Throws the same errors as operator[] and touching.
  std::vector<Span> piece(std::int64_t index, const Box& box) const;
  /// Returns the shape of a tile of the array, including the axes that are not tiled.
  Dims tile_shape(std::int64_t index) const;
  /// Returns the tiled axes of a result with the given rank: the axes of the spec, with negative axes counted from the end of this
  /// rank. Throws Error(rank, value).
  Dims axes_in(int rank) const;
  /// Returns the shape of the result of a tile; `channels` are the extents of the axes that are not tiled, in order.
  Dims result_shape(std::int64_t index, const Dims& channels) const;
  Dims output_shape(const Dims& channels) const;
  /// Returns the extents of the axes that are not tiled, for a result of tile `index` that has this shape. Throws Error(value,
  /// rank, shape) for an index outside [0, size()) and for a shape that no result of the tile has.
  Dims result_channels(std::int64_t index, const Dims& shape) const;
  /// Returns the scale with which results of tile `index` would have this shape, in lowest terms; none if this scale is that of the
  /// spec or differs along the tiled axes, or if the spec has an offset, or a result other than tile * scale.
  std::optional<Ratio> scale_of(std::int64_t index, const Dims& shape) const;
  /// Returns the extents of the array's axes that are not tiled.
  Dims channels() const;
  /// Copies tile `index` of `array` to `tile`, padding included. Throws Error(shape, dtype, ..).
  void cut(std::int64_t index, const ConstTensorView& array, const TensorView& tile,
           Executor& executor = default_executor()) const;
  /// Counts the tiles that contribute to each element of the output: int64, over the tiled axes only.
  void coverage(const TensorView& counts) const;
  /// Returns {"shape": .., "tile": .., .., "tiles": [..]}; without the list of tiles if not `with_tiles`.
  std::string to_json(bool with_tiles = true) const;

 private:
  TilingSpec spec_;
  /// Returns the tail of tiled axis i, with shift or pad in place of shift_or_pad.
  Tail tail(int i) const noexcept;
  /// Throws Error(value) if the tiles of tiled axis i, which Tail::partial cuts, have no elements, or results of no elements.
  void check_partial(int i) const;

  Dims axes_{}, tile_{}, grid_{}, stride_{}, align_{}, result_{}, output_{}, offset_{}, scale_num_{}, scale_den_{};
  Dims margin_{}, margin_end_{}, reach_{};  ///< elements before and behind the array; extents of the array with both
  std::int64_t size_ = 0;
};

/// The weights of the elements of a whole tile's result; a shorter tile uses the first of these weights.
///   ones      1
///   linear    1 - |2t - 1|
///   hann      sin(pi t)^2
///   cosine    sin(pi t)
///   gaussian  exp(-((t - 1/2) / sigma_scale)^2 / 2), at least 2^-100
///   tukey     sin(pi t / alpha)^2 for t < alpha / 2, 1 in the middle, mirrored for t > 1 - alpha / 2: SciPy's formula
///   hamming   0.54 - 0.46 cos(2 pi t), the formula of numpy.hamming
///   axes      one list for each tiled axis; the weight of an element is the product
///   array     one list, row-major over the extents of a whole result along the tiled axes
///   standard  hann for reductions that make means, ones for all others; sample() returns the samples of hann
/// In the formulas t = (i + 1/2) / n for element i of n: weights are sampled at the middle of elements, so no weight of a formula
/// is 0. Lists of weights must be finite and at least 0; an element with the weight 0 contributes nothing.
struct WeightWindow {
  enum class Kind : std::uint8_t { ones, linear, hann, cosine, gaussian, axes, array, tukey, hamming, standard };
  Kind kind = Kind::standard;
  double sigma_scale = 0.125;
  std::vector<std::vector<double>> axes{};
  std::vector<double> array{};
  double alpha = 0.5;  ///< of tukey: the part of the tile that its two slopes take together, from 0 (ones) to 1 (hann)
};
template <>
inline constexpr auto words<WeightWindow::Kind> =
    std::to_array<Word<WeightWindow::Kind>>({{WeightWindow::Kind::ones, "ones"},
                                             {WeightWindow::Kind::linear, "linear"},
                                             {WeightWindow::Kind::hann, "hann"},
                                             {WeightWindow::Kind::cosine, "cosine"},
                                             {WeightWindow::Kind::gaussian, "gaussian"},
                                             {WeightWindow::Kind::tukey, "tukey"},
                                             {WeightWindow::Kind::hamming, "hamming"},
                                             {WeightWindow::Kind::axes, "axes"},
                                             {WeightWindow::Kind::array, "array"},
                                             {WeightWindow::Kind::standard, "standard"}});
/// Returns whether the kind stands for one formula: axes and array need lists of weights, and standard stands for two formulas.
constexpr bool has_formula(WeightWindow::Kind kind) noexcept {
  return kind != WeightWindow::Kind::axes && kind != WeightWindow::Kind::array && kind != WeightWindow::Kind::standard;
}
/// Returns the n samples of a window with a formula.
PATCHFOLD_API std::vector<double> sample(const WeightWindow& window, std::int64_t n);
/// Sums of tiles: in float64, or in its upper 48 bits, rounded to 37 significant bits after each addition but the last.
enum class RunningSums : std::uint8_t { none, float64, float48 };
/// The rules by which a merge makes one output from the results of tiles.
struct MergeSpec {
  /// The default is mean. For integers and booleans that are not converted, if no window is given (WeightWindow::Kind::standard),
  /// the default is center, since means of labels would be other labels.
  std::optional<Reduce> reduce{};
  WeightWindow window{};         ///< for reductions without means and sums it only matters which weights are 0
  DType dtype = DType::float32;  ///< element type of the tiles
  std::size_t element_size = 4;
  /// Float32 or float64 for means, sums and medians, uint8 or uint16 for argmax. None: the type of the tiles; for argmax, uint8 for
  /// up to 256 classes and uint16 for more, of which there may be 65536.
  std::optional<DType> output_dtype{};
  Dims channels{};                      ///< extents of the results' axes that are not tiled, in order
  std::vector<std::uint8_t> mask{};     ///< for each tile, 0 if it will not come; empty: all tiles come
  std::optional<Scalar> fill{};         ///< value of elements that no tile contributes to; none: they are Error(value)
  bool copy = false;                    ///< true: tiles that have to wait are copied; false: the merger borrows them
  std::optional<std::int64_t> memory_limit{};  ///< the most bytes of tiles that may wait
  /// Means of float32 with `copy` add up tiles that come in ascending order, in the output. Float48 has other last bits and half of
  /// the memory, if at most 1024 tiles hold an element. Tiles take no weights, and elements have no meaning before their last tile.
  RunningSums running_sums = RunningSums::none;
  /// A RowSink gets a multiple of this number of rows at a time, except at the end. A store whose chunks have this number of rows
  /// gets each chunk once.
  std::int64_t sink_rows = 1;
};

/// Checks a spec against a tiling as the constructor of Merger does, except for memory_limit. With `with_weights` the function also
/// checks whether weights of 0 leave elements without a value, which may take as long as visiting every element of the output.
/// Throws Error with op "merge".
PATCHFOLD_API void check_merge(const Tiling& tiling, const MergeSpec& spec, bool with_weights = false);

/// Returns the reduction of a merge with this spec: the reduction that the spec gives, or the default.
PATCHFOLD_API Reduce reduction_of(const MergeSpec& spec) noexcept;

/// The form of a merge's output. It is that of Tiling::output_shape and of the tiles' type for all reductions but argmax, whose
/// output lacks the first axis of the results.
struct MergeOutput {
  Dims shape{};
  Dims axes{};  ///< the tiled axes, as axes of the output
  DType dtype = DType::float32;
};
/// Returns the form of the output of a merge, without checking the rest of the spec. Throws Error(value, rank, limit, dtype) if the
/// results have no axis of classes for argmax, too many classes, or more classes than the given type can hold.
PATCHFOLD_API MergeOutput merge_output(const Tiling& tiling, const MergeSpec& spec);

/// The weights of one tile's result, which multiply those of the window: a number for all elements, or an array of float64. The
/// shape of the array broadcasts to that of the result as in NumPy. Weights must be finite and at least 0; those above 0
/// must lie between 2^-300 and 2^300. An element with the weight 0 contributes nothing.
///   mean, sum, nanmean,  weights multiply the values; for 64-bit integers weights must be 0 or 1
///   argmax
///   max, min, nanmax,    only weights of 0 have an effect
///   nanmin
///   median, vote         weights must be 0 or 1
///   first, last, center  weights must not be given: one tile gives the value
struct TileWeights {
  double number = 1;
  std::optional<ConstTensorView> array{};  ///< replaces the number
};

/// The most bytes that a merger holds if tiles are added in ascending order, without weights of single tiles.
struct MergeMemory {
  std::int64_t tiles = 0;  ///< tiles, or copies of their parts, that wait for their neighbours
  std::int64_t rows = 0;   ///< rows of the output that wait for their last elements before they go to a sink; 0 without a sink
  std::int64_t most = 0;   ///< the most of `tiles` and `rows` together at one time
};

/// Receives the output of a merge in parts, so that it never has to be in memory as a whole.
class PATCHFOLD_API RowSink {
 public:
  virtual ~RowSink();
  /// Takes rows [rows.begin, rows.end) of the output's stream axis; `band` is the output cut to these rows. Rows arrive in
  /// ascending order, without gaps, never from two threads at once. If the function throws, the merger takes no more tiles. The
  /// function must not call the merger.
  virtual void write(Span rows, const ConstTensorView& band) = 0;
};

/// Puts the results of tiles together. Tiles may be added in any order and from several threads. Each element of the output is
/// written once, as soon as all tiles that contribute to it are added. Until then these tiles wait, in their own type, unless the
/// spec has running sums. There is no array of counts.
///
/// Results are exact and repeatable. If all contributions to an element have equal bits, their mean is that value. Otherwise
/// weights are normalised, products are added in float64 in ascending order of the tiles, and the sum is rounded once, to nearest
/// even. 64-bit integers are added in 128-bit integers, and allow only the window ones. With m contributions the error before the
/// last rounding is at most (2m + 2) * 2^-53 * sum|w x| / sum w. Sums saturate. Results do not depend on threads, instruction sets,
/// or the order in which tiles are added. Merges with weights of single tiles are exact and repeatable in the same way.
///
/// Errors have the op "merge". A refused tile does not change the merger, even if memory ran out. If a sink throws, or memory runs
/// out after a tile has been taken, the merger closes: it takes no more tiles, and cannot finish.
class PATCHFOLD_API Merger {
 public:
  /// Makes a merger that writes into `output`, which has the form of merge_output() and needs no initial values.
  Merger(const Tiling& tiling, const MergeSpec& spec, const TensorView& output, Executor& executor = default_executor());
  /// Makes a merger that passes rows of the output to `sink` as soon as they are finished.
  Merger(const Tiling& tiling, const MergeSpec& spec, RowSink& sink, Executor& executor = default_executor());
  Merger(Merger&&) noexcept;
  Merger& operator=(Merger&&) noexcept;
  ~Merger();

  /// Takes the result of a tile. Unless spec.copy is set, the tile's memory must not change until the merger releases `owner`. The
  /// merger does so when the tile need not wait any more, at the latest in its destructor.
  void add(std::int64_t index, const ConstTensorView& tile, std::shared_ptr<const void> owner = {});
  /// Takes a tile with weights of its own, which are copied. A copied array waits as long as the tile, and counts in waiting_bytes
  /// and memory_limit. Without a fill, a tile is refused with Error(value) if it is the last tile that contributes to an element,
  /// and all weights of that element are 0.
  void add(std::int64_t index, const ConstTensorView& tile, const TileWeights& weights,
           std::shared_ptr<const void> owner = {});
  /// Completes the output. Throws Error(missing), which names the first missing tiles, unless all tiles are added.
  void finish();

  /// Returns the bytes of waiting tiles now; peak_bytes() returns the largest number so far.
  std::int64_t waiting_bytes() const;
  std::int64_t peak_bytes() const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

/// A part of the result of a tile: the elements that Tiling::piece gives for a box, with all channels.
struct Piece {
  std::int64_t index = 0;  ///< index of the tile
  ConstTensorView view{};
};

/// Merges single boxes of an output from pieces of results, without state: each call passes the data that a Merger keeps between
/// calls. Every element of every box has the bits that a Merger of the same tiling and spec gives it. The output may therefore be
/// made box by box, by several threads, processes or machines.
///
/// The time and memory of a call grow with the box and the tiles that touch it, not with the tiling. The window and the mask of the
/// spec, which are common to all tiles, are checked and stored when the BoxMerger is made. A BoxMerger never changes, shares its
/// data with its copies, and may be used from several threads. Errors have the op "merge".
class PATCHFOLD_API BoxMerger {
 public:
  /// Checks the spec. Throws the same errors as check_merge, except that each call of merge() looks in its own box for elements
  /// without a value. Ignores copy and memory_limit.
  BoxMerger(const Tiling& tiling, const MergeSpec& spec);

  /// Writes a box of the output to `output`, which must have the extents of the box along the tiled axes, and those of the
  /// channels along the other axes. The call needs a piece of every tile that contributes to the box: Error(missing) names
  /// missing tiles. For first, last and center only tiles that give elements contribute, unless the window has weights of 0.
  /// Pieces of other tiles that touch the box are not read. Error(value): a tile that does not touch the box, that the mask
  /// leaves out, or that is given twice. Every error except Error(out_of_memory) is thrown before anything is written.
  void merge(const Box& box, std::span<const Piece> pieces, const TensorView& output,
             Executor& executor = default_executor()) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// Returns the memory that a merge needs if tiles are added in order. Needs no data. `to_sink`: the merge writes to a RowSink.
PATCHFOLD_API MergeMemory merge_memory(const Tiling& tiling, const MergeSpec& spec, bool to_sink);

}  // namespace patchfold
