// SPDX-License-Identifier: Apache-2.0
// Resizes pictures in two passes, one along the columns and one along the rows. The code below makes the pass along the
// columns first. Where the other pass comes first, rows and columns are exchanged, which costs nothing, since both are
// strides.
//
// One kernel does both passes, since it adds rows of bytes. For the first pass, copies turn a strip of the picture so that
// the pixels of a column of the strip are neighbours, and turn the result back. Copies also take care of every layout.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "engine/parallel_rows.hpp"
#include "kernels/weigh.hpp"
#include "patchfold/operators.hpp"
#include "patchfold/pictures.hpp"
#include "pictures/operands.hpp"
#include "pictures/weights.hpp"

namespace patchfold {
namespace {

using pictures::AxisOfWeights;
using pictures::ResizedAxis;
using pictures::Taps;

/// The most rows or columns: the tables of weights grow with them.
constexpr std::int64_t most_pixels = std::int64_t{1} << 20;
/// The most planes of a picture whose pixels are neighbours.
constexpr std::int64_t most_channels = 16;
/// The bytes of a strip of the source, which should stay in the second-level cache.
constexpr std::int64_t strip_bytes = 1 << 18;
/// The most bytes of the pictures between the two passes.
constexpr std::int64_t between_bytes = 1 << 26;
/// Weighing a byte takes about as long as copying so many bytes.
constexpr double cost_of_byte = 8;

/// The byte strides of a picture's channels, rows and columns.
struct Steps {
  std::int64_t channel = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
};

/// The extents of a part of a picture.
struct Part {
  std::int64_t channels = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
};

Plan copy_of(const Part& part, const Steps& from, const Steps& to) {
  const Dims shape{part.channels, part.rows, part.columns};
  return Copy{}.plan({nullptr, shape, {from.channel, from.row, from.column}, DType::uint8, 1},
                     {nullptr, shape, {to.channel, to.row, to.column}, DType::uint8, 1});
}

/// Pictures of one form: a part of the axes of the tensors selects a picture, and the rest are its channels, rows and
/// columns.
struct Pictures {
  Dims extents{};  ///< of the axes that select a picture
  Dims src_strides{};
  Dims dst_strides{};
  std::int64_t channels = 1;
  Steps src{};
  Steps dst{};

  Pictures(const ConstTensorView& picture, const Dims& from, const Dims& to) {
    const int rank = picture.shape.size();
    src = {0, from[rank - 2], from[rank - 1]};
    dst = {0, to[rank - 2], to[rank - 1]};
    int channel = -1;
    for (int axis = 0; axis < rank - 2; ++axis)
      if (picture.shape[axis] > 1 && picture.shape[axis] <= most_channels && std::abs(from[axis]) < std::abs(src.column))
        channel = axis;
    for (int axis = 0; axis < rank - 2; ++axis) {
      if (axis == channel) {
        channels = picture.shape[axis];
        src.channel = from[axis];
        dst.channel = to[axis];
        continue;
      }
      extents.push_back(picture.shape[axis]);
      src_strides.push_back(from[axis]);
      dst_strides.push_back(to[axis]);
    }
  }

  void exchange_rows_and_columns() noexcept {
    std::swap(src.row, src.column);
    std::swap(dst.row, dst.column);
  }

