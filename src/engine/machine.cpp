// SPDX-License-Identifier: Apache-2.0
#include "engine/machine.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include "tensor/environment.hpp"
#include "tensor/lasting.hpp"

namespace patchfold::engine {
namespace {

constexpr Caches usual{32 << 10, 512 << 10, 16 << 20};

std::optional<kernels::Store> forced_store;

/// Returns the data caches of the first processor as Linux describes them. The C library's sysconf is not used, because it counts
/// the caches of a whole socket, even in a virtual machine with a part of the socket.
Caches described() {
  Caches c = usual;
  for (int index = 0; index < 8; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const auto word = [&](const char* name) {
      std::string text;
      std::ifstream(folder + name) >> text;
      return text;
    };
    const std::string level = word("level"), type = word("type"), size = word("size");
    if (level.empty() || size.empty() || type == "Instruction") continue;
    std::int64_t bytes = 0;
    for (const char digit : size)
      if (digit >= '0' && digit <= '9' && bytes < (std::int64_t{1} << 40)) bytes = 10 * bytes + (digit - '0');
    bytes <<= size.back() == 'K' ? 10 : size.back() == 'M' ? 20 : 0;
    if (bytes == 0) continue;
    if (level == "1") c.l1 = bytes;
    if (level == "2") c.l2 = bytes;
    if (level == "3") c.l3 = bytes;
  }
  c.l2 = std::max(c.l2, c.l1);
  c.l3 = std::max(c.l3, c.l2);
  return c;
}

/// Returns the sizes in a text such as "32768,524288,33554432"; nothing for a text of another form.
std::optional<Caches> parsed(const char* text) {
  Caches c;
  for (std::int64_t* size : {&c.l1, &c.l2, &c.l3}) {
    const char* end = text + std::strlen(text);
    const auto [next, error] = std::from_chars(text, end, *size);
    const bool last = size == &c.l3;
    if (error != std::errc() || *size <= 0 || (last ? next != end : *next != ',')) return std::nullopt;
    text = next + 1;
  }
  return c;
}

constinit EnvironmentVariable wanted("PATCHFOLD_CACHES");

Caches found() {
  const char* const text = wanted.value();
  const std::optional<Caches> given = text == nullptr ? std::nullopt : parsed(text);
  if (!given) wanted.ignore("three sizes in bytes, such as 32768,524288,33554432");
  return given ? *given : described();
}

}  // namespace

const Caches& caches() noexcept {
  try {
    return lasting([] { return found(); });
  } catch (...) {
    return usual;
  }
}

std::int64_t stage_bytes() noexcept {
  // On a processor with 1 MB of second-level cache, a quarter of the cache was best. A stage of half the cache or more is evicted
  // by the data that streams past it.
  return std::clamp<std::int64_t>(caches().l2 / 4, 64 << 10, 256 << 10);
}

std::string_view name_of(kernels::Store store) noexcept {
  return store == kernels::Store::plain ? "plain" : "past the cache";
}

kernels::Store store_of(double read, double written) noexcept {
  if (forced_store) return *forced_store;
  // Measured with plain loops that reuse their buffers. Stores past the cache are faster if reads and writes together exceed 0.7 of
  // the cache, or 1.1 of it if writes dominate.
  const double share = written > 3 * read ? 1.1 : 0.7;
  // A cache beyond `largest` belongs to many cores, and is slow. With 260 MB of cache, stores past the cache are faster from a few
  // MB on: an unfold to 80 MB takes a third of the time.
  constexpr std::int64_t largest = 32 << 20;
  const auto cache = static_cast<double>(std::min(caches().l3, largest));
  return read + written > share * cache ? kernels::Store::past_cache : kernels::Store::plain;
}

kernels::Store store_of(const Problem& problem) noexcept {
  const auto size = [](ByteRange range) { return static_cast<double>(range.end - range.begin); };
  return store_of(size(problem.src_range), size(problem.dst_range));
}

void force_store(std::optional<kernels::Store> store) noexcept {
  forced_store = store;
}

}  // namespace patchfold::engine
