// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/picture_options.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/split_options.hpp"
#include "cli/text.hpp"
#include "cli/tile_files.hpp"
#include "cli/tile_folder.hpp"
#include "cli/tile_source.hpp"
#include "cli/workers.hpp"
#include "formats/file.hpp"
#include "formats/output_file.hpp"
#include "formats/picture.hpp"
#include "formats/tile_plan.hpp"
#include "src/base/checked.hpp"

namespace patchfold::cli {
namespace {

namespace fs = std::filesystem;

/// The most tiles of a split: more would overload a folder and plan.json.
constexpr std::int64_t most_tiles = std::int64_t{1} << 24;

/// Returns numbers as they are typed on the command line: "4,4".
std::string typed(const Dims& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) text += text_of(text.empty() ? "" : ",", number);
  return text;
}

void check_extents_of_picture(const Dims& tile) {
  if (tile.size() == 2) return;
  fail_usage("split", "--tile", "must be one number for a picture, or two: height and width",
             tile.size() == 1 ? "one and a comma" : typed(tile),
             text_of("--tile ", typed(tile.slice(0, std::min(tile.size(), 2)))));
}

Tiling tiling_of(const SplitRequest& request, const TileSource& source) {
  TilingSpec spec = request.spec;
  spec.shape = source.shape();
  if (!source.is_npy() && !spec.axes.empty())
    fail_usage("split", "--axes", "applies to .npy arrays only: pictures are tiled along height and width");
  if (!source.is_npy()) spec.axes = {0, 1};
  if (!source.is_npy() && !request.tile.is_scalar()) check_extents_of_picture(request.tile.values());
  // A single number holds for height and width, or, with --axes, for all tiled axes.
  const int tiled = spec.axes.empty() ? std::clamp(spec.shape.size(), 1, 2) : spec.axes.size();
  spec.tile = request.tile.is_scalar() ? Dims::filled(tiled, request.tile.values()[0]) : request.tile.values();
  Tiling tiling(spec);
  if (tiling.size() == 0 || element_count(spec.shape) == 0)
    throw Error({ErrorCode::value, "split", request.picture, "must be large enough for a tile", extents_text(spec.shape),
                 ErrorValue(extents_text(spec.tile), ", or ", Setting("tail", "shift_or_pad"), ", ", Setting("tail", "pad"),
                            " or ", Setting("tail", "partial"))});
  if (tiling.size() > most_tiles)
    throw Error({ErrorCode::value, "split", "--tile", "must not give so many tiles", std::to_string(tiling.size()),
                 "at most " + std::to_string(most_tiles)});
  return tiling;
}

std::string format_for(const SplitRequest& request, const TileSource& source) {
  const DType dtype = source.type().dtype;
  if (request.format == "png" && dtype != DType::uint8 && dtype != DType::uint16)
    throw Error({ErrorCode::dtype, "split", "--format", "must hold the picture's elements: PNG has 8 and 16 bits",
                 formats::type_text(source.type()), "tif or npy"});
  if (request.format == "jpg" &&
      (source.is_npy() || dtype != DType::uint8 || (source.shape()[2] != 1 && source.shape()[2] != 3)))
    throw Error({ErrorCode::dtype, "split", "--format", "must hold the picture's elements: JPEG has 8 bits, grey or RGB",
                 text_of(formats::type_text(source.type()), " ", extents_text(source.shape())), "png, tif or npy"});
  if (!request.format.empty()) return request.format;
  if (source.is_npy()) return "npy";
  const bool is_png = formats::has_pictures() && source.shape()[2] <= 4 && (dtype == DType::uint8 || dtype == DType::uint16);
  return is_png ? "png" : formats::has_tiff() ? "tif" : "npy";
}

formats::TilePlan plan_of(const SplitRequest& request, const TileSource& source, Tiling tiling) {
  const std::int64_t count = tiling.size();
  formats::TilePlan plan{.source = fs::path(request.picture).filename().string(),
                         .page = request.page,
                         .type = formats::type_text(source.type()),
                         .metadata = source.metadata(),
                         .tiling = std::move(tiling),
                         .empty = request.empty};
  const std::string extension = format_for(request, source);
  for (std::int64_t index = 0; index < count; ++index)
    plan.files.push_back(tile_name(plan.tiling, index, request.names, extension));
  plan.crcs.resize(static_cast<std::size_t>(count));
  return plan;
}

/// Returns whether a file exists, can be read, and makes `is_same` return true.
template <class F>
bool holds(const fs::path& path, F&& is_same) try {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error)) && is_same();
} catch (const Error& error) {
  if (error.code() == ErrorCode::out_of_memory) throw;
  return false;
}

