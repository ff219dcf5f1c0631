// SPDX-License-Identifier: Apache-2.0
#include "formats/tiff_page_writer.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "formats/picture_codec.hpp"
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
    case Compression::jpeg: return COMPRESSION_JPEG;
    default: return COMPRESSION_NONE;
  }
}

}  // namespace

TiffPlan::TiffPlan(const Dims& shape, const ElementType& type, const WriteOptions& all, const Subject& subject)
    : shape(shape),
      dtype(type.dtype == DType::bfloat16 ? DType::float32 : type.dtype),
      options(all.tiff),
      jpeg_quality(all.jpeg_quality) {
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
  if (const bool fits = dtype == DType::uint8 && (shape[2] == 1 || shape[2] == 3);
      options.compression == Compression::jpeg && !fits)
    subject.fail(ErrorCode::file_unsupported, "must hold 1 or 3 channels of uint8 to be compressed by JPEG",
                 std::string(name_of(dtype)) + " " + to_string(shape));
  const bool may_be_rgb = dtype == DType::uint8 || dtype == DType::uint16;
  is_rgb = may_be_rgb && (shape[2] == 3 || shape[2] == 4) && !options.as_bands;

  sample_bytes = static_cast<std::int64_t>(size_of(dtype));
  const Checked pixel_bytes = Checked(shape[2]) * Checked(sample_bytes);
  const Checked row = Checked(shape[1]) * pixel_bytes;
  const Checked block_row = options.tile > 0 ? Checked(options.tile) * pixel_bytes : row;
  if (shape[0] > most || shape[1] > most || !row.value() || *row.value() > most)
    subject.fail(ErrorCode::shape, "must have at most 2147483647 rows, and bytes in a row, to be a TIFF file",
                 to_string(shape));
  row_bytes = *row.value();
  block_height = options.tile > 0 ? options.tile : std::clamp<std::int64_t>(strip_bytes / row_bytes, 1, shape[0]);
  // JPEG codes blocks of 8 rows.
  if (options.compression == Compression::jpeg) block_height = ceil_div(block_height, 8) * 8;
  block_row_bytes = *block_row.value();
  if (block_row_bytes > most / block_height)
    subject.fail(ErrorCode::value, "must have tiles of at most 2147483647 bytes", std::to_string(options.tile));

  // The most bytes of the samples and of the table of blocks. LZW can make samples half as long again; with other codecs
  // they hardly grow.
  const std::int64_t columns = options.tile > 0 ? ceil_div(shape[1], options.tile) : 1;
  const Checked blocks = Checked(columns) * Checked(ceil_div(shape[0], block_height));
  const Checked samples = blocks * Checked(block_height * block_row_bytes);
  const std::int64_t room = samples.value().value_or(0) / (options.compression == Compression::lzw ? 2 : 64);
  const auto all_bytes = samples + Checked(room) + blocks * Checked(8) + Checked(1 << 20);
  if (!all_bytes.value() || (blocks.value() && *blocks.value() > most))
    subject.fail(ErrorCode::shape, "must have at most 2147483647 strips or tiles to be a TIFF file", to_string(shape));
  most_bytes = *all_bytes.value();
}

bool TiffPlan::set_fields(TIFF* tiff) const {
  const auto set = [&](std::uint32_t tag, auto... values) { return TIFFSetField(tiff, tag, values...) != 0; };
  const auto channels = static_cast<int>(shape[2]);
  const bool is_jpeg = options.compression == Compression::jpeg;
  const bool is_ycbcr = is_jpeg && is_rgb;
  bool done = set(TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(shape[1])) &&
              set(TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(shape[0])) &&
              set(TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * sample_bytes)) && set(TIFFTAG_SAMPLESPERPIXEL, channels) &&
              set(TIFFTAG_SAMPLEFORMAT, sample_format(dtype)) && set(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) &&
              set(TIFFTAG_PHOTOMETRIC, is_ycbcr ? PHOTOMETRIC_YCBCR
                                       : is_rgb ? PHOTOMETRIC_RGB
                                                : PHOTOMETRIC_MINISBLACK) &&
              set(TIFFTAG_COMPRESSION, compression_code(options.compression));
  const int extra = channels - (is_rgb ? 3 : 1);
  if (extra > 0) {
    const int kind = is_rgb ? EXTRASAMPLE_UNASSALPHA : EXTRASAMPLE_UNSPECIFIED;
    const std::vector<std::uint16_t> kinds(static_cast<std::size_t>(extra), static_cast<std::uint16_t>(kind));
    done = done && set(TIFFTAG_EXTRASAMPLES, extra, kinds.data());
  }
  // Colours have their full resolution, as in JPEG files.
  if (is_ycbcr) done = done && set(TIFFTAG_YCBCRSUBSAMPLING, 1, 1) && set(TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  if (is_jpeg)
    done = done && set(TIFFTAG_JPEGQUALITY, jpeg_quality);
  else if (options.compression != Compression::none)
    done = done && set(TIFFTAG_PREDICTOR, predictor());
  const auto side = static_cast<std::uint32_t>(options.tile);
  if (side > 0) return done && set(TIFFTAG_TILEWIDTH, side) && set(TIFFTAG_TILELENGTH, side);
  return done && set(TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(block_height));
}

