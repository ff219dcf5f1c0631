// SPDX-License-Identifier: Apache-2.0
// Tests readers and writers of files with failing, interrupted and partial system calls.
// Tests readers and writers of files with failing allocations, in patchfold and in the libraries that patchfold calls.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <optional>

#include "files.hpp"
#include "formats/picture.hpp"
#include "memory.hpp"
#include "patchfold/error.hpp"
#include "system_calls.hpp"

namespace patchfold::faults {
namespace {

using formats::test::read_bytes;
using formats::test::TempFolder;
using formats::test::write_bytes;

/// Returns the number of open descriptors.
std::size_t descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

std::string shown(const CallFault& fault) {
  const char* const kinds[] = {"fails", "moves a part", "moves nothing", "gets a signal"};
  return fault.call + " " + std::to_string(fault.n) + " " + kinds[static_cast<int>(fault.kind)] +
         (fault.kind == Kind::error ? std::string(": ") + std::strerror(fault.number) : "") +
         (fault.lasting ? ", and all later" : "");
}

/// Runs the action again and again, with the fault at its first system call named `fault.call`, then at the second, and so
/// on. Calls check(where, error) after each of these runs. Returns the number of calls that failed.
std::int64_t fail_each_call(CallFault fault, const std::function<void()>& action, const std::function<void()>& before,
                            const std::function<void(const std::string& where, const std::optional<Error>& error)>& check) {
  for (fault.n = 0;; ++fault.n) {
    before();
    const std::size_t open = descriptors();
    std::optional<Error> error;
    bool has_failed = false;
    {
      const FailingCalls failing(fault);
      try {
        action();
      } catch (const Error& thrown) {
        error.emplace(thrown);
      }
      has_failed = failing.has_failed();
    }
    EXPECT_EQ(descriptors(), open) << shown(fault) << ": descriptors are lost";
    if (!has_failed) {
      EXPECT_FALSE(error) << shown(fault) << ": without a fault: " << error->what();
      return fault.n;
    }
    check(shown(fault), error);
    if (::testing::Test::HasFailure()) return fault.n + 1;
  }
}

/// The number of failures of each call; each call must have failed at least once.
using Failures = std::map<std::string, std::int64_t>;

void expect_all(const Failures& failures) {
  // Only the TIFF writer calls pwrite, since it does not write from the first byte to the last.
  for (const auto& [call, count] : failures)
    EXPECT_TRUE(count > 0 || (call.ends_with("pwrite") && !formats::has_tiff())) << call << " is never called";
}

constexpr int read_errors[] = {EIO, ENOMEM};
constexpr int write_errors[] = {EIO, ENOSPC, EDQUOT};

TEST(CallsThatFail, AreErrorsOfTheFileThatIsRead) {
  const TempFolder folder;
  Failures failures;
  for (const Reading& reading : readings(folder))
    for (const char* call : {"open", "fstat", "pread", "mmap"})
      for (const int number : read_errors)
        failures[call] += fail_each_call(
            {.call = call, .number = number}, reading.read, [] {},
            [&](const std::string& where, const std::optional<Error>& error) {
              // A reader that cannot map its file into memory reads the file instead.
              if (std::string_view(call) == "mmap") {
                EXPECT_FALSE(error) << reading.name << ": " << where << ": " << error->what();
                return;
              }
              ASSERT_TRUE(error) << reading.name << ": " << where;
              EXPECT_EQ(error->code(), number == ENOMEM ? ErrorCode::out_of_memory : ErrorCode::file_open)
                  << reading.name << ": " << where << ": " << error->what();
              EXPECT_EQ(error->argument(), reading.path.string()) << error->what();
              EXPECT_NE(std::string(error->what()).find(std::strerror(number)), std::string::npos) << error->what();
            });
  expect_all(failures);
}

TEST(CallsThatFail, InPartOrForASignalAreDoneAgain) {
  const TempFolder folder;
  Failures failures;
  for (const Reading& reading : readings(folder))
    for (const CallFault& fault :
         {CallFault{.call = "pread", .number = EINTR}, CallFault{.call = "pread", .kind = Kind::part},
          CallFault{.call = "pread", .kind = Kind::part, .lasting = true}})
      failures["reading: " + shown(fault)] += fail_each_call(
          fault, reading.read, [] {},
          [&](const std::string& where, const std::optional<Error>& error) {
            EXPECT_FALSE(error) << reading.name << ": " << where << ": " << error->what();
          });
  for (const Writing& writing : writings(folder)) {
    for (const char* call : {"write", "pwrite", "fallocate", "close", "open"})
      for (const Kind kind : {Kind::error, Kind::part}) {
        const bool moves =
            std::string_view(call) != "fallocate" && std::string_view(call) != "close" && std::string_view(call) != "open";
        if (kind == Kind::part && !moves) continue;
        failures["writing: " + std::string(call)] += fail_each_call(
            {.call = call, .kind = kind, .number = EINTR}, writing.write, [&] { write_bytes(writing.path, as_it_was); },
            [&](const std::string& where, const std::optional<Error>& error) {
              EXPECT_FALSE(error) << writing.name << ": " << where << ": " << error->what();
              EXPECT_TRUE(read_bytes(writing.path) == writing.bytes) << writing.name << ": " << where;
            });
      }
    std::filesystem::remove(writing.path);
  }
  expect_all(failures);
}

TEST(CallsThatFail, LeaveTheFileThatIsWrittenAsItWas) {
  Failures failures;
  for (const bool exists : {true, false}) {
    const TempFolder folder;
    for (const Writing& writing : writings(folder)) {
      const std::string name = writing.path.filename().string();
      for (const char* call : {"open", "stat", "write", "pwrite", "close", "rename", "fallocate", "faccessat"})
        for (const int number : write_errors)
          for (const bool lasting : {false, true}) {
            if (lasting && number != EIO) continue;
            failures[call] += fail_each_call(
                {.call = call, .number = number, .lasting = lasting}, writing.write,
                [&] {
                  std::filesystem::remove(writing.path);
                  if (exists) write_bytes(writing.path, as_it_was);
                },
                [&](const std::string& where, const std::optional<Error>& error) {
                  // The close of a file that is removed may fail, and so may the second close, which ends the file's lock.
                  // Of several files, each looks whether the one before was left by a killed process.
                  const bool is_harmless = where.starts_with("close ") ? writing.files > 1 || !where.starts_with("close 0 ")
                                                                       : where.starts_with("open ") && writing.files > 1;
                  if (!error && is_harmless) {
                    EXPECT_TRUE(read_bytes(writing.path) == writing.bytes) << writing.name << ": " << where;
                    EXPECT_EQ(folder.names(), std::vector{name}) << where;
                    return;
                  }
                  ASSERT_TRUE(error) << writing.name << ": " << where;
                  EXPECT_EQ(error->code(), ErrorCode::file_write) << writing.name << ": " << where << error->what();
                  EXPECT_EQ(error->argument(), writing.path.string()) << error->what();
                  EXPECT_NE(std::string(error->what()).find(std::strerror(number)), std::string::npos)
                      << where << ": " << error->what();
                  EXPECT_EQ(folder.names(), exists ? std::vector{name} : std::vector<std::string>{}) << where;
                  EXPECT_TRUE(!exists || read_bytes(writing.path) == as_it_was) << writing.name << ": " << where;
                });
          }
      std::filesystem::remove(writing.path);
    }
  }
  expect_all(failures);
}

TEST(CallsThatFail, ToReserveRoomLeaveItToTheFileThatIsMadeLonger) {
  const TempFolder folder;
  std::int64_t failures = 0;
  for (const Writing& writing : writings(folder))
    for (const int number : {EOPNOTSUPP, ENOSYS, EINVAL})
      failures += fail_each_call(
          {.call = "fallocate", .number = number, .lasting = true}, writing.write, [] {},
          [&](const std::string& where, const std::optional<Error>& error) {
            EXPECT_FALSE(error) << writing.name << ": " << where << ": " << error->what();
            EXPECT_TRUE(read_bytes(writing.path) == writing.bytes) << writing.name << ": " << where;
          });
  EXPECT_GT(failures, 0);
}

/// Tests files that seem to have been shortened while they are read: pread returns 0 bytes.
TEST(FilesThatAreShortened, WhileTheyAreReadAreErrorsThatNameThem) {
  const TempFolder folder;
  std::int64_t failures = 0;
  for (const Reading& reading : readings(folder))
    failures += fail_each_call(
        {.call = "pread", .kind = Kind::nothing, .lasting = true}, reading.read, [] {},
        [&](const std::string& where, const std::optional<Error>& error) {
          if (!error && !where.starts_with("pread 0 ")) return;  // earlier calls have read all that is needed
          ASSERT_TRUE(error) << reading.name << ": " << where;
          EXPECT_TRUE(error->code() == ErrorCode::file_format || error->code() == ErrorCode::file_unsupported)
              << reading.name << ": " << where << ": " << error->what();
          EXPECT_EQ(error->argument(), reading.path.string()) << error->what();
        });
  EXPECT_GT(failures, 0);
}

TEST(FilesThatGrow, WhileTheyAreReadGiveWhatTheyHeld) {
  const TempFolder folder;
  for (const Reading& reading : readings(folder)) {
    if (reading.path.extension() == ".json") continue;  // in JSON only blanks may follow the content
    write_bytes(reading.path, read_bytes(reading.path) + std::string(5000, 'x'));
    reading.read();
  }
}

std::string shown(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += name + " ";
  return text;
}

bool is_tiff(const std::filesystem::path& path) {
  return path.extension() == ".tif";
}

TEST(FilesWithoutMemory, AreReadInFullOrAreAnError) {
  const TempFolder folder;
  for (const Reading& reading : readings(folder))
    if (!is_tiff(reading.path)) fail_each_allocation(reading.name, reading.read);
}

/// Returns the expected state of a folder: the written file or, after a failure, the old file or none.
Expectation untouched(const TempFolder& folder, const Writing& writing, bool exists) {
  return {.before =
              [&writing, exists] {
                std::filesystem::remove(writing.path);
                if (exists) write_bytes(writing.path, as_it_was);
              },
          .after =
              [&folder, &writing, exists](bool failed) {
                const bool is_there = exists || !failed;
                const std::string name = writing.path.filename().string() + " ";
                EXPECT_EQ(shown(folder.names()), is_there ? name : "") << writing.name;
                EXPECT_TRUE(!is_there || read_bytes(writing.path) == (failed ? as_it_was : writing.bytes)) << writing.name;
              },
          .most_failures = exists ? 150 : 20};
}

TEST(FilesWithoutMemory, AreWrittenInFullOrStayAsTheyWere) {
  for (const bool exists : {true, false}) {
    const TempFolder folder;
    for (const Writing& writing : writings(folder)) {
      if (!is_tiff(writing.path)) fail_each_allocation(writing.name, writing.write, untouched(folder, writing, exists));
      std::filesystem::remove(writing.path);
    }
  }
}

// libtiff 4.5 may use memory that it failed to allocate, and does not always report the failure. So each failure is tested in its
// own process, and most of these processes, but not all, must report an error.
TEST(FilesWithoutMemory, InTiffAreReadInFullOrAreAnErrorWhereLibtiffDoesNotCrash) {
  if (!formats::has_tiff()) GTEST_SKIP() << "built without TIFF";
  const TempFolder folder;
  Outcomes all;
  for (const Reading& reading : readings(folder)) {
    if (!is_tiff(reading.path)) continue;
    const Outcomes one = try_each_allocation(reading.read, {.most_failures = 25});
    all.memory += one.memory;
    all.other += one.other;
    all.crashed += one.crashed;
  }
  EXPECT_GT(all.memory, 0);
  EXPECT_LT(all.crashed * 10, all.memory);
  EXPECT_LT(all.other * 5, all.memory);
}

TEST(FilesWithoutMemory, InTiffAreWrittenInFullOrStayAsTheyWereWhereLibtiffDoesNotCrash) {
  if (!formats::has_tiff()) GTEST_SKIP() << "built without TIFF";
  const TempFolder folder;
  Outcomes all;
  for (const Writing& writing : writings(folder)) {
    if (!is_tiff(writing.path)) continue;
    Expectation expectation = untouched(folder, writing, true);
    expectation.most_failures = 25;
    expectation.after = [&](bool failed) {
      EXPECT_TRUE(read_bytes(writing.path) == (failed ? as_it_was : writing.bytes)) << writing.name;
    };
    const Outcomes one = try_each_allocation(writing.write, expectation);
    all.memory += one.memory;
    all.other += one.other;
    all.crashed += one.crashed;
    EXPECT_LE(folder.names().size(), static_cast<std::size_t>(1 + one.crashed * writing.files)) << writing.name;
    for (const auto& name : folder.names()) std::filesystem::remove(folder / name);
  }
  EXPECT_GT(all.memory, 0);
  EXPECT_LT(all.crashed * 10, all.memory);
  EXPECT_LT(all.other * 5, all.memory);
}

}  // namespace
}  // namespace patchfold::faults
