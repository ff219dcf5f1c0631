// SPDX-License-Identifier: Apache-2.0
// Tests that wrong calls return a status and set a message, and never crash.
#include <functional>
#include <thread>

#include "capi.hpp"

namespace patchfold::test {
namespace {

/// A call of space_to_depth on a small image. The call is right until a test changes it.
struct Request {
  const char* op = "space_to_depth";
  std::vector<pf_attribute> attributes = {pf_integer("block", 2)};
  const pf_attribute* attributes_pointer = nullptr;
  std::int32_t n_attributes = 1;
  Tensor<float> image{{1, 1, 2, 2}};
  Tensor<float> deep{{1, 4, 1, 1}};
  std::vector<pf_tensor> inputs = {image.view()};
  const pf_tensor* inputs_pointer = inputs.data();
  std::int32_t n_inputs = 1;
  pf_tensor output = deep.view();
  const pf_tensor* output_pointer = &output;
  pf_executor executor = *pf_serial_executor();
  const pf_executor* executor_pointer = &executor;
  std::int64_t numbers[66] = {2, 2};

  Request() { attributes_pointer = attributes.data(); }
  Request(const Request&) = delete;

  void set(const pf_attribute& attribute) { attributes[0] = attribute; }
  std::string run() {
    return outcome(pf_run(op, attributes_pointer, n_attributes, inputs_pointer, n_inputs, output_pointer, executor_pointer));
  }
};

struct Row {
  const char* expected;
  std::function<void(Request&)> change;
};

const std::int64_t negative_extent[] = {1, 1, -2, 2};
const std::int64_t huge_extents[] = {INT64_MAX, 1, 2, 2};
const std::int64_t many_bytes[] = {INT64_MAX / 4, 1, 1, 1};
const std::int64_t ones[40] = {1, 1, 1, 1};

TEST(Errors, OfCallsHaveStatusAndMessage) {
  const Row rows[] = {
      {"ok", [](Request&) {}},
      // Mistakes in the operator.
      {"missing: pf_run: op: must not be NULL", [](Request& r) { r.op = nullptr; }},
      // Mistakes in the attributes.
      {"length: space_to_depth: n_attributes: must be at least 0; given -1", [](Request& r) { r.n_attributes = -1; }},
      {"missing: space_to_depth: attributes: must not be NULL", [](Request& r) { r.attributes_pointer = nullptr; }},
      {"value: space_to_depth: attributes[0]: size must be the size of the struct; given 0, expected 64",
       [](Request& r) { r.attributes[0].size = 0; }},
      {"value: space_to_depth: attributes[0]: size must be the size of the struct; given 63, expected 64",
       [](Request& r) { r.attributes[0].size = 63; }},
      {"value: space_to_depth: attributes[1]: all attributes of an array must have the same size; given 72, expected 64",
       [](Request& r) {
         r.attributes = {pf_integer("block", 2), pf_text("mode", "depth_first"), pf_attribute{}};
         r.attributes[1].size = 72;
         r.attributes_pointer = r.attributes.data();
         r.n_attributes = 2;
       }},
      {"missing: space_to_depth: attributes[0]: name must not be NULL", [](Request& r) { r.attributes[0].name = nullptr; }},
      {"type: space_to_depth: block: there is no such kind of value; given 7", [](Request& r) { r.attributes[0].kind = 7; }},
      {"type: space_to_depth: block: there is no such kind of value; given -1",
       [](Request& r) { r.attributes[0].kind = -1; }},
      {"missing: space_to_depth: block: integers must not be NULL",
       [](Request& r) { r.set(pf_integers("block", nullptr, 2)); }},
      {"length: space_to_depth: block: count must be at least 0; given -1",
       [](Request& r) { r.set(pf_integers("block", r.numbers, -1)); }},
      {"length: space_to_depth: block: count must be at least 0; given -9223372036854775808",
       [](Request& r) { r.set(pf_pairs("block", r.numbers, INT64_MIN)); }},
      {"limit: space_to_depth: block: the list has too many entries; given 33, expected 32",
       [](Request& r) { r.set(pf_integers("block", r.numbers, 33)); }},
      {"limit: space_to_depth: block: the list has too many entries; given 9223372036854775807, expected 32",
       [](Request& r) { r.set(pf_pairs("block", r.numbers, INT64_MAX)); }},
      {"missing: space_to_depth: block: text must not be NULL", [](Request& r) { r.set(pf_text("block", nullptr)); }},
      {"type: space_to_depth: block: must be an integer, or a list with one for each spatial axis; given 2.0",
       [](Request& r) { r.set(pf_number("block", 2)); }},
      // Mistakes in the inputs.
      {"missing: space_to_depth: image: the first input must be given; given 0, expected 1",
       [](Request& r) { r.n_inputs = 0; }},
      {"missing: space_to_depth: image: the first input must be given; given -5, expected 1",
       [](Request& r) { r.n_inputs = -5; }},
      {"length: space_to_depth: inputs: there are more inputs than the operator has; given 2, expected 1",
       [](Request& r) { r.n_inputs = 2; }},
      {"missing: space_to_depth: inputs: must not be NULL", [](Request& r) { r.inputs_pointer = nullptr; }},
      {"rank: space_to_depth: image: rank must lie between 0 and 32; given -1", [](Request& r) { r.inputs[0].rank = -1; }},
      {"rank: space_to_depth: image: rank must lie between 0 and 32; given 33",
       [](Request& r) {
         r.inputs[0].rank = 33;
         r.inputs[0].shape = ones;
       }},
      {"rank: space_to_depth: image: rank must lie between 0 and 32; given -2147483648",
       [](Request& r) { r.inputs[0].rank = INT32_MIN; }},
      {"missing: space_to_depth: image: shape must not be NULL", [](Request& r) { r.inputs[0].shape = nullptr; }},
      {"value: space_to_depth: image: extents must be at least 0; given [1, 1, -2, 2]",
       [](Request& r) { r.inputs[0].shape = negative_extent; }},
      {"overflow: space_to_depth: image: the number of elements must fit into 63 bits; given [9223372036854775807, 1, 2, 2]",
       [](Request& r) { r.inputs[0].shape = huge_extents; }},
      {"overflow: space_to_depth: image: the size in bytes must fit into 63 bits; given [2305843009213693951, 1, 1, 1]",
       [](Request& r) {
         r.inputs[0].shape = many_bytes;
         r.inputs[0].dtype = PF_DTYPE_COMPLEX64;
         r.inputs[0].element_size = 0;
       }},
      {"dtype: space_to_depth: image: there is no such element type; given -1", [](Request& r) { r.inputs[0].dtype = -1; }},
      {"dtype: space_to_depth: image: there is no such element type; given 99", [](Request& r) { r.inputs[0].dtype = 99; }},
      {"dtype: space_to_depth: image: element_size must be that of float32; given 8, expected 4",
       [](Request& r) { r.inputs[0].element_size = 8; }},
      {"dtype: space_to_depth: image: element_size of opaque elements must be at least 1; given 0",
       [](Request& r) {
         r.inputs[0].dtype = PF_DTYPE_OPAQUE;
         r.inputs[0].element_size = 0;
       }},
      {"null_data: space_to_depth: image: a tensor with elements must have data",
       [](Request& r) { r.inputs[0].data = nullptr; }},
      // Mistakes in the output.
      {"missing: space_to_depth: deep: must not be NULL", [](Request& r) { r.output_pointer = nullptr; }},
      {"null_data: space_to_depth: deep: a tensor with elements must have data",
       [](Request& r) { r.output.data = nullptr; }},
      {"rank: space_to_depth: deep: rank must lie between 0 and 32; given 40", [](Request& r) { r.output.rank = 40; }},
      {"missing: space_to_depth: deep: shape must not be NULL", [](Request& r) { r.output.shape = nullptr; }},
      {"dtype: space_to_depth: deep: element_size must be that of float32; given 3, expected 4",
       [](Request& r) { r.output.element_size = 3; }},
      {"overlap: space_to_depth: deep: source and destination must not share memory",
       [](Request& r) { r.output.data = r.inputs[0].data; }},
      // Mistakes in the executor.
      {"value: space_to_depth: executor: size must be the size of the struct; given 0, expected 24",
       [](Request& r) { r.executor.size = 0; }},
      {"value: space_to_depth: executor: size must be the size of the struct; given 23, expected 24",
       [](Request& r) { r.executor.size = 23; }},
      {"value: space_to_depth: executor: threads must be at least 1; given 0", [](Request& r) { r.executor.threads = 0; }},
      {"value: space_to_depth: executor: threads must be at least 1; given -3", [](Request& r) { r.executor.threads = -3; }},
      {"missing: space_to_depth: executor: run must not be NULL", [](Request& r) { r.executor.run = nullptr; }},
  };
  for (const auto& row : rows) {
    Request request;
    row.change(request);
    EXPECT_EQ(request.run(), row.expected);
  }
}

TEST(Errors, OfUnknownOperators) {
  for (const char* op : {"", " ", "space_to_dept", "onnx.Col2Im-99", "\xff\xfe", "openvino.", "-"}) {
    Request request;
    request.op = op;
    const std::string message = request.run();
    EXPECT_EQ(message.substr(0, 18), "unknown_operator: ") << message;
  }
  Request request;
  const std::string endless(100000, 'x');
  request.op = endless.c_str();
  EXPECT_EQ(request.run().substr(0, 18), "unknown_operator: ");
}

TEST(Errors, OfOutputShape) {
  Request r;
  std::int64_t shape[4] = {-1, -1, -1, -1};
  std::int32_t rank = 4;
  const auto call = [&](std::int64_t* to) {
    return outcome(pf_output_shape(r.op, r.attributes_pointer, r.n_attributes, r.inputs_pointer, r.n_inputs, to, &rank));
  };
  EXPECT_EQ(outcome(pf_output_shape(r.op, r.attributes_pointer, 1, r.inputs_pointer, 1, shape, nullptr)),
            "missing: space_to_depth: rank: must not be NULL");
  for (const std::int32_t room : {3, 0, -1}) {
    rank = room;
    EXPECT_EQ(call(shape), "length: space_to_depth: shape: must have room for every axis; given " + std::to_string(room) +
                               ", expected 4");
    EXPECT_EQ(rank, 4);
    EXPECT_EQ(shape[0], -1);
  }
  rank = 0;
  EXPECT_EQ(call(nullptr), "ok");
  EXPECT_EQ(rank, 4);
  r.inputs[0].data = nullptr;
  r.inputs[0].dtype = -7;  // pf_output_shape() reads only the shape
  r.inputs[0].element_size = 99;
  EXPECT_EQ(call(shape), "ok");
  EXPECT_EQ(std::vector<std::int64_t>(shape, shape + 4), (std::vector<std::int64_t>{1, 4, 1, 1}));
  r.op = nullptr;
  EXPECT_EQ(call(shape), "missing: pf_output_shape: op: must not be NULL");
}

TEST(Errors, OfOtherFunctions) {
  pf_dtype dtype = 5;
  std::int32_t index = 5;
  EXPECT_EQ(outcome(pf_dtype_from_name(nullptr, &dtype)), "missing: pf_dtype_from_name: name: must not be NULL");
  EXPECT_EQ(outcome(pf_dtype_from_name("float32", nullptr)), "missing: pf_dtype_from_name: dtype: must not be NULL");
  EXPECT_EQ(outcome(pf_dtype_from_name("float", &dtype)),
            "value: pf_dtype_from_name: name: there is no such element type; given float");
  EXPECT_EQ(dtype, 5);
  EXPECT_EQ(outcome(pf_find_operator(nullptr, &index)), "missing: pf_find_operator: op: must not be NULL");
  EXPECT_EQ(outcome(pf_find_operator("fold", nullptr)), "missing: pf_find_operator: index: must not be NULL");
  EXPECT_EQ(index, 5);
}

TEST(Errors, LaterAttributesAreReadByTheirSizeIfWhatIsUnknownIsZero) {
  struct Later {
    pf_attribute known;
    std::int64_t unknown[200];  // so large that a copy of the whole struct would overwrite other variables
  };
  Later later[2] = {{pf_integer("block", 2), {}}, {pf_text("mode", "depth_first"), {}}};
  later[0].known.size = later[1].known.size = sizeof(Later);
  Request r;
  r.attributes_pointer = &later[0].known;
  r.n_attributes = 2;
  EXPECT_EQ(r.run(), "ok");
  later[1].unknown[199] = 1;
  EXPECT_EQ(r.run(),
            "value: space_to_depth: attributes[1]: fields that this version does not know must be 0; given 1664, expected "
            "64");
}

TEST(LastError, BelongsToTheThreadAndEndsWithTheNextCall) {
  Request request;
  request.op = nullptr;
  EXPECT_NE(request.run(), "ok");
  std::string elsewhere = "untouched";
  std::thread([&] {
    elsewhere = pf_last_error();
    Request other;
    other.n_inputs = 0;
    other.run();
  }).join();
  EXPECT_EQ(elsewhere, "");
  EXPECT_STREQ(pf_last_error(), "pf_run: op: must not be NULL");
  // Functions that return no status keep the last error.
  (void)pf_operator_count();
  (void)pf_dtype_name(-1);
  EXPECT_STREQ(pf_last_error(), "pf_run: op: must not be NULL");
  EXPECT_STREQ(pf_last_error_part(PF_PART_OPERATOR), "pf_run");
  EXPECT_STREQ(pf_last_error_part(PF_PART_ARGUMENT), "op");
  EXPECT_STREQ(pf_last_error_part(PF_PART_RULE), "must not be NULL");
  EXPECT_STREQ(pf_last_error_part(PF_PART_GIVEN), "");
  EXPECT_STREQ(pf_last_error_part(-1), "");
  EXPECT_STREQ(pf_last_error_part(PF_PART_HINT), "");
  EXPECT_STREQ(pf_last_error_part(6), "");
  int64_t shape[PF_MAX_RANK];
  int32_t rank = PF_MAX_RANK;
  EXPECT_EQ(pf_output_shape("unfodl", nullptr, 0, nullptr, 0, shape, &rank), PF_ERROR_UNKNOWN_OPERATOR);
  EXPECT_STREQ(pf_last_error_part(PF_PART_HINT), "did you mean unfold?");
  Request right;
  EXPECT_EQ(right.run(), "ok");
  EXPECT_STREQ(pf_last_error(), "");
  EXPECT_STREQ(pf_last_error_part(PF_PART_RULE), "");
}

TEST(LastError, OfAShapeTooLargeForMemoryIsNoCrash) {
  // A plan contains numbers only, so its memory does not grow with the tensors.
  const std::int64_t image_shape[] = {1, 1, std::int64_t{1} << 30, 2}, deep_shape[] = {1, 4, std::int64_t{1} << 29, 1};
  const pf_tensor image = {nullptr, image_shape, nullptr, 4, PF_DTYPE_FLOAT32, 4};
  const pf_tensor deep = {nullptr, deep_shape, nullptr, 4, PF_DTYPE_FLOAT32, 4};
  const pf_attribute block = pf_integer("block", 2);
  pf_plan* plan = nullptr;
  EXPECT_OK(pf_plan_create("space_to_depth", &block, 1, &image, 1, &deep, &plan));
  EXPECT_EQ(pf_plan_run(plan, nullptr, nullptr, nullptr, 0, nullptr), PF_ERROR_NULL_DATA);
  pf_plan_destroy(plan);
}

}  // namespace
}  // namespace patchfold::test
