// SPDX-License-Identifier: Apache-2.0
#include "cli/planned_tiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/inputs.hpp"
#include "cli/promote.hpp"
#include "formats/file.hpp"
#include "formats/picture.hpp"

namespace patchfold::cli {
namespace {

namespace fs = std::filesystem;

/// Returns whether results are arrays of C x H x W that become a picture of H x W x C.
bool turns_tiles(const MergeRequest& request, const Tiling& tiling) {
  if (request.format == formats::FileFormat::npy || request.reduce == Reduce::argmax) return false;
  return request.chw || (tiling.spec().shape.size() == 3 && tiling.axes() == Dims{1, 2});
}

}  // namespace

Tiling tiling_of(const MergeRequest& request, const formats::TilePlan& plan) {
  TilingSpec spec = plan.tiling.spec();
  const Dims& axes = plan.tiling.axes();
  if (request.reduce == Reduce::argmax && axes[0] == 0) {  // results have a first axis of classes, which the tiles lack
    spec.shape = {1};
    spec.axes = {};
    for (const std::int64_t axis : axes) {
      spec.axes.push_back(spec.shape.size());
      spec.shape.push_back(plan.tiling.spec().shape[static_cast<int>(axis)]);
    }
    return Tiling(spec);
  }
  if (!turns_tiles(request, plan.tiling)) return plan.tiling;
  if (axes.size() != 2)
    throw Error({ErrorCode::value, "merge", "--chw", "needs tiles along height and width", to_string(axes)});
  spec.shape = {spec.shape[axes[0]], spec.shape[axes[1]], 1};
  spec.axes = {0, 1};
  return Tiling(spec);
}

namespace {

class Files final : public PlannedTiles {
 public:
  Files(const MergeRequest& request, const formats::TilePlan& plan, const Tiling& tiling)
      : folder_(request.folder),
        plan_(plan),
        tiling_(tiling),
        processed_(request.processed || !request.plan.empty()),
        turns_(turns_tiles(request, plan.tiling)) {
    if (processed_) find_extension();
    find_missing(request.fill.has_value());
    while (first_ < tiling_.size() && !is_there(first_)) ++first_;
    if (first_ == tiling_.size())
      throw Error({ErrorCode::file_open, "merge", request.folder, "holds no tile of the plan", "", tile_text(tiling_, 0)});
    const auto first = open(first_);
    type_ = first->type();
    channels_ = processed_ ? channels_of(first_, shape_of(first_, *first)) : plan.tiling.channels();
    if (const auto type = patchfold::dtype_of(plan.type); type && !processed_ && !is_npy(first_) && channels_.size() == 1)
      form_ = PixelForm{*type, channels_[0]};
    check_size(first_, *first);
    if (element_count(first->shape()) == 0) fail(first_, ErrorCode::shape, "must have elements", to_string(first->shape()));
    if (processed_) find_form();
    if (form_) type_ = formats::element_type(form_->type);
  }

  const formats::ElementType& type() const noexcept override { return type_; }
  const Dims& channels() const noexcept override { return channels_; }
  const std::vector<std::uint8_t>& mask() const noexcept override { return mask_; }
  std::int64_t missing() const noexcept override { return missing_; }

  LoadedTile read(std::int64_t index) const override {
    if (!processed_ && is_jpeg_name(plan_.files[static_cast<std::size_t>(index)])) check_file(index);
    const auto reader = open(index);
    check_size(index, *reader);
    check_form(index, *reader);
    LoadedTile tile = guarded(index, [&] { return read_tile(*reader, path(index)); });
    if (is_promoted(*reader)) tile = guarded(index, [&] { return promoted(tile, *form_, path(index)); });
    if (!processed_ && !is_jpeg_name(plan_.files[static_cast<std::size_t>(index)]))
      check_sum(index, checksum(tile.memory.get(), tile.bytes), "pixels");
    if (is_turned(index, tile.view.shape)) tile.view = channels_last(tile.view);
    return tile;
  }

