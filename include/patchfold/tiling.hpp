// SPDX-License-Identifier: Apache-2.0
// Pictures and volumes in overlapping tiles: cut, and put back without seams.
//
// Along each tiled axis tile k reads [start, start + tile) of the array, start = k * stride, stride = tile - overlap; the
// tail says what happens where the last of them does not fit. Tiles count row-major over the tiled axes: the last one runs
// fastest. The result of a tile, which a function may have scaled, lies at
//   [start * scale + offset, + result) of the output, whose extent is ceil(extent * scale).
//
// Functions throw std::bad_alloc if memory runs out. They have changed nothing then.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "patchfold/operators.hpp"
#include "patchfold/plan.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold {

/// What happens to the end of an axis that the stride does not reach evenly.
///   shift    one more tile, moved back so that it ends with the array; the array must be as long as a tile
///   pad      one more tile, of which the part beyond the array is padding
///   partial  one more tile, shorter than the others
///   drop     nothing: the end belongs to no tile
///   error    Error(value)
enum class Tail : std::uint8_t { shift, pad, partial, drop, error };

/// How elements that several tiles give become one.
///   mean             sum of weight * value / sum of weights
///   sum              sum of weight * value
///   max, min         NaN if one of them is
///   first, last      of the tile with the lowest, highest index
///   center           of the tile whose middle is nearest; of two that are equally near, the lower index. Middles are those
///                    of whole tiles. Where that tile does not take part, the one that is the fewest steps from it in the
///                    grid stands in
enum class Reduce : std::uint8_t { mean, sum, max, min, first, last, center };

PATCHFOLD_API std::string_view name_of(Tail tail) noexcept;
PATCHFOLD_API std::string_view name_of(Reduce reduce) noexcept;
PATCHFOLD_API std::optional<Tail> tail_of(std::string_view name) noexcept;
PATCHFOLD_API std::optional<Reduce> reduce_of(std::string_view name) noexcept;

/// A number as a fraction; den >= 1.
struct Ratio {
  std::int64_t num = 1;
  std::int64_t den = 1;
  friend bool operator==(const Ratio&, const Ratio&) = default;
};

/// [begin, end)
struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  constexpr std::int64_t size() const noexcept { return end - begin; }
  friend bool operator==(const Span&, const Span&) = default;
};

/// One tile along one tiled axis.
struct TileSpan {
  Span read{};              ///< of the array
  std::int64_t extent = 0;  ///< of the tile: read, and padding behind it
  Span write{};             ///< of the output, which gets...
  Span keep{};              ///< ...this part of the tile's result
  std::int64_t result = 0;  ///< extent of the tile's result
  std::int64_t start = 0;   ///< coordinate of the output at which the first element of the result lies
  friend bool operator==(const TileSpan&, const TileSpan&) = default;
};

/// What to tile, and how. One number stands for every tiled axis. Exactly one of stride, overlap and overlap_fraction is
/// given; none means tiles side by side.
struct TilingSpec {
  Dims shape{};                            ///< of the array
  Dims tile{};                             ///< extents along the tiled axes, at least 1
  Axes overlap{};                          ///< elements, less than the tile; negative: gaps
  std::vector<double> overlap_fraction{};  ///< of the tile, in [0, 1), rounded to whole elements; for every or for each axis
  Axes stride{};                           ///< at least 1
  Tail tail = Tail::shift;
  PaddingMode padding_mode = PaddingMode::constant;  ///< for Tail::pad
  Scalar value{};                                    ///< fill of PaddingMode::constant
  Dims axes{};                 ///< the tiled axes, ascending; negative ones count from the end; none: the last ones
  std::vector<Ratio> scale{};  ///< output elements for each element of the array; one for each axis, or one
  Dims offset{};               ///< in output elements, one for each axis
  Dims result{};               ///< extents of the result of a whole tile; none: tile * scale
};

/// One tile: its index, its place in the grid of tiles, and its span along each tiled axis.
struct Tile {
  std::int64_t index = 0;
  Dims position{};
  std::vector<TileSpan> spans{};
};

/// The tiles of an array: for each tiled axis a list of spans, computed when asked for. Throws Error(value, length, rank,
/// overflow) with op "tiling".
class PATCHFOLD_API Tiling {
 public:
  explicit Tiling(const TilingSpec& spec);

  const TilingSpec& spec() const noexcept { return spec_; }  ///< as it was given
  std::int64_t size() const noexcept { return size_; }       ///< number of tiles
  const Dims& grid() const noexcept { return grid_; }        ///< tiles along each tiled axis
  const Dims& axes() const noexcept { return axes_; }        ///< the tiled axes, from 0
  const Dims& stride() const noexcept { return stride_; }
  const Dims& result() const noexcept { return result_; }  ///< extents of the result of a whole tile
  const Dims& output() const noexcept { return output_; }  ///< extents of the output along the tiled axes
  /// Tile k of grid()[i] along tiled axis i.
  TileSpan span(int i, std::int64_t k) const noexcept;
  /// The axis of the array along which rows of tiles are finished one after the other: the first tiled one.
  int stream_axis() const noexcept { return axes_[0]; }

