// SPDX-License-Identifier: Apache-2.0
#include "formats/tiff_layout.hpp"

#include <algorithm>

#include "formats/picture_codec.hpp"
#include "src/base/checked.hpp"

namespace patchfold::formats {
namespace {

struct Codec {
  int compression;
  std::string_view name;
  /// The most bytes of samples for each byte of the file: a larger picture is refused before memory is allocated. 0:
  /// patchfold does not read this codec.
  std::int64_t most_bytes_per_byte;
};

constexpr Codec codecs[] = {
    {COMPRESSION_NONE, "none", 1},
    {COMPRESSION_PACKBITS, "PackBits", 64},
    {COMPRESSION_LZW, "LZW", 1400},
    {COMPRESSION_ADOBE_DEFLATE, "deflate", 1032},
    {COMPRESSION_DEFLATE, "deflate", 1032},
    {COMPRESSION_ZSTD, "zstd", 1 << 16},
    {COMPRESSION_LZMA, "LZMA", 1 << 14},
    {COMPRESSION_JPEG, "JPEG", 4 * 1024},
    {COMPRESSION_CCITTRLE, "CCITT", 0},
    {COMPRESSION_CCITTFAX3, "CCITT fax 3", 0},
    {COMPRESSION_CCITTFAX4, "CCITT fax 4", 0},
    {COMPRESSION_OJPEG, "JPEG as TIFF 6.0 defined it", 0},
    {COMPRESSION_JBIG, "JBIG", 0},
    {COMPRESSION_LERC, "LERC", 0},
    {COMPRESSION_WEBP, "WebP", 0},
};

/// Returns the value of a field of 16 bits; `missing` if the page does not have it.
int short_field(TIFF* tiff, std::uint32_t tag, int missing) {
  std::uint16_t value = 0;
  return TIFFGetFieldDefaulted(tiff, tag, &value) != 0 ? value : missing;
}

const Codec& codec_of(TIFF* tiff, const Subject& subject) {
  const int compression = short_field(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  const auto* codec = std::find_if(std::begin(codecs), std::end(codecs),
                                   [&](const Codec& known) { return known.compression == compression; });
  const bool is_known = codec != std::end(codecs);
  if (!is_known || codec->most_bytes_per_byte == 0)
    subject.fail(ErrorCode::file_unsupported, "has a compression that is not read",
                 is_known ? std::string(codec->name) : std::to_string(compression),
                 "none, PackBits, LZW, deflate, zstd, LZMA or JPEG");
  if (TIFFIsCODECConfigured(static_cast<std::uint16_t>(compression)) == 0)
    subject.fail(ErrorCode::file_unsupported, "has a compression that this build's libtiff does not read",
                 std::string(codec->name));
  return *codec;
}

std::string colours_text(int photometric) {
  switch (photometric) {
    case PHOTOMETRIC_MASK: return "a mask";
    case PHOTOMETRIC_YCBCR: return "YCbCr that is not JPEG";
    case PHOTOMETRIC_CIELAB: return "CIE L*a*b*";
    default: return "photometric interpretation " + std::to_string(photometric);
  }
}

DType dtype_of_samples(TIFF* tiff, const Subject& subject) {
  const int bits = short_field(tiff, TIFFTAG_BITSPERSAMPLE, 1);
  int format = short_field(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  if (format == SAMPLEFORMAT_VOID) format = SAMPLEFORMAT_UINT;
  for (const DTypeInfo& info : dtype_table)
    if (sample_format(info.dtype) == format && info.size * 8 == bits) return info.dtype;
  std::string kind = "unsigned integers";
  if (format == SAMPLEFORMAT_INT) kind = "signed integers";
  if (format == SAMPLEFORMAT_IEEEFP) kind = "floating-point numbers";
  if (format == SAMPLEFORMAT_COMPLEXINT || format == SAMPLEFORMAT_COMPLEXIEEEFP) kind = "complex numbers";
  subject.fail(ErrorCode::file_unsupported,
               "must hold integers of 8, 16, 32 or 64 bits, or floating-point numbers of 16, 32 or 64 bits",
               kind + " of " + std::to_string(bits) + (bits == 1 ? " bit" : " bits"),
               bits < 8 ? "8 bits, as `gdal_translate -co NBITS=8` writes them" : "");
}

void check_colours(TIFF* tiff, const Codec& codec, TiffLayout& layout, const Subject& subject) {
  const int photometric = short_field(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  const bool is_unsigned = kind_of(layout.dtype) == ElementKind::unsigned_integer;
  const bool is_small = layout.dtype == DType::uint8 || layout.dtype == DType::uint16;
  switch (photometric) {
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_RGB: return;
    case PHOTOMETRIC_MINISWHITE:
      if (!is_unsigned || layout.channels != 1)
        subject.fail(ErrorCode::file_unsupported, "must be a single channel of unsigned integers if 0 is white");
      layout.is_inverted = true;
      return;
    case PHOTOMETRIC_PALETTE:
      if (!is_small || layout.channels != 1)
        subject.fail(ErrorCode::file_unsupported, "must be a single channel of 8 or 16 bits if it has a palette");
      layout.colours = TiffLayout::Colours::palette;
      return;
    case PHOTOMETRIC_SEPARATED:
      if (!is_small || layout.channels != 4 || short_field(tiff, TIFFTAG_INKSET, INKSET_CMYK) != INKSET_CMYK)
        subject.fail(ErrorCode::file_unsupported,
                     "must have the four inks of CMYK, of 8 or 16 bits, if its channels are inks");
      layout.colours = TiffLayout::Colours::cmyk;
      return;
    case PHOTOMETRIC_YCBCR:
      if (codec.compression == COMPRESSION_JPEG && layout.planes == 1 && layout.channels == 3) {
        TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        return;
      }
      [[fallthrough]];
    default:
      subject.fail(ErrorCode::file_unsupported, "must be grey, RGB, CMYK or of a palette; other colours are not read",
                   colours_text(photometric));
  }
}

void read_blocks(TIFF* tiff, TiffLayout& layout) {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  if (layout.is_tiled) {
    TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &width);
    TIFFGetField(tiff, TIFFTAG_TILELENGTH, &height);
    layout.block_width = width;
    layout.block_height = height;
  } else {
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &height);
    layout.block_width = layout.width;
    layout.block_height = std::min<std::int64_t>(height, layout.height);
  }
}

/// Returns whether libtiff computes the same number of blocks, and the same sizes, as `layout`.
bool is_consistent(TIFF* tiff, const TiffLayout& layout) {
  const auto across = ceil_div(layout.width, layout.block_width);
  const auto blocks = Checked(across) * Checked(ceil_div(layout.height, layout.block_height)) * Checked(layout.planes);
  const std::int64_t given = layout.is_tiled ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
  const auto row = static_cast<std::uint64_t>(layout.block_width * layout.sample_step());
  return blocks.value() == given && row == (layout.is_tiled ? TIFFTileRowSize64(tiff) : TIFFScanlineSize64(tiff));
}

}  // namespace

TiffLayout read_tiff_layout(const TiffFile& file, const Subject& subject) {
  TIFF* tiff = file.get();
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
  if (width == 0 || height == 0)
    subject.fail(ErrorCode::file_format, "must have rows and columns", pixels_text(width, height));
  std::uint32_t depth = 1;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_IMAGEDEPTH, &depth);
  if (depth > 1) subject.fail(ErrorCode::file_unsupported, "must be flat", std::to_string(depth) + " slices");

