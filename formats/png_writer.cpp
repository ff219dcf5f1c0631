// SPDX-License-Identifier: Apache-2.0
// Writes PNG files (PNG specification, third edition) without libpng, which compresses with one thread.
#include <algorithm>
#include <bit>
#include <cstring>

#include "formats/output_file.hpp"
#include "formats/picture_codec.hpp"
#include "formats/zlib_blocks.hpp"
#include "src/base/checked.hpp"

namespace patchfold::formats {
namespace {

constexpr std::int64_t most_pixels = 0x7FFFFFFF;

std::uint32_t crc_of(std::uint32_t crc, const void* data, std::size_t bytes) noexcept {
  return static_cast<std::uint32_t>(::crc32_z(crc, static_cast<const Bytef*>(data), bytes));
}

class PngRowWriter final : public RowWriter {
 public:
  PngRowWriter(const std::filesystem::path& path, const Dims& shape, const ElementType& type, const WriteOptions& options)
      : RowWriter("png", path, shape, type),
        pixels_(checked_pixels(shape, type, options, subject())),
        executor_(options.executor != nullptr ? *options.executor : default_executor()),
        filtered_row_(pixels_.row_bytes() + 1),
        zlib_(pixels_.height() * static_cast<std::int64_t>(filtered_row_), executor_, subject()),
        batch_rows_(std::clamp<std::int64_t>(static_cast<std::int64_t>(zlib_.at_once() * ZlibBlocks::part / filtered_row_),
                                             1, pixels_.height())),
        rows_(allocate((batch_rows_ + 1) * row_step(), subject())),
        filtered_(allocate(static_cast<std::int64_t>(ZlibBlocks::window + ZlibBlocks::part) +
                               batch_rows_ * static_cast<std::int64_t>(filtered_row_),
                           subject())),
        file_(path, "png") {
    for (std::int64_t i = 0; i <= batch_rows_; ++i)
      std::memset(rows_.get() + i * row_step(), 0, i == 0 ? static_cast<std::size_t>(row_step()) : pixel_bytes());
    write_header(kept_metadata(options, FileFormat::png));
  }

 private:
  static PixelRows checked_pixels(const Dims& shape, const ElementType& type, const WriteOptions& options,
                                  const Subject& subject) {
    const PixelRows pixels(shape, type.dtype, options.range, subject);
    if (pixels.height() > most_pixels || pixels.width() > most_pixels)
      subject.fail(ErrorCode::shape, "must have at most 2147483647 rows and columns to be a PNG file",
                   pixels_text(pixels.width(), pixels.height()));
    if (!(Checked(pixels.height()) * Checked(static_cast<std::int64_t>(pixels.row_bytes() + 1))).value())
      subject.fail(ErrorCode::overflow, "has a size that does not fit into 63 bits",
                   pixels_text(pixels.width(), pixels.height()));
    return pixels;
  }
  std::size_t pixel_bytes() const noexcept { return static_cast<std::size_t>(pixels_.channels() * pixels_.depth()); }
  /// Returns the bytes from a row to the next row. Zeros stand before each row, as the left neighbours of its first pixel.
  std::int64_t row_step() const noexcept { return static_cast<std::int64_t>(pixel_bytes() + pixels_.row_bytes()); }
  /// Returns row i of the batch, the rows that are filtered together; row -1 is the row above the batch.
  std::byte* row(std::int64_t i) const noexcept {
    return rows_.get() + (i + 1) * row_step() + static_cast<std::int64_t>(pixel_bytes());
  }

  void write_chunk(const std::string& name, const std::string& data) {
    std::string chunk = big_endian(static_cast<std::uint32_t>(data.size())) + name + data;
    chunk += big_endian(crc_of(0, chunk.data() + 4, data.size() + 4));
    file_.write(chunk.data(), chunk.size());
  }

  void write_header(const Metadata& metadata) {
    file_.write("\x89PNG\r\n\x1A\n", 8);
    constexpr char color_types[] = {0, 4, 2, 6};
    write_chunk("IHDR", big_endian(static_cast<std::uint32_t>(pixels_.width())) +
                            big_endian(static_cast<std::uint32_t>(pixels_.height())) +
                            static_cast<char>(8 * pixels_.depth()) + color_types[pixels_.channels() - 1] +
                            std::string(3, '\0'));
    for (const auto& [name, data] : png_chunks(metadata)) write_chunk(name, data);
  }

