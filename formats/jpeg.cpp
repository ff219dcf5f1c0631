// SPDX-License-Identifier: Apache-2.0
#include <csetjmp>
#include <cstdio>
#include <exception>

// <cstdio> is included before jpeglib.h and jerror.h, which need it.
#include <jerror.h>
#include <jpeglib.h>

#include "formats/jpeg_metadata.hpp"
#include "formats/output_file.hpp"
#include "formats/picture_codec.hpp"
#include "src/base/checked.hpp"

namespace patchfold::formats {
namespace {

/// The most pixels that a byte of a file can hold. Without arithmetic coding, each block of 8 x 8 samples takes at least one bit,
/// and in every subsampling two pixels have at least one sample.
constexpr std::int64_t most_pixels_per_byte = 2 * 8 * 64;
/// The most scans of a picture. Real pictures have about ten scans; a picture of many empty scans would take very long to read.
constexpr int most_scans = 500;

/// The state for libjpeg's callbacks. `base` is the first member, so a callback can turn a pointer to it into one to the whole
/// struct.
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

/// Turns libjpeg's warnings into errors: libjpeg fills in the missing parts of damaged files, but patchfold refuses them.
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

/// The source from which libjpeg takes its bytes; `base` is the first member, as in ErrorManager.
struct Source {
  jpeg_source_mgr base{};
  InputChunks* input = nullptr;
};

extern "C" {

static void start_input(j_decompress_ptr) {}
static void finish_input(j_decompress_ptr) {}

static boolean fill_input(j_decompress_ptr codec) {
  auto* source = reinterpret_cast<Source*>(codec->src);
  const auto bytes = source->input->next();
  if (bytes.empty()) {
    codec->err->msg_code = JWRN_JPEG_EOF;
    on_jpeg_error(reinterpret_cast<j_common_ptr>(codec));
  }
  source->base.next_input_byte = reinterpret_cast<const JOCTET*>(bytes.data());
  source->base.bytes_in_buffer = bytes.size();
  return TRUE;
}

static void skip_input(j_decompress_ptr codec, long count) {
  auto* source = codec->src;
  while (count > static_cast<long>(source->bytes_in_buffer)) {
    count -= static_cast<long>(source->bytes_in_buffer);
    fill_input(codec);
  }
  if (count <= 0) return;
  source->next_input_byte += count;
  source->bytes_in_buffer -= static_cast<std::size_t>(count);
}
}

/// Reads a file with libjpeg.
class JpegDecoder {
 public:
  explicit JpegDecoder(InputFile file) : input_(std::move(file)) {
    codec_.err = set_up(errors_);
    progress_.progress_monitor = on_jpeg_progress;
    source_.input = &input_;
    source_.base.init_source = start_input;
    source_.base.fill_input_buffer = fill_input;
    source_.base.skip_input_data = skip_input;
    source_.base.resync_to_restart = jpeg_resync_to_restart;
    source_.base.term_source = finish_input;
  }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;
  ~JpegDecoder() { jpeg_destroy_decompress(&codec_); }

  const ErrorManager& errors() const noexcept { return errors_; }
  const InputChunks& input() const noexcept { return input_; }
  std::int64_t height() const noexcept { return codec_.image_height; }
  std::int64_t width() const noexcept { return codec_.image_width; }
  bool is_arithmetic() const noexcept { return codec_.arith_code; }
  Metadata metadata() const { return jpeg_metadata(codec_); }
  /// Returns the number of channels; 0 for colours that are neither grey nor RGB.
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
    codec_.src = &source_.base;
    for (const int marker : {JPEG_APP0 + 1, JPEG_APP0 + 2, JPEG_COM}) jpeg_save_markers(&codec_, marker, 0xFFFF);
    jpeg_read_header(&codec_, TRUE);
    return true;
  }

  /// Starts to read; of a progressive picture reads everything. Returns false if libjpeg reported an error.
  bool start() {
    if (setjmp(errors_.jump) != 0) return false;
    codec_.out_color_space = channels() == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&codec_);
    return true;
  }

  bool read_rows(std::int64_t count, std::byte* data, std::size_t row_bytes) {
    if (setjmp(errors_.jump) != 0) return false;
    for (std::int64_t y = 0; y < count; ++y) {
      auto* row = reinterpret_cast<JSAMPROW>(data + static_cast<std::size_t>(y) * row_bytes);
      jpeg_read_scanlines(&codec_, &row, 1);
    }
    if (codec_.output_scanline == codec_.output_height) jpeg_finish_decompress(&codec_);
    return true;
  }

