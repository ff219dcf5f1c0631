// SPDX-License-Identifier: Apache-2.0
#include "formats/tiff_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>

#include "src/base/checked.hpp"

namespace patchfold::formats {
namespace {

/// Returns the most bytes that libtiff may allocate at once for a file of this size: as many as the file has, and 64 MB for its
/// decoding tables.
tmsize_t most_memory(std::int64_t file_size) {
  constexpr std::int64_t tables = std::int64_t{64} << 20;
  return file_size < std::numeric_limits<tmsize_t>::max() - tables ? file_size + tables : file_size;
}

/// Returns whether a message says that memory ran out; libtiff and its codecs have no code for this. Messages about the limit that
/// is given to libtiff, and about a list without entries, are faults of the file instead.
bool tells_of_memory(std::string_view message) {
  constexpr std::string_view words[] = {"Failed to allocate", "annot allocate", "Out of memory", "ot enough memory",
                                        "nsufficient memory", "No space for",   "malloc("};
  return message.find("(0 elements") == std::string_view::npos &&
         std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view part) { return message.find(part) != std::string_view::npos; });
}

struct OptionsDeleter {
  void operator()(TIFFOpenOptions* options) const noexcept { TIFFOpenOptionsFree(options); }
};

}  // namespace

TiffFile::TiffFile(InputFile file) : input_(std::move(file)) {
  // r: reads; m: does not map the file; c: does not split strips; O: reads the offsets of strips when they are needed.
  tiff_ = open("rmcO");
}

TiffFile::TiffFile(OutputFile& file, bool big) : output_(&file) {
  tiff_ = open(big ? "w8" : "w4");
}

TIFF* TiffFile::open(const char* mode) {
  const std::unique_ptr<TIFFOpenOptions, OptionsDeleter> options(TIFFOpenOptionsAlloc());
  if ((is_without_options_ = !options)) return nullptr;
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_error, this);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_warning, this);
  if (input_) TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), most_memory(input_->size()));
  return TIFFClientOpenExt("the file", mode, this, on_read, on_write, on_seek, on_close, on_size, nullptr, nullptr,
                           options.get());
}

void TiffFile::close(bool whole) noexcept {
  is_discarded_ = !whole;
  if (tiff_ != nullptr) TIFFClose(std::exchange(tiff_, nullptr));
}

void TiffFile::fail(const Subject& subject, ErrorCode code, std::string_view rule) const {
  if (failure_) std::rethrow_exception(failure_);
  if (read_error_ != 0) subject.fail_system(ErrorCode::file_open, "cannot be read", read_error_);
  if (is_without_options_ || tells_of_memory(message_))
    subject.fail(ErrorCode::out_of_memory, "needs more memory than there is", message_);
  subject.fail(code, std::string(rule), message_);
}

std::int64_t TiffFile::size() const noexcept {
  return input_ ? input_->size() : written_;
}

std::int64_t TiffFile::read(void* dst, std::int64_t count) noexcept {
  count = std::clamp<std::int64_t>(size() - position_, 0, count);
  if (input_) {
    const auto done = input_->try_read_at(position_, dst, count);
    if (done < 0) read_error_ = errno;
    return done;
  }
  // An exception must not pass through C.
  try {
    return static_cast<std::int64_t>(output_->read_at(position_, dst, static_cast<std::size_t>(count)));
  } catch (...) {
    failure_ = std::current_exception();
    return -1;
  }
}

std::int64_t TiffFile::write(const void* data, std::int64_t count) noexcept {
  if (is_discarded_) return count;
  if (output_ == nullptr) return -1;
  try {
    output_->write_at(position_, data, static_cast<std::size_t>(count));
    return count;
  } catch (...) {
    failure_ = std::current_exception();
    return -1;
  }
}

tmsize_t TiffFile::on_read(thandle_t handle, void* dst, tmsize_t count) {
  auto* file = static_cast<TiffFile*>(handle);
  // libtiff would use -1 as an offset in its buffer, so a failed read counts as 0 bytes.
  const auto done = std::max<std::int64_t>(0, file->read(dst, count));
  file->position_ += done;
  return done;
}

tmsize_t TiffFile::on_write(thandle_t handle, void* data, tmsize_t count) {
  auto* file = static_cast<TiffFile*>(handle);
  const auto done = file->write(data, count);
  if (done > 0) file->position_ += done;
  file->written_ = std::max(file->written_, file->position_);
  return done;
}

toff_t TiffFile::on_seek(thandle_t handle, toff_t offset, int origin) {
  auto* file = static_cast<TiffFile*>(handle);
  const std::int64_t base = origin == SEEK_SET ? 0 : origin == SEEK_CUR ? file->position_ : file->size();
  const auto position = checked_add(base, static_cast<std::int64_t>(offset));
  if (position.value_or(-1) < 0) return static_cast<toff_t>(-1);
  file->position_ = *position;
  return static_cast<toff_t>(*position);
}

toff_t TiffFile::on_size(thandle_t handle) {
  return static_cast<toff_t>(static_cast<const TiffFile*>(handle)->size());
}

/// Keeps the first message, since later messages are its consequences.
int TiffFile::on_error(TIFF*, void* user, const char*, const char* format, va_list values) {
  auto& message = static_cast<TiffFile*>(user)->message_;
  if (message[0] == '\0') std::vsnprintf(message, sizeof(message), format, values);
  return 1;
}

/// Turns libjpeg's warnings into errors: libjpeg only warns of damaged pictures, which patchfold refuses.
int TiffFile::on_warning(TIFF* tiff, void* user, const char* module, const char* format, va_list values) {
  if (module != nullptr && std::string_view(module) == "JPEGLib") on_error(tiff, user, module, format, values);
  return 1;
}

}  // namespace patchfold::formats