/// Returns the bytes of all tiles together.
std::int64_t bytes_of(const Tiling& tiling, std::size_t element_size) {
  double bytes = static_cast<double>(element_size) * static_cast<double>(element_count(tiling.channels()));
  for (int axis = 0; axis < tiling.grid().size(); ++axis) {
    std::int64_t extents = 0;
    for (std::int64_t k = 0; k < tiling.grid()[axis]; ++k) extents += tiling.span(axis, k).extent;
    bytes *= static_cast<double>(extents);
  }
  return static_cast<std::int64_t>(std::min(bytes, 9e18));
}

std::string tiles_text(const TileSource& source, const Tiling& tiling) {
  return text_of(counted_tiles(tiling.size()), " (", extents_text(tiling.grid()), ") of ",
                 extents_text(tiling.tile_shape(tiling.largest())), ", ", formats::type_text(source.type()));
}

/// Returns how many tiles are cut at the same time.
std::int64_t workers_for(const Tiling& tiling, std::int64_t tile_bytes, int threads) {
  return pieces_in_memory(tile_bytes, std::min<std::int64_t>(threads, tiling.size() / tiling.grid()[0]));
}

std::int64_t memory_of(const TileSource& source, const Tiling& tiling) {
  const Checked tile = checked_product(tiling.tile_shape(tiling.largest()), source.type().size);
  const std::int64_t workers = workers_for(tiling, tile.value().value_or(INT64_MAX), default_executor().threads());
  return (Checked(source.memory_bytes()) + tile * Checked(2 * workers)).value().value_or(INT64_MAX);
}

/// Returns the members of the report that are known before the first tile is cut.
JsonObject split_json(const SplitRequest& request, const TileSource& source, const formats::TilePlan& plan) {
  return JsonObject()
      .add("command", "split")
      .add("source", JsonObject()
                         .add("file", request.picture)
                         .add("dtype", formats::type_text(source.type()))
                         .add("shape", source.shape()))
      .add("folder", request.folder)
      .add("plan", (fs::path(request.folder) / "plan.json").string())
      .add("tiles", plan.tiling.size())
      .add("grid", plan.tiling.grid())
      .add("tile_shape", plan.tiling.tile_shape(plan.tiling.largest()))
      .add("format", format_for(request, source))
      .add("bytes", bytes_of(plan.tiling, source.type().size))
      .add("memory_bytes", memory_of(source, plan.tiling))
      .add("dry_run", request.dry_run);
}

void print_forecast(const SplitRequest& request, const TileSource& source, const formats::TilePlan& plan) {
  const Tiling& tiling = plan.tiling;
  const std::string line =
      text_of(request.folder, ": ", tiles_text(source, tiling), ", ", size_text(bytes_of(tiling, source.type().size)),
              " without compression; needs ", size_text(memory_of(source, tiling)), " of memory\n");
  request.reporting.forecast(
      "", line,
      split_json(request, source, plan)
          .add("written", nullptr)
          .add("skipped", nullptr)
          .add("empty", nullptr)
          .add("seconds", nullptr));
}