/// Returns the predictor. Codecs compress differences of neighbours better, but not every reader knows differences of
/// 64-bit integers.
int TiffPlan::predictor() const {
  if (sample_format(dtype) == SAMPLEFORMAT_IEEEFP) return PREDICTOR_FLOATINGPOINT;
  return sample_bytes < 8 ? PREDICTOR_HORIZONTAL : PREDICTOR_NONE;
}

TiffPage::TiffPage(const TiffPlan& plan, bool big, const Metadata& metadata, const Subject& subject)
    : plan_(plan),
      subject_(subject),
      band_(allocate(std::min(plan.block_height, plan.shape[0]) * plan.row_bytes, subject)),
      output_(subject.path, "tiff", OutputFile::Kind::regular),
      file_(output_, big) {
  if (file_.get() == nullptr || !plan_.set_fields(file_.get()) || !set_tiff_metadata(file_.get(), metadata)) fail();
  if (plan_.options.tile > 0) tile_.resize(static_cast<std::size_t>(plan_.block_height * plan_.block_row_bytes));
}

void TiffPage::take_row() {
  ++rows_;
  if (rows_ < plan_.block_height && next() < plan_.shape[0]) return;
  plan_.options.tile > 0 ? write_tiles() : write_strip();
  first_ += std::exchange(rows_, 0);
}

void TiffPage::write_strip() {
  const auto strip = static_cast<std::uint32_t>(first_ / plan_.block_height);
  const std::int64_t bytes = rows_ * plan_.row_bytes;
  if (TIFFWriteEncodedStrip(file_.get(), strip, band_.get(), bytes) != bytes) fail();
}

/// Writes a row of tiles; the parts of tiles outside the picture are 0.
void TiffPage::write_tiles() {
  const std::int64_t bytes = plan_.block_row_bytes;
  for (std::int64_t left = 0; left < plan_.row_bytes; left += bytes) {
    const auto part = static_cast<std::size_t>(std::min(bytes, plan_.row_bytes - left));
    std::fill(tile_.begin(), tile_.end(), std::byte{0});
    for (std::int64_t y = 0; y < rows_; ++y)
      std::memcpy(tile_.data() + y * bytes, band_.get() + y * plan_.row_bytes + left, part);
    const auto x = static_cast<std::uint32_t>(left / bytes * plan_.options.tile);
    const std::uint32_t tile = TIFFComputeTile(file_.get(), x, static_cast<std::uint32_t>(first_), 0, 0);
    const auto size = static_cast<tmsize_t>(tile_.size());
    if (TIFFWriteEncodedTile(file_.get(), tile, tile_.data(), size) != size) fail();
  }
}

void TiffPage::commit() {
  if (TIFFWriteDirectory(file_.get()) == 0) fail();
  file_.close(true);
  if (file_.has_failed()) fail();
  output_.commit();
}

namespace {

/// Sets the tables that the tiles of a JPEG-compressed page share.
bool set_tables(TIFF* tiff, const TiffPage& page) {
  std::uint32_t count = 0;
  const void* tables = nullptr;
  if (page.plan().options.compression != Compression::jpeg) return true;
  return TIFFGetField(page.tiff(), TIFFTAG_JPEGTABLES, &count, &tables) == 1 &&
         TIFFSetField(tiff, TIFFTAG_JPEGTABLES, count, tables) != 0;
}

bool copy_tiles(TIFF* tiff, const TiffPage& page, std::vector<std::byte>& buffer) {
  for (std::uint32_t tile = 0, count = TIFFNumberOfTiles(page.tiff()); tile < count; ++tile) {
    const auto size = static_cast<tmsize_t>(TIFFGetStrileByteCount(page.tiff(), tile));
    buffer.resize(static_cast<std::size_t>(size));
    if (TIFFReadRawTile(page.tiff(), tile, buffer.data(), size) != size) page.fail();
    if (TIFFWriteRawTile(tiff, tile, buffer.data(), size) != size) return false;
  }
  return TIFFForceStrileArrayWriting(tiff) != 0;
}

}  // namespace

void write_cloud_tiff(const std::vector<std::unique_ptr<TiffPage>>& levels, bool big, const Metadata& metadata,
                      const Subject& subject) {
  OutputFile output(subject.path, "tiff", OutputFile::Kind::regular);
  TiffFile file(output, big);
  TIFF* tiff = file.get();
  const auto count = static_cast<tdir_t>(levels.size());
  bool done = tiff != nullptr;
  for (tdir_t level = 0; done && level < count; ++level) {
    const TiffPage& page = *levels[level];
    done = page.plan().set_fields(tiff) && set_tables(tiff, page) &&
           (level == 0 ? set_tiff_metadata(tiff, metadata)
                       : TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, FILETYPE_REDUCEDIMAGE) != 0) &&
           TIFFDeferStrileArrayWriting(tiff) != 0 && TIFFWriteCheck(tiff, 1, "write_cloud_tiff") != 0 &&
           TIFFWriteDirectory(tiff) != 0;
  }
  for (tdir_t level = 0; done && level < count; ++level)
    done = TIFFSetDirectory(tiff, level) != 0 && TIFFForceStrileArrayWriting(tiff) != 0;
  std::vector<std::byte> buffer;
  for (tdir_t level = count; done && level-- > 0;)
    done = TIFFSetDirectory(tiff, level) != 0 && copy_tiles(tiff, *levels[level], buffer);
  if (done) file.close(true);
  if (!done || file.has_failed()) file.fail(subject, ErrorCode::file_write, "cannot be written as TIFF");
  output.commit();
}

}  // namespace patchfold::formats
