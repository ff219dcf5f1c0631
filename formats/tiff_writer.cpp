// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>

#include "formats/picture_codec.hpp"
#include "formats/tiff_file.hpp"
#include "src/base/checked.hpp"

namespace patchfold::formats {
namespace {

using Compression = TiffOptions::Compression;

constexpr std::int64_t strip_bytes = std::int64_t{1} << 18;
/// The largest number of strips or tiles, of rows, and of bytes of one strip or tile: libtiff counts them in int32.
constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

int compression_code(Compression compression) {
  switch (compression) {
    case Compression::deflate: return COMPRESSION_ADOBE_DEFLATE;
    case Compression::lzw: return COMPRESSION_LZW;
    case Compression::zstd: return COMPRESSION_ZSTD;
    default: return COMPRESSION_NONE;
  }
}

/// The form of the file. Its blocks are strips of whole rows, or square tiles.
struct TiffPlan {
  /// Plans the file; `besides` is the number of bytes of its metadata.
  TiffPlan(const Dims& shape, const ElementType& type, const TiffOptions& options, std::int64_t besides,
           const Subject& subject);

  DType dtype;  ///< the type of the samples in the file
  std::int64_t sample_bytes = 0;
  std::int64_t row_bytes = 0;
  std::int64_t block_height = 0;
  std::int64_t block_row_bytes = 0;
  bool is_big = false;
};

TiffPlan::TiffPlan(const Dims& shape, const ElementType& type, const TiffOptions& options, std::int64_t besides,
                   const Subject& subject)
    : dtype(type.dtype == DType::bfloat16 ? DType::float32 : type.dtype) {
  check_picture_rank(shape, subject);
  if (shape[0] < 1 || shape[1] < 1 || shape[2] < 1 || shape[2] > 65535)
    subject.fail(ErrorCode::shape, "must be H x W x C with H and W from 1 and C from 1 to 65535 to be a TIFF file",
                 to_string(shape));
  if (sample_format(dtype) == 0)
    subject.fail(ErrorCode::dtype, "must hold integers or floating-point numbers of 8 to 64 bits to be a TIFF file",
                 std::string(name_of(type.dtype)));
  if (options.tile < 0 || options.tile % 16 != 0)
    subject.fail(ErrorCode::value, "must have tiles whose side is a multiple of 16", std::to_string(options.tile));
  if (TIFFIsCODECConfigured(static_cast<std::uint16_t>(compression_code(options.compression))) == 0)
    subject.fail(ErrorCode::file_unsupported, "has a compression that this build's libtiff does not write");

  sample_bytes = static_cast<std::int64_t>(size_of(dtype));
  const Checked pixel_bytes = Checked(shape[2]) * Checked(sample_bytes);
  const Checked row = Checked(shape[1]) * pixel_bytes;
  const Checked block_row = options.tile > 0 ? Checked(options.tile) * pixel_bytes : row;
  if (shape[0] > most || shape[1] > most || !row.value() || *row.value() > most)
    subject.fail(ErrorCode::shape, "must have at most 2147483647 rows, and bytes in a row, to be a TIFF file",
                 to_string(shape));
  row_bytes = *row.value();
  block_height = options.tile > 0 ? options.tile : std::clamp<std::int64_t>(strip_bytes / row_bytes, 1, shape[0]);
  block_row_bytes = *block_row.value();
  if (block_row_bytes > most / block_height)
    subject.fail(ErrorCode::value, "must have tiles of at most 2147483647 bytes", std::to_string(options.tile));

  // The most bytes of the samples and of the table of blocks. LZW can make samples half as long again; with other codecs they
  // hardly grow.
  const std::int64_t columns = options.tile > 0 ? ceil_div(shape[1], options.tile) : 1;
  const Checked blocks = Checked(columns) * Checked(ceil_div(shape[0], block_height));
  const Checked samples = blocks * Checked(block_height * block_row_bytes);
  const std::int64_t room = samples.value().value_or(0) / (options.compression == Compression::lzw ? 2 : 64);
  const auto all = samples + Checked(room) + blocks * Checked(8) + Checked((1 << 20) + besides);
  if (!all.value() || (blocks.value() && *blocks.value() > most))
    subject.fail(ErrorCode::shape, "must have at most 2147483647 strips or tiles to be a TIFF file", to_string(shape));
  is_big = options.always_big || *all.value() > std::numeric_limits<std::uint32_t>::max();
}

class TiffRowWriter final : public RowWriter {
 public:
  TiffRowWriter(const std::filesystem::path& path, const Dims& shape, const ElementType& type, const WriteOptions& options)
      : RowWriter("tiff", path, shape, type),
        options_(options.tiff),
        metadata_(kept_metadata(options, FileFormat::tiff)),
        plan_(shape, type, options.tiff, static_cast<std::int64_t>(metadata_bytes(metadata_)), subject()),
        band_(allocate(std::min(plan_.block_height, shape[0]) * plan_.row_bytes, subject())),
        output_(path, "tiff", OutputFile::Kind::regular),
        file_(output_, plan_.is_big) {
    if (file_.get() == nullptr || !set_fields() || !set_tiff_metadata(file_.get(), metadata_)) fail_writing();
    if (options_.tile > 0) tile_.resize(static_cast<std::size_t>(plan_.block_height * plan_.block_row_bytes));
  }

