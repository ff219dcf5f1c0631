// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "formats/npy_header.hpp"
#include "formats/row_codecs.hpp"

namespace patchfold::formats {
namespace {

/// Returns whether Fortran order and row-major order are the same: at most one axis has more than one element.
bool is_row_major_too(const Dims& shape) {
  return std::count_if(shape.begin(), shape.end(), [](auto extent) { return extent != 1; }) <= 1;
}

class NpyRowReader final : public RowReader {
 public:
  NpyRowReader(InputFile file, const std::filesystem::path& path) : RowReader("npy", path), file_(std::move(file)) {
    const Subject subject = this->subject();
    std::vector<std::byte> head(static_cast<std::size_t>(std::min(file_.size(), longest_npy_header)));
    head.resize(static_cast<std::size_t>(file_.read_at(0, head.data(), static_cast<std::int64_t>(head.size()), subject)));
    NpyHeader header = parse_npy_header(head, file_.size(), subject);
    if (header.shape.empty())
      subject.fail(ErrorCode::file_unsupported, "must have an axis to be read by rows", to_string(header.shape));
    checked_npy_end(header, file_.size(), subject);
    if (header.fortran_order && !is_row_major_too(header.shape))
      subject.fail(ErrorCode::file_unsupported, "is in Fortran order, which is not read by rows: save it in C order");
    describe(header.shape, element_type(header.type));
    element_ = std::move(header.type);
    position_ = static_cast<std::int64_t>(header.bytes);
  }

 private:
  void read_rows(std::int64_t count, std::byte* dst) override {
    const std::int64_t bytes = count * row_bytes();
    file_.read_all_at(position_, dst, bytes, subject());
    position_ += bytes;
    if (is_foreign(element_)) swap(dst, static_cast<std::size_t>(bytes));
  }

  /// Converts elements to native byte order, through a buffer, because records cannot be converted in place.
  void swap(std::byte* data, std::size_t bytes) {
    const std::size_t most = std::max<std::size_t>(std::size_t{1} << 16, element_.size) / element_.size * element_.size;
    std::vector<std::byte> buffer(std::min(most, bytes));
    for (std::size_t at = 0; at < bytes; at += buffer.size()) {
      const std::size_t part = std::min(buffer.size(), bytes - at);
      std::copy_n(data + at, part, buffer.data());
      copy_native(element_, buffer.data(), data + at, part / element_.size);
    }
  }

  InputFile file_;
  NpyType element_{};
  std::int64_t position_ = 0;
};

}  // namespace

std::unique_ptr<RowReader> open_npy(InputFile file, const std::filesystem::path& path) {
  return std::make_unique<NpyRowReader>(std::move(file), path);
}

}  // namespace patchfold::formats
