// SPDX-License-Identifier: Apache-2.0
#include "bench/stitch.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "bench/buffer.hpp"

namespace patchfold::bench {
namespace {

[[noreturn]] void refuse(const std::string& given) {
  throw Error({ErrorCode::usage, "problem", "merge",
               "must read merge DTYPE SHAPE tile=N [overlap=N] [window=NAME] [axes=N,..]", given,
               "for example: merge f32 8192x8192x3 tile=512 overlap=64 window=hann axes=0,1"});
}

Dims parse_list(const std::string& text, char separator) {
  Dims list;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, separator);) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size()) refuse(text);
    list.push_back(number);
  }
  if (list.empty()) refuse(text);
  return list;
}

}  // namespace

std::optional<Stitching> parse_stitching(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string op, dtype, shape;
  if (!(words >> op) || op != "merge") return std::nullopt;
  if (!(words >> dtype >> shape) || !dtype_of(dtype)) refuse(std::string(text));
  Stitching stitching{std::string(text)};
  stitching.tiling.shape = parse_list(shape, 'x');
  stitching.merge.dtype = *dtype_of(dtype);
  stitching.merge.element_size = size_of(stitching.merge.dtype);
  std::int64_t tile = 0;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) refuse(word);
    const std::string name = word.substr(0, equals);
    const std::string value = word.substr(equals + 1);
    if (name == "tile") {
      tile = parse_list(value, ',')[0];
    } else if (name == "overlap") {
      stitching.tiling.overlap = parse_list(value, ',')[0];
    } else if (name == "axes") {
      stitching.tiling.axes = parse_list(value, ',');
    } else if (const auto kind = value_of<WeightWindow::Kind>(value); name == "window" && kind && has_formula(*kind)) {
      stitching.merge.window.kind = *kind;
    } else {
      refuse(word);
    }
  }
  const Dims& axes = stitching.tiling.axes;
  stitching.tiling.tile = Dims::filled(axes.empty() ? stitching.tiling.shape.size() : axes.size(), tile);
  stitching.merge.channels = Tiling(stitching.tiling).channels();
  return stitching;
}

Measurement measure(const Stitching& stitching, int threads, const Settings& settings) {
  const Tiling tiling(stitching.tiling);
  const MergeSpec& merge = stitching.merge;
  set_num_threads(threads);
  Executor& executor = threads == 1 ? serial_executor() : default_executor();

  std::vector<std::size_t> begins = {0};
  for (std::int64_t tile = 0; tile < tiling.size(); ++tile)
    begins.push_back(begins.back() + static_cast<std::size_t>(element_count(tiling.result_shape(tile, merge.channels))) *
                                         merge.element_size);
  const Dims shape = tiling.output_shape(merge.channels);
  const std::size_t written = static_cast<std::size_t>(element_count(shape)) * merge.element_size;
  const std::size_t read = begins.back();
  const Buffer src(std::max(read, written)), dst(std::max(read, written));
  const auto work = [&] {
    Merger merger(tiling, merge, contiguous(dst.data(), shape, merge.dtype), executor);
    for (std::int64_t tile = 0; tile < tiling.size(); ++tile) {
      const std::byte* data = src.data() + begins[static_cast<std::size_t>(tile)];
      merger.add(tile, contiguous(static_cast<const void*>(data), tiling.result_shape(tile, merge.channels), merge.dtype));
    }
    merger.finish();
  };
  Measurement result = measure_work(work, {src.data(), read, dst.data(), written}, threads, executor, settings);
  result.problem = stitching.text;
  result.strategy = "merge";
  return result;
}

}  // namespace patchfold::bench
