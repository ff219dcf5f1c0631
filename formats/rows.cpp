// SPDX-License-Identifier: Apache-2.0
#include "formats/rows.hpp"

#include <algorithm>
#include <utility>

#include "formats/picture.hpp"
#include "formats/row_codecs.hpp"

namespace patchfold::formats {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::string_view bytes;
  FileFormat format;
};

constexpr Signature signatures[] = {
    {"\x93NUMPY"sv, FileFormat::npy}, {"\x89PNG\r\n\x1A\n"sv, FileFormat::png},
    {"\xFF\xD8"sv, FileFormat::jpeg}, {"II*\0"sv, FileFormat::tiff},
    {"MM\0*"sv, FileFormat::tiff},    {"II+\0"sv, FileFormat::tiff},
    {"MM\0+"sv, FileFormat::tiff},
};

std::unique_ptr<RowReader> open_file_as(FileFormat format, InputFile file, const Subject& subject, std::optional<int> page,
                                        int level) {
  if (format == FileFormat::tiff) return open_tiff(std::move(file), subject.path, page, level);
  if (page.value_or(0) != 0)
    subject.fail(ErrorCode::value, "has no pages to choose from: only TIFF files have", "page " + std::to_string(*page));
  if (level != 0)
    subject.fail(ErrorCode::value, "has no levels to choose from: only TIFF files have", "level " + std::to_string(level));
  switch (format) {
    case FileFormat::png: return open_png(std::move(file), subject.path);
    case FileFormat::jpeg: return open_jpeg(std::move(file), subject.path);
    default: return open_npy(std::move(file), subject.path);
  }
}

/// Returns the format of an open file. Throws Error(file_format, file_unsupported).
FileFormat format_of(const InputFile& file, const Subject& subject, bool with_npy) {
  std::byte head[8];
  const auto length = file.read_at(0, head, sizeof(head), subject);
  const std::string_view first(reinterpret_cast<const char*>(head), static_cast<std::size_t>(length));
  bool is_begun = false;
  for (const auto& [bytes, format] : signatures) {
    if (format == FileFormat::npy && !with_npy) continue;
    if (first.starts_with(bytes)) return format;
    is_begun = is_begun || bytes.starts_with(first);
  }
  if (is_begun) subject.fail(ErrorCode::file_format, "is cut short", bytes_text(first.size()));
  subject.fail(ErrorCode::file_unsupported,
               with_npy ? "must be a .npy, PNG, JPEG or TIFF file; others are not read"
                        : "must be a PNG, JPEG or TIFF file; other pictures are not read",
               "a file that begins with \"" + excerpt(first) + "\"");
}

std::unique_ptr<RowReader> open_any(const Subject& subject, std::optional<int> page, int level, bool with_npy) {
  InputFile file(subject);
  const FileFormat format = format_of(file, subject, with_npy);
  return open_file_as(format, std::move(file), subject, page, level);
}

}  // namespace

std::optional<FileFormat> format_of_name(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (extension == ".npy") return FileFormat::npy;
  if (extension == ".png") return FileFormat::png;
  if (extension == ".jpg" || extension == ".jpeg") return FileFormat::jpeg;
  if (extension == ".tif" || extension == ".tiff") return FileFormat::tiff;
  return std::nullopt;
}

bool begins_a_file(std::string_view first) noexcept {
  for (const auto& [bytes, format] : signatures)
    if (first.starts_with(bytes) || bytes.starts_with(first)) return true;
  return false;
}

FileFormat format_of_file(const std::filesystem::path& path) {
  const Subject subject{"file", path};
  return format_of(InputFile(subject), subject, true);
}

void RowReader::describe(const Dims& shape, ElementType type) {
  const auto bytes = byte_count(shape, type.size);
  if (!bytes) subject().fail(ErrorCode::out_of_memory, "has a size that does not fit into 63 bits", to_string(shape));
  shape_ = shape;
  type_ = std::move(type);
  row_bytes_ = byte_count(shape.slice(1, shape.size()), type_.size).value_or(0);
}

void RowReader::read(std::int64_t count, std::byte* dst) {
  if (count < 0 || count > shape_[0] - next_)
    subject().fail(ErrorCode::value, "has fewer rows left than are to be read", std::to_string(count),
                   "at most " + std::to_string(shape_[0] - next_));
  if (count == 0) return;
  // A codec cannot continue after an error; the reader then counts as read to its end.
  const std::int64_t first = std::exchange(next_, shape_[0]);
  if (row_bytes_ > 0) read_rows(count, dst);
  next_ = first + count;
}