 private:
  void check_file(std::int64_t index) const {
    const fs::path name = path(index);
    const auto file = guarded(index, [&] { return formats::open_file({"merge", name}); });
    check_sum(index, checksum(file.bytes.data(), static_cast<std::int64_t>(file.bytes.size())), "bytes");
  }
  void check_sum(std::int64_t index, std::uint32_t given, std::string_view what) const {
    const std::uint32_t expected = plan_.crcs[static_cast<std::size_t>(index)];
    if (given != expected)
      fail(index, ErrorCode::file_format,
           fmt::format("must hold the {} that the plan has a checksum of, or merge needs --processed", what),
           fmt::format("{:08x}", given), fmt::format("{:08x}", expected));
  }
  fs::path path(std::int64_t index) const {
    fs::path name = plan_.files[static_cast<std::size_t>(index)];
    if (!extension_.empty()) name.replace_extension(extension_);
    return folder_ / name;
  }
  [[noreturn]] void fail(std::int64_t index, ErrorCode code, std::string rule, std::string given = {},
                         std::string expected = {}) const {
    throw Error({code, "merge", fmt::format("{}: {}", tile_text(tiling_, index), path(index).string()), std::move(rule),
                 std::move(given), std::move(expected)});
  }
  /// Returns the result of f, which reads a tile; an error of f then names the tile.
  template <class F>
  std::invoke_result_t<F> guarded(std::int64_t index, F&& f) const {
    try {
      return f();
    } catch (const Error& error) {
      const bool names_file = error.argument() == path(index).string();
      fail(index, error.code(), names_file ? error.rule() : error.what(), names_file ? error.given() : "",
           names_file ? error.expected() : "");
    }
  }
  std::unique_ptr<formats::RowReader> open(std::int64_t index) const {
    return guarded(index, [&] { return formats::open_rows(path(index)); });
  }

  /// Returns the extents of a result along the axes that are not tiled.
  Dims channels_of(std::int64_t index, const Dims& shape) const {
    const Dims axes = guarded(index, [&] { return tiling_.axes_in(shape.size()); });
    Dims channels;
    for (int axis = 0; axis < shape.size(); ++axis)
      if (std::find(axes.begin(), axes.end(), axis) == axes.end()) channels.push_back(shape[axis]);
    return channels;
  }
  /// Finds the extension of the results' files from the first tile; results may have another format than the tiles had.
  void find_extension() {
    for (std::int64_t index = 0; index < tiling_.size(); ++index)
      for (const char* extension : {"", ".npy", ".tif", ".tiff", ".png", ".jpg", ".jpeg"}) {
        extension_ = extension;
        std::error_code ignored;
        if (has_file(index) && fs::exists(path(index), ignored)) return;
      }
    extension_.clear();
  }
  /// Finds tiles without a file. `may_miss`: the folder may lack files that the plan lists.
  void find_missing(bool may_miss) {
    std::int64_t first = 0;
    for (std::int64_t index = 0; index < tiling_.size(); ++index) {
      std::error_code error;
      if (has_file(index) && fs::exists(path(index), error)) continue;
      if (error) open(index);  // throws the error that names the cause
      if (has_file(index) && missing_++ == 0) first = index;
      if (mask_.empty()) mask_.assign(static_cast<std::size_t>(tiling_.size()), 1);
      mask_[static_cast<std::size_t>(index)] = 0;
    }
    if (missing_ > 0 && !may_miss)
      fail(first, ErrorCode::file_open, "is missing", missing_ == 1 ? "" : fmt::format("{} missing tiles", missing_),
           fmt::format("{} tiles", tiling_.size()));
  }
  bool has_file(std::int64_t index) const { return !plan_.files[static_cast<std::size_t>(index)].empty(); }
  bool is_there(std::int64_t index) const { return mask_.empty() || mask_[static_cast<std::size_t>(index)] != 0; }
  /// Returns the shape of a tile's file, with its axes in the order of the output.
  Dims shape_of(std::int64_t index, const formats::RowReader& reader) const {
    const Dims& shape = reader.shape();
    return is_turned(index, shape) ? Dims{shape[1], shape[2], shape[0]} : shape;
  }
  bool is_turned(std::int64_t index, const Dims& shape) const { return turns_ && shape.size() == 3 && is_npy(index); }
  /// Returns whether a tile of this shape is a picture of H x W x C, tiled along H and W.
  bool has_pixels(const Dims& shape) const { return shape.size() == 3 && tiling_.axes_in(3) == Dims{0, 1}; }
  PixelForm form_of(const formats::RowReader& reader) const { return {reader.type().dtype, reader.shape()[2]}; }
  bool is_promoted(const formats::RowReader& reader) const {
    return form_ && has_pixels(reader.shape()) && form_of(reader) != *form_;
  }

