// SPDX-License-Identifier: Apache-2.0
// The neutral window operators: unfold, fold and coverage. The formulas hold for one axis: I the extent of the image, k the kernel,
// s the stride, d the dilation, pb and pe the pads, l the number of positions, and the coordinate of tap q of patch b.
//   e = (k - 1) * d + 1     X = I + pb + pe - e     l = X < 0 ? 0 : X / s + 1     coordinate = b * s + q * d - pb
#include <algorithm>
#include <optional>

#include "reference/array.hpp"
#include "reference/mean.hpp"
#include "reference/numbers.hpp"
#include "reference/operators.hpp"
#include "reference/sum.hpp"

namespace reference {
namespace {

/// The arguments of a window operator for each spatial axis, and the numbers that they determine.
struct Windows {
  std::size_t rank = 0;
  List image, kernel, stride, dilation, pad_begin, pad_end, positions;
};

/// Returns the number of spatial axes: the length of any list, or `otherwise` if there are single numbers only.
std::size_t spatial_rank(const Arguments& arguments, std::size_t otherwise) {
  for (const auto* name : {"output_size", "kernel_size", "stride", "dilation", "padding"}) {
    const auto found = arguments.find(name);
    if (found == arguments.end()) continue;
    if (const auto* list = std::get_if<List>(&found->second)) return list->size();
    if (const auto* pairs = std::get_if<Pairs>(&found->second)) return pairs->size();
  }
  return otherwise;
}

List every_axis(const Arguments& arguments, const std::string& name, std::size_t rank) {
  const Value value = arguments.contains(name) ? arguments.at(name) : Value(std::int64_t{1});
  if (const auto* list = std::get_if<List>(&value)) return *list;
  return List(rank, std::get<std::int64_t>(value));
}

Windows windows_of(const Arguments& arguments, const List& image) {
  Windows w;
  w.rank = image.size();
  w.image = image;
  w.kernel = every_axis(arguments, "kernel_size", w.rank);
  w.stride = every_axis(arguments, "stride", w.rank);
  w.dilation = every_axis(arguments, "dilation", w.rank);
  const Value padding = arguments.contains("padding") ? arguments.at("padding") : Value(std::int64_t{0});
  for (std::size_t d = 0; d < w.rank; ++d) {
    const std::int64_t effective = (w.kernel[d] - 1) * w.dilation[d] + 1;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    if (const auto* number = std::get_if<std::int64_t>(&padding)) {
      begin = end = *number;
    } else if (const auto* list = std::get_if<List>(&padding)) {
      begin = end = (*list)[d];
    } else if (const auto* pairs = std::get_if<Pairs>(&padding)) {
      begin = (*pairs)[d].first;
      end = (*pairs)[d].second;
    } else if (std::get<std::string>(padding) != "valid") {
      const std::int64_t out = image[d] / w.stride[d] + (image[d] % w.stride[d] != 0 ? 1 : 0);
      std::int64_t total = (out - 1) * w.stride[d] + effective - image[d];
      if (total < 0) total = 0;
      begin = std::get<std::string>(padding) == "same_lower" ? (total + 1) / 2 : total / 2;
      end = total - begin;
    }
    w.pad_begin.push_back(begin);
    w.pad_end.push_back(end);
    const std::int64_t slack = image[d] + begin + end - effective;
    w.positions.push_back(slack < 0 ? 0 : slack / w.stride[d] + 1);
  }
  return w;
}

bool is(const Arguments& arguments, const std::string& name, const std::string& word) {
  const auto found = arguments.find(name);
  return found != arguments.end() && std::get<std::string>(found->second) == word;
}

/// Returns the index of an image element.
List image_index(const Arguments& arguments, const List& batch, std::int64_t channel, const List& coordinate) {
  if (is(arguments, "layout", "channels_last")) return join({batch, coordinate, {channel}});
  return join({batch, {channel}, coordinate});
}

/// Returns the index of a column element.
List column_index(const Arguments& arguments, const Windows& w, const List& batch, std::int64_t channels,
                  std::int64_t channel, const List& tap, const List& position) {
  const std::int64_t t = lex(tap, w.kernel);
  const std::int64_t row = is(arguments, "order", "kernel") ? t * channels + channel : channel * product(w.kernel) + t;
  const List where = is(arguments, "positions", "grid") ? position : List{lex(position, w.positions)};
  if (is(arguments, "layout", "channels_last")) return join({batch, where, {row}});
  return join({batch, {row}, where});
}

std::int64_t floor_mod(std::int64_t a, std::int64_t n) {
  return (a % n + n) % n;
}

/// Returns the coordinate whose value the padded image has at p, with the modes of numpy.pad; nothing for the fill value.
std::optional<std::int64_t> source(const std::string& mode, std::int64_t p, std::int64_t extent) {
  if (p >= 0 && p < extent) return p;
  if (mode == "constant") return std::nullopt;
  if (mode == "edge") return p < 0 ? 0 : extent - 1;
  if (mode == "wrap") return floor_mod(p, extent);  // abcd|abcd|abcd
  if (mode == "symmetric") {                        // dcba|abcd|dcba
    const std::int64_t m = floor_mod(p, 2 * extent);
    return m < extent ? m : 2 * extent - 1 - m;
  }
  assert(mode == "reflect");  // dcb|abcd|cba
  if (extent == 1) return 0;
  const std::int64_t m = floor_mod(p, 2 * extent - 2);
  return m < extent ? m : 2 * extent - 2 - m;
}

}  // namespace

Array unfold(const Array& image, const Arguments& arguments) {
  const std::size_t axes = image.shape.size();
  const std::size_t rank = spatial_rank(arguments, axes - 2);
  const std::size_t batch_axes = axes - 1 - rank;
  const bool last = is(arguments, "layout", "channels_last");
  const List batches = slice(image.shape, 0, batch_axes);
  const std::int64_t channels = image.shape[last ? axes - 1 : batch_axes];
  const Windows w =
      windows_of(arguments, last ? slice(image.shape, batch_axes, axes - 1) : slice(image.shape, batch_axes + 1, axes));
  const auto mode = get<std::string>(arguments, "padding_mode", "constant");
  const auto fill = element_of(get<Number>(arguments, "value", Number(std::int64_t{0})), image.dtype, image.element_size);

  const List rows = {channels * product(w.kernel)};
  const List where = is(arguments, "positions", "grid") ? w.positions : List{product(w.positions)};
  Array columns = zeros(last ? join({batches, where, rows}) : join({batches, rows, where}), image);
  for_each(batches, [&](const List& n) {
    for (std::int64_t c = 0; c < channels; ++c) {
      for_each(w.kernel, [&](const List& q) {
        for_each(w.positions, [&](const List& b) {
          bool filled = false;
          List p(w.rank);
          for (std::size_t d = 0; d < w.rank; ++d) {
            const auto found = source(mode, b[d] * w.stride[d] + q[d] * w.dilation[d] - w.pad_begin[d], w.image[d]);
            if (!found) filled = true;
            p[d] = found.value_or(0);
          }
          std::byte* to = at(columns, column_index(arguments, w, n, channels, c, q, b));
          std::memcpy(to, filled ? fill.data() : at(image, image_index(arguments, n, c, p)), image.element_size);
        });
      });
    }
  });
  return columns;
}

Array fold(const Array& columns, const Arguments& arguments, const Array* held) {
  const Windows w = windows_of(arguments, get<List>(arguments, "output_size"));
  const bool last = is(arguments, "layout", "channels_last");
  const std::size_t axes = columns.shape.size();
  const std::size_t position_axes = is(arguments, "positions", "grid") ? w.rank : 1;
  const List batches = slice(columns.shape, 0, axes - 1 - position_axes);
  const std::int64_t channels = columns.shape[last ? axes - 1 : batches.size()] / product(w.kernel);

  const bool averages = is(arguments, "reduce", "mean");
  const auto fill = element_of(get<Number>(arguments, "fill", Number(std::int64_t{0})), columns.dtype, columns.element_size);

  Array image = zeros(last ? join({batches, w.image, {channels}}) : join({batches, {channels}, w.image}), columns);
  for_each(batches, [&](const List& n) {
    for (std::int64_t c = 0; c < channels; ++c) {
      for_each(w.image, [&](const List& y) {
        Sum sum(columns.dtype);
        Mean mean(columns.dtype, columns.element_size);
        for_each(w.kernel, [&](const List& q) {
          // Finds the patch b whose tap q lies at y, if there is one: b * s = y + pb - q * d.
          List b(w.rank);
          for (std::size_t d = 0; d < w.rank; ++d) {
            const std::int64_t offset = y[d] + w.pad_begin[d] - q[d] * w.dilation[d];
            if (offset < 0 || offset % w.stride[d] != 0) return;
            b[d] = offset / w.stride[d];
            if (b[d] >= w.positions[d]) return;
          }
          const std::byte* element = at(columns, column_index(arguments, w, n, channels, c, q, b));
          if (averages)
            mean.add(element);
          else
            sum.add(element);
        });
        std::byte* to = at(image, image_index(arguments, n, c, y));
        if (!averages)
          sum.store(to);
        else if (mean.is_empty())
          std::copy(fill.begin(), fill.end(), to);
        else
          mean.store(to);
      });
    }
  });
  if (get<std::int64_t>(arguments, "accumulate", 0) != 0) {
    for (std::size_t i = 0; i < image.bytes.size(); i += image.element_size)
      add_elements(image.dtype, held->bytes.data() + i, image.bytes.data() + i, image.bytes.data() + i);
  }
  return image;
}

Array coverage(const Array& type, const Arguments& arguments) {
  const Windows w = windows_of(arguments, get<List>(arguments, "output_size"));
  const auto one = element_of(std::int64_t{1}, type.dtype, type.element_size);
  Array counts = zeros(w.image, type);
  for_each(w.image, [&](const List& y) {
    Sum sum(type.dtype);
    for_each(w.kernel, [&](const List& q) {
      for (std::size_t d = 0; d < w.rank; ++d) {
        const std::int64_t offset = y[d] + w.pad_begin[d] - q[d] * w.dilation[d];
        if (offset < 0 || offset % w.stride[d] != 0 || offset / w.stride[d] >= w.positions[d]) return;
      }
      sum.add(one.data());
    });
    sum.store(at(counts, y));
  });
  return counts;
}

}  // namespace reference
