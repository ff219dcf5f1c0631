// SPDX-License-Identifier: Apache-2.0
// Tests that a call reports a failing allocation and loses no memory, for each allocation of the call. This is a separate program,
// since it replaces operator new.
#include <cstdlib>
#include <functional>
#include <new>

#include "capi.hpp"

namespace {

/// The number of successful allocations of this thread before the failing allocation; negative: no allocation fails.
thread_local int until_failure = -1;
thread_local bool refused = false;
thread_local std::int64_t alive = 0;

void* allocate(std::size_t size) noexcept {
  if (until_failure == 0) {
    refused = true;
    return nullptr;
  }
  if (until_failure > 0) --until_failure;
  void* memory = std::malloc(size == 0 ? 1 : size);
  alive += memory != nullptr;
  return memory;
}

void release(void* memory) noexcept {
  alive -= memory != nullptr;
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) {
  if (void* memory = allocate(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size);
}
void* operator new[](std::size_t size) {
  return operator new(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size);
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete[](void* memory) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  release(memory);
}

namespace patchfold::test {
namespace {

/// Repeats a call. In the n-th repetition the n-th allocation and all later allocations fail. Returns the call's number of
/// allocations.
int fail_each_allocation(pf_status expected, const std::function<pf_status()>& call) {
  EXPECT_EQ(call(), expected) << pf_last_error();  // allocates the memory that only a first call allocates
  for (int n = 0; n < 1000; ++n) {
    EXPECT_EQ(pf_set_num_threads(0), PF_OK);  // frees the last message
    const auto before = alive;
    refused = false;
    until_failure = n;
    const pf_status status = call();
    until_failure = -1;
    EXPECT_STRNE(pf_last_error(), status == PF_OK ? nullptr : "");
    EXPECT_EQ(pf_set_num_threads(0), PF_OK);
    EXPECT_EQ(alive, before) << "memory was lost at allocation " << n;
    EXPECT_TRUE(status == expected || (refused && status == PF_ERROR_OUT_OF_MEMORY)) << pf_status_name(status);
    if (!refused) return n;
  }
  ADD_FAILURE() << "the call never ended";
  return -1;
}

const pf_attribute attributes[] = {pf_text("output_size", "4,4"), pf_text("kernel_size", "2,2")};

TEST(OutOfMemory, OfRunIsAStatus) {
  Tensor<float> columns({1, 4, 9}), image({1, 1, 4, 4});
  const pf_tensor input = columns.view(), output = image.view();
  EXPECT_GT(fail_each_allocation(PF_OK, [&] { return pf_run("fold", attributes, 2, &input, 1, &output, nullptr); }), 0);
}

TEST(OutOfMemory, OfOutputShapeIsAStatus) {
  Tensor<float> columns({1, 4, 9});
  Tensor<std::int64_t> four({2}, {4, 4}), two({2}, {2, 2});
  const pf_tensor inputs[] = {columns.view(), four.view(), two.view()};
  std::int64_t shape[4];
  EXPECT_GT(fail_each_allocation(PF_OK,
                                 [&] {
                                   std::int32_t rank = 4;
                                   return pf_output_shape("onnx.Col2Im", nullptr, 0, inputs, 3, shape, &rank);
                                 }),
            0);
}

TEST(OutOfMemory, OfPlansIsAStatus) {
  Tensor<float> columns({1, 4, 9}), image({1, 1, 4, 4});
  const pf_tensor input = columns.view(), output = image.view();
  EXPECT_GT(fail_each_allocation(PF_OK,
                                 [&] {
                                   pf_plan* plan = nullptr;
                                   const auto status = pf_plan_create("fold", attributes, 2, &input, 1, &output, &plan);
                                   pf_plan_destroy(plan);
                                   return status;
                                 }),
            0);
}

TEST(OutOfMemory, IsNotMetByAPlanThatRunsInTheScratchGiven) {
  Tensor<float> columns({1, 4, 9}), image({1, 1, 4, 4});
  const pf_tensor input = columns.view(), output = image.view();
  pf_plan* plan = nullptr;
  ASSERT_OK(pf_plan_create("fold", attributes, 2, &input, 1, &output, &plan));
  std::size_t bytes = 0;
  ASSERT_OK(pf_plan_scratch_bytes(plan, 1, &bytes));
  std::vector<char> scratch(bytes + 1);
  EXPECT_EQ(fail_each_allocation(PF_OK,
                                 [&] {
                                   return pf_plan_run(plan, columns.values.data(), image.values.data(), scratch.data(),
                                                      bytes, pf_serial_executor());
                                 }),
            0);
  pf_plan_destroy(plan);
}

TEST(OutOfMemory, WhileAnErrorIsReportedKeepsItsStatusOrSaysSo) {
  Tensor<float> columns({1, 5, 9}), image({1, 1, 4, 4});
  const pf_tensor input = columns.view(), output = image.view();
  fail_each_allocation(PF_ERROR_DIVISIBLE, [&] { return pf_run("fold", attributes, 2, &input, 1, &output, nullptr); });
  fail_each_allocation(PF_ERROR_UNKNOWN_OPERATOR,
                       [&] { return pf_run("flod", attributes, 2, &input, 1, &output, nullptr); });
}

}  // namespace
}  // namespace patchfold::test