  static std::int64_t offset(std::int64_t picture, const Dims& extents, const Dims& strides) noexcept {
    std::int64_t bytes = 0;
    for (int axis = extents.size() - 1; axis >= 0; picture /= extents[axis--])
      bytes += picture % extents[axis] * strides[axis];
    return bytes;
  }
};

/// Work that is cut into strips of equal height; the last strip may be lower.
struct Strips {
  std::int64_t rows = 0;
  std::int64_t height = 1;
  std::int64_t count() const noexcept { return (rows + height - 1) / height; }
  std::int64_t height_of(std::int64_t strip) const noexcept { return std::min(height, rows - strip * height); }
  /// Returns make(height) for all strips but a lower last one, and make(its height) for that one.
  template <class F>
  std::vector<Plan> plans(F&& make) const {
    std::vector<Plan> result{make(std::min(height, rows))};
    if (rows > height && rows % height != 0) result.push_back(make(rows % height));
    return result;
  }
  const Plan& plan_of(const std::vector<Plan>& plans, std::int64_t strip) const noexcept {
    return height_of(strip) == std::min(height, rows) ? plans.front() : plans.back();
  }
};

/// One call: both passes over all pictures.
class Resizing {
 public:
  Resizing(const Pictures& pictures, const ResizedAxis& rows, const ResizedAxis& columns, const Resize& op)
      : pictures_(pictures), rows_(rows), columns_(columns), along_columns_(!columns.keeps()), along_rows_(!rows.keeps()) {
    if (along_columns_) across_ = pictures::weights_of(columns, op.filter, op.fixed_point);
    first_row_ = 0;
    strips_.rows = rows.from;
    if (along_rows_) {
      down_ = pictures::weights_of(rows, op.filter, op.fixed_point);
      find_rows();
      // A row between the passes has the order of the destination.
      const bool inside = std::abs(pictures.dst.channel) < std::abs(pictures.dst.column);
      between_ = {inside ? 1 : columns.to, row_bytes(), inside ? pictures.channels : 1};
      after_.height = std::clamp<std::int64_t>(strip_bytes / row_bytes(), 1, 64);
      after_.rows = rows.to;
      out_ = after_.plans([&](std::int64_t height) { return copy_of(part(height, columns.to), between_, pictures.dst); });
    }
    strips_.height = std::clamp<std::int64_t>(strip_bytes / (columns.from * pictures.channels), 16, 64);
    const Steps& to = along_rows_ ? between_ : pictures.dst;
    in_ = strips_.plans([&](std::int64_t height) {
      return copy_of(part(height, columns.from), pictures.src, along_columns_ ? turned(height) : to);
    });
    if (along_columns_)
      back_ = strips_.plans([&](std::int64_t height) { return copy_of(part(height, columns.to), turned(height), to); });
  }

  Status run(const std::byte* src, std::byte* dst, Executor& executor) {
    const std::int64_t count = element_count(pictures_.extents);
    const std::int64_t bytes = along_rows_ ? strips_.rows * row_bytes() : 0;
    const std::int64_t together = bytes == 0 ? count : std::clamp<std::int64_t>(between_bytes / bytes, 1, count);
    std::unique_ptr<std::byte[]> between(bytes == 0 ? nullptr : new std::byte[static_cast<std::size_t>(together * bytes)]);
    for (std::int64_t first = 0; first < count; first += together) {
      const std::int64_t here = std::min(together, count - first);
      const auto source = [&](std::int64_t picture) {
        return src + Pictures::offset(first + picture, pictures_.extents, pictures_.src_strides) +
               first_row_ * pictures_.src.row;
      };
      const auto result = [&](std::int64_t picture) {
        return dst + Pictures::offset(first + picture, pictures_.extents, pictures_.dst_strides);
      };
      const Steps& to = along_rows_ ? between_ : pictures_.dst;
      Status status = share(
          here, strips_, static_cast<double>(columns_.from) * (along_columns_ ? cost_of_byte : 1), executor,
          [&](std::int64_t picture, std::int64_t strip, std::byte* room) {
            const std::int64_t row = strip * strips_.height;
            std::byte* const at = along_rows_ ? between.get() + picture * bytes : result(picture);
            return run_across(source(picture) + row * pictures_.src.row, at + row * to.row, strip, room);
          },
          along_columns_ ? strips_.height * pictures_.channels * (columns_.from + columns_.to) : 0);
      if (status == Status::ok && along_rows_)
        status = share(
            here, after_, static_cast<double>(columns_.to) * cost_of_byte, executor,
            [&](std::int64_t picture, std::int64_t strip, std::byte* room) {
              return run_down(between.get() + picture * bytes, result(picture), strip, room);
            },
            after_.height * row_bytes());
      if (status != Status::ok) return status;
    }
    return Status::ok;
  }

