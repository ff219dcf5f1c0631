// SPDX-License-Identifier: Apache-2.0
#include <png.h>

#include <bit>
#include <cstring>
#include <exception>

#include "formats/output_file.hpp"
#include "formats/picture_codec.hpp"
#include "src/tensor/checked.hpp"

namespace patchfold::formats {
namespace {

/// The most that deflate can pack into one byte.
constexpr std::int64_t most_bytes_per_byte = 1032;

struct Message {
  char text[200] = {};
};

extern "C" {

[[noreturn]] static void on_png_error(png_structp png, png_const_charp text) {
  auto* message = static_cast<Message*>(png_get_error_ptr(png));
  std::strncpy(message->text, text, sizeof(message->text) - 1);
  png_longjmp(png, 1);
}

static void on_png_warning(png_structp, png_const_charp) {}
}

class PngReader {
 public:
  explicit PngReader(std::span<const std::byte> bytes) : rest_(bytes) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &message_, on_png_error, on_png_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }

  bool is_ready() const noexcept { return info_ != nullptr; }
  const char* message() const noexcept { return message_.text; }
  std::int64_t height() const noexcept { return png_get_image_height(png_, info_); }
  std::int64_t width() const noexcept { return png_get_image_width(png_, info_); }
  int channels() const noexcept { return png_get_channels(png_, info_); }
  int bit_depth() const noexcept { return png_get_bit_depth(png_, info_); }

  bool read_header() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, this, read);
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    // Colour profiles, texts and the like are not looked at.
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_read_info(png_, info_);
    return true;
  }

  /// Asks for samples of 8 or 16 bits; channels() and bit_depth() then tell what the rows hold.
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

  bool read_rows(std::byte* data) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    const auto rows = static_cast<std::size_t>(height());
    const std::size_t row_bytes = png_get_rowbytes(png_, info_);
    for (int pass = 0; pass < passes_; ++pass)
      for (std::size_t y = 0; y < rows; ++y) png_read_row(png_, reinterpret_cast<png_bytep>(data + y * row_bytes), nullptr);
    png_read_end(png_, nullptr);
    return true;
  }

 private:
  static void read(png_structp png, png_bytep dst, std::size_t count) {
    auto& rest = static_cast<PngReader*>(png_get_io_ptr(png))->rest_;
    if (count > rest.size()) png_error(png, "the file is cut short");
    std::memcpy(dst, rest.data(), count);
    rest = rest.subspan(count);
  }

  std::span<const std::byte> rest_;
  Message message_{};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int passes_ = 1;
};

class PngWriter {
 public:
  PngWriter(const PixelRows& rows, OutputFile& file, std::byte* row) : rows_(rows), file_(file), row_(row) {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &message_, on_png_error, on_png_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }

  bool is_ready() const noexcept { return info_ != nullptr; }
  const char* message() const noexcept { return message_.text; }
  /// What the file threw, if it is what stopped the writer.
  const std::exception_ptr& failure() const noexcept { return failure_; }

  bool write() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    constexpr int color_types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                   PNG_COLOR_TYPE_RGB_ALPHA};
    png_set_write_fn(png_, this, write_bytes, flush);
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_compression_level(png_, 3);
    png_set_compression_buffer_size(png_, std::size_t{1} << 18);
    png_set_filter(png_, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB | PNG_FILTER_UP);
    png_set_IHDR(png_, info_, static_cast<png_uint_32>(rows_.width()), static_cast<png_uint_32>(rows_.height()),
                 8 * rows_.depth(), color_types[rows_.channels() - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png_, info_);
    if (std::endian::native == std::endian::little) png_set_swap(png_);
    for (std::int64_t y = 0; y < rows_.height(); ++y) {
      rows_.copy_row(y, row_);
      png_write_row(png_, reinterpret_cast<png_bytep>(row_));
    }
    png_write_end(png_, info_);
    return true;
  }

 private:
  static void write_bytes(png_structp png, png_bytep data, std::size_t count) {
    auto* writer = static_cast<PngWriter*>(png_get_io_ptr(png));
    // An exception must not pass through C.
    try {
      writer->file_.write(data, count);
      return;
    } catch (...) {
      writer->failure_ = std::current_exception();
    }
    png_error(png, "the file cannot be written");
  }
  static void flush(png_structp) {}

  const PixelRows& rows_;
  OutputFile& file_;
  std::byte* row_;
  Message message_{};
  std::exception_ptr failure_{};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

[[noreturn]] void not_sound(const PngReader& reader, const Subject& subject) {
  subject.fail(ErrorCode::file_format, "must be a sound PNG file", reader.message());
}

}  // namespace

LoadedTensor read_png(const FileBytes& file, const Subject& subject) {
  PngReader reader(file.bytes);
  if (!reader.is_ready()) subject.fail(ErrorCode::out_of_memory, "needs more memory than there is");
  if (!reader.read_header()) not_sound(reader, subject);
  const auto bits = Checked(reader.height()) * Checked(reader.width()) * Checked(reader.channels() * reader.bit_depth());
  const auto most = Checked(static_cast<std::int64_t>(file.bytes.size())) * Checked(most_bytes_per_byte);
  if (!bits.value() || (most.value() && *bits.value() / 8 > *most.value()))
    subject.fail(ErrorCode::file_format, "is too short for its picture",
                 bytes_text(file.bytes.size()) + " for " + pixels_text(reader.width(), reader.height()));
  if (!reader.choose_samples()) not_sound(reader, subject);
  std::byte* data = nullptr;
  LoadedTensor picture = new_picture(reader.height(), reader.width(), reader.channels(),
                                     reader.bit_depth() == 16 ? DType::uint16 : DType::uint8, subject, data);
  if (!reader.read_rows(data)) not_sound(reader, subject);
  return picture;
}

void write_png(const PixelRows& rows, const Subject& subject) {
  if (rows.height() > PNG_UINT_31_MAX || rows.width() > PNG_UINT_31_MAX)
    subject.fail(ErrorCode::shape, "must have at most 2147483647 rows and columns to be a PNG file",
                 pixels_text(rows.width(), rows.height()));
  const auto row = allocate(static_cast<std::int64_t>(rows.row_bytes()), subject);
  OutputFile file(subject.path, "png");
  PngWriter writer(rows, file, row.get());
  if (!writer.is_ready()) subject.fail(ErrorCode::out_of_memory, "needs more memory than there is");
  if (!writer.write()) {
    if (writer.failure()) std::rethrow_exception(writer.failure());
    subject.fail(ErrorCode::file_write, "cannot be written as PNG", writer.message());
  }
  file.commit();
}

}  // namespace patchfold::formats
