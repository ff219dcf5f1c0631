// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <vector>

#include "formats/npy_header.hpp"
#include "formats/output_file.hpp"
#include "formats/row_codecs.hpp"
#include "src/base/checked.hpp"
#include "src/base/index.hpp"

namespace patchfold::formats {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

/// Checks the shape and the type of a new file. Returns the bytes of its elements.
std::int64_t checked_bytes(const Dims& shape, std::size_t element_size, const ElementType& type, const Subject& subject) {
  if (type.size != element_size)
    subject.fail(ErrorCode::dtype, "must be written with elements of the tensor's size",
                 bytes_text(type.size) + " for " + type.descr, bytes_text(element_size));
  const auto bytes = byte_count(shape, element_size);
  if (!bytes) subject.fail(ErrorCode::overflow, "has a shape whose size does not fit into 63 bits", to_string(shape));
  return *bytes;
}

/// Collects small pieces in a buffer, and writes the full buffer to the file.
class BufferedFile {
 public:
  explicit BufferedFile(OutputFile& file) : file_(file), buffer_(buffer_bytes) {}

  void write(const std::byte* data, std::size_t bytes) {
    if (bytes > buffer_bytes - used_) flush();
    if (bytes > buffer_bytes) return file_.write(data, bytes);
    std::memcpy(buffer_.data() + used_, data, bytes);
    used_ += bytes;
  }
  void flush() {
    file_.write(buffer_.data(), used_);
    used_ = 0;
  }

  /// Writes elements of `size` bytes, which lie `stride` bytes apart. The size is known when compiling, for speed.
  template <std::size_t size>
  void write_strided(const std::byte* src, std::int64_t count, std::int64_t stride) {
    while (count > 0) {
      if (buffer_bytes - used_ < size) flush();
      const auto room = static_cast<std::int64_t>((buffer_bytes - used_) / size);
      const auto part = count < room ? count : room;
      std::byte* dst = buffer_.data() + used_;
      for (std::int64_t i = 0; i < part; ++i) std::memcpy(dst + i * static_cast<std::int64_t>(size), src + i * stride, size);
      src += part * stride;
      used_ += static_cast<std::size_t>(part) * size;
      count -= part;
    }
  }

 private:
  OutputFile& file_;
  std::vector<std::byte> buffer_;
  std::size_t used_ = 0;
};

/// Writes `count` runs of `run` bytes, which lie `stride` bytes apart.
void write_row(BufferedFile& out, const std::byte* src, std::int64_t count, std::int64_t stride, std::size_t run) {
  switch (run) {
    case 1: return out.write_strided<1>(src, count, stride);
    case 2: return out.write_strided<2>(src, count, stride);
    case 4: return out.write_strided<4>(src, count, stride);
    case 8: return out.write_strided<8>(src, count, stride);
    case 16: return out.write_strided<16>(src, count, stride);
    default:
      for (std::int64_t i = 0; i < count; ++i) out.write(src + i * stride, run);
  }
}

void write_elements(BufferedFile& out, const ConstTensorView& tensor) {
  int rank = tensor.shape.size();
  auto run = static_cast<std::int64_t>(tensor.element_size);
  while (rank > 0 && (tensor.strides[rank - 1] == run || tensor.shape[rank - 1] == 1)) run *= tensor.shape[--rank];
  const auto* src = static_cast<const std::byte*>(tensor.data);
  if (rank == 0) return out.write(src, static_cast<std::size_t>(run));

  const int last = rank - 1;
  const Dims rows = tensor.shape.slice(0, last);
  Dims index = Dims::filled(last, 0);
  do {
    const std::byte* row = src;
    for (int axis = 0; axis < last; ++axis) row += index[axis] * tensor.strides[axis];
    write_row(out, row, tensor.shape[last], tensor.strides[last], static_cast<std::size_t>(run));
  } while (advance(index, rows));
}

class NpyRowWriter final : public RowWriter {
 public:
  NpyRowWriter(const std::filesystem::path& path, const Dims& shape, const ElementType& type)
      : RowWriter("npy", path, shape, type),
        row_bytes_(checked_row_bytes(shape, type, subject())),
        file_(path, "npy"),
        out_(file_) {
    const std::string header = npy_header(shape, type);
    out_.write(reinterpret_cast<const std::byte*>(header.data()), header.size());
  }

 private:
  static std::int64_t checked_row_bytes(const Dims& shape, const ElementType& type, const Subject& subject) {
    if (shape.empty()) subject.fail(ErrorCode::rank, "must have an axis to be written by rows", to_string(shape));
    const auto bytes = checked_bytes(shape, type.size, type, subject);
    return shape[0] == 0 ? 0 : bytes / shape[0];
  }
  void write_rows(const ConstTensorView& rows) override {
    if (row_bytes_ > 0) write_elements(out_, rows);
  }
  void finish() override {
    out_.flush();
    file_.commit();
  }

  std::int64_t row_bytes_;
  OutputFile file_;
  BufferedFile out_;
};

}  // namespace

NpyOutput::NpyOutput(std::filesystem::path path, const Dims& shape, const ElementType& type) : file_(path, "npy") {
  const Subject subject{"npy", path};
  const std::string header = npy_header(shape, type);
  const auto total = checked_add(checked_bytes(shape, type.size, type, subject), static_cast<std::int64_t>(header.size()));
  if (!total) subject.fail(ErrorCode::overflow, "has a shape whose size does not fit into 63 bits", to_string(shape));
  std::byte* data = file_.map(static_cast<std::size_t>(*total));
  std::memcpy(data, header.data(), header.size());
  view_ = {data + header.size(), shape, dense_strides(shape, type.size), type.dtype, type.size};
}

void write_npy(const std::filesystem::path& path, const ConstTensorView& tensor, const ElementType& type) {
  const Subject subject{"npy", path};
  const std::int64_t bytes = checked_bytes(tensor.shape, tensor.element_size, type, subject);
  const std::string header = npy_header(tensor.shape, type);
  OutputFile file(path, "npy");
  BufferedFile out(file);
  out.write(reinterpret_cast<const std::byte*>(header.data()), header.size());
  if (bytes > 0) write_elements(out, tensor);
  out.flush();
  file.commit();
}

std::unique_ptr<RowWriter> create_npy(const std::filesystem::path& path, const Dims& shape, const ElementType& type) {
  return std::make_unique<NpyRowWriter>(path, shape, type);
}

}  // namespace patchfold::formats
