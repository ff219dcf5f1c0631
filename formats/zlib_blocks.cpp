// SPDX-License-Identifier: Apache-2.0
#include "formats/zlib_blocks.hpp"

#include <algorithm>

namespace patchfold::formats {
namespace {

constexpr std::size_t header_bytes = 2;
constexpr std::size_t sample_bytes = 1 << 14;
constexpr std::size_t most_slots = 32;

z_const Bytef* input(const std::byte* data) {
  return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(data));
}

std::uint32_t crc32_of(const std::byte* data, std::size_t bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, input(data), bytes));
}

}  // namespace

/// A compressor of raw deflate.
class ZlibBlocks::Deflater {
 public:
  bool start(int level, int strategy) {
    is_started_ = deflateInit2(&stream_, level, Z_DEFLATED, -15, 8, strategy) == Z_OK;
    return is_started_;
  }
  Deflater() = default;
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() {
    if (is_started_) deflateEnd(&stream_);
  }

  std::size_t bound(std::size_t bytes) { return deflateBound(&stream_, bytes) + 16; }
  /// Writes compressed data to `dst` and returns the number of its bytes; `room`, the size of `dst`, must suffice for the longest
  /// result. The `before` bytes in front of `data` are the dictionary.
  std::size_t run(const std::byte* data, std::size_t size, std::size_t before, int flush, std::byte* dst, std::size_t room) {
    deflateReset(&stream_);
    if (before > 0) deflateSetDictionary(&stream_, input(data - before), static_cast<uInt>(before));
    stream_.next_in = input(data);
    stream_.avail_in = static_cast<uInt>(size);
    stream_.next_out = reinterpret_cast<Bytef*>(dst);
    stream_.avail_out = static_cast<uInt>(room);
    deflate(&stream_, flush);
    return room - stream_.avail_out;
  }

 private:
  z_stream stream_{};
  bool is_started_ = false;
};

struct ZlibBlocks::Slot {
  Deflater matches{};  ///< replaces strings that already occur in the window
  Deflater runs{};     ///< replaces runs of one repeated byte
  std::size_t room = 0;
  std::shared_ptr<std::byte> memory{};
  std::size_t bytes = 0;  ///< the bytes of the compressed part
  std::size_t size = 0;   ///< the bytes of its data
  std::uint32_t adler = 1;
  std::uint32_t crc = 0;
  std::byte* stream() const noexcept { return memory.get() + room_before + header_bytes; }
};

ZlibBlocks::ZlibBlocks(std::int64_t total, Executor& executor, Subject subject) : total_(total), executor_(executor) {
  const auto parts = static_cast<std::uint64_t>(total) / part + 1;
  const auto threads = static_cast<std::uint64_t>(std::max(executor.threads(), 1));
  // Two slots for each thread: parts take different times, so a thread that is done finds another one.
  const auto count = std::min({parts, threads > 1 ? 2 * threads : 1, std::uint64_t{most_slots}});
  for (std::uint64_t i = 0; i < count; ++i) {
    auto slot = std::make_unique<Slot>();
    // `runs` would need no large window, but zlib moves a small window so often that compressing would take three times as long.
    if (!slot->matches.start(6, Z_FILTERED) || !slot->runs.start(6, Z_RLE))
      subject.fail(ErrorCode::out_of_memory, "needs more memory than there is");
    slot->room = std::max(slot->matches.bound(part), slot->runs.bound(part));
    slot->memory = allocate(static_cast<std::int64_t>(room_before + header_bytes + slot->room + 4 + room_after), subject);
    slots_.push_back(std::move(slot));
  }
}

ZlibBlocks::~ZlibBlocks() = default;

void ZlibBlocks::compress_part(Slot& slot, const std::byte* data, std::size_t size, std::size_t before,
                               bool is_last) noexcept {
  const std::size_t sampled = std::min(size, sample_bytes);
  const std::byte* const sample = data + (size - sampled) / 2;
  const auto tried = [&](Deflater& deflater) {
    return deflater.run(sample, sampled, 0, Z_FINISH, slot.stream(), slot.room);
  };
  const bool by_matches = tried(slot.matches) * 20 < tried(slot.runs) * 19;
  const int flush = is_last ? Z_FINISH : Z_SYNC_FLUSH;
  slot.size = size;
  slot.bytes = by_matches ? slot.matches.run(data, size, std::min(before, window), flush, slot.stream(), slot.room)
                          : slot.runs.run(data, size, 0, flush, slot.stream(), slot.room);
  slot.adler = static_cast<std::uint32_t>(::adler32_z(1, input(data), size));
  slot.crc = crc32_of(slot.stream(), slot.bytes);
}

void ZlibBlocks::compress(std::span<const std::byte> bytes, const Sink& sink) {
  struct Job {
    ZlibBlocks& blocks;
    const std::byte* data;
    std::size_t left;
    static constexpr std::size_t size_of_part(std::size_t left, std::size_t i) { return std::min(part, left - i * part); }
  };
  while (!bytes.empty()) {
    const std::size_t count = std::min(slots_.size(), (bytes.size() + part - 1) / part);
    Job job{*this, bytes.data(), bytes.size()};
    const auto body = [](void* context, std::int64_t piece) noexcept {
      const Job& job = *static_cast<const Job*>(context);
      const auto i = static_cast<std::size_t>(piece);
      const std::size_t size = Job::size_of_part(job.left, i);
      const std::int64_t before = job.blocks.done_ + static_cast<std::int64_t>(i * part);
      job.blocks.compress_part(*job.blocks.slots_[i], job.data + i * part, size, static_cast<std::size_t>(before),
                               before + static_cast<std::int64_t>(size) == job.blocks.total_);
    };
    if (!executor_.run(static_cast<std::int64_t>(count), body, &job)) throw_if_failed(Status::executor_failed, "png");
    std::size_t taken = 0;
    for (std::size_t i = 0; i < count; ++i) {
      Slot& slot = *slots_[i];
      std::byte* begin = slot.stream();
      adler_ = static_cast<std::uint32_t>(::adler32_combine(adler_, slot.adler, static_cast<z_off_t>(slot.size)));
      if (done_ == 0) {  // the header of the stream: deflate with a window of 32 KB; both bytes form a multiple of 31
        *--begin = std::byte{0x5E};
        *--begin = std::byte{0x78};
        slot.bytes += header_bytes;
        slot.crc = crc32_of(begin, slot.bytes);
      }
      done_ += static_cast<std::int64_t>(slot.size);
      taken += slot.size;
      if (done_ == total_) {
        for (int shift = 24; shift >= 0; shift -= 8) begin[slot.bytes++] = static_cast<std::byte>(adler_ >> shift);
        slot.crc = crc32_of(begin, slot.bytes);
      }
      sink({begin, slot.bytes}, slot.crc);
    }
    bytes = bytes.subspan(taken);
  }
}

}  // namespace patchfold::formats