Metadata RowWriter::kept_metadata(const WriteOptions& options, FileFormat format) {
  Metadata metadata = options.metadata;
  for (auto& loss : take_what_is_lost(metadata, format, shape_.size() == 3 ? shape_[2] : 1)) lose(std::move(loss));
  return metadata;
}

void RowWriter::check_usable() const {
  if (!is_usable_) subject().fail(ErrorCode::file_write, "is complete, or was given up after an error");
}

void RowWriter::write(const ConstTensorView& rows) {
  check_usable();
  const Subject subject = this->subject();
  if (rows.shape.size() != shape_.size())
    subject.fail(ErrorCode::rank, "must be written in rows of as many axes", to_string(rows.shape), to_string(shape_));
  const int rank = shape_.size();
  if (!(rows.shape.slice(1, rank) == shape_.slice(1, rank)) || rows.shape[0] < 0 || rows.shape[0] > shape_[0] - next_)
    subject.fail(ErrorCode::shape, "must be written in rows of its own shape, as many as are left", to_string(rows.shape),
                 to_string(shape_) + " with " + std::to_string(shape_[0] - next_) + " rows left");
  if (rows.dtype != type_.dtype || rows.element_size != type_.size)
    subject.fail(ErrorCode::dtype, "must be written in elements of its own type", std::string(name_of(rows.dtype)),
                 std::string(name_of(type_.dtype)));
  if (rows.shape[0] == 0) return;
  is_usable_ = false;
  write_rows(rows);
  is_usable_ = true;
  next_ += rows.shape[0];
}

void RowWriter::commit() {
  check_usable();
  if (next_ != shape_[0])
    subject().fail(ErrorCode::shape, "must have all its rows before it is complete", std::to_string(next_),
                   std::to_string(shape_[0]));
  is_usable_ = false;
  finish();
}

std::unique_ptr<RowReader> open_rows(const std::filesystem::path& path, std::optional<int> page, int level) {
  return open_any({"file", path}, page, level, true);
}

std::unique_ptr<RowReader> open_picture(const std::filesystem::path& path, std::optional<int> page, int level) {
  return open_any({"picture", path}, page, level, false);
}

std::unique_ptr<RowWriter> create_rows(const std::filesystem::path& path, const Dims& shape, const ElementType& type,
                                       const WriteOptions& options) {
  auto format = options.format ? options.format : format_of_name(path);
  if (!format && (path == "-" || is_device_name(path.string()))) format = FileFormat::npy;  // /dev/stdout, /dev/null
  if (!format)
    Subject{"file", path}.fail(ErrorCode::file_unsupported, "must end in .npy, .png, .jpg, .jpeg, .tif or .tiff",
                               path.extension().string());
  switch (*format) {
    case FileFormat::png: return create_png(path, shape, type, options);
    case FileFormat::jpeg: return create_jpeg(path, shape, type, options);
    case FileFormat::tiff: return create_tiff(path, shape, type, options);
    default: return create_npy(path, shape, type);
  }
}

bool is_picture_path(const std::filesystem::path& path) {
  return format_of_name(path).value_or(FileFormat::npy) != FileFormat::npy;
}

LoadedTensor read_picture(const std::filesystem::path& path, std::optional<int> page, Metadata* metadata,
                          int level) {
  const auto reader = open_picture(path, page, level);
  const std::int64_t height = reader->shape()[0];
  auto memory = allocate(height * reader->row_bytes(), {"picture", path});
  reader->read(height, memory.get());
  const ElementType& type = reader->type();
  if (metadata != nullptr) *metadata = reader->metadata();
  return {{memory.get(), reader->shape(), dense_strides(reader->shape(), type.size), type.dtype, type.size},
          type,
          std::move(memory)};
}

std::vector<std::string> write_picture(const std::filesystem::path& path, const ConstTensorView& picture,
                                       const WriteOptions& options) {
  if (!options.format && !is_picture_path(path))
    Subject{"picture", path}.fail(ErrorCode::file_unsupported, "must end in .png, .jpg, .jpeg, .tif or .tiff",
                                  path.extension().string());
  const auto writer = create_rows(path, picture.shape, element_type(picture.dtype), options);
  writer->write(picture);
  writer->commit();
  return writer->losses();
}

}  // namespace patchfold::formats
