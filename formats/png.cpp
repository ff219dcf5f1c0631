// SPDX-License-Identifier: Apache-2.0
#include <png.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "formats/picture.hpp"
#include "formats/picture_codec.hpp"
#include "src/base/checked.hpp"

namespace patchfold::formats {
namespace {

/// The most bytes that deflate can pack into one byte of a file.
constexpr std::int64_t most_bytes_per_byte = 1032;

struct Message {
  char text[200] = {};
  bool is_memory = false;  ///< memory ran out, which libpng's text does not always say
};

extern "C" {

[[noreturn]] static void on_png_error(png_structp png, png_const_charp text) {
  auto* message = static_cast<Message*>(png_get_error_ptr(png));
  std::strncpy(message->text, text, sizeof(message->text) - 1);
  png_longjmp(png, 1);
}

static void on_png_warning(png_structp, png_const_charp) {}

static png_voidp allocate_for_png(png_structp png, png_alloc_size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) static_cast<Message*>(png_get_mem_ptr(png))->is_memory = true;
  return memory;
}

static void free_for_png(png_structp, png_voidp memory) {
  std::free(memory);
}
}

[[noreturn]] void fail_memory_of(const Subject& subject) {
  subject.fail(ErrorCode::out_of_memory, "needs more memory than there is");
}

/// Reads a file with libpng.
class PngDecoder {
 public:
  explicit PngDecoder(InputFile file) : input_(std::move(file)) {
    png_ = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &message_, on_png_error, on_png_warning, &message_,
                                    allocate_for_png, free_for_png);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;
  ~PngDecoder() { png_destroy_read_struct(&png_, &info_, nullptr); }

  bool is_ready() const noexcept { return info_ != nullptr; }
  const Message& message() const noexcept { return message_; }
  const InputChunks& input() const noexcept { return input_; }
  std::int64_t height() const noexcept { return png_get_image_height(png_, info_); }
  std::int64_t width() const noexcept { return png_get_image_width(png_, info_); }
  int channels() const noexcept { return png_get_channels(png_, info_); }
  int bit_depth() const noexcept { return png_get_bit_depth(png_, info_); }
  bool is_interlaced() const noexcept { return passes_ > 1; }

  /// Returns the metadata in the chunks before the pixels.
  Metadata metadata() const {
    Metadata metadata;
    read_colours(metadata);
    png_uint_32 x = 0;
    png_uint_32 y = 0;
    int unit = 0;
    if (png_get_pHYs(png_, info_, &x, &y, &unit) != 0)
      metadata.resolution = sensible({static_cast<double>(x), static_cast<double>(y),
                                      unit == PNG_RESOLUTION_METER ? Resolution::Unit::metre : Resolution::Unit::none});
    png_uint_32 exif_bytes = 0;
    png_bytep exif = nullptr;
    if (png_get_eXIf_1(png_, info_, &exif_bytes, &exif) != 0 && exif != nullptr) {
      const std::string bytes(reinterpret_cast<const char*>(exif), exif_bytes);
      metadata.orientation = exif_orientation(bytes);
      metadata.exif = exif_with(bytes, metadata.orientation);
    }
    png_textp texts = nullptr;
    int count = 0;
    png_get_text(png_, info_, &texts, &count);
    for (int i = 0; i < count; ++i) {
      const png_text& text = texts[i];
      const std::string value(text.text,
                              text.compression >= PNG_ITXT_COMPRESSION_NONE ? text.itxt_length : text.text_length);
      if (std::string_view(text.key) == "XML:com.adobe.xmp")
        metadata.xmp = value;
      else
        metadata.texts.emplace_back(utf8_of(text.key), utf8_of(value));
    }
    return metadata;
  }

