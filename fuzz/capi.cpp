// SPDX-License-Identifier: Apache-2.0
// Fuzzes the C interface. C must refuse the calls that C++ refuses, with the status of the same error, and else give the same
// bytes. For mistakes that only C allows (senseless kinds, sizes, counts and pointers), C must return an error with a message.
#include <algorithm>
#include <cstring>
#include <deque>

#include "fuzz/capi_tiles.hpp"
#include "fuzz/problems.hpp"
#include "patchfold/explain.hpp"

namespace patchfold::fuzz {
namespace {

using testing::Random;

/// The arguments of an operator as pf_attribute, with the memory to which their pointers point.
class Attributes {
 public:
  explicit Attributes(const std::vector<Argument>& arguments) {
    for (const auto& argument : arguments) add(argument);
  }
  std::vector<pf_attribute>& list() { return list_; }

 private:
  void add(const Argument& argument) {
    const char* name = argument.name.c_str();
    if (const auto* number = std::get_if<std::int64_t>(&argument.value)) {
      list_.push_back(pf_integer(name, *number));
    } else if (const auto* dims = std::get_if<Dims>(&argument.value)) {
      const auto& numbers = numbers_.emplace_back(dims->begin(), dims->end());
      list_.push_back(pf_integers(name, numbers.data(), dims->size()));
    } else if (const auto* pads = std::get_if<PadsList>(&argument.value)) {
      auto& numbers = numbers_.emplace_back();
      for (int i = 0; i < pads->size(); ++i) numbers.insert(numbers.end(), {(*pads)[i].begin, (*pads)[i].end});
      list_.push_back(pf_pairs(name, numbers.data(), pads->size()));
    } else {
      texts_.push_back(to_string(argument.value));
      list_.push_back(pf_text(name, texts_.back().c_str()));
    }
  }

  std::vector<pf_attribute> list_;
  std::deque<std::vector<std::int64_t>> numbers_;
  std::deque<std::string> texts_;
};

pf_tensor tensor_of(void* data, const Dims& shape, const ProblemText& text) {
  return {data,
          shape.begin(),
          nullptr,
          shape.size(),
          static_cast<pf_dtype>(text.dtype),
          static_cast<std::uint32_t>(text.element_size)};
}

/// What the C++ interface answers to the same request.
struct Expected {
  std::optional<ErrorCode> refused{};
  Dims shape{};
};

Expected ask(const ProblemText& text) {
  Expected expected;
  expected.refused = refusal([&] { expected.shape = find_operator(text.op).bind(text.arguments).output_shape(text.shape); });
  return expected;
}

/// Puts into a request mistakes that only C allows.
void spoil(Random& random, std::vector<pf_attribute>& attributes, pf_tensor& input, pf_tensor& output) {
  if (!attributes.empty()) {
    pf_attribute& attribute =
        attributes[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(attributes.size()) - 1))];
    switch (random.between(0, 6)) {
      case 0: attribute.size = static_cast<std::uint32_t>(random.between(0, 63)); break;
      case 1: attribute.kind = static_cast<std::int32_t>(random.between(-1, 3)); break;
      case 2: attribute.name = nullptr; break;
      case 3: attribute.text = nullptr; break;
      case 4: attribute.integers = nullptr; break;
      case 5: attribute.count = -random.between(1, 1000); break;
      default: attribute.integer = draw_number(random);
    }
    if (attribute.count > 0 && attribute.count < 33 && attribute.integers == nullptr) attribute.count = 33;
  }
  pf_tensor& tensor = random.chance(50) ? input : output;
  switch (random.between(0, 5)) {
    case 0: tensor.rank = static_cast<std::int32_t>(draw_number(random)); break;
    case 1: tensor.shape = nullptr; break;
    case 2: tensor.dtype = static_cast<pf_dtype>(draw_number(random)); break;
    case 3: tensor.element_size = static_cast<std::uint32_t>(draw_number(random)); break;
    case 4: tensor.data = nullptr; break;
    default: break;
  }
  if (tensor.shape != nullptr && tensor.rank > 0 && tensor.rank <= PF_MAX_RANK) tensor.rank = std::min(tensor.rank, 1);
}