  TiffLayout layout;
  layout.width = width;
  layout.height = height;
  const Codec& codec = codec_of(tiff, subject);
  layout.is_deflate = codec.compression == COMPRESSION_ADOBE_DEFLATE || codec.compression == COMPRESSION_DEFLATE;
  layout.channels = short_field(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  const bool is_separate = short_field(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
  if (is_separate) layout.planes = layout.channels;
  layout.dtype = dtype_of_samples(tiff, subject);
  layout.size = size_of(layout.dtype);
  check_colours(tiff, codec, layout, subject);
  layout.is_tiled = TIFFIsTiled(tiff) != 0;
  read_blocks(tiff, layout);

  const auto file_size = file.input().size();
  const auto size = Checked(layout.height) * Checked(layout.width) * Checked(layout.channels) *
                    Checked(static_cast<std::int64_t>(layout.size));
  const auto block = Checked(layout.block_width) * Checked(layout.block_height) * Checked(layout.sample_step());
  const auto most = Checked(file_size) * Checked(codec.most_bytes_per_byte);
  if (!size.value() || !block.value() || (most.value() && std::max(*size.value(), *block.value()) > *most.value()))
    subject.fail(ErrorCode::file_format, "is too short for its picture",
                 bytes_text(static_cast<std::uint64_t>(file_size)) + " for " + pixels_text(width, height));
  if (*block.value() == 0 || !is_consistent(tiff, layout))
    file.fail(subject, ErrorCode::file_format, "must be a sound TIFF file");

  const bool is_plain =
      codec.compression == COMPRESSION_NONE && short_field(tiff, TIFFTAG_FILLORDER, FILLORDER_MSB2LSB) == FILLORDER_MSB2LSB;
  const bool is_striped = !layout.is_tiled;
  layout.way = TiffLayout::Way::blocks;
  if (is_striped && layout.planes == 1) layout.way = TiffLayout::Way::scanlines;
  if (is_striped && is_plain) layout.way = TiffLayout::Way::direct;
  return layout;
}

}  // namespace patchfold::formats
