// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "formats/overviews.hpp"
#include "formats/picture_codec.hpp"
#include "formats/tiff_page_writer.hpp"
#include "src/base/checked.hpp"

namespace patchfold::formats {
namespace {

/// Returns the number that stands for no data, as GDAL's field for it says.
std::optional<double> nodata_of(const Metadata& metadata) {
  for (const GeoField& field : metadata.geo)
    if (field.tag == 42113) {
      char* end = nullptr;
      const double number = std::strtod(field.values.c_str(), &end);
      if (end != field.values.c_str()) return number;
    }
  return std::nullopt;
}

/// Returns the plans of the picture and of its overviews: of half the size, and so on, until one tile holds it.
std::vector<TiffPlan> plans_of(const Dims& shape, const ElementType& type, const WriteOptions& options,
                               const Subject& subject) {
  std::vector<TiffPlan> plans = {{shape, type, options, subject}};
  if (!options.tiff.is_cloud) return plans;
  if (options.tiff.tile == 0)
    subject.fail(ErrorCode::value, "must have tiles to be cloud-optimised", std::to_string(options.tiff.tile));
  if (options.tiff.overviews == TiffOptions::Overviews::none) return plans;
  for (Dims size = shape; std::max(size[0], size[1]) > options.tiff.tile;) {
    size[0] = ceil_div(size[0], 2);
    size[1] = ceil_div(size[1], 2);
    plans.emplace_back(size, type, options, subject);
  }
  return plans;
}

class TiffRowWriter final : public RowWriter {
 public:
  TiffRowWriter(const std::filesystem::path& path, const Dims& shape, const ElementType& type, const WriteOptions& options)
      : RowWriter("tiff", path, shape, type),
        options_(options.tiff),
        metadata_(kept_metadata(options, FileFormat::tiff)),
        subject_(subject()) {
    const std::vector<TiffPlan> plans = plans_of(shape, type, options, subject_);
    if (plans.size() > 1) halving_.emplace(options_, plans[0].dtype, shape[2], nodata_of(metadata_), subject_);
    Checked bytes(static_cast<std::int64_t>(metadata_bytes(metadata_)));
    for (const TiffPlan& plan : plans) bytes = bytes + Checked(plan.most_bytes);
    is_big_ = options_.always_big || bytes.value().value_or(INT64_MAX) > std::numeric_limits<std::uint32_t>::max();
    for (const TiffPlan& plan : plans) {
      levels_.push_back(std::make_unique<TiffPage>(plan, is_big_, levels_.empty() ? metadata_ : Metadata(), subject_));
      firsts_.emplace_back(halving_ ? static_cast<std::size_t>(plan.row_bytes) : 0);
    }
  }

 private:
  void write_rows(const ConstTensorView& rows) override {
    for (std::int64_t y = 0; y < rows.shape[0]; ++y) {
      if (rows.dtype == DType::bfloat16)
        copy_bfloat16_row(rows, y, levels_[0]->room());
      else
        copy_picture_row(rows, y, levels_[0]->room());
      take_row(0);
    }
  }

  /// Takes the row that is in the room of a level, and makes the rows of smaller levels that can be made now.
  void take_row(std::size_t level) {
    TiffPage& page = *levels_[level];
    if (level + 1 < levels_.size()) {
      const std::byte* row = page.room();
      std::byte* first = firsts_[level].data();
      const bool is_first = page.next() % 2 == 0;
      if (is_first && page.next() + 1 < page.plan().shape[0]) {
        std::memcpy(first, row, firsts_[level].size());
      } else {
        halving_->run(is_first ? row : first, row, page.plan().shape[1], levels_[level + 1]->room());
        take_row(level + 1);
      }
    }
    page.take_row();
  }

  void finish() override {
    options_.is_cloud ? write_cloud_tiff(levels_, is_big_, metadata_, subject_) : levels_[0]->commit();
  }

  TiffOptions options_;
  Metadata metadata_;
  Subject subject_;
  bool is_big_ = false;
  std::optional<Halving> halving_{};
  std::vector<std::unique_ptr<TiffPage>> levels_{};  ///< the picture, and its overviews
  std::vector<std::vector<std::byte>> firsts_{};     ///< for each level, the first of two rows that become one
};

}  // namespace

std::unique_ptr<RowWriter> create_tiff(const std::filesystem::path& path, const Dims& shape, const ElementType& type,
                                       const WriteOptions& options) {
  return std::make_unique<TiffRowWriter>(path, shape, type, options);
}

}  // namespace patchfold::formats
