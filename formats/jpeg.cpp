// SPDX-License-Identifier: Apache-2.0
#include <csetjmp>
#include <cstdio>
#include <exception>

// These two need <cstdio> before them.
#include <jerror.h>
#include <jpeglib.h>

#include "formats/output_file.hpp"
#include "formats/picture_codec.hpp"
#include "src/tensor/checked.hpp"

namespace patchfold::formats {
namespace {

/// Without arithmetic coding each block of 8 x 8 samples takes at least one bit, and however the components are subsampled,
/// they have together at least one sample for two pixels.
constexpr std::int64_t most_pixels_per_byte = 2 * 8 * 64;
/// A progressive picture of many empty scans would take very long to read; real ones have about ten.
constexpr int most_scans = 500;

/// What libjpeg's callbacks reach: `base` comes first, so a pointer to it is a pointer to this.
struct ErrorManager {
  jpeg_error_mgr base{};
  std::jmp_buf jump{};
  int code = 0;
  char message[JMSG_LENGTH_MAX] = {};
};

extern "C" {

[[noreturn]] static void on_jpeg_error(j_common_ptr codec) {
  auto* manager = reinterpret_cast<ErrorManager*>(codec->err);
  manager->code = codec->err->msg_code;
  codec->err->format_message(codec, manager->message);
  std::longjmp(manager->jump, 1);
}

/// libjpeg fills in what damaged files lack and only warns. We do not read damaged files.
static void on_jpeg_message(j_common_ptr codec, int level) {
  if (level >= 0) return;
  switch (codec->err->msg_code) {
    case JWRN_ADOBE_XFORM:
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_JFIF_MAJOR:
    case JWRN_TOO_MUCH_DATA: return;
    default: on_jpeg_error(codec);
  }
}

static void on_jpeg_progress(j_common_ptr codec) {
  if (reinterpret_cast<j_decompress_ptr>(codec)->input_scan_number <= most_scans) return;
  codec->err->msg_code = JERR_BAD_PROGRESSION;
  on_jpeg_error(codec);
}
}

jpeg_error_mgr* set_up(ErrorManager& manager) {
  jpeg_error_mgr* base = jpeg_std_error(&manager.base);
  base->error_exit = on_jpeg_error;
  base->emit_message = on_jpeg_message;
  return base;
}

class JpegReader {
 public:
  explicit JpegReader(std::span<const std::byte> bytes) : bytes_(bytes) {
    codec_.err = set_up(errors_);
    progress_.progress_monitor = on_jpeg_progress;
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&codec_); }

  const ErrorManager& errors() const noexcept { return errors_; }
  std::int64_t height() const noexcept { return codec_.image_height; }
  std::int64_t width() const noexcept { return codec_.image_width; }
  bool is_arithmetic() const noexcept { return codec_.arith_code; }
  /// 0 for colours that are neither grey nor RGB.
  int channels() const noexcept {
    switch (codec_.jpeg_color_space) {
      case JCS_GRAYSCALE: return 1;
      case JCS_RGB:
      case JCS_YCbCr: return 3;
      default: return 0;
    }
  }

  bool read_header() {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_create_decompress(&codec_);
    codec_.progress = &progress_;
    jpeg_mem_src(&codec_, reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size());
    jpeg_read_header(&codec_, TRUE);
    return true;
  }

  bool read_rows(std::byte* data) {
    if (setjmp(errors_.jump) != 0) return false;
    codec_.out_color_space = channels() == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&codec_);
    const auto row_bytes = static_cast<std::size_t>(width() * channels());
    while (codec_.output_scanline < codec_.output_height) {
      auto* row = reinterpret_cast<JSAMPROW>(data + codec_.output_scanline * row_bytes);
      jpeg_read_scanlines(&codec_, &row, 1);
    }
    jpeg_finish_decompress(&codec_);
    return true;
  }

 private:
  std::span<const std::byte> bytes_;
  ErrorManager errors_{};
  jpeg_progress_mgr progress_{};
  jpeg_decompress_struct codec_{};
};

/// Where libjpeg writes to; `base` comes first.
struct Destination {
  jpeg_destination_mgr base{};
  OutputFile* file = nullptr;
  std::exception_ptr failure{};
  unsigned char buffer[1 << 16];
};

extern "C" {

static void start_output(j_compress_ptr codec) {
  auto* destination = reinterpret_cast<Destination*>(codec->dest);
  destination->base.next_output_byte = destination->buffer;
  destination->base.free_in_buffer = sizeof(destination->buffer);
}

static void write_output(j_compress_ptr codec, std::size_t count) {
  auto* destination = reinterpret_cast<Destination*>(codec->dest);
  // An exception must not pass through C.
  try {
    destination->file->write(destination->buffer, count);
    return;
  } catch (...) {
    destination->failure = std::current_exception();
  }
  codec->err->msg_code = JERR_FILE_WRITE;
  codec->err->error_exit(reinterpret_cast<j_common_ptr>(codec));
}

static boolean flush_output(j_compress_ptr codec) {
  write_output(codec, sizeof(Destination::buffer));
  start_output(codec);
  return TRUE;
}

static void finish_output(j_compress_ptr codec) {
  write_output(codec, sizeof(Destination::buffer) - codec->dest->free_in_buffer);
}
}