void run_small(Random& random, const ProblemText& text, const Dims& shape, Attributes& attributes) {
  const auto type = testing::ElementType{text.dtype, text.element_size};
  testing::Features features;
  auto source = testing::random_elements(random, type, element_count(text.shape), features);
  const auto before = testing::random_elements(random, type, element_count(shape), features);
  auto by_plan = before;
  auto at_once = before;
  auto expected = before;
  pf_tensor input = tensor_of(source.data(), text.shape, text);
  pf_tensor output = tensor_of(at_once.data(), shape, text);
  const auto refused = refusal([&] {
    const auto strides = [&](const Dims& dims) { return contiguous_strides(dims, type.size); };
    const Plan plan = find_operator(text.op)
                          .bind(text.arguments)
                          .plan({source.data(), text.shape, strides(text.shape), type.dtype, type.size},
                                {expected.data(), shape, strides(shape), type.dtype, type.size});
    throw_if_failed(plan.run(source.data(), expected.data()), text.op);
  });
  const auto count = static_cast<std::int32_t>(attributes.list().size());
  const pf_attribute* list = attributes.list().data();
  const pf_status status = checked(pf_run(text.op.c_str(), list, count, &input, 1, &output, pf_serial_executor()));
  expect(status == (refused ? static_cast<pf_status>(*refused) + 1 : PF_OK), "C and C++ disagree about a run");
  expect(at_once == expected, "C and C++ give different bytes");
  pf_plan* plan = nullptr;
  expect(checked(pf_plan_create(text.op.c_str(), list, count, &input, 1, &output, &plan)) == status, "a plan disagrees");
  if (status != PF_OK) return expect(plan == nullptr, "a plan after an error");
  std::size_t bytes = 0;
  expect(checked(pf_plan_scratch_bytes(plan, 1, &bytes)) == PF_OK && bytes < 100'000'000, "a plan needs odd scratch");
  std::vector<std::byte> scratch(bytes);
  expect(checked(pf_plan_run(plan, source.data(), by_plan.data(), scratch.data(), bytes, pf_serial_executor())) == PF_OK &&
             by_plan == expected,
         "a plan gives different bytes");
  char line[40];
  std::size_t length = 0;
  expect(
      checked(pf_plan_describe(plan, line, sizeof line, &length)) == PF_OK && length > 0 && std::strlen(line) < sizeof line,
      "a plan does not describe itself");
  pf_plan_destroy(plan);
  char* explanation = nullptr;
  expect(checked(pf_explain(text.op.c_str(), list, count, &input, 1, nullptr, &explanation)) == PF_OK &&
             explanation == explain(text),
         "C and C++ explain differently");
  pf_text_destroy(explanation);
}

void run(std::span<const std::uint8_t> bytes) {
  if (!bytes.empty() && bytes[0] >= first_of_tiles) return run_tiles(bytes.subspan(1));
  Random random(bytes);
  const bool is_spoiled = random.chance(30);
  ProblemText text = draw_problem(random).problem.text;
  if (find_operator(text.op).data_input.empty())
    text.op = "unfold";  // coverage takes no data in C++, so it becomes unfold
  for (auto& argument : text.arguments) {
    if (argument.name.find('\0') != std::string::npos) argument.name = "x";  // a text of C ends at a NUL
    if (std::holds_alternative<IndexTensor>(argument.value)) argument.value = std::get<IndexTensor>(argument.value).values;
    if (std::holds_alternative<std::string>(argument.value) || std::holds_alternative<Scalar>(argument.value))
      if (refusal([&] { argument.value = std::string(to_string(argument.value).c_str()); })) return;
  }
  Attributes attributes(text.arguments);
  const auto count = static_cast<std::int32_t>(attributes.list().size());
  pf_tensor input = tensor_of(nullptr, text.shape, text);
  std::int64_t shape[PF_MAX_RANK];
  std::int32_t rank = PF_MAX_RANK;
  if (is_spoiled) {
    const Dims none = Dims::filled(4, 1);
    pf_tensor output = tensor_of(nullptr, none, text);
    spoil(random, attributes.list(), input, output);
    checked(pf_output_shape(text.op.c_str(), attributes.list().data(), count, &input, 1, shape, &rank));
    pf_plan* plan = nullptr;
    if (checked(pf_plan_create(text.op.c_str(), attributes.list().data(), count, &input, 1, &output, &plan)) == PF_OK)
      pf_plan_destroy(plan);
    return;
  }
  const pf_status status =
      checked(pf_output_shape(text.op.c_str(), attributes.list().data(), count, &input, 1, shape, &rank));
  // In C, text is read as on the command line, so C++ must read the text before it binds.
  for (auto& argument : text.arguments)
    for (const auto& known : find_operator(text.op).arguments)
      if (const auto* word = std::get_if<std::string>(&argument.value); word != nullptr && known.name == argument.name)
        if (refusal([&] { argument.value = parse_value(find_operator(text.op), known, std::string(*word)); })) return;
  const Expected expected = ask(text);
  expect((status == PF_OK) == !expected.refused, "C and C++ disagree about " + to_string(text));
  if (status != PF_OK) return;
  expect(Dims(std::span(shape, static_cast<std::size_t>(rank))) == expected.shape, "C and C++ give different shapes");
  if (is_small(text, expected.shape)) run_small(random, text, expected.shape, attributes);
}

}  // namespace
}  // namespace patchfold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  patchfold::fuzz::run({data, size});
  return 0;
}