  /// Throws Error(value) for an index outside [0, size()).
  Tile operator[](std::int64_t index) const;
  /// for (const Tile tile : tiling)
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
  /// Shape of a tile of the array, with the axes that are not tiled.
  Dims tile_shape(std::int64_t index) const;
  /// The tiled axes of a result of that rank: the axes of the spec, counted anew. Throws Error(rank, value).
  Dims axes_in(int rank) const;
  /// Shape of the result of a tile whose other axes have these extents, in order.
  Dims result_shape(std::int64_t index, const Dims& channels) const;
  Dims output_shape(const Dims& channels) const;
  /// Extents of the array's axes that are not tiled.
  Dims channels() const;
  /// Copies tile `index` of `array` to `tile`, padding included. Throws Error(shape, dtype, ..).
  void cut(std::int64_t index, const ConstTensorView& array, const TensorView& tile,
           Executor& executor = default_executor()) const;
  /// How many tiles give each element of the output: int64, over the tiled axes only.
  void coverage(const TensorView& counts) const;
  /// {"shape": .., "tile": .., .., "tiles": [..]}; without the list of tiles if not `with_tiles`.
  std::string to_json(bool with_tiles = true) const;

 private:
  TilingSpec spec_;
  Dims axes_{}, tile_{}, grid_{}, stride_{}, result_{}, output_{}, offset_{}, scale_num_{}, scale_den_{};
  std::int64_t size_ = 0;
};

/// Weights of the elements of a tile's result. They belong to a whole tile: shorter tiles use the part that they have.
///   ones      1
///   linear    1 - |2t - 1|              t = (i + 1/2) / n for element i of n: weights are sampled at the middle of
///   hann      sin(pi t)^2               elements, so none is 0
///   cosine    sin(pi t)
///   gaussian  exp(-((t - 1/2) / sigma_scale)^2 / 2), at least 2^-100
///   axes      one list for each tiled axis, multiplied
///   array     row-major over the extents of a whole result along the tiled axes
/// Given weights are finite and at least 0; what has the weight 0 does not take part.
struct WeightWindow {
  enum class Kind : std::uint8_t { ones, linear, hann, cosine, gaussian, axes, array };
  Kind kind = Kind::hann;
  double sigma_scale = 0.125;
  std::vector<std::vector<double>> axes{};
  std::vector<double> array{};
};
PATCHFOLD_API std::string_view name_of(WeightWindow::Kind kind) noexcept;
/// The kinds that have a formula: ones, linear, hann, cosine, gaussian.
PATCHFOLD_API std::optional<WeightWindow::Kind> window_of(std::string_view name) noexcept;
/// The n samples of a window with a formula.
PATCHFOLD_API std::vector<double> sample(const WeightWindow& window, std::int64_t n);

struct MergeSpec {
  Reduce reduce = Reduce::mean;
  WeightWindow window{};         ///< for max, min, first, last and center only where it is 0 matters
  DType dtype = DType::float32;  ///< of the tiles
  std::size_t element_size = 4;
  std::optional<DType> output_dtype{};         ///< the tiles' (default), float32 or float64
  Dims channels{};                             ///< extents of the results' axes that are not tiled, in order
  std::vector<std::uint8_t> mask{};            ///< one for each tile, 0: it will not come; empty: all come
  std::optional<Scalar> fill{};                ///< of elements that no tile gives; none: such elements are Error(value)
  bool copy = false;                           ///< keep what waits in memory of the merger; else tiles are borrowed
  std::optional<std::int64_t> memory_limit{};  ///< bytes that may wait
};

/// Bytes that a merger holds at most if tiles come in ascending order.
struct MergeMemory {
  std::int64_t tiles = 0;  ///< that wait for their neighbours
  std::int64_t rows = 0;   ///< finished, or about to be, on their way to a sink
  std::int64_t most = 0;   ///< of both at the same time
};

/// Where finished rows go.
class PATCHFOLD_API RowSink {
 public:
  virtual ~RowSink();
  /// Takes rows [rows.begin, rows.end) of the output's stream axis; `band` is the output cut to them. Called in ascending
  /// order, without gaps, never from two threads at once. May throw: the merger then takes no more tiles. Must not call the
  /// merger.
  virtual void write(Span rows, const ConstTensorView& band) = 0;
};

/// Puts results of tiles together. Every element of the output is written once, as soon as all tiles that give it are
/// there; where tiles overlap, they wait in their own type. There is no accumulator and no plane of counts.
///
/// If all contributions to an element have equal bits, mean gives that value. Otherwise weights are normalised and products
/// added in ascending order of the tiles in float64 (64-bit integers: 128-bit integers, window ones only) and rounded once,
/// to nearest even: for m contributions the error before that rounding is at most (2m + 2) * 2^-53 * sum|w x| / sum w.
/// Sums saturate. Results do not depend on threads, instruction sets, or the order in which tiles come.
///
/// Throws Error with op "merge". A tile that is refused leaves the merger as it was. Safe to use from several threads.
class PATCHFOLD_API Merger {
 public:
  /// Into `output`, which needs no initial values.
  Merger(const Tiling& tiling, const MergeSpec& spec, const TensorView& output, Executor& executor = default_executor());
  /// Into rows that leave as soon as they are finished.
  Merger(const Tiling& tiling, const MergeSpec& spec, RowSink& sink, Executor& executor = default_executor());
  Merger(Merger&&) noexcept;
  Merger& operator=(Merger&&) noexcept;
  ~Merger();

  /// Takes the result of a tile. Unless spec.copy, its memory must not change until it is released: `owner` is let go then
  /// (at the latest by finish() or the destructor).
  void add(std::int64_t index, const ConstTensorView& tile, std::shared_ptr<const void> owner = {});
  /// All tiles must be there: Error(missing) names those that are not.
  void finish();

  /// What waits now, and the most that has waited, in bytes.
  std::int64_t waiting_bytes() const;
  std::int64_t peak_bytes() const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

/// What a merger will need, before anything is allocated. `to_sink`: rows are counted too.
PATCHFOLD_API MergeMemory merge_memory(const Tiling& tiling, const MergeSpec& spec, bool to_sink);

}  // namespace patchfold
