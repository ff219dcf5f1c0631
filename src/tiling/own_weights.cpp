// SPDX-License-Identifier: Apache-2.0
#include "tiling/own_weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "base/fail.hpp"
#include "base/index.hpp"
#include "ops/operands.hpp"

namespace patchfold::tiling {
namespace {

/// The largest own weight; the least one above 0 is its inverse. Within these limits, products with weights of a window fit
/// float64.
constexpr double most = 0x1p300;

/// Reads the weights of one tile; errors name the tile.
class Reader {
 public:
  Reader(const Rules& rules, const std::string& tile) : rules_(rules), name_("weight of " + tile) {}

  std::unique_ptr<const OwnWeights> read(const TileWeights& given, const Dims& shape) {
    auto own = std::make_unique<OwnWeights>();
    own->strides = Dims::filled(shape.size(), 0);
    if (given.array) {
      copy(*given.array, shape, *own);
    } else {
      own->values = {given.number};
    }
    bool is_ones = true;
    for (const double weight : own->values) {
      check(weight);
      own->has_zero |= weight == 0;
      is_ones &= weight == 1;
    }
    if (is_ones && !given.array && !own->has_zero) return nullptr;  // weights of 1 have no effect
    if (rules_.is_selecting)
      refuse(ErrorCode::value, "must not be given where one tile gives each element", text(word_of(rules_.reduce)),
             "the reduction mean or sum, or a mask that leaves out whole tiles");
    if (is_ones || (!rules_.is_weighted && !own->has_zero)) return nullptr;
    return own;
  }

 private:
  [[noreturn]] void refuse(ErrorCode code, std::string_view rule, ErrorValue given, ErrorValue expected = {}) const {
    fail(code, op_merge, name_, rule, std::move(given), std::move(expected));
  }

  void check(double weight) const {
    if (!(weight >= 0) || !std::isfinite(weight))
      refuse(ErrorCode::value, "must be finite and at least 0", to_string(Scalar(weight)));
    if (weight != 0 && (weight > most || weight < 1 / most))
      refuse(ErrorCode::value, "must have products with the window that float64 can hold", to_string(Scalar(weight)),
             "0, or about 5e-91 to 2e90");
    if (weight != 0 && weight != 1 && rules_.counts_alike)
      refuse(ErrorCode::value, "must be 0 or 1 for the reduction " + std::string(word_of(rules_.reduce)),
             to_string(Scalar(weight)), "0, 1, or the reduction mean");
    const bool is_mean_or_sum = rules_.reduce == Reduce::mean || rules_.reduce == Reduce::sum;
    if (weight != 0 && weight != 1 && is_mean_or_sum && !rules_.is_weighted)
      refuse(ErrorCode::dtype, "must be 0 or 1 for 64-bit integers, which float64 does not hold", to_string(Scalar(weight)),
             "0, 1, or tiles of another type");
  }

  void copy(const ConstTensorView& array, const Dims& shape, OwnWeights& own) const {
    if (array.dtype != DType::float64 || array.element_size != sizeof(double))
      refuse(ErrorCode::dtype, "must be float64", text(array.dtype));
    const int lead = shape.size() - array.shape.size();
    bool fits = lead >= 0;
    for (int axis = 0; fits && axis < array.shape.size(); ++axis)
      fits = array.shape[axis] == 1 || array.shape[axis] == shape[lead + axis];
    if (!fits) refuse(ErrorCode::shape, "must broadcast to the shape of the tile's result", array.shape, shape);
    const ops::Sound sound = ops::check_view(op_merge, name_, array);
    const std::int64_t count = element_count(array.shape);
    if (count > 0 && array.data == nullptr) refuse(ErrorCode::null_data, "has elements, but no data", {});
    std::int64_t stride = 1;
    for (int axis = array.shape.size() - 1; axis >= 0; --axis) {
      if (array.shape[axis] > 1) own.strides[lead + axis] = stride;
      stride *= array.shape[axis];
    }
    own.values.resize(static_cast<std::size_t>(count));
    const int last = array.shape.size() - 1;
    const std::int64_t row = last < 0 ? 1 : array.shape[last], step = last < 0 ? 0 : sound.strides[last];
    const Dims outer = array.shape.slice(0, std::max(last, 0));
    Dims at = Dims::filled(outer.size(), 0);
    for (std::int64_t done = 0; done < count; done += row) {
      const auto* from = static_cast<const std::byte*>(array.data);
      for (int axis = 0; axis < at.size(); ++axis) from += at[axis] * sound.strides[axis];
      for (std::int64_t j = 0; j < row; ++j)
        std::memcpy(&own.values[static_cast<std::size_t>(done + j)], from + j * step, sizeof(double));
      advance(at, outer);
    }
  }

  const Rules& rules_;
  std::string name_;
};

}  // namespace

std::unique_ptr<const OwnWeights> own_weights(const Rules& rules, const TileWeights& given, const Dims& shape,
                                              const std::string& tile) {
  return Reader(rules, tile).read(given, shape);
}

}  // namespace patchfold::tiling