 private:
  std::int64_t row_bytes() const noexcept { return pictures_.channels * columns_.to; }
  Part part(std::int64_t rows, std::int64_t columns) const noexcept { return {pictures_.channels, rows, columns}; }
  /// Returns the steps of a strip in which the pixels of a column are neighbours, in the order of the source.
  Steps turned(std::int64_t height) const noexcept {
    const bool inside = std::abs(pictures_.src.channel) < std::abs(pictures_.src.row) &&
                        std::abs(pictures_.src.row) < std::abs(pictures_.src.column);
    return {inside ? 1 : height, inside ? pictures_.channels : 1, height * pictures_.channels};
  }

  /// Finds the rows of the source that the second pass reads, and lets its taps count from the first of them.
  void find_rows() {
    std::int64_t first = rows_.from, last = 0;
    for (const Taps& taps : down_.taps) {
      if (taps.count == 0) continue;
      first = std::min(first, taps.first);
      last = std::max(last, taps.first + taps.count);
    }
    first_row_ = std::min(first, last);
    strips_.rows = std::max<std::int64_t>(1, last - first_row_);
    for (Taps& taps : down_.taps) taps.first = taps.count == 0 ? 0 : taps.first - first_row_;
  }

  static void weigh(std::byte* dst, const std::byte* src, std::int64_t pitch, const AxisOfWeights& axis,
                    std::int64_t i) noexcept {
    const Taps& taps = axis.taps[static_cast<std::size_t>(i)];
    kernels::weigh(dst, src + taps.first * pitch, pitch, pitch, axis.weights.data() + taps.weights, taps.count, axis.bits);
  }

  Status run_across(const std::byte* src, std::byte* dst, std::int64_t strip, std::byte* room) const noexcept {
    if (!along_columns_) return strips_.plan_of(in_, strip).run(src, dst, serial_executor());
    const std::int64_t pitch = strips_.height_of(strip) * pictures_.channels;
    std::byte* const wide = room;
    std::byte* const made = room + pitch * columns_.from;
    if (const Status status = strips_.plan_of(in_, strip).run(src, wide, serial_executor()); status != Status::ok)
      return status;
    for (std::int64_t i = 0; i < columns_.to; ++i) weigh(made + i * pitch, wide, pitch, across_, i);
    return strips_.plan_of(back_, strip).run(made, dst, serial_executor());
  }

  Status run_down(const std::byte* between, std::byte* dst, std::int64_t strip, std::byte* room) const noexcept {
    const std::int64_t first = strip * after_.height;
    for (std::int64_t i = 0; i < after_.height_of(strip); ++i)
      weigh(room + i * row_bytes(), between, row_bytes(), down_, first + i);
    return after_.plan_of(out_, strip).run(room, dst + first * pictures_.dst.row, serial_executor());
  }

  /// Calls run(picture, strip, room) for every strip of every picture, with `bytes` of room that no other call uses.
  template <class F>
  Status share(std::int64_t count, const Strips& strips, double cost_of_row, Executor& executor, F&& run,
               std::int64_t bytes) const noexcept {
    std::atomic<Status> failed = Status::ok;
    const std::int64_t rows = count * strips.count();
    const double cost = static_cast<double>(count * strips.rows * pictures_.channels) * cost_of_row;
    const Status status = engine::parallel_rows(
        rows, cost,
        [&](std::int64_t first, std::int64_t last) noexcept {
          const std::unique_ptr<std::byte[]> room(
              bytes == 0 ? nullptr : new (std::nothrow) std::byte[static_cast<std::size_t>(bytes)]);
          if (bytes != 0 && room == nullptr) {
            failed = Status::out_of_memory;
            return;
          }
          for (std::int64_t i = first; i < last; ++i)
            if (const Status one = run(i / strips.count(), i % strips.count(), room.get()); one != Status::ok) failed = one;
        },
        executor);
    return status == Status::ok ? failed.load() : status;
  }

