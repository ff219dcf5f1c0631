// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "formats/npy_type.hpp"
#include "formats/picture.hpp"
#include "formats/tiff_file.hpp"
#include "formats/tiff_layout.hpp"

namespace patchfold::formats {
namespace {

constexpr std::string_view not_sound = "must be a sound TIFF file";
constexpr std::int64_t most_pages = 65536;
constexpr std::size_t most_levels = 64;

/// Goes to the chosen page; pages are counted without reduced copies and masks.
void choose_page(const TiffFile& file, std::optional<int> page, const Subject& subject) {
  TIFF* tiff = file.get();
  std::int64_t pages = 0;
  std::int64_t directories = 1;
  std::uint64_t offset = TIFFCurrentDirOffset(tiff);
  for (;; ++directories) {
    std::uint32_t kind = 0;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SUBFILETYPE, &kind);
    if ((kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) == 0 && pages++ == page.value_or(0)) {
      offset = TIFFCurrentDirOffset(tiff);
      if (page) return;
    }
    if (TIFFLastDirectory(tiff) != 0) break;
    if (directories == most_pages)
      subject.fail(ErrorCode::file_unsupported, "has too many pages", {}, "at most " + std::to_string(most_pages));
    if (TIFFReadDirectory(tiff) == 0) file.fail(subject, ErrorCode::file_format, not_sound);
  }
  pages = std::max<std::int64_t>(pages, 1);  // a file may consist of a single page that is marked as a reduced copy
  if (page.value_or(0) >= pages)
    subject.fail(ErrorCode::value, "has no such page", "page " + std::to_string(*page),
                 "a page from 0 to " + std::to_string(pages - 1));
  if (const std::int64_t first = 0; !page && pages > 1)
    throw Error({ErrorCode::file_unsupported, std::string(subject.op), subject.path.string(),
                 "has several pages: one has to be chosen", std::to_string(pages) + " pages",
                 "a page from 0 to " + std::to_string(pages - 1), Setting("page", first)});
  if (TIFFCurrentDirOffset(tiff) != offset && TIFFSetSubDirectory(tiff, offset) == 0)
    file.fail(subject, ErrorCode::file_format, not_sound);
}

/// Goes to a smaller copy of the current page; 1 is the largest of them. They are the pages behind it and its SubIFDs, as
/// far as they are marked as reduced copies.
void choose_level(const TiffFile& file, int level, const Subject& subject) {
  struct Copy {
    std::uint32_t width = 0;
    std::uint64_t offset = 0;
  };
  TIFF* tiff = file.get();
  std::vector<Copy> copies;
  const auto kind_here = [&] {
    Copy copy{0, TIFFCurrentDirOffset(tiff)};
    std::uint32_t kind = 0;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SUBFILETYPE, &kind);
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &copy.width);
    if ((kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) == FILETYPE_REDUCEDIMAGE) copies.push_back(copy);
    if (copies.size() > most_levels)
      subject.fail(ErrorCode::file_unsupported, "has too many levels", {}, "at most " + std::to_string(most_levels));
    return kind;
  };
  std::uint16_t count = 0;
  const std::uint64_t* offsets = nullptr;
  std::vector<std::uint64_t> inside;
  if (TIFFGetField(tiff, TIFFTAG_SUBIFD, &count, &offsets) == 1 && offsets != nullptr)
    inside.assign(offsets, offsets + count);
  if (inside.size() > most_levels) inside.resize(most_levels + 1);
  while (TIFFLastDirectory(tiff) == 0) {
    if (TIFFReadDirectory(tiff) == 0) file.fail(subject, ErrorCode::file_format, not_sound);
    if ((kind_here() & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) == 0) break;
  }
  for (const std::uint64_t offset : inside) {
    if (TIFFSetSubDirectory(tiff, offset) == 0) file.fail(subject, ErrorCode::file_format, not_sound);
    kind_here();
  }
  std::stable_sort(copies.begin(), copies.end(), [](const Copy& a, const Copy& b) { return a.width > b.width; });
  if (static_cast<std::size_t>(level) > copies.size())
    subject.fail(ErrorCode::value, "has no such level", "level " + std::to_string(level),
                 copies.empty() ? "level 0, the picture itself" : "a level from 0 to " + std::to_string(copies.size()));
  if (TIFFSetSubDirectory(tiff, copies[static_cast<std::size_t>(level) - 1].offset) == 0)
    file.fail(subject, ErrorCode::file_format, not_sound);
}