  bool read_header() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, this, read);
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_read_info(png_, info_);
    return true;
  }

  /// Makes libpng convert samples to 8 or 16 bits. From then on channels() and bit_depth() describe the converted rows.
  bool choose_samples() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    if (png_get_color_type(png_, info_) == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (png_get_color_type(png_, info_) == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png_);
    if (png_get_valid(png_, info_, PNG_INFO_tRNS) != 0) png_set_tRNS_to_alpha(png_);
    if (std::endian::native == std::endian::little) png_set_swap(png_);
    passes_ = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }

  /// Reads the next rows; an interlaced picture is read as a whole, in several passes.
  bool read_rows(std::size_t count, std::byte* data, std::size_t row_bytes) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    for (int pass = 0; pass < passes_; ++pass)
      for (std::size_t y = 0; y < count; ++y) png_read_row(png_, reinterpret_cast<png_bytep>(data + y * row_bytes), nullptr);
    return true;
  }

  bool finish() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_end(png_, nullptr);
    return true;
  }

 private:
  void read_colours(Metadata& metadata) const {
    png_charp name = nullptr;
    png_bytep profile = nullptr;
    int compression = 0;
    png_uint_32 bytes = 0;
    if (png_get_iCCP(png_, info_, &name, &compression, &profile, &bytes) != 0)
      metadata.icc.assign(reinterpret_cast<const char*>(profile), bytes);
    int intent = 0;
    const bool is_srgb = png_get_sRGB(png_, info_, &intent) != 0;
    if (is_srgb) metadata.colours.emplace_back("sRGB", std::string(1, static_cast<char>(intent)));
    // If there is an sRGB chunk or a profile, libpng computes gamma and chromaticities from it, so these are not read.
    if (is_srgb || !metadata.icc.empty()) return;
    png_fixed_point gamma = 0;
    if (png_get_valid(png_, info_, PNG_INFO_gAMA) != 0 && png_get_gAMA_fixed(png_, info_, &gamma) != 0)
      metadata.colours.emplace_back("gAMA", big_endian(static_cast<std::uint32_t>(gamma)));
    png_fixed_point xy[8] = {};
    if (png_get_valid(png_, info_, PNG_INFO_cHRM) != 0 &&
        png_get_cHRM_fixed(png_, info_, &xy[0], &xy[1], &xy[2], &xy[3], &xy[4], &xy[5], &xy[6], &xy[7]) != 0) {
      std::string data;
      for (const png_fixed_point value : xy) data += big_endian(static_cast<std::uint32_t>(value));
      metadata.colours.emplace_back("cHRM", data);
    }
  }

  static void read(png_structp png, png_bytep dst, std::size_t count) {
    auto* decoder = static_cast<PngDecoder*>(png_get_io_ptr(png));
    while (count > 0) {
      if (decoder->rest_.empty()) decoder->rest_ = decoder->input_.next();
      if (decoder->rest_.empty()) png_error(png, "the file is cut short");
      const std::size_t part = std::min(count, decoder->rest_.size());
      std::memcpy(dst, decoder->rest_.data(), part);
      decoder->rest_ = decoder->rest_.subspan(part);
      dst += part;
      count -= part;
    }
  }

  InputChunks input_;
  std::span<const std::byte> rest_{};
  Message message_{};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int passes_ = 1;
};

class PngRowReader final : public RowReader {
 public:
  PngRowReader(InputFile file, const std::filesystem::path& path) : RowReader("png", path), decoder_(std::move(file)) {
    const Subject subject = this->subject();
    if (!decoder_.is_ready()) fail_memory_of(subject);
    check(decoder_.read_header());
    const std::int64_t size = decoder_.input().file().size();
    const auto bits =
        Checked(decoder_.height()) * Checked(decoder_.width()) * Checked(decoder_.channels() * decoder_.bit_depth());
    const auto most = Checked(size) * Checked(most_bytes_per_byte);
    if (!bits.value() || (most.value() && *bits.value() / 8 > *most.value()))
      subject.fail(
          ErrorCode::file_format, "is too short for its picture",
          bytes_text(static_cast<std::uint64_t>(size)) + " for " + pixels_text(decoder_.width(), decoder_.height()));
    carry(decoder_.metadata());
    check(decoder_.choose_samples());
    describe({decoder_.height(), decoder_.width(), decoder_.channels()},
             element_type(decoder_.bit_depth() == 16 ? DType::uint16 : DType::uint8));
  }

 private:
  void check(bool done) const {
    if (done) return;
    decoder_.input().throw_if_failed(subject());
    if (decoder_.message().is_memory) fail_memory_of(subject());
    subject().fail(ErrorCode::file_format, "must be a sound PNG file", decoder_.message().text);
  }

  void read_rows(std::int64_t count, std::byte* dst) override {
    const auto bytes = static_cast<std::size_t>(row_bytes());
    if (decoder_.is_interlaced())
      copy_interlaced(count, dst);
    else
      check(decoder_.read_rows(static_cast<std::size_t>(count), dst, bytes));
    taken_ += count;
    if (taken_ == shape()[0] && !decoder_.is_interlaced()) check(decoder_.finish());
  }

  /// Copies the next rows of an interlaced picture, which is read as a whole at the first call, since every pass adds to all rows.
  void copy_interlaced(std::int64_t count, std::byte* dst) {
    if (taken_ == 0 && count == shape()[0]) return read_interlaced(dst);
    if (!picture_) {
      picture_ = allocate(shape()[0] * row_bytes(), subject());
      read_interlaced(picture_.get());
    }
    std::memcpy(dst, picture_.get() + taken_ * row_bytes(), static_cast<std::size_t>(count * row_bytes()));
    if (taken_ + count == shape()[0]) picture_.reset();
  }

  void read_interlaced(std::byte* dst) {
    check(decoder_.read_rows(static_cast<std::size_t>(shape()[0]), dst, static_cast<std::size_t>(row_bytes())));
    check(decoder_.finish());
  }

  PngDecoder decoder_;
  std::int64_t taken_ = 0;
  std::shared_ptr<std::byte> picture_{};
};

}  // namespace

bool has_pictures() noexcept {
  return true;
}

std::unique_ptr<RowReader> open_png(InputFile file, const std::filesystem::path& path) {
  return std::make_unique<PngRowReader>(std::move(file), path);
}

}  // namespace patchfold::formats