 private:
  InputChunks input_;
  Source source_{};
  ErrorManager errors_{};
  jpeg_progress_mgr progress_{};
  jpeg_decompress_struct codec_{};
};

/// The destination to which libjpeg gives its bytes; `base` is the first member, as in ErrorManager.
struct Destination {
  jpeg_destination_mgr base{};
  ByteSink* sink = nullptr;
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
    destination->sink->write(destination->buffer, count);
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

/// Writes a file with libjpeg.
class JpegEncoder {
 public:
  JpegEncoder(PixelRows& pixels, ByteSink& sink, int quality, const Metadata& metadata)
      : pixels_(pixels), quality_(quality), metadata_(metadata), markers_(jpeg_markers(metadata)) {
    codec_.err = set_up(errors_);
    destination_.sink = &sink;
    destination_.base.init_destination = start_output;
    destination_.base.empty_output_buffer = flush_output;
    destination_.base.term_destination = finish_output;
  }
  JpegEncoder(const JpegEncoder&) = delete;
  JpegEncoder& operator=(const JpegEncoder&) = delete;
  ~JpegEncoder() { jpeg_destroy_compress(&codec_); }

  const ErrorManager& errors() const noexcept { return errors_; }
  /// Returns the exception with which writing the file failed, or null.
  const std::exception_ptr& failure() const noexcept { return destination_.failure; }

  bool start() {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_create_compress(&codec_);
    codec_.dest = &destination_.base;
    codec_.image_height = static_cast<JDIMENSION>(pixels_.height());
    codec_.image_width = static_cast<JDIMENSION>(pixels_.width());
    codec_.input_components = pixels_.channels();
    codec_.in_color_space = pixels_.channels() == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&codec_);
    jpeg_set_quality(&codec_, quality_, TRUE);
    set_jpeg_resolution(codec_, metadata_);
    // Stores all colours at full resolution.
    codec_.comp_info[0].h_samp_factor = codec_.comp_info[0].v_samp_factor = 1;
    jpeg_start_compress(&codec_, TRUE);
    for (std::size_t i = 0; i < markers_.size(); ++i)
      jpeg_write_marker(&codec_, markers_[i].first, reinterpret_cast<const JOCTET*>(markers_[i].second.data()),
                        static_cast<unsigned>(markers_[i].second.size()));
    return true;
  }

  bool write_rows(const ConstTensorView& rows, std::byte* buffer) {
    if (setjmp(errors_.jump) != 0) return false;
    for (std::int64_t y = 0; y < rows.shape[0]; ++y) {
      pixels_.copy_row(rows, y, buffer);
      auto* row = reinterpret_cast<JSAMPROW>(buffer);
      jpeg_write_scanlines(&codec_, &row, 1);
    }
    return true;
  }

  bool finish() {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_finish_compress(&codec_);
    return true;
  }

 private:
  PixelRows& pixels_;
  int quality_;
  Metadata metadata_;
  std::vector<std::pair<int, std::string>> markers_;
  ErrorManager errors_{};
  Destination destination_{};
  jpeg_compress_struct codec_{};
};

void check_memory(const ErrorManager& errors, const Subject& subject) {
  if (errors.code == JERR_OUT_OF_MEMORY) subject.fail(ErrorCode::out_of_memory, "needs more memory than there is");
}