/// Returns the colours of a palette: 3 bytes for each number. TIFF's colours have 16 bits, of which the upper 8 are taken;
/// some writers set only the lower 8.
std::vector<std::uint8_t> read_palette(const TiffFile& file, std::size_t sample_size, const Subject& subject) {
  std::uint16_t* maps[3] = {};
  if (TIFFGetField(file.get(), TIFFTAG_COLORMAP, &maps[0], &maps[1], &maps[2]) != 1 || maps[2] == nullptr)
    subject.fail(ErrorCode::file_format, "must have a palette");
  const std::size_t count = std::size_t{1} << (8 * sample_size);
  bool is_wide = false;
  for (const std::uint16_t* map : maps)
    is_wide = is_wide || std::any_of(map, map + count, [](std::uint16_t value) { return value > 255; });
  std::vector<std::uint8_t> palette;
  for (std::size_t i = 0; i < count; ++i)
    for (const std::uint16_t* map : maps) palette.push_back(static_cast<std::uint8_t>(is_wide ? map[i] >> 8 : map[i]));
  return palette;
}

struct InflateEnd {
  void operator()(z_stream* stream) const noexcept { inflateEnd(stream); }
};

/// Throws an error if the deflate stream of a strip or tile of at most `most` bytes is damaged. libtiff stops reading when
/// the strip or tile is full; if damage made the stream longer, libtiff never sees its checksum.
void check_deflate(const TiffFile& file, std::uint32_t block, std::int64_t most, const Subject& subject) {
  const auto size = static_cast<std::uint64_t>(file.input().size());
  const std::uint64_t begin = std::min<std::uint64_t>(TIFFGetStrileOffset(file.get(), block), size);
  const std::uint64_t end = begin + std::min<std::uint64_t>(TIFFGetStrileByteCount(file.get(), block), size - begin);
  std::uint16_t order = FILLORDER_MSB2LSB;
  TIFFGetFieldDefaulted(file.get(), TIFFTAG_FILLORDER, &order);
  if (file.has_failed()) file.fail(subject, ErrorCode::file_format, not_sound);

  constexpr std::int64_t chunk = 1 << 16;
  std::vector<Bytef> stored(chunk);
  std::vector<Bytef> plain(chunk);
  auto position = static_cast<std::int64_t>(begin);
  std::int64_t length = 0;
  z_stream stream{};
  int state = inflateInit(&stream);
  const std::unique_ptr<z_stream, InflateEnd> guard(&stream);
  // Some writers fill up the last strip, so a stream may hold more bytes than its rows, up to a limit.
  while (state == Z_OK && length <= 2 * most + chunk) {
    if (stream.avail_in == 0) {
      const std::int64_t wanted = std::min(chunk, static_cast<std::int64_t>(end) - position);
      const std::int64_t count = file.input().read_at(position, stored.data(), wanted, subject);
      if (order == FILLORDER_LSB2MSB) TIFFReverseBits(stored.data(), count);
      position += count;
      stream.next_in = stored.data();
      stream.avail_in = static_cast<uInt>(count);
    }
    stream.next_out = plain.data();
    stream.avail_out = static_cast<uInt>(chunk);
    state = inflate(&stream, Z_NO_FLUSH);
    length += chunk - stream.avail_out;
  }
  if (state == Z_MEM_ERROR) subject.fail(ErrorCode::out_of_memory, "needs more memory than there is");
  if (state != Z_STREAM_END)
    subject.fail(ErrorCode::file_format, std::string(not_sound),
                 std::string("Decoding error: ") + (stream.msg != nullptr ? stream.msg : "no end of the data"));
}