class JpegWriter {
 public:
  JpegWriter(const PixelRows& rows, OutputFile& file, std::byte* row) : rows_(rows), row_(row) {
    codec_.err = set_up(errors_);
    destination_.file = &file;
    destination_.base.init_destination = start_output;
    destination_.base.empty_output_buffer = flush_output;
    destination_.base.term_destination = finish_output;
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;
  ~JpegWriter() { jpeg_destroy_compress(&codec_); }

  const ErrorManager& errors() const noexcept { return errors_; }
  /// What the file threw, if it is what stopped the writer.
  const std::exception_ptr& failure() const noexcept { return destination_.failure; }

  bool write() {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_create_compress(&codec_);
    codec_.dest = &destination_.base;
    codec_.image_height = static_cast<JDIMENSION>(rows_.height());
    codec_.image_width = static_cast<JDIMENSION>(rows_.width());
    codec_.input_components = rows_.channels();
    codec_.in_color_space = rows_.channels() == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&codec_);
    jpeg_set_quality(&codec_, 95, TRUE);
    // Colours at full resolution.
    codec_.comp_info[0].h_samp_factor = codec_.comp_info[0].v_samp_factor = 1;
    jpeg_start_compress(&codec_, TRUE);
    while (codec_.next_scanline < codec_.image_height) {
      rows_.copy_row(codec_.next_scanline, row_);
      auto* row = reinterpret_cast<JSAMPROW>(row_);
      jpeg_write_scanlines(&codec_, &row, 1);
    }
    jpeg_finish_compress(&codec_);
    return true;
  }

 private:
  const PixelRows& rows_;
  std::byte* row_;
  ErrorManager errors_{};
  Destination destination_{};
  jpeg_compress_struct codec_{};
};

[[noreturn]] void not_sound(const ErrorManager& errors, const Subject& subject) {
  switch (errors.code) {
    case JERR_OUT_OF_MEMORY: subject.fail(ErrorCode::out_of_memory, "needs more memory than there is");
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CCIR601_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_IMAGE_TOO_BIG:
    case JERR_NOT_COMPILED:
    case JERR_SOF_UNSUPPORTED:
      subject.fail(ErrorCode::file_unsupported, "must be a JPEG file of a usual kind", errors.message);
    default: subject.fail(ErrorCode::file_format, "must be a sound JPEG file", errors.message);
  }
}

}  // namespace

LoadedTensor read_jpeg(const FileBytes& file, const Subject& subject) {
  JpegReader reader(file.bytes);
  if (!reader.read_header()) not_sound(reader.errors(), subject);
  if (reader.channels() == 0)
    subject.fail(ErrorCode::file_unsupported, "must be grey or RGB; CMYK and other colours are not read");
  const auto most = Checked(static_cast<std::int64_t>(file.bytes.size())) * Checked(most_pixels_per_byte);
  if (!reader.is_arithmetic() && most.value() && reader.height() * reader.width() > *most.value())
    subject.fail(ErrorCode::file_format, "is too short for its picture",
                 bytes_text(file.bytes.size()) + " for " + pixels_text(reader.width(), reader.height()));
  std::byte* data = nullptr;
  LoadedTensor picture = new_picture(reader.height(), reader.width(), reader.channels(), DType::uint8, subject, data);
  if (!reader.read_rows(data)) not_sound(reader.errors(), subject);
  return picture;
}

void write_jpeg(const PixelRows& rows, const Subject& subject) {
  if (rows.depth() != 1) subject.fail(ErrorCode::dtype, "must not be uint16: JPEG files hold samples of 8 bits");
  if (rows.channels() != 1 && rows.channels() != 3)
    subject.fail(ErrorCode::shape, "must have 1 or 3 channels to be a JPEG file", std::to_string(rows.channels()));
  if (rows.height() > JPEG_MAX_DIMENSION || rows.width() > JPEG_MAX_DIMENSION)
    subject.fail(ErrorCode::shape, "must have at most 65500 rows and columns to be a JPEG file",
                 pixels_text(rows.width(), rows.height()));
  const auto row = allocate(static_cast<std::int64_t>(rows.row_bytes()), subject);
  OutputFile file(subject.path, "jpeg");
  JpegWriter writer(rows, file, row.get());
  if (!writer.write()) {
    if (writer.failure()) std::rethrow_exception(writer.failure());
    subject.fail(ErrorCode::file_write, "cannot be written as JPEG", writer.errors().message);
  }
  file.commit();
}

}  // namespace patchfold::formats