  /// Finds the smallest form of pixels that holds all results. If there is none, throws an error that names the first result whose
  /// form is not the most frequent one.
  void find_form() {
    struct Kind {
      Dims channels;
      formats::ElementType type;
      std::int64_t count = 0;
      std::int64_t first = 0;
    };
    std::vector<Kind> kinds;
    bool are_pictures = true;
    std::vector<PixelForm> forms;
    for (std::int64_t index = 0; index < tiling_.size(); ++index) {
      if (!is_there(index)) continue;
      const auto reader = open(index);
      const Dims channels = channels_of(index, shape_of(index, *reader));
      const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) {
        return kind.channels == channels && formats::type_text(kind.type) == formats::type_text(reader->type());
      });
      if (known != kinds.end()) {
        ++known->count;
        continue;
      }
      kinds.push_back({channels, reader->type(), 1, index});
      are_pictures = are_pictures && has_pixels(reader->shape()) && !is_npy(index);
      if (are_pictures) forms.push_back(form_of(*reader));
    }
    if (kinds.size() == 1) return;
    const auto common = are_pictures ? common_form(forms) : std::nullopt;
    if (common) {
      form_ = common;
      channels_ = {common->channels};
      return;
    }
    const auto most =
        std::max_element(kinds.begin(), kinds.end(), [](const Kind& a, const Kind& b) { return a.count < b.count; });
    const auto odd = std::min_element(kinds.begin(), kinds.end(), [&](const Kind& a, const Kind& b) {
      return std::pair(&a == &*most, a.first) < std::pair(&b == &*most, b.first);
    });
    channels_ = most->channels;
    type_ = most->type;
    if (odd->channels != most->channels)
      fail(odd->first, ErrorCode::shape, "must have the channels of the other tiles", to_string(odd->channels),
           to_string(most->channels));
    check_form(odd->first, *open(odd->first));
  }
  bool is_npy(std::int64_t index) const { return path(index).extension() == ".npy"; }

  /// Throws the error for results that are k or 1/k times as large as their tiles, although the plan has another scale. Other
  /// ratios mean that results lack a border.
  void refuse_scale(std::int64_t index, const Dims& given, const Dims& expected) const {
    const auto scale = tiling_.scale_of(index, given);
    if (!scale || (scale->num != 1 && scale->den != 1)) return;
    const std::string ratio = scale->den == 1 ? std::to_string(scale->num) : fmt::format("{}/{}", scale->num, scale->den);
    const std::string size = ratio == "1" ? "" : ratio == "2" ? "twice " : ratio == "1/2" ? "half " : ratio + " times ";
    fail(index, ErrorCode::shape, fmt::format("results are {}as large as tiles: split again with --scale {}", size, ratio),
         to_string(given), to_string(expected));
  }
  void check_size(std::int64_t index, const formats::RowReader& reader) const {
    Dims expected = tiling_.result_shape(index, channels_);
    const Dims given = shape_of(index, reader);
    if (form_ && given.size() == 3) expected[2] = given[2];
    if (!(given == expected)) refuse_scale(index, given, expected);
    if (!(given == expected))
      fail(index, ErrorCode::shape, "must have the size that the plan says", to_string(given),
           to_string(expected) +
               (processed_ ? ", or split again with --offset and --result, which say where smaller results lie" : ""));
  }
  /// Throws unless a result has the expected element type and channels, or its pixels can be promoted.
  void check_form(std::int64_t index, const formats::RowReader& reader) const {
    if (is_promoted(reader) && common_form({form_of(reader), *form_}) == form_) return;
    const Dims shape = tiling_.result_shape(index, channels_);
    const Dims given = shape_of(index, reader);
    if (!(given == shape))
      fail(index, ErrorCode::shape, "must have the size that the plan says", to_string(given), to_string(shape));
    const std::string type = formats::type_text(reader.type());
    const std::string expected = processed_ ? formats::type_text(type_) : plan_.type;
    if (type != expected)
      fail(index, ErrorCode::dtype,
           processed_ ? "must have the element type of the other tiles"
                      : "must have the picture's element type, or merge needs --processed",
           type, expected);
  }

  fs::path folder_;
  const formats::TilePlan& plan_;
  const Tiling& tiling_;
  bool processed_;
  bool turns_;  ///< results are arrays of C x H x W that become H x W x C
  std::string extension_{};
  std::vector<std::uint8_t> mask_{};  ///< for each tile, 0 if it has no file; empty: all have one
  std::int64_t missing_ = 0;          ///< the number of files that the plan lists and the folder lacks
  std::int64_t first_ = 0;            ///< the first tile with a file
  formats::ElementType type_{};
  Dims channels_{};
  std::optional<PixelForm> form_{};  ///< the form to which tiles of a picture are promoted
};

}  // namespace

std::unique_ptr<const PlannedTiles> open_tiles(const MergeRequest& request, const formats::TilePlan& plan,
                                               const Tiling& tiling) {
  return std::make_unique<const Files>(request, plan, tiling);
}

}  // namespace patchfold::cli