/// Cuts the tiles of a row at the same time: each worker cuts and writes a tile, and takes the next one.
class Split {
 public:
  Split(const SplitRequest& request, TileSource& source, formats::TilePlan& plan, TileFolder& folder, InterruptGuard& guard)
      : source_(source), plan_(plan), folder_(folder), guard_(guard) {
    const Dims shape = plan.tiling.tile_shape(plan.tiling.largest());
    const auto bytes = formats::byte_count(shape, source.type().size);
    if (!bytes) throw Error({ErrorCode::overflow, "split", "--tile", "is too large", extents_text(shape)});
    const std::int64_t workers = workers_for(plan.tiling, *bytes, guard.executor().threads());
    for (std::int64_t i = 0; i < workers; ++i) memory_.push_back(formats::allocate(*bytes, {"split", folder.file("")}));
    inner_ = workers > 1 ? &serial_executor() : &guard.executor();
    options_.executor = inner_;
    options_.jpeg_quality = request.quality.value_or(options_.jpeg_quality);
    if (request.empty) empty_ = bytes_of(*request.empty);
  }

  std::int64_t written() const noexcept { return written_; }
  /// Returns the number of tiles that get no file.
  std::int64_t empty() const noexcept { return std::ranges::count(plan_.files, ""); }

  void run(Progress& progress) {
    const std::int64_t rows = plan_.tiling.grid()[0];
    const std::int64_t side_by_side = plan_.tiling.size() / rows;
    const auto workers = static_cast<std::int64_t>(memory_.size());
    for (std::int64_t row = 0; row < rows; ++row) {
      guard_.check();
      source_.load_row(row);
      for_each_index("split", guard_, workers, row * side_by_side, (row + 1) * side_by_side,
                     [&](std::int64_t index, std::int64_t worker) {
                       const std::int64_t bytes = cut(index, memory_[static_cast<std::size_t>(worker)].get());
                       const std::lock_guard lock(mutex_);
                       progress.count(bytes);
                     });
    }
  }

 private:
  /// Cuts a tile in `memory` and writes its file. Returns the bytes of the tile.
  std::int64_t cut(std::int64_t index, std::byte* memory) {
    const formats::ElementType& type = source_.type();
    const Dims shape = plan_.tiling.tile_shape(index);
    const TensorView tile{memory, shape, formats::dense_strides(shape, type.size), type.dtype, type.size};
    source_.cut(index, tile, *inner_);
    const std::int64_t bytes = element_count(shape) * static_cast<std::int64_t>(type.size);
    const auto at = static_cast<std::size_t>(index);
    if (is_empty(memory, bytes)) {
      plan_.files[at].clear();
      return bytes;
    }
    const fs::path path = folder_.file(plan_.files[at]);
    formats::WriteOptions options = options_;
    options.metadata = metadata_of(index);
    if (is_jpeg_name(plan_.files[at]))
      plan_.crcs[at] = write_jpeg(path, tile, options);
    else
      plan_.crcs[at] = write_exactly(path, tile, bytes, options);
    return bytes;
  }

  /// Returns the bytes of an element with this value: those of padding, which a tile before an array consists of.
  std::vector<std::byte> bytes_of(const Scalar& value) const {
    const formats::ElementType& type = source_.type();
    std::vector<std::byte> array(type.size), element(type.size);
    const Dims one{1}, stride{static_cast<std::int64_t>(type.size)};
    const Tiling padding({.shape = one, .tile = one, .value = value, .margin = 1});
    padding.cut(0, {array.data(), one, stride, type.dtype, type.size}, {element.data(), one, stride, type.dtype, type.size});
    return element;
  }
  bool is_empty(const std::byte* tile, std::int64_t bytes) const {
    const auto size = static_cast<std::int64_t>(empty_.size());
    if (size == 0 || bytes < size || std::memcmp(tile, empty_.data(), empty_.size()) != 0) return false;
    return std::memcmp(tile, tile + size, static_cast<std::size_t>(bytes - size)) == 0;  // all elements are equal
  }