  const Pictures& pictures_;
  ResizedAxis rows_, columns_;
  bool along_columns_, along_rows_;
  AxisOfWeights across_{}, down_{};
  std::int64_t first_row_ = 0;
  Strips strips_{}, after_{};  ///< of the rows that the first pass makes, and of the result
  Steps between_{};
  std::vector<Plan> in_{}, back_{}, out_{};
};

/// Returns whether Pillow makes the pass along the rows first: where a picture loses rows, and more than twice as many rows
/// as columns. The sizes are those of the whole picture, also with a box.
bool rows_first(const ResizedAxis& rows, const ResizedAxis& columns) {
  return rows.to < rows.from && rows.from - rows.to > 2 * (columns.from - columns.to);
}

ResizedAxis axis_of(const Dims& from, const Dims& to, int axis, float begin, float end) {
  return {from[axis], to[axis], begin, end};
}

void check_arguments(const Resize& op, const Dims& from) {
  if (!is_enumerator(op.filter))
    fail(ErrorCode::value, Resize::name, "filter", "must be a filter of this library", static_cast<int>(op.filter));
  if (op.fixed_point == FixedPoint::torch) {
    if (op.filter != Filter::bilinear && op.filter != Filter::bicubic)
      fail(ErrorCode::value, Resize::name, "filter", "torch has only bilinear and bicubic", word_of(op.filter),
           "bilinear or bicubic");
    if (op.box) fail(ErrorCode::value, Resize::name, "box", "torch resizes whole pictures only");
  } else if (op.fixed_point != FixedPoint::pillow) {
    fail(ErrorCode::value, Resize::name, "fixed_point", "must be one of this library", static_cast<int>(op.fixed_point));
  }
  if (!op.box) return;
  const auto [left, upper, right, lower] = *op.box;
  const int rank = from.size();
  // Comparisons with a NaN are false.
  const bool inside = left >= 0 && upper >= 0 && right > left && lower > upper &&
                      right <= static_cast<float>(from[rank - 1]) && lower <= static_cast<float>(from[rank - 2]);
  if (!inside)
    fail(ErrorCode::value, Resize::name, "box", "must be (left, upper, right, lower), not empty, inside the picture",
         "(" + std::to_string(left) + ", " + std::to_string(upper) + ", " + std::to_string(right) + ", " +
             std::to_string(lower) + ")",
         ErrorValue("inside (0, 0, ", from[rank - 1], ", ", from[rank - 2], ")"));
}

}  // namespace

void Resize::run(const ConstTensorView& picture, const TensorView& resized, Executor& executor) const {
  const ops::Sound src = pictures::check_bytes(Resize::name, "picture", picture);
  const int rank = picture.shape.size();
  if (rank < 2)
    fail_rank(Resize::name, "picture", "must have rows and columns as its last axes", picture.shape, "rank 2 or more");
  const auto check_pixels = [&](std::string_view argument, const Dims& shape) {
    for (int axis = rank - 2; axis < rank; ++axis)
      if (shape[axis] < 1 || shape[axis] > most_pixels)
        fail(ErrorCode::value, Resize::name, argument, "must have rows and columns, at most 2^20 of each", shape);
  };
  check_pixels("picture", picture.shape);
  Dims shape = picture.shape;
  if (resized.shape.size() == rank)
    for (int axis = rank - 2; axis < rank; ++axis) shape[axis] = resized.shape[axis];
  const ops::Sound dst = pictures::check_result(Resize::name, "resized", resized, shape, DType::uint8);
  check_pixels("resized", shape);
  check_arguments(*this, picture.shape);
  if (element_count(shape) == 0) return;
  pictures::check_memory(Resize::name, "picture", picture, src, "resized", resized, dst);

  const auto whole = [&](int axis) { return static_cast<float>(picture.shape[axis]); };
  const std::array<float, 4> part = box.value_or(std::array<float, 4>{0, 0, whole(rank - 1), whole(rank - 2)});
  Pictures pictures(picture, src.strides, dst.strides);
  ResizedAxis rows = axis_of(picture.shape, shape, rank - 2, part[1], part[3]);
  ResizedAxis columns = axis_of(picture.shape, shape, rank - 1, part[0], part[2]);
  if (fixed_point == FixedPoint::pillow && rows_first(rows, columns)) {
    pictures.exchange_rows_and_columns();
    std::swap(rows, columns);
  }
  Resizing resizing(pictures, rows, columns, *this);
  throw_if_failed(resizing.run(static_cast<const std::byte*>(picture.data), static_cast<std::byte*>(resized.data), executor),
                  Resize::name, "resized");
}

}  // namespace patchfold
