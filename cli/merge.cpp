// SPDX-License-Identifier: Apache-2.0
#include "cli/merge.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <type_traits>

#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/tile_files.hpp"
#include "formats/file.hpp"
#include "formats/output_file.hpp"
#include "formats/picture.hpp"
#include "formats/tile_plan.hpp"

namespace patchfold::cli {
namespace {

namespace fs = std::filesystem;

/// The files of a plan.
class Tiles {
 public:
  Tiles(const MergeRequest& request, const formats::TilePlan& plan)
      : folder_(request.folder), plan_(plan), processed_(request.processed || !request.plan.empty()) {
    if (processed_) find_extension();
    find_missing();
    const auto first = open(0);
    type_ = first->type();
    channels_ = processed_ ? channels_of(first->shape()) : plan.tiling.channels();
    check(0, *first);
    if (element_count(first->shape()) == 0) fail(0, ErrorCode::shape, "must have elements", first->shape());
  }

  const formats::ElementType& type() const noexcept { return type_; }
  const Dims& channels() const noexcept { return channels_; }

  LoadedTile read(std::int64_t index) const {
    const auto reader = open(index);
    check(index, *reader);
    LoadedTile tile = guarded(index, [&] { return read_tile(*reader, path(index)); });
    if (processed_) return tile;
    const std::uint32_t expected = plan_.crcs[static_cast<std::size_t>(index)];
    const std::uint32_t given = checksum(tile.memory.get(), tile.bytes);
    if (given != expected)
      fail(index, ErrorCode::file_format, "must hold the pixels that the plan has a checksum of, or merge needs --processed",
           fmt::format("{:08x}", given), fmt::format("{:08x}", expected));
    return tile;
  }

 private:
  fs::path path(std::int64_t index) const {
    fs::path name = plan_.files[static_cast<std::size_t>(index)];
    if (!extension_.empty()) name.replace_extension(extension_);
    return folder_ / name;
  }
  [[noreturn]] void fail(std::int64_t index, ErrorCode code, std::string rule, std::string given = {},
                         std::string expected = {}) const {
    throw Error({code, "merge", fmt::format("{}: {}", tile_text(plan_.tiling, index), path(index).string()), std::move(rule),
                 std::move(given), std::move(expected)});
  }
  [[noreturn]] void fail(std::int64_t index, ErrorCode code, std::string rule, const Dims& given) const {
    fail(index, code, std::move(rule), to_string(given));
  }
  /// Errors of readers name the tile.
  template <class F>
  std::invoke_result_t<F> guarded(std::int64_t index, F&& f) const {
    try {
      return f();
    } catch (const Error& error) {
      const bool names_file = error.argument() == path(index).string();
      throw Error({error.code(), "merge", fmt::format("{}: {}", tile_text(plan_.tiling, index), path(index).string()),
                   names_file ? error.rule() : error.what(), names_file ? error.given() : "",
                   names_file ? error.expected() : ""});
    }
  }
  std::unique_ptr<formats::RowReader> open(std::int64_t index) const {
    return guarded(index, [&] { return formats::open_rows(path(index)); });
  }

  /// Extents of a result's axes that are not tiled.
  Dims channels_of(const Dims& shape) const {
    const Dims axes = guarded(0, [&] { return plan_.tiling.axes_in(shape.size()); });
    Dims channels;
    for (int axis = 0; axis < shape.size(); ++axis)
      if (std::find(axes.begin(), axes.end(), axis) == axes.end()) channels.push_back(shape[axis]);
    return channels;
  }
  /// Results may be of another format than the tiles: all of that of the first.
  void find_extension() {
    for (const char* extension : {"", ".npy", ".tif", ".tiff", ".png", ".jpg", ".jpeg"}) {
      extension_ = extension;
      std::error_code ignored;
      if (fs::exists(path(0), ignored)) return;
    }
    extension_.clear();
  }
  void find_missing() const {
    std::int64_t count = 0;
    std::int64_t first = 0;
    for (std::int64_t index = 0; index < plan_.tiling.size(); ++index) {
      std::error_code error;
      if (fs::exists(path(index), error)) continue;
      if (error) open(index);  // says what is in the way
      if (count++ == 0) first = index;
    }
    if (count > 0)
      fail(first, ErrorCode::file_open, "is missing", count == 1 ? "" : fmt::format("{} missing tiles", count),
           fmt::format("{} tiles", plan_.tiling.size()));
  }
  void check(std::int64_t index, const formats::RowReader& reader) const {
    const Dims shape = plan_.tiling.result_shape(index, channels_);
    if (!(reader.shape() == shape))
      fail(index, ErrorCode::shape, "must have the size that the plan says", to_string(reader.shape()), to_string(shape));
    const std::string type = formats::type_text(reader.type());
    const std::string expected = processed_ ? formats::type_text(type_) : plan_.type;
    if (type != expected)
      fail(index, ErrorCode::dtype,
           processed_ ? "must have the element type of tile 0"
                      : "must have the picture's element type, or merge needs --processed",
           type, expected);
  }

