// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/merge_options.hpp"
#include "cli/named_tiles.hpp"
#include "cli/planned_tiles.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/text.hpp"
#include "cli/tile_files.hpp"
#include "cli/tile_folder.hpp"
#include "cli/workers.hpp"
#include "formats/file.hpp"
#include "formats/output_file.hpp"
#include "formats/picture.hpp"
#include "formats/tile_plan.hpp"
#include "src/base/checked.hpp"
#include "system/memory.hpp"

namespace patchfold::cli {
namespace {

namespace fs = std::filesystem;

/// Returns the plan of the folder. If there is none, the error says why, or which option names a plan.
formats::TilePlan plan_of(const MergeRequest& request) {
  if (!request.pattern.empty()) return plan_of_names(request);
  const fs::path path = request.plan.empty() ? fs::path(request.folder) / "plan.json" : fs::path(request.plan);
  try {
    return formats::read_tile_plan(path);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::file_open) throw;
    Error::Parts parts = error.parts();
    std::error_code ignored;
    if (is_unfinished_split(path.parent_path()))
      parts.rule = "is not written yet: split did not finish, so run it again";
    else if (fs::is_directory(request.folder, ignored))
      parts.expected = "a folder that split wrote, or --plan, which names the plan.json that split wrote for the same tiles, or "
                       "--pattern, which says what the names of other tiles mean";
    throw Error(std::move(parts));
  }
}

/// Returns the spec of the merge. By default integers are not blended, in pictures as in arrays, since they may be labels.
/// Tiles that wait are copied in part, or added up, if that needs less memory than whole tiles; the output keeps its bits.
MergeSpec spec_of(const MergeRequest& request, const Tiling& tiling, const formats::TilePlan& plan,
                  const PlannedTiles& tiles) {
  const MergeSpec keeping = {.reduce = request.reduce,
                             .window = request.window,
                             .dtype = tiles.type().dtype,
                             .element_size = tiles.type().size,
                             .output_dtype = request.dtype,
                             .channels = tiles.channels(),
                             .mask = tiles.mask(),
                             .fill = request.fill           ? request.fill
                                     : tiles.mask().empty() ? std::nullopt
                                                            : plan.empty};
  const bool by_rows = merge_output(tiling, keeping).axes[0] == 0;
  MergeSpec copying = keeping;
  copying.copy = true;
  copying.running_sums = RunningSums::float64;
  const auto memory = [&](const MergeSpec& spec) { return merge_memory(tiling, spec, by_rows).most; };
  return memory(copying) < memory(keeping) ? copying : keeping;
}

/// Writes the rows of a merge to a file.
class FileSink final : public RowSink {
 public:
  explicit FileSink(formats::RowWriter& writer) : writer_(writer) {}
  void write(Span, const ConstTensorView& band) override {
    ConstTensorView rows = band;
    if (rows.shape.size() < writer_.shape().size()) {  // of a picture with one channel, rows have no channel axis
      rows.shape.push_back(1);
      rows.strides.push_back(static_cast<std::int64_t>(rows.element_size));
    }
    writer_.write(rows);
  }

 private:
  formats::RowWriter& writer_;
};

/// Returns how many of `tiles` tiles, of `bytes` bytes each, are read at the same time: a few for each thread, so that no thread
/// waits long for another.
std::int64_t tiles_ahead(std::int64_t tiles, std::int64_t bytes, int threads) {
  constexpr std::int64_t most = 256;
  return threads == 1 ? 1 : pieces_in_memory(bytes, std::min({most, tiles, 4 * std::int64_t{threads}}));
}

class Merge {
 public:
  Merge(const MergeRequest& request)
      : request_(request),
        plan_(plan_of(request)),
        tiling_(tiling_of(request, plan_)),
        tiles_(open_tiles(request, plan_, tiling_)),
        spec_(spec_of(request, tiling_, plan_, *tiles_)),
        form_(merge_output(tiling_, spec_)),
        shape_(form_.shape),
        type_(form_.dtype == spec_.dtype ? tiles_->type() : formats::element_type(form_.dtype)),
        by_rows_(form_.axes[0] == 0),
        tiles_ahead_(tiles_ahead(tiling_.size(), tile_bytes(), default_executor().threads())),
        memory_bytes_(memory_bytes()) {
    if (!by_rows_ && is_picture())
      throw Error({ErrorCode::file_unsupported, "merge", output_name(request.output),
                   "must be a .npy file: tiles do not follow one another along its first axis", extents_text(shape_),
                   "H x W x C or C x H x W, tiled along H and W"});
    if (!formats::byte_count(shape_, type_.size))
      throw Error({ErrorCode::overflow, "merge", output_name(request.output), "has a size that does not fit into 63 bits",
                   extents_text(shape_)});
    if (const std::int64_t most = system::machine_memory(); most > 0 && memory_bytes_ > most)
      throw Error(
          {ErrorCode::out_of_memory, "merge", request.folder, "needs more memory than there is", size_text(memory_bytes_)});
  }

