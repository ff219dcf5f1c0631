// SPDX-License-Identifier: Apache-2.0
// Fuzzes the command line, in a folder with a few files. Each line of the input is a word. Slashes are removed, so that no word
// names a file outside the folder. The exit code must be 0, 1 or 2. A failed run must leave no output file, and no run may leave a
// temporary file.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <new>
#include <numeric>
#include <set>

#include "cli/program.hpp"
#include "formats/output_file.hpp"
#include "formats/picture.hpp"
#include "fuzz/target.hpp"

namespace {

constexpr std::size_t most_memory = std::size_t{1} << 28;

}  // namespace

// Acts as on a machine with little memory: large allocations fail.
void* operator new(std::size_t size) {
  void* memory = size <= most_memory ? std::malloc(size) : nullptr;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return size <= most_memory ? std::malloc(size) : nullptr;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace patchfold::fuzz {
namespace {

void put_array(const char* name, const Dims& shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  std::iota(values.begin(), values.end(), 0.0f);
  formats::write_npy(name, view(static_cast<const float*>(values.data()), shape), formats::element_type(DType::float32));
}

void put_picture(const char* name) {
  std::vector<std::uint8_t> values(12 * 10 * 3);
  std::iota(values.begin(), values.end(), std::uint8_t{0});
  formats::write_picture(name, view(static_cast<const std::uint8_t*>(values.data()), {12, 10, 3}));
}

std::set<std::string> names() {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("."))
    if (entry.is_regular_file()) found.insert(entry.path().string());
  return found;
}

/// Discards standard output and standard error while this object lives.
class Silence {
 public:
  Silence() {
    static const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (int i = 0; i < 2; ++i) {
      saved_[i] = ::fcntl(i + 1, F_DUPFD_CLOEXEC, 100);
      ::dup2(nowhere, i + 1);
    }
  }
  ~Silence() {
    for (int i = 0; i < 2; ++i) {
      ::dup2(saved_[i], i + 1);
      ::close(saved_[i]);
    }
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  int saved_[2];
};

void prepare() {
  static const bool once = [] {
    const rlimit most = {std::size_t{1} << 24, std::size_t{1} << 24};
    ::setrlimit(RLIMIT_FSIZE, &most);
    std::signal(SIGXFSZ, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);  // so that reading "-" does not wait for input
    return true;
  }();
  static_cast<void>(once);
  clear_folder();
  const auto inside = folder() / "a" / "b";
  std::filesystem::create_directories(inside);
  expect(::chdir(inside.c_str()) == 0, "the folder cannot be entered");
  put_array("image.npy", {1, 2, 6, 6});
  put_array("columns.npy", {1, 8, 9});
  put_picture("photo.png");
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == '\n')
      words.emplace_back();
    else if (c != '\0')
      words.back() += c == '/' ? '_' : c;
  }
  return words;
}

void run(std::string_view text) {
  const std::vector<std::string> words = words_of(text);
  if (words.size() > 40 || words[0] == "bench") return;  // benchmarks take too long
  prepare();
  if (words[0] == "merge") {
    const Silence silence;
    put_picture("photo.tif");
    cli::run_program({"split", "photo.tif", "tiles", "--tile", "6", "--overlap", "2"});
  }
  const auto before = names();
  int code = 0;
  {
    const Silence silence;
    code = cli::run_program(words);
  }
  expect(code >= 0 && code <= 2, "exit code " + std::to_string(code));
  const auto after = names();
  expect(code == 0 || words[0] == "split" || before == after, "a failed run left or removed a file");
  for (const auto& name : after)
    expect(before.contains(name) || !name.ends_with(".tmp") || text.find(".tmp") != std::string_view::npos,
           "a temporary file stays: " + name);
}

}  // namespace
}  // namespace patchfold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  patchfold::fuzz::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