  /// Returns the metadata for a tile's file; the rest of the picture's metadata stays in plan.json.
  formats::Metadata metadata_of(std::int64_t index) const {
    if (source_.is_npy()) return {};
    const Tile tile = plan_.tiling[index];
    return formats::metadata_of_part(source_.metadata(), tile.spans[0].origin, tile.spans[1].origin);
  }
  std::uint32_t write_exactly(const fs::path& path, const ConstTensorView& tile, std::int64_t bytes,
                              const formats::WriteOptions& options) {
    const auto is_same = [&] {
      const auto reader = formats::open_rows(path);
      if (!(reader->shape() == tile.shape) || formats::type_text(reader->type()) != formats::type_text(source_.type()))
        return false;
      const LoadedTile held = read_tile(*reader, path);
      return std::memcmp(held.memory.get(), tile.data, static_cast<std::size_t>(held.bytes)) == 0;
    };
    if (!holds(path, is_same)) {
      begin_writing();
      const auto writer = formats::create_rows(path, tile.shape, source_.type(), options);
      writer->write(tile);
      writer->commit();
      count();
    }
    return checksum(tile.data, bytes);
  }
  /// Writes a tile as JPEG. Returns the checksum of the file, since JPEG changes the pixels.
  std::uint32_t write_jpeg(const fs::path& path, const ConstTensorView& tile, const formats::WriteOptions& options) {
    const std::vector<std::byte> file = formats::encode_jpeg(path, tile, options);
    const auto is_same = [&] {
      const formats::FileBytes held = formats::open_file({"split", path});
      return std::ranges::equal(held.bytes, file);
    };
    if (!holds(path, is_same)) {
      begin_writing();
      formats::OutputFile output(path, "jpeg");
      output.write(file.data(), file.size());
      output.commit();
      count();
    }
    return checksum(file.data(), static_cast<std::int64_t>(file.size()));
  }
  void begin_writing() {
    const std::lock_guard lock(mutex_);
    folder_.mark();
  }
  void count() {
    const std::lock_guard lock(mutex_);
    folder_.count();
    ++written_;
  }

  TileSource& source_;
  formats::TilePlan& plan_;
  TileFolder& folder_;
  InterruptGuard& guard_;
  std::vector<std::shared_ptr<std::byte>> memory_{};  ///< for each worker, memory for one tile
  Executor* inner_ = nullptr;                         ///< the executor with which a worker cuts one tile
  formats::WriteOptions options_{};
  std::vector<std::byte> empty_{};  ///< the element of tiles that get no file; empty: every tile gets one
  std::mutex mutex_{};  ///< guards folder and progress
  std::int64_t written_ = 0;
};

}  // namespace

void run_split(const SplitRequest& request) {
  TileSource source(request.picture, request.page, request.level);
  formats::TilePlan plan = plan_of(request, source, tiling_of(request, source));
  source.lay_out(plan.tiling);
  if (request.dry_run) return print_forecast(request, source, plan);

  if (is_tile_in(request.picture, request.folder))
    throw Error({ErrorCode::value, "split", request.picture, "must not be a tile in the folder that is written"});
  InterruptGuard guard(request.folder);
  TileFolder folder(request.folder, request.force);
  Split split(request, source, plan, folder, guard);
  folder.prepare(plan);
  Progress progress("split", "tiles", plan.tiling.size(), request.reporting.quiet);
  split.run(progress);
  folder.finish(plan);
  if (const int orientation = source.metadata().orientation; orientation != 1)
    print_losses(
        request.folder,
        {text_of("tiles are as the file stores them, not turned; its orientation, ", orientation, ", is kept for merge")},
        request.reporting.quiet || request.reporting.json);
  const std::int64_t skipped = plan.tiling.size() - split.written() - split.empty();
  const double seconds = progress.seconds();
  const std::string line =
      text_of(request.folder, ": ", tiles_text(source, plan.tiling), ": ", split.written(), " written, ", skipped,
              " skipped, ", request.empty ? text_of(split.empty(), " empty, ") : "", progress.finish(), "\n");
  const JsonObject json = split_json(request, source, plan)
                              .add("written", split.written())
                              .add("skipped", skipped)
                              .add("empty", split.empty())
                              .add("seconds", seconds);
  request.reporting.report("", line, json);
}

}  // namespace patchfold::cli
