// SPDX-License-Identifier: Apache-2.0
#include "cli/promote.hpp"

#include <algorithm>
#include <limits>

#include "formats/file.hpp"

namespace patchfold::cli {
namespace {

bool has_colours(std::int64_t channels) {
  return channels >= 3;
}
bool has_alpha(std::int64_t channels) {
  return channels % 2 == 0;
}

template <class From, class To>
void copy_pixels(const From* src, std::int64_t from, To* dst, std::int64_t to, std::int64_t count) {
  constexpr auto most = std::numeric_limits<To>::max();
  constexpr auto factor = static_cast<To>(most / std::numeric_limits<From>::max());
  const std::int64_t colours = has_colours(to) ? 3 : 1;
  for (std::int64_t i = 0; i < count; ++i, src += from, dst += to) {
    for (std::int64_t c = 0; c < colours; ++c) dst[c] = static_cast<To>(src[has_colours(from) ? c : 0] * factor);
    if (has_alpha(to)) dst[to - 1] = has_alpha(from) ? static_cast<To>(src[from - 1] * factor) : most;
  }
}

}  // namespace

std::optional<PixelForm> common_form(const std::vector<PixelForm>& forms) {
  PixelForm common;
  bool colours = false;
  bool alpha = false;
  for (const PixelForm& form : forms) {
    if ((form.type != DType::uint8 && form.type != DType::uint16) || form.channels < 1 || form.channels > 4)
      return std::nullopt;
    if (form.type == DType::uint16) common.type = DType::uint16;
    colours = colours || has_colours(form.channels);
    alpha = alpha || has_alpha(form.channels);
  }
  common.channels = (colours ? 3 : 1) + (alpha ? 1 : 0);
  return common;
}

LoadedTile promoted(const LoadedTile& tile, const PixelForm& form, const std::filesystem::path& path) {
  const Dims shape = {tile.view.shape[0], tile.view.shape[1], form.channels};
  const std::int64_t from = tile.view.shape[2];
  const std::int64_t pixels = shape[0] * shape[1];
  LoadedTile result = allocate_tile(shape, formats::element_type(form.type), path);
  const auto copy = [&]<class From, class To>(const From* src, To* dst) {
    copy_pixels(src, from, dst, form.channels, pixels);
  };
  if (form.type == DType::uint8)
    copy(reinterpret_cast<const std::uint8_t*>(tile.memory.get()), reinterpret_cast<std::uint8_t*>(result.memory.get()));
  else if (tile.type.dtype == DType::uint8)
    copy(reinterpret_cast<const std::uint8_t*>(tile.memory.get()), reinterpret_cast<std::uint16_t*>(result.memory.get()));
  else
    copy(reinterpret_cast<const std::uint16_t*>(tile.memory.get()), reinterpret_cast<std::uint16_t*>(result.memory.get()));
  return result;
}

}  // namespace patchfold::cli
