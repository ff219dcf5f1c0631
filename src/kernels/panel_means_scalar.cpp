// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "kernels/mean_scalar.hpp"
#include "kernels/panel_means.hpp"

namespace patchfold::kernels {

template <class T>
void mean_rows(const Panel& t, std::int64_t lanes, std::int64_t first, std::int64_t last) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t row = first; row < last; ++row)
    for (std::int64_t lane = 0; lane < t.vectors * lanes; ++lane) {
      const std::int64_t vector = lane / lanes, within = lane % lanes;
      typename MeanOf<T>::Accumulator sum(MeanOf<T>::nothing);
      std::int64_t met = 0;
      for (std::int64_t i = 0; i < t.count; ++i) {
        const auto [from, to] = range_of(t.masks[t.terms[i].mask], vector == 0, vector == t.vectors - 1, lanes);
        if (within < from || within >= to) continue;
        T value;
        std::memcpy(&value, t.src + t.terms[i].offset + row * t.src_pitch + lane * size, sizeof value);
        MeanOf<T>::add(sum, value);
        ++met;
      }
      T mean;
      std::memcpy(&mean, t.fill->data() + within * size, sizeof mean);
      if (met != 0 && !MeanOf<T>::store(sum, static_cast<double>(met), mean)) *t.certain = false;
      std::memcpy(t.to + row * t.to_pitch + lane * size, &mean, sizeof mean);
    }
}

template void mean_rows<Boolean>(const Panel&, std::int64_t, std::int64_t, std::int64_t);
template void mean_rows<std::int8_t>(const Panel&, std::int64_t, std::int64_t, std::int64_t);
template void mean_rows<std::uint8_t>(const Panel&, std::int64_t, std::int64_t, std::int64_t);
template void mean_rows<std::int16_t>(const Panel&, std::int64_t, std::int64_t, std::int64_t);
template void mean_rows<std::uint16_t>(const Panel&, std::int64_t, std::int64_t, std::int64_t);
template void mean_rows<std::int32_t>(const Panel&, std::int64_t, std::int64_t, std::int64_t);
template void mean_rows<std::uint32_t>(const Panel&, std::int64_t, std::int64_t, std::int64_t);
template void mean_rows<std::int64_t>(const Panel&, std::int64_t, std::int64_t, std::int64_t);
template void mean_rows<std::uint64_t>(const Panel&, std::int64_t, std::int64_t, std::int64_t);
template void mean_rows<Float16>(const Panel&, std::int64_t, std::int64_t, std::int64_t);
template void mean_rows<Bfloat16>(const Panel&, std::int64_t, std::int64_t, std::int64_t);
template void mean_rows<float>(const Panel&, std::int64_t, std::int64_t, std::int64_t);
template void mean_rows<double>(const Panel&, std::int64_t, std::int64_t, std::int64_t);

}  // namespace patchfold::kernels