  void run() {
    if (request_.dry_run) return print_forecast();
    if (is_tile_in(request_.output, request_.folder) || is_planned_tile())
      throw Error({ErrorCode::value, "merge", request_.output, "must not be one of the tiles"});
    if (!request_.force && would_replace_source())
      throw Error({ErrorCode::value, "merge", request_.output, "must not replace a file with the name of what was split", "",
                   "another name, or --force"});
    InterruptGuard guard(request_.output);
    by_rows_ ? run_by_rows(guard) : run_whole(guard);
  }

 private:
  std::string output_text() const {
    return fmt::format("{}: {}, {}", output_name(request_.output), extents_text(shape_), formats::type_text(type_));
  }
  /// Returns whether the output would replace a tile of the plan.
  bool is_planned_tile() const {
    std::error_code ignored;
    const fs::path output = request_.output;
    const fs::path parent = output.has_parent_path() ? output.parent_path() : ".";
    return fs::equivalent(parent, request_.folder, ignored) &&
           std::ranges::find(plan_.files, output.filename().string()) != plan_.files.end();
  }
  bool is_there(std::int64_t index) const { return spec_.mask.empty() || spec_.mask[static_cast<std::size_t>(index)] != 0; }
  bool would_replace_source() const {
    std::error_code ignored;
    const fs::path output = request_.output;
    return output.filename() == plan_.source && fs::exists(output, ignored);
  }
  bool is_picture() const { return request_.format != formats::FileFormat::npy; }
  /// Returns the bytes of the largest result.
  std::int64_t tile_bytes() const {
    return formats::byte_count(tiling_.result_shape(tiling_.largest(), tiles_->channels()), tiles_->type().size)
        .value_or(INT64_MAX);
  }
  /// Returns the most bytes in memory: waiting tiles, rows, and the tiles that are being read.
  std::int64_t memory_bytes() const {
    const MergeMemory merging = merge_memory(tiling_, spec_, by_rows_);
    return (Checked(merging.most) + Checked(tile_bytes()) * Checked(tiles_ahead_)).value().value_or(INT64_MAX);
  }
  std::int64_t bytes() const { return formats::byte_count(shape_, type_.size).value_or(INT64_MAX); }
  JsonObject json(std::optional<double> seconds, const std::vector<std::string>& losses = {}) const {
    const JsonObject output = JsonObject()
                                  .add("file", request_.output)
                                  .add("dtype", formats::type_text(type_))
                                  .add("shape", shape_)
                                  .add("format", word_of(request_.format));
    return JsonObject()
        .add("command", "merge")
        .add("folder", request_.folder)
        .add("output", output)
        .add("tiles", tiling_.size())
        .add("grid", tiling_.grid())
        .add("bytes", bytes())
        .add("memory_bytes", memory_bytes_)
        .add("dry_run", request_.dry_run)
        .add("blending", blending_text())
        .add("seconds", seconds)
        .add("losses", losses_json(losses));
  }
  /// Returns the sentence of the report about how elements of several tiles become one.
  std::string blending_text() const {
    const Reduce reduce = reduction_of(spec_);
    if (reduce == Reduce::center) return text_of("not blended (center", request_.reduce ? ")" : "; --reduce mean blends)");
    if (!makes_means(reduce)) return fmt::format("{} of overlaps", word_of(reduce));
    const auto window = spec_.window.kind == WeightWindow::Kind::standard ? WeightWindow::Kind::hann : spec_.window.kind;
    if (reduce == Reduce::mean) return fmt::format("blended by {}", word_of(window));
    return fmt::format("{} blended by {}", word_of(reduce), word_of(window));
  }
  void print_forecast() const {
    const std::string line =
        fmt::format("{}, {} without compression, from {} ({}); needs {} of memory\n", output_text(),
                    size_text(bytes()), counted_tiles(tiling_.size()), extents_text(tiling_.grid()), size_text(memory_bytes_));
    request_.reporting.forecast(request_.output, line, json(std::nullopt));
  }