/// Copies samples to a destination in which they lie `step` bytes apart.
template <std::size_t size>
void scatter(const std::byte* src, std::int64_t count, std::byte* dst, std::int64_t step) {
  for (std::int64_t i = 0; i < count; ++i) std::memcpy(dst + i * step, src + i * static_cast<std::int64_t>(size), size);
}

void scatter(std::size_t size, const std::byte* src, std::int64_t count, std::byte* dst, std::int64_t step) {
  switch (size) {
    case 1: return scatter<1>(src, count, dst, step);
    case 2: return scatter<2>(src, count, dst, step);
    case 4: return scatter<4>(src, count, dst, step);
    default: return scatter<8>(src, count, dst, step);
  }
}

class TiffRowReader final : public RowReader {
 public:
  TiffRowReader(InputFile file, const std::filesystem::path& path, std::optional<int> page, int level)
      : RowReader("tiff", path), file_(std::move(file)) {
    const Subject subject = this->subject();
    if (page.value_or(0) < 0) subject.fail(ErrorCode::value, "has no such page", "page " + std::to_string(*page), "from 0");
    if (file_.get() == nullptr) file_.fail(subject, ErrorCode::file_format, not_sound);
    if (level < 0) subject.fail(ErrorCode::value, "has no such level", "level " + std::to_string(level), "from 0");
    choose_page(file_, page, subject);
    Metadata metadata = tiff_metadata(file_.get());
    if (level > 0) metadata = of_level(level, std::move(metadata));
    layout_ = read_tiff_layout(file_, subject);
    describe({layout_.height, layout_.width, layout_.channels}, element_type(layout_.dtype));
    if (layout_.colours == TiffLayout::Colours::palette) palette_ = read_palette(file_, layout_.size, subject);
    if (file_.has_failed()) file_.fail(subject, ErrorCode::file_format, not_sound);
    carry(std::move(metadata));
  }

  TiffLayout::Colours colours() const noexcept { return layout_.colours; }
  const std::vector<std::uint8_t>& palette() const noexcept { return palette_; }

 private:
  using Way = TiffLayout::Way;

  /// Goes to a level and returns its metadata, made from those of the picture, since levels have none of their own.
  Metadata of_level(int level, Metadata metadata) {
    const auto size = [&] {
      std::uint32_t width = 0;
      std::uint32_t height = 0;
      TIFFGetField(file_.get(), TIFFTAG_IMAGEWIDTH, &width);
      TIFFGetField(file_.get(), TIFFTAG_IMAGELENGTH, &height);
      return std::pair{static_cast<double>(std::max(height, 1U)), static_cast<double>(std::max(width, 1U))};
    };
    const auto [whole_height, whole_width] = size();
    choose_level(file_, level, subject());
    const auto [height, width] = size();
    take_what_does_not_hold(metadata, true, false);
    return metadata_of_scaled(metadata, height / whole_height, width / whole_width);
  }

  [[noreturn]] void fail_format() const { file_.fail(subject(), ErrorCode::file_format, not_sound); }
  std::int64_t plane_row_bytes() const noexcept { return layout_.width * layout_.sample_step(); }

  void read_rows(std::int64_t count, std::byte* dst) override {
    switch (layout_.way) {
      case Way::direct: read_direct(count, dst); break;
      case Way::scanlines: read_scanlines(count, dst); break;
      case Way::blocks: read_blocks(count, dst); break;
    }
    y_ += count;
    // If 0 is white, the true values are the largest unsigned integer minus the stored values.
    if (layout_.is_inverted) std::transform(dst, dst + count * row_bytes(), dst, [](std::byte value) { return ~value; });
  }