  fs::path folder_;
  const formats::TilePlan& plan_;
  bool processed_;
  std::string extension_{};
  formats::ElementType type_{};
  Dims channels_{};
};

MergeSpec spec_of(const MergeRequest& request, const Tiles& tiles) {
  return {.reduce = request.reduce,
          .window = request.window,
          .dtype = tiles.type().dtype,
          .element_size = tiles.type().size,
          .output_dtype = request.dtype,
          .channels = tiles.channels(),
          .fill = request.fill};
}

/// Rows on their way to a file.
class FileSink final : public RowSink {
 public:
  explicit FileSink(formats::RowWriter& writer) : writer_(writer) {}
  void write(Span, const ConstTensorView& band) override {
    ConstTensorView rows = band;
    if (rows.shape.size() < writer_.shape().size()) {  // a picture of one channel
      rows.shape.push_back(1);
      rows.strides.push_back(static_cast<std::int64_t>(rows.element_size));
    }
    writer_.write(rows);
  }

 private:
  formats::RowWriter& writer_;
};

class Merge {
 public:
  Merge(const MergeRequest& request)
      : request_(request),
        plan_(
            formats::read_tile_plan(request.plan.empty() ? fs::path(request.folder) / "plan.json" : fs::path(request.plan))),
        tiles_(request, plan_),
        spec_(spec_of(request, tiles_)),
        shape_(plan_.tiling.output_shape(tiles_.channels())),
        type_(request.dtype ? formats::element_type(*request.dtype) : tiles_.type()),
        by_rows_(plan_.tiling.axes_in(shape_.size())[0] == 0),
        memory_(merge_memory(plan_.tiling, spec_, by_rows_)) {
    if (!by_rows_ && formats::is_picture_path(request.output))
      throw Error({ErrorCode::file_unsupported, "merge", request.output,
                   "must be a .npy file: tiles do not follow one another along its first axis"});
    if (!formats::byte_count(shape_, type_.size))
      throw Error(
          {ErrorCode::overflow, "merge", request.output, "has a size that does not fit into 63 bits", extents_text(shape_)});
    const auto pages = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES));
    if (pages > 0 && memory_.most / ::sysconf(_SC_PAGESIZE) > pages)
      throw Error(
          {ErrorCode::out_of_memory, "merge", request.folder, "needs more memory than there is", size_text(memory_.most)});
  }

  void run() {
    if (request_.dry_run) return print_forecast();
    if (is_tile_in(request_.output, request_.folder))
      throw Error({ErrorCode::value, "merge", request_.output, "must not be one of the tiles"});
    InterruptGuard guard(request_.output);
    by_rows_ ? run_by_rows(guard) : run_whole(guard);
  }

 private:
  std::string output_text() const {
    return fmt::format("{}: {}, {}", request_.output, extents_text(shape_), formats::type_text(type_));
  }
  void print_forecast() const {
    print(fmt::format("{}, {} without compression, from {} tiles ({}); needs {} of memory\n", output_text(),
                      size_text(formats::byte_count(shape_, type_.size).value_or(INT64_MAX)), plan_.tiling.size(),
                      extents_text(plan_.tiling.grid()), size_text(memory_.most)));
  }

  void run_by_rows(InterruptGuard& guard) {
    Dims shape = shape_;
    if (shape.size() == 2 && formats::is_picture_path(request_.output)) shape.push_back(1);
    const auto writer = formats::create_rows(request_.output, shape, type_, request_.tiff);
    FileSink sink(*writer);
    Merger merger(plan_.tiling, spec_, sink, guard.executor());
    merge(merger, guard, [&] { writer->commit(); });
  }
  void run_whole(InterruptGuard& guard) {
    formats::NpyOutput file(request_.output, shape_, type_);
    Merger merger(plan_.tiling, spec_, file.view(), guard.executor());
    merge(merger, guard, [&] { file.commit(); });
  }
  template <class Commit>
  void merge(Merger& merger, InterruptGuard& guard, Commit&& commit) {
    Progress progress("merge", plan_.tiling.size(), request_.quiet);
    for (std::int64_t index = 0; index < plan_.tiling.size(); ++index) {
      guard.check();
      LoadedTile tile = tiles_.read(index);
      progress.count(tile.bytes);
      merger.add(index, tile.view, std::move(tile.memory));
    }
    merger.finish();
    guard.check();
    commit();
    if (request_.quiet) return;
    const std::string line = fmt::format("{}, from {} tiles, {}\n", output_text(), plan_.tiling.size(), progress.finish());
    request_.output.starts_with("/dev/") ? note(line) : print(line);
  }

  const MergeRequest& request_;
  formats::TilePlan plan_;
  Tiles tiles_;
  MergeSpec spec_;
  Dims shape_;
  formats::ElementType type_;
  bool by_rows_;
  MergeMemory memory_;
};

}  // namespace

void run_merge(const MergeRequest& request) {
  Merge(request).run();
}

}  // namespace patchfold::cli