[[noreturn]] void not_sound(const ErrorManager& errors, const Subject& subject) {
  check_memory(errors, subject);
  switch (errors.code) {
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

class JpegRowReader final : public RowReader {
 public:
  JpegRowReader(InputFile file, const std::filesystem::path& path) : RowReader("jpeg", path), decoder_(std::move(file)) {
    const Subject subject = this->subject();
    check(decoder_.read_header());
    if (decoder_.channels() == 0)
      subject.fail(ErrorCode::file_unsupported, "must be grey or RGB; CMYK and other colours are not read");
    const std::int64_t size = decoder_.input().file().size();
    const auto most = Checked(size) * Checked(most_pixels_per_byte);
    if (!decoder_.is_arithmetic() && most.value() && decoder_.height() * decoder_.width() > *most.value())
      subject.fail(
          ErrorCode::file_format, "is too short for its picture",
          bytes_text(static_cast<std::uint64_t>(size)) + " for " + pixels_text(decoder_.width(), decoder_.height()));
    describe({decoder_.height(), decoder_.width(), decoder_.channels()}, element_type(DType::uint8));
    carry(decoder_.metadata());
  }

 private:
  void check(bool done) const {
    if (done) return;
    decoder_.input().throw_if_failed(subject());
    not_sound(decoder_.errors(), subject());
  }
  void read_rows(std::int64_t count, std::byte* dst) override {
    if (!std::exchange(is_started_, true)) check(decoder_.start());
    check(decoder_.read_rows(count, dst, static_cast<std::size_t>(row_bytes())));
  }

  JpegDecoder decoder_;
  bool is_started_ = false;
};

class JpegRowWriter final : public RowWriter {
 public:
  /// Makes a writer to a sink; without a sink, to the file.
  JpegRowWriter(const std::filesystem::path& path, const Dims& shape, const ElementType& type, const WriteOptions& options,
                ByteSink* sink = nullptr)
      : RowWriter("jpeg", path, shape, type),
        pixels_(checked_pixels(shape, type, options, subject())),
        row_(allocate(static_cast<std::int64_t>(pixels_.row_bytes()), subject())),
        file_(sink ? nullptr : std::make_unique<OutputFile>(path, "jpeg")),
        encoder_(pixels_, sink ? *sink : *file_, options.jpeg_quality, kept_metadata(options, FileFormat::jpeg)) {
    check(encoder_.start());
  }

 private:
  static PixelRows checked_pixels(const Dims& shape, const ElementType& type, const WriteOptions& options,
                                  const Subject& subject) {
    const PixelRows pixels(shape, type.dtype, options.range, subject);
    if (options.jpeg_quality < 1 || options.jpeg_quality > 100)
      subject.fail(ErrorCode::value, "must have a quality from 1 to 100", std::to_string(options.jpeg_quality));
    if (pixels.depth() != 1) subject.fail(ErrorCode::dtype, "must not be uint16: JPEG files hold samples of 8 bits");
    if (pixels.channels() != 1 && pixels.channels() != 3)
      subject.fail(ErrorCode::shape, "must have 1 or 3 channels to be a JPEG file", std::to_string(pixels.channels()));
    if (pixels.height() > JPEG_MAX_DIMENSION || pixels.width() > JPEG_MAX_DIMENSION)
      subject.fail(ErrorCode::shape, "must have at most 65500 rows and columns to be a JPEG file",
                   pixels_text(pixels.width(), pixels.height()));
    return pixels;
  }
  void check(bool done) const {
    if (done) return;
    if (encoder_.failure()) std::rethrow_exception(encoder_.failure());
    check_memory(encoder_.errors(), subject());
    subject().fail(ErrorCode::file_write, "cannot be written as JPEG", encoder_.errors().message);
  }
  void write_rows(const ConstTensorView& rows) override { check(encoder_.write_rows(rows, row_.get())); }
  void finish() override {
    finish_values(pixels_);
    check(encoder_.finish());
    if (file_) file_->commit();
  }

  PixelRows pixels_;
  std::shared_ptr<std::byte> row_;
  std::unique_ptr<OutputFile> file_;  ///< null: a sink gets the bytes
  JpegEncoder encoder_;
};

struct Memory final : ByteSink {
  void write(const void* data, std::size_t count) override {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), begin, begin + count);
  }
  std::vector<std::byte> bytes{};
};

}  // namespace

std::vector<std::byte> encode_jpeg(const std::filesystem::path& path, const ConstTensorView& picture,
                                   const WriteOptions& options) {
  Memory memory;
  JpegRowWriter writer(path, picture.shape, element_type(picture.dtype), options, &memory);
  writer.write(picture);
  writer.commit();
  return std::move(memory.bytes);
}

std::unique_ptr<RowReader> open_jpeg(InputFile file, const std::filesystem::path& path) {
  return std::make_unique<JpegRowReader>(std::move(file), path);
}

std::unique_ptr<RowWriter> create_jpeg(const std::filesystem::path& path, const Dims& shape, const ElementType& type,
                                       const WriteOptions& options) {
  return std::make_unique<JpegRowWriter>(path, shape, type, options);
}

}  // namespace patchfold::formats
