// SPDX-License-Identifier: Apache-2.0
#include "formats/file.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

#include "formats/stream.hpp"
#include "src/base/checked.hpp"
#include "src/base/fail.hpp"
#include "system/file.hpp"
#include "system/memory.hpp"

namespace patchfold::formats {
namespace {

/// Opens a regular file, or a stream that a path stands for, and returns its descriptor; `size` gets its size.
int open_regular(const Subject& subject, std::int64_t& size) {
  if (const int standard = standard_descriptor(subject.path.string(), system::standard_input); standard >= 0)
    return open_stream(subject, standard, size);
  const int descriptor = system::open_to_read(subject.path);
  if (descriptor < 0) subject.fail_system(ErrorCode::file_open, "cannot be opened", errno);
  system::FileStatus status;
  const int error = system::get_status(descriptor, status) ? 0 : errno;
  if (error == 0 && status.kind == system::FileKind::regular) {
    size = status.size;
    return descriptor;
  }
  system::close(descriptor);
  if (error != 0) subject.fail_system(ErrorCode::file_open, "cannot be read", error);
  subject.fail(ErrorCode::file_open, "must be a regular file", kind_of_file(status.kind));
}

/// Returns the bytes of the whole file, read into memory: for file systems that cannot map files.
FileBytes read_whole(const InputFile& file, const Subject& subject) {
  auto memory = allocate(file.size(), subject);
  const auto count = file.read_at(0, memory.get(), file.size(), subject);
  return {{memory.get(), static_cast<std::size_t>(count)}, memory};
}

}  // namespace

void Subject::fail(ErrorCode code, std::string rule, std::string given, ErrorValue expected) const {
  std::string name = path.string();
  if (name == "-") name = code == ErrorCode::file_write ? "standard output" : "standard input";
  throw Error({code, std::string(op), std::move(name), std::move(rule), std::move(given), std::move(expected)});
}

void Subject::fail_system(ErrorCode code, std::string_view rule, int error_number) const {
  if (error_number == ENOMEM) code = ErrorCode::out_of_memory;
  fail(code, std::string(rule) + ": " + std::generic_category().message(error_number));
}

FileBytes open_file(const Subject& subject) {
  const InputFile file(subject);
  if (file.size() == 0) return {};
  const auto size = static_cast<std::size_t>(file.size());
  const void* const mapping = system::map_to_read(file.descriptor(), size);
  if (mapping == nullptr) return read_whole(file, subject);
  std::shared_ptr<const void> owner(mapping, [size](const void* data) { system::unmap(data, size); });
  return {{static_cast<const std::byte*>(mapping), size}, std::move(owner)};
}

InputFile::InputFile(const Subject& subject) : descriptor_(open_regular(subject, size_)) {}

Descriptor::~Descriptor() {
  if (descriptor_ >= 0) system::close(descriptor_);
}

std::int64_t InputFile::try_read_at(std::int64_t offset, void* dst, std::int64_t count) const noexcept {
  std::int64_t done = 0;
  while (done < count) {
    const auto part = system::read_at(descriptor(), static_cast<std::byte*>(dst) + done,
                                      static_cast<std::size_t>(count - done), offset + done);
    if (part < 0) return -1;
    if (part == 0) break;
    done += part;
  }
  return done;
}

std::int64_t InputFile::read_at(std::int64_t offset, void* dst, std::int64_t count, const Subject& subject) const {
  const auto done = try_read_at(offset, dst, count);
  if (done < 0) subject.fail_system(ErrorCode::file_open, "cannot be read", errno);
  return done;
}

void InputFile::read_all_at(std::int64_t offset, void* dst, std::int64_t count, const Subject& subject) const {
  const auto done = read_at(offset, dst, count, subject);
  if (done < count)
    subject.fail(ErrorCode::file_format, "is cut short", bytes_text(static_cast<std::uint64_t>(done)),
                 bytes_text(static_cast<std::uint64_t>(count)) + " from byte " + std::to_string(offset));
}

std::span<const std::byte> InputChunks::next() noexcept {
  const auto count = file_.try_read_at(position_, buffer_.data(), static_cast<std::int64_t>(buffer_.size()));
  if (count < 0) error_ = errno;
  if (count <= 0) return {};
  position_ += count;
  return {buffer_.data(), static_cast<std::size_t>(count)};
}

void InputChunks::throw_if_failed(const Subject& subject) const {
  if (error_ != 0) subject.fail_system(ErrorCode::file_open, "cannot be read", error_);
}

std::shared_ptr<std::byte> allocate(std::int64_t bytes, const Subject& subject) {
  const std::int64_t most = system::machine_memory();
  std::byte* memory = nullptr;
  if (most == 0 || bytes <= most)
    memory = new (std::nothrow) std::byte[static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))];
  if (memory == nullptr)
    subject.fail(ErrorCode::out_of_memory, "needs more memory than there is", bytes_text(static_cast<std::uint64_t>(bytes)));
  return {memory, std::default_delete<std::byte[]>()};
}

std::optional<std::int64_t> byte_count(const Dims& shape, std::size_t element_size) {
  // Extents of 0 do not count, since a product of 0 would hide byte strides beyond 63 bits.
  Dims counted;
  bool empty = false;
  for (const auto extent : shape) {
    if (extent < 0) return std::nullopt;
    empty |= extent == 0;
    if (extent != 0) counted.push_back(extent);
  }
  const auto bytes = checked_product(counted, element_size).value();
  return bytes && empty ? 0 : bytes;
}

Dims dense_strides(const Dims& shape, std::size_t element_size, bool fortran_order) {
  const int rank = shape.size();
  Dims strides = Dims::filled(rank, 0);
  auto stride = static_cast<std::int64_t>(element_size);
  for (int i = 0; i < rank; ++i) {
    const int axis = fortran_order ? i : rank - 1 - i;
    strides[axis] = stride;
    stride *= std::max<std::int64_t>(shape[axis], 1);
  }
  return strides;
}

std::string excerpt(std::string_view text) {
  std::string printable(text.substr(0, 40));
  for (char& c : printable)
    if (c < ' ' || c > '~') c = '?';
  return printable;
}

std::string utf8_of_latin1(std::string_view text) {
  std::string utf8;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x80) utf8 += static_cast<char>(0xC0 | code >> 6);
    utf8 += code < 0x80 ? c : static_cast<char>(0x80 | (code & 0x3F));
  }
  return utf8;
}

std::string shape_text(const Dims& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "(" + text + (shape.size() == 1 ? ",)" : ")");
}

std::vector<std::string> names_in(const std::filesystem::path& folder, std::string_view op) {
  const Subject subject{op, folder};
  std::vector<std::string> names;
  if (const int error = system::list_folder(folder, names))
    subject.fail_system(ErrorCode::file_open, "cannot be read", error);
  return names;
}

std::string bytes_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

}  // namespace patchfold::formats