  /// Returns the metadata of the picture that was split, changed for the size of the output. `losses` gets a line for each kind
  /// that does not hold for the output.
  formats::Metadata metadata(std::vector<std::string>& losses) const {
    const auto& scale = tiling_.spec().scale;
    if (!is_picture() || tiling_.axes().size() != 2) return {};
    const auto factor = [&](std::size_t i) {
      if (scale.empty()) return 1.0;
      const Ratio ratio = scale[std::min(i, scale.size() - 1)];
      return static_cast<double>(ratio.num) / static_cast<double>(ratio.den);
    };
    formats::Metadata scaled = formats::metadata_of_scaled(plan_.metadata, factor(0), factor(1));
    const bool has_numbers = formats::type_text(type_) == plan_.type && tiles_->channels() == plan_.tiling.channels() &&
                             reduction_of(spec_) != Reduce::argmax;
    const bool has_size = factor(0) == 1 && factor(1) == 1;
    losses = formats::take_what_does_not_hold(scaled, has_numbers, has_numbers && has_size && !plan_.page);
    return scaled;
  }
  void run_by_rows(InterruptGuard& guard) {
    Dims shape = shape_;
    if (shape.size() == 2 && is_picture()) shape.push_back(1);
    formats::WriteOptions options = request_.picture.options();
    options.format = request_.format;
    std::vector<std::string> losses;
    options.metadata = metadata(losses);
    options.executor = &guard.executor();
    const auto writer = formats::create_rows(request_.output, shape, type_, options);
    FileSink sink(*writer);
    Merger merger(tiling_, spec_, sink, guard.executor());
    merge(merger, guard, [&] {
      writer->commit();
      losses.insert(losses.end(), writer->losses().begin(), writer->losses().end());
      return losses;
    });
  }
  void run_whole(InterruptGuard& guard) {
    formats::NpyOutput file(request_.output, shape_, type_);
    Merger merger(tiling_, spec_, file.view(), guard.executor());
    merge(merger, guard, [&] {
      file.commit();
      return std::vector<std::string>();
    });
  }
  template <class Commit>
  void merge(Merger& merger, InterruptGuard& guard, Commit&& commit) {
    Progress progress("merge", "tiles", tiling_.size(), request_.reporting.quiet);
    // The threads first read some tiles, one each, and then merge these tiles together, in order.
    std::vector<LoadedTile> read(static_cast<std::size_t>(tiles_ahead_));
    for (std::int64_t begin = 0; begin < tiling_.size(); begin += tiles_ahead_) {
      const std::int64_t end = std::min(begin + tiles_ahead_, tiling_.size());
      for_each_index("merge", guard, guard.executor().threads(), begin, end, [&](std::int64_t index, std::int64_t) {
        if (is_there(index)) read[static_cast<std::size_t>(index - begin)] = tiles_->read(index);
      });
      for (std::int64_t index = begin; index < end; ++index) {
        guard.check();
        if (!is_there(index)) continue;
        LoadedTile tile = std::move(read[static_cast<std::size_t>(index - begin)]);
        progress.count(tile.bytes);
        merger.add(index, tile.view, std::move(tile.memory));
      }
    }
    merger.finish();
    guard.check();
    std::vector<std::string> losses = commit();
    if (const std::int64_t missing = tiles_->missing(); missing > 0)
      losses.insert(losses.begin(), fmt::format("{} of {} tiles {} missing: {} {} filled with {}", missing, tiling_.size(),
                                                missing == 1 ? "is" : "are", missing == 1 ? "its" : "their",
                                                missing == 1 ? "place is" : "places are", to_string(*spec_.fill)));
    const double seconds = progress.seconds();
    const std::string line =
        fmt::format("{}, from {}, {}, {}\n", output_text(), counted_tiles(tiling_.size()), blending_text(), progress.finish());
    request_.reporting.report(request_.output, line, json(seconds, losses));
    print_losses(output_name(request_.output), losses, request_.reporting.quiet || request_.reporting.json);
  }

  const MergeRequest& request_;
  formats::TilePlan plan_;
  Tiling tiling_;
  std::unique_ptr<const PlannedTiles> tiles_;
  MergeSpec spec_;
  MergeOutput form_;
  Dims shape_;
  formats::ElementType type_;
  bool by_rows_;
  std::int64_t tiles_ahead_;   ///< how many tiles are read at the same time
  std::int64_t memory_bytes_;  ///< the most bytes of memory that the merge needs
};

}  // namespace

void run_merge(const MergeRequest& request) {
  Merge(request).run();
}

}  // namespace patchfold::cli