  /// Reads uncompressed strips without libtiff, which would load a whole strip, perhaps as large as the picture.
  void read_direct(std::int64_t count, std::byte* dst) {
    const std::int64_t bytes = plane_row_bytes();
    const std::int64_t most_rows = std::max<std::int64_t>(1, (std::int64_t{1} << 18) / bytes);
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t first = y_ + done;
      std::int64_t rows = std::min(count - done, layout_.block_height - first % layout_.block_height);
      std::byte* const to = dst + done * row_bytes();
      if (layout_.planes == 1) {
        read_stored(first, rows, 0, to);
      } else {
        rows = std::min(rows, most_rows);
        block_.resize(static_cast<std::size_t>(rows * bytes));
        for (std::int64_t plane = 0; plane < layout_.planes; ++plane) {
          read_stored(first, rows, plane, block_.data());
          place(block_.data(), rows, layout_.width, bytes, 0, plane, to);
        }
      }
      done += rows;
    }
  }

  void read_stored(std::int64_t first, std::int64_t rows, std::int64_t plane, std::byte* dst) {
    const std::uint32_t strip =
        TIFFComputeStrip(file_.get(), static_cast<std::uint32_t>(first), static_cast<std::uint16_t>(plane));
    const std::uint64_t offset = TIFFGetStrileOffset(file_.get(), strip);
    const std::uint64_t given = TIFFGetStrileByteCount(file_.get(), strip);
    if (file_.has_failed()) fail_format();
    const std::int64_t begin = first % layout_.block_height * plane_row_bytes();
    const std::int64_t bytes = rows * plane_row_bytes();
    const auto size = static_cast<std::uint64_t>(file_.input().size());
    if (offset == 0 || offset > size || given < static_cast<std::uint64_t>(begin + bytes))
      subject().fail(ErrorCode::file_format, "has a strip that is too short or not in the file", bytes_text(given),
                     bytes_text(static_cast<std::uint64_t>(begin + bytes)));
    file_.input().read_all_at(static_cast<std::int64_t>(offset) + begin, dst, bytes, subject());
    if (TIFFIsByteSwapped(file_.get()) == 0 || layout_.size == 1) return;
    NpyType sample;
    sample.kind = 'u';
    sample.size = sample.swap_unit = layout_.size;
    copy_native(sample, dst, dst, static_cast<std::size_t>(bytes) / layout_.size);
  }

  void read_scanlines(std::int64_t count, std::byte* dst) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto row = static_cast<std::uint32_t>(y_ + i);
      if (row % layout_.block_height == 0) check_block(TIFFComputeStrip(file_.get(), row, 0));
      if (TIFFReadScanline(file_.get(), dst + i * row_bytes(), row) != 1 || file_.has_failed()) fail_format();
    }
  }

  void check_block(std::uint32_t block) const {
    if (layout_.is_deflate) check_deflate(file_, block, layout_.block_bytes(), subject());
  }

  /// Reads rows out of tiles, and out of compressed strips of single channels.
  void read_blocks(std::int64_t count, std::byte* dst) {
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t in_band = (y_ + done) % layout_.block_height;
      if (in_band == 0) fill_band(y_ + done);
      const std::int64_t rows = std::min(count - done, std::min(layout_.block_height, layout_.height) - in_band);
      std::memcpy(dst + done * row_bytes(), band_.get() + in_band * row_bytes(),
                  static_cast<std::size_t>(rows * row_bytes()));
      done += rows;
    }
  }

  void fill_band(std::int64_t first) {
    const std::int64_t rows = std::min(layout_.block_height, layout_.height - first);
    if (!band_) {
      band_ = allocate(rows * row_bytes(), subject());
      block_.resize(static_cast<std::size_t>(layout_.block_bytes()));
    }
    const std::int64_t block_row = layout_.block_width * layout_.sample_step();
    for (std::int64_t plane = 0; plane < layout_.planes; ++plane) {
      for (std::int64_t x = 0; x < layout_.width; x += layout_.block_width) {
        read_block(x, first, rows, plane);
        place(block_.data(), rows, std::min(layout_.block_width, layout_.width - x), block_row, x, plane, band_.get());
      }
    }
  }

  void read_block(std::int64_t x, std::int64_t y, std::int64_t rows, std::int64_t plane) {
    const auto column = static_cast<std::uint32_t>(x);
    const auto row = static_cast<std::uint32_t>(y);
    const auto sample = static_cast<std::uint16_t>(plane);
    std::int64_t expected = layout_.block_bytes();
    const std::uint32_t block =
        layout_.is_tiled ? TIFFComputeTile(file_.get(), column, row, 0, sample) : TIFFComputeStrip(file_.get(), row, sample);
    check_block(block);
    if (!layout_.is_tiled) expected = rows * plane_row_bytes();
    const std::int64_t given = layout_.is_tiled ? TIFFReadEncodedTile(file_.get(), block, block_.data(), expected)
                                                : TIFFReadEncodedStrip(file_.get(), block, block_.data(), expected);
    if (given != expected || file_.has_failed()) fail_format();
  }

  /// Copies a part of a block, of one plane or of all channels, to its place in the result.
  void place(const std::byte* src, std::int64_t rows, std::int64_t columns, std::int64_t src_row, std::int64_t x,
             std::int64_t plane, std::byte* dst) const {
    const std::int64_t pixel = layout_.channels * static_cast<std::int64_t>(layout_.size);
    dst += x * pixel + plane * static_cast<std::int64_t>(layout_.size);
    for (std::int64_t y = 0; y < rows; ++y, src += src_row, dst += row_bytes()) {
      if (layout_.planes == 1)
        std::memcpy(dst, src, static_cast<std::size_t>(columns * pixel));
      else
        scatter(layout_.size, src, columns, dst, pixel);
    }
  }

  TiffFile file_;
  TiffLayout layout_{};
  std::int64_t y_ = 0;
  std::shared_ptr<std::byte> band_{};
  std::vector<std::byte> block_{};
  std::vector<std::uint8_t> palette_{};
};