  void write_rows(const ConstTensorView& rows) override {
    for (std::int64_t y = 0; y < rows.shape[0]; ++y) {
      std::byte* const to = row(rows_in_batch_);
      pixels_.copy_row(rows, y, to);
      if (pixels_.depth() == 2 && std::endian::native == std::endian::little)
        for (std::size_t i = 0; i < pixels_.row_bytes(); i += 2) std::swap(to[i], to[i + 1]);
      ++written_;
      if (++rows_in_batch_ == batch_rows_ || written_ == pixels_.height()) write_batch();
    }
  }

  void write_batch() {
    filter_batch();
    left_ += static_cast<std::size_t>(rows_in_batch_) * filtered_row_;
    // Before the last row, only whole parts are compressed, so that the parts are the same for every number of threads.
    const std::size_t bytes = written_ == pixels_.height() ? left_ : left_ - left_ % ZlibBlocks::part;
    std::byte* const begin = filtered_.get() + ZlibBlocks::window;
    zlib_.compress({begin, bytes}, [this](std::span<std::byte> part, std::uint32_t crc) { write_data(part, crc); });
    left_ -= bytes;
    // Moves to the beginning the window that the next part needs, and the bytes that are not compressed yet.
    std::memmove(begin - ZlibBlocks::window, begin - ZlibBlocks::window + bytes, ZlibBlocks::window + left_);
    std::memcpy(row(-1), row(rows_in_batch_ - 1), pixels_.row_bytes());
    rows_in_batch_ = 0;
  }

  void filter_batch() {
    struct Job {
      const PngRowWriter& writer;
      std::int64_t pieces;
    };
    Job job{*this, std::min<std::int64_t>(rows_in_batch_, std::max(executor_.threads(), 1))};
    const auto body = [](void* context, std::int64_t piece) noexcept {
      const auto& [writer, pieces] = *static_cast<const Job*>(context);
      const std::int64_t rows = writer.rows_in_batch_;
      for (std::int64_t y = rows * piece / pieces; y < rows * (piece + 1) / pieces; ++y)
        filter_png_row(reinterpret_cast<const std::uint8_t*>(writer.row(y)),
                       reinterpret_cast<const std::uint8_t*>(writer.row(y - 1)), writer.pixels_.row_bytes(),
                       writer.pixel_bytes(),
                       reinterpret_cast<std::uint8_t*>(writer.filtered_.get()) + ZlibBlocks::window + writer.left_ +
                           static_cast<std::size_t>(y) * writer.filtered_row_);
    };
    if (!executor_.run(job.pieces, body, &job)) throw_if_failed(Status::executor_failed, "png");
  }

  /// Writes bytes as an IDAT chunk. The memory around the bytes has room for the chunk's length, type and checksum.
  void write_data(std::span<std::byte> part, std::uint32_t crc) {
    const std::string frame = big_endian(static_cast<std::uint32_t>(part.size())) + "IDAT";
    std::byte* const begin = part.data() - frame.size();
    std::memcpy(begin, frame.data(), frame.size());
    const uLong sum = ::crc32_combine(crc_of(0, begin + 4, 4), crc, static_cast<z_off_t>(part.size()));
    std::memcpy(part.data() + part.size(), big_endian(static_cast<std::uint32_t>(sum)).data(), 4);
    file_.write(begin, part.size() + 12);
  }

  void finish() override {
    finish_values(pixels_);
    write_chunk("IEND", {});
    file_.commit();
  }

  PixelRows pixels_;
  Executor& executor_;
  std::size_t filtered_row_;
  ZlibBlocks zlib_;
  std::int64_t batch_rows_;
  std::shared_ptr<std::byte> rows_;
  std::shared_ptr<std::byte> filtered_;
  OutputFile file_;
  std::int64_t rows_in_batch_ = 0;
  std::size_t left_ = 0;  ///< filtered bytes that still have to be compressed
  std::int64_t written_ = 0;
};

}  // namespace

std::unique_ptr<RowWriter> create_png(const std::filesystem::path& path, const Dims& shape, const ElementType& type,
                                      const WriteOptions& options) {
  return std::make_unique<PngRowWriter>(path, shape, type, options);
}

}  // namespace patchfold::formats
