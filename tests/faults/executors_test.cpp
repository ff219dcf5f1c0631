// SPDX-License-Identifier: Apache-2.0
// Tests executors that break their contract, with every operator and every strategy.
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "operators.hpp"
#include "patchfold/patchfold.h"

namespace patchfold::faults {
namespace {

/// A way in which an executor treats its pieces.
struct Way {
  const char* name;
  int threads;
  bool keeps_promise;  ///< whether it runs each piece once and returns true
  bool (*run)(std::int64_t pieces, Executor::Body body, void* context);
};

bool each(std::int64_t pieces, Executor::Body body, void* context) {
  for (std::int64_t piece = 0; piece < pieces; ++piece) body(context, piece);
  return true;
}

const Way ways[] = {
    {"refuses at once", 4, false, [](std::int64_t, Executor::Body, void*) { return false; }},
    {"refuses half way", 4, false,
     [](std::int64_t pieces, Executor::Body body, void* context) {
       each(pieces / 2, body, context);
       return false;
     }},
    {"runs everything and refuses", 4, false,
     [](std::int64_t pieces, Executor::Body body, void* context) { return !each(pieces, body, context); }},
    {"throws at once", 4, false,
     [](std::int64_t, Executor::Body, void*) -> bool { throw std::runtime_error("no threads"); }},
    {"throws half way", 4, false,
     [](std::int64_t pieces, Executor::Body body, void* context) -> bool {
       each(pieces / 2, body, context);
       throw 7;
     }},
    {"says that it has no threads", 0, true, each},
    {"says that it has fewer than no threads", -5, true, each},
    {"says that it has a thousand threads", 1000, true, each},
    {"runs backwards", 7, true,
     [](std::int64_t pieces, Executor::Body body, void* context) {
       while (pieces-- > 0) body(context, pieces);
       return true;
     }},
    {"runs each piece in a new thread", 5, true,
     [](std::int64_t pieces, Executor::Body body, void* context) {
       for (std::int64_t piece = 0; piece < pieces; ++piece) std::thread(body, context, piece).join();
       return true;
     }},
    {"runs all pieces at the same time", 5, true,
     [](std::int64_t pieces, Executor::Body body, void* context) {
       std::vector<std::thread> threads;
       for (std::int64_t piece = 0; piece < pieces; ++piece) threads.emplace_back(body, context, piece);
       for (auto& thread : threads) thread.join();
       return true;
     }},
};

/// An executor that treats its pieces in a given way. It returns false if way.run() throws, as CallableExecutor does.
struct Misbehaving final : Executor {
  explicit Misbehaving(const Way& way) : way(way) {}
  int threads() const noexcept override { return way.threads; }
  bool run(std::int64_t pieces, Body body, void* context) noexcept override {
    was_asked = true;
    try {
      return way.run(pieces, body, context);
    } catch (...) {
      return false;
    }
  }
  const Way& way;
  bool was_asked = false;
};

TEST(Executors, ThatFailGiveAStatusAndThePlanRunsAfterwards) {
  for (const auto& text : all_problems()) {
    Task task(text);
    const Plan plan = task.plan();
    const auto run = [&](Executor& executor) {
      task.spoil();
      return plan.run(task.src().data, task.dst().data, executor);
    };
    ASSERT_EQ(run(serial_executor()), Status::ok) << text;
    const auto expected = task.result();
    for (const Way& way : ways) {
      Misbehaving executor(way);
      const Status status = run(executor);
      EXPECT_EQ(status, way.keeps_promise || !executor.was_asked ? Status::ok : Status::executor_failed)
          << text << ": " << way.name;
      EXPECT_TRUE(status != Status::ok || task.result() == expected) << text << ": " << way.name;
      ASSERT_EQ(run(serial_executor()), Status::ok) << text << ": after one that " << way.name;
      EXPECT_TRUE(task.result() == expected) << text << ": after one that " << way.name;
    }
  }
}

TEST(Executors, ThatThrowThroughACallableGiveAnError) {
  Task task("unfold f32 2x3x100x100 kernel_size=3,3 padding=1");
  CallableExecutor throws(4, [](std::int64_t, const auto&) { throw std::runtime_error("no threads"); });
  try {
    task.run(throws);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::executor);
  }
}

/// Tests that pieces that run twice give the same result, except for sums that are added to the output.
TEST(Executors, ThatRunPiecesTwiceWriteTheSameTwice) {
  for (const auto& text : all_problems()) {
    if (text.find("accumulate=") != std::string::npos) continue;
    Task task(text);
    const Plan plan = task.plan();
    ASSERT_EQ(plan.run(task.src().data, task.dst().data, serial_executor()), Status::ok);
    const auto expected = task.result();
    task.spoil();
    CallableExecutor twice(3, [](std::int64_t pieces, const auto& body) {
      for (std::int64_t piece = 0; piece < 2 * pieces; ++piece) body(piece % pieces);
    });
    EXPECT_EQ(plan.run(task.src().data, task.dst().data, twice), Status::ok) << text;
    EXPECT_TRUE(task.result() == expected) << text;
  }
}

std::int32_t run_way(void* context, std::int64_t pieces, pf_body body, void* body_context) {
  struct Both {
    pf_body body;
    void* context;
  } both{body, body_context};
  const auto one = [](void* given, std::int64_t piece) noexcept {
    static_cast<const Both*>(given)->body(static_cast<const Both*>(given)->context, piece);
  };
  return static_cast<const Way*>(context)->run(pieces, one, &both) ? 0 : 1;
}

TEST(Executors, ThatFailGiveAStatusInC) {
  for (const auto& text : all_problems()) {
    Task task(text);
    task.run(serial_executor());
    const auto expected = task.result();
    std::vector<std::string> values;
    std::vector<pf_attribute> attributes;
    for (const auto& argument : task.problem().arguments) values.push_back(to_string(argument.value));
    for (std::size_t i = 0; i < values.size(); ++i)
      attributes.push_back(pf_text(task.problem().arguments[i].name.c_str(), values[i].c_str()));
    const auto tensor = [](const auto& view) {
      return pf_tensor{const_cast<void*>(static_cast<const void*>(view.data)),
                       view.shape.begin(),
                       nullptr,
                       view.shape.size(),
                       static_cast<pf_dtype>(view.dtype),
                       static_cast<std::uint32_t>(view.element_size)};
    };
    const pf_tensor input = tensor(task.src()), output = tensor(task.dst());
    const auto run = [&](const pf_executor* executor) {
      task.spoil();
      return pf_run(task.problem().op.c_str(), attributes.data(), static_cast<std::int32_t>(attributes.size()), &input,
                    task.spec().data_input.empty() ? 0 : 1, &output, executor);
    };
    for (const Way& way : ways) {
      const pf_executor executor{sizeof(pf_executor), way.threads, const_cast<Way*>(&way), run_way};
      const pf_status status = run(&executor);
      if (way.threads < 1) {
        EXPECT_EQ(status, PF_ERROR_VALUE) << text << ": " << way.name;
      } else if (way.keeps_promise || status == PF_OK) {  // small problems do not use the executor
        EXPECT_EQ(status, PF_OK) << text << ": " << way.name << ": " << pf_last_error();
        EXPECT_TRUE(task.result() == expected) << text << ": " << way.name;
      } else {
        EXPECT_EQ(status, PF_ERROR_EXECUTOR) << text << ": " << way.name << ": " << pf_last_error();
      }
      ASSERT_EQ(run(nullptr), PF_OK) << text << ": after one that " << way.name << ": " << pf_last_error();
      EXPECT_TRUE(task.result() == expected) << text << ": after one that " << way.name;
    }
  }
}

}  // namespace
}  // namespace patchfold::faults