/// Reads a picture with a palette, or of CMYK, as RGB.
class RgbReader final : public RowReader {
 public:
  RgbReader(std::unique_ptr<TiffRowReader> stored, const std::filesystem::path& path)
      : RowReader("tiff", path), stored_(std::move(stored)) {
    const bool is_palette = stored_->colours() == TiffLayout::Colours::palette;
    describe({stored_->shape()[0], stored_->shape()[1], 3}, is_palette ? element_type(DType::uint8) : stored_->type());
    Metadata metadata = stored_->metadata();
    take_what_does_not_hold(metadata, false, false);
    if (!is_palette) metadata.icc.clear();  // a profile of inks
    carry(std::move(metadata));
    row_.resize(static_cast<std::size_t>(stored_->row_bytes()));
  }

 private:
  void read_rows(std::int64_t count, std::byte* dst) override {
    for (std::int64_t y = 0; y < count; ++y, dst += row_bytes()) {
      stored_->read(1, row_.data());
      stored_->type().size == 1 ? convert<std::uint8_t>(dst) : convert<std::uint16_t>(dst);
    }
  }

  template <class T>
  void convert(std::byte* dst) const {
    const auto width = static_cast<std::size_t>(shape()[1]);
    const auto load = [&](std::size_t i) {
      T value;
      std::memcpy(&value, row_.data() + i * sizeof(T), sizeof(T));
      return value;
    };
    constexpr std::uint64_t white = std::numeric_limits<T>::max();
    for (std::size_t x = 0; x < width; ++x)
      if (stored_->colours() == TiffLayout::Colours::palette) {
        std::memcpy(dst + 3 * x, stored_->palette().data() + std::size_t{3} * load(x), 3);
      } else {
        const std::uint64_t light = white - load(4 * x + 3);  // what the black ink leaves
        for (std::size_t c = 0; c < 3; ++c) {
          const auto value = static_cast<T>(((white - load(4 * x + c)) * light + white / 2) / white);
          std::memcpy(dst + (3 * x + c) * sizeof(T), &value, sizeof(T));
        }
      }
  }

  std::unique_ptr<TiffRowReader> stored_;
  std::vector<std::byte> row_{};
};

}  // namespace

bool has_tiff() noexcept {
  return true;
}

std::unique_ptr<RowReader> open_tiff(InputFile file, const std::filesystem::path& path, std::optional<int> page, int level) {
  auto reader = std::make_unique<TiffRowReader>(std::move(file), path, page, level);
  if (reader->colours() == TiffLayout::Colours::plain) return reader;
  return std::make_unique<RgbReader>(std::move(reader), path);
}

}  // namespace patchfold::formats