 private:
  [[noreturn]] void fail_writing() const { file_.fail(subject(), ErrorCode::file_write, "cannot be written as TIFF"); }

  template <class... Values>
  bool set(std::uint32_t tag, Values... values) {
    return TIFFSetField(file_.get(), tag, values...) != 0;
  }

  bool set_fields() {
    const auto channels = static_cast<int>(shape()[2]);
    const bool is_rgb = (channels == 3 || channels == 4) && (plan_.dtype == DType::uint8 || plan_.dtype == DType::uint16);
    const auto height = static_cast<std::uint32_t>(shape()[0]);
    bool done = set(TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(shape()[1])) && set(TIFFTAG_IMAGELENGTH, height) &&
                set(TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * plan_.sample_bytes)) &&
                set(TIFFTAG_SAMPLESPERPIXEL, channels) && set(TIFFTAG_SAMPLEFORMAT, sample_format(plan_.dtype)) &&
                set(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) &&
                set(TIFFTAG_PHOTOMETRIC, is_rgb ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK) &&
                set(TIFFTAG_COMPRESSION, compression_code(options_.compression));
    const int extra = channels - (is_rgb ? 3 : 1);
    if (extra > 0) {
      const int kind = is_rgb ? EXTRASAMPLE_UNASSALPHA : EXTRASAMPLE_UNSPECIFIED;
      const std::vector<std::uint16_t> kinds(static_cast<std::size_t>(extra), static_cast<std::uint16_t>(kind));
      done = done && set(TIFFTAG_EXTRASAMPLES, extra, kinds.data());
    }
    if (options_.compression != Compression::none) done = done && set(TIFFTAG_PREDICTOR, predictor());
    const auto side = static_cast<std::uint32_t>(options_.tile);
    if (side > 0) return done && set(TIFFTAG_TILEWIDTH, side) && set(TIFFTAG_TILELENGTH, side);
    return done && set(TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(plan_.block_height));
  }

  /// Returns the predictor. Codecs compress differences of neighbours better, but not every reader knows differences of
  /// 64-bit integers.
  int predictor() const {
    if (sample_format(plan_.dtype) == SAMPLEFORMAT_IEEEFP) return PREDICTOR_FLOATINGPOINT;
    return plan_.sample_bytes < 8 ? PREDICTOR_HORIZONTAL : PREDICTOR_NONE;
  }

  void write_rows(const ConstTensorView& rows) override {
    for (std::int64_t y = 0; y < rows.shape[0]; ++y) {
      std::byte* const to = band_.get() + rows_in_band_ * plan_.row_bytes;
      if (rows.dtype == DType::bfloat16)
        copy_bfloat16_row(rows, y, to);
      else
        copy_picture_row(rows, y, to);
      ++rows_in_band_;
      if (rows_in_band_ == plan_.block_height || band_first_ + rows_in_band_ == shape()[0]) write_band();
    }
  }

  void write_band() {
    options_.tile > 0 ? write_tiles() : write_strip();
    band_first_ += std::exchange(rows_in_band_, 0);
  }

  void write_strip() {
    const auto strip = static_cast<std::uint32_t>(band_first_ / plan_.block_height);
    const std::int64_t bytes = rows_in_band_ * plan_.row_bytes;
    if (TIFFWriteEncodedStrip(file_.get(), strip, band_.get(), bytes) != bytes) fail_writing();
  }

  /// Writes tiles; the parts of tiles outside the picture are 0.
  void write_tiles() {
    const std::int64_t bytes = plan_.block_row_bytes;
    for (std::int64_t left = 0; left < plan_.row_bytes; left += bytes) {
      const auto part = static_cast<std::size_t>(std::min(bytes, plan_.row_bytes - left));
      std::fill(tile_.begin(), tile_.end(), std::byte{0});
      for (std::int64_t y = 0; y < rows_in_band_; ++y)
        std::memcpy(tile_.data() + y * bytes, band_.get() + y * plan_.row_bytes + left, part);
      const auto x = static_cast<std::uint32_t>(left / bytes * options_.tile);
      const std::uint32_t tile = TIFFComputeTile(file_.get(), x, static_cast<std::uint32_t>(band_first_), 0, 0);
      const auto size = static_cast<tmsize_t>(tile_.size());
      if (TIFFWriteEncodedTile(file_.get(), tile, tile_.data(), size) != size) fail_writing();
    }
  }

  void finish() override {
    if (TIFFWriteDirectory(file_.get()) == 0) fail_writing();
    file_.close(true);
    if (file_.has_failed()) fail_writing();
    output_.commit();
  }

  TiffOptions options_;
  Metadata metadata_;
  TiffPlan plan_;
  std::shared_ptr<std::byte> band_;
  OutputFile output_;
  TiffFile file_;
  std::vector<std::byte> tile_{};
  std::int64_t band_first_ = 0;
  std::int64_t rows_in_band_ = 0;
};

}  // namespace

std::unique_ptr<RowWriter> create_tiff(const std::filesystem::path& path, const Dims& shape, const ElementType& type,
                                       const WriteOptions& options) {
  return std::make_unique<TiffRowWriter>(path, shape, type, options);
}

}  // namespace patchfold::formats
