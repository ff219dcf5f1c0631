// SPDX-License-Identifier: Apache-2.0
#include "formats/overviews.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "src/base/small_float.hpp"

namespace patchfold::formats {
namespace {

template <class T>
double number_of(const std::byte* element) noexcept {
  T value;
  std::memcpy(&value, element, sizeof(T));
  if constexpr (SmallFloat<T>)
    return decode(T::format, value.bits);
  else
    return static_cast<double>(value);
}

template <class T>
T element_of(double number) noexcept {
  if constexpr (SmallFloat<T>)
    return {static_cast<decltype(T::bits)>(round_to(T::format, number).bits)};
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(std::nearbyint(number));
  else
    return static_cast<T>(number);
}

bool is_mean_of(const TiffOptions& options, DType dtype) {
  using Overviews = TiffOptions::Overviews;
  if (options.overviews != Overviews::standard) return options.overviews == Overviews::mean;
  return kind_of(dtype) == ElementKind::real;  // integers may be labels
}

}  // namespace

Halving::Halving(const TiffOptions& options, DType dtype, std::int64_t channels, std::optional<double> nodata,
                 const Subject& subject)
    : dtype_(dtype), channels_(channels), is_mean_(is_mean_of(options, dtype)), nodata_(nodata) {
  if (is_mean_ && kind_of(dtype) != ElementKind::real && size_of(dtype) > 4)
    subject.fail(ErrorCode::dtype,
                 "must hold floating-point numbers, or integers of at most 32 bits, for means as overviews",
                 std::string(name_of(dtype)));
}

template <class T>
void Halving::means(const std::byte* first, const std::byte* second, std::int64_t width, std::byte* dst) const {
  constexpr auto size = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t pixel = channels_ * size;
  for (std::int64_t x = 0; x < width; x += 2) {
    const std::int64_t right = x + 1 < width ? pixel : 0;
    for (std::int64_t c = 0; c < channels_; ++c, dst += size) {
      const std::int64_t left = x * pixel + c * size;
      double sums[2] = {0, 0};
      int count = 0;
      for (int row = 0; row < 2; ++row)
        for (const std::int64_t place : {left, left + right}) {
          const double number = number_of<T>((row == 0 ? first : second) + place);
          if (number != number || (nodata_ && number == *nodata_)) continue;
          sums[row] += number;
          ++count;
        }
      const double none = nodata_.value_or(std::numeric_limits<double>::quiet_NaN());
      const T value = element_of<T>(count > 0 ? (sums[0] + sums[1]) / count : none);
      std::memcpy(dst, &value, sizeof(T));
    }
  }
}

void Halving::run(const std::byte* first, const std::byte* second, std::int64_t width, std::byte* dst) const {
  if (is_mean_)
    return visit(dtype_, [&]<class T>(std::type_identity<T>) {
      if constexpr (SmallFloat<T> || std::is_floating_point_v<T> || (std::is_integral_v<T> && sizeof(T) <= 4))
        means<T>(first, second, width, dst);
    });
  const auto pixel = static_cast<std::size_t>(channels_) * size_of(dtype_);
  for (std::int64_t x = 0; x < width; x += 2, dst += pixel)
    std::memcpy(dst, first + static_cast<std::size_t>(x) * pixel, pixel);
}

}  // namespace patchfold::formats
