// SPDX-License-Identifier: Apache-2.0
#include "check.hpp"

#include <algorithm>
#include <cfenv>
#include <csignal>
#include <cstring>

#include "executors.hpp"
#include "float_control.hpp"
#include "geometry.hpp"
#include "instruction_sets.hpp"
#include "memory.hpp"
#include "sanitizers.hpp"
#include "system/file.hpp"

namespace patchfold::testing {
namespace {

constexpr std::size_t guard = 64;

reference::Value reference_value(const ArgumentValue& value) {
  const auto list = [](const Dims& dims) { return reference::List(dims.begin(), dims.end()); };
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* dims = std::get_if<Dims>(&value)) return list(*dims);
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  if (const auto* scalar = std::get_if<Scalar>(&value)) return reference_number(*scalar);
  const auto& pads = std::get<PadsList>(value);
  reference::Pairs pairs;
  for (int i = 0; i < pads.size(); ++i) pairs.emplace_back(pads[i].begin, pads[i].end);
  return pairs;
}

DType index_type(Random& random, IndexTypes allowed) {
  if (allowed == IndexTypes::int64) return DType::int64;
  if (allowed == IndexTypes::integral || allowed == IndexTypes::same_integral)
    return random.pick(std::vector<DType>{DType::int8, DType::int32, DType::int64, DType::uint16, DType::uint64});
  return random.chance(50) ? DType::int32 : DType::int64;
}

/// Returns the arguments, with tensors in place of those lists that models pass as inputs.
std::vector<Argument> with_index_tensors(Random& random, const OperatorSpec& spec, std::vector<Argument> arguments) {
  const bool same = spec.index_types == IndexTypes::same_int32_or_int64 || spec.index_types == IndexTypes::same_integral;
  const DType common = index_type(random, spec.index_types);
  for (auto& argument : arguments) {
    for (const auto& known : spec.arguments) {
      if (known.name != argument.name || !known.is_input) continue;
      IndexTensor tensor;
      tensor.dtype = same ? common : index_type(random, spec.index_types);
      if (const auto* dims = std::get_if<Dims>(&argument.value)) {
        tensor.values = *dims;
        tensor.shape = {dims->size()};
      } else if (const auto* pairs = std::get_if<PadsList>(&argument.value)) {
        for (int i = 0; i < pairs->size(); ++i) {
          tensor.values.push_back((*pairs)[i].begin);
          tensor.values.push_back((*pairs)[i].end);
        }
        tensor.shape = {pairs->size(), 2};
      } else {
        continue;
      }
      bool fits = true;
      for (const auto value : tensor.values) fits = fits && value < 128;
      if (fits || tensor.dtype == DType::int64)
        argument.value = tensor;
      else
        return arguments;
    }
  }
  return arguments;
}

bool has_index_tensor(const std::vector<Argument>& arguments) {
  for (const auto& argument : arguments)
    if (std::holds_alternative<IndexTensor>(argument.value)) return true;
  return false;
}

std::string text_of(const reference::List& list) {
  return to_string(Dims(std::span(list)));
}

std::string text_of(const Arrangement& arrangement) {
  return "strides " + to_string(arrangement.strides) + ", element 0 at byte " + std::to_string(arrangement.origin);
}

std::vector<std::byte> random_bytes(Random& random, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

/// An unusual floating-point environment while the object lives: rounds upwards, and treats subnormal numbers as zero.
class OddFloats {
 public:
  OddFloats() : control_(float_control()) {
    std::fegetenv(&saved_);
    std::fesetround(FE_UPWARD);
    set_float_control(float_control() | odd_floats);
    odd_ = float_control() & odd_floats;
  }
  ~OddFloats() {
    std::fesetenv(&saved_);
    set_float_control(control_);
  }
  OddFloats(const OddFloats&) = delete;
  OddFloats& operator=(const OddFloats&) = delete;

  bool intact() const { return std::fegetround() == FE_UPWARD && (float_control() & odd_floats) == odd_; }

 private:
  std::uint64_t control_;
  std::uint64_t odd_ = 0;  ///< the bits of odd_floats that the processor supports: none on Valgrind's processor
  std::fenv_t saved_;
};

/// A plan, and the result that each of its runs must give; every run writes to new memory.
struct Runner {
  const Plan& plan;
  const std::byte* src;
  const Arrangement& dst;
  DType dtype;
  bool sums;
  const std::vector<std::byte>& before;
  const std::vector<std::byte>& expected;

  std::optional<std::string> run(const std::string& name, Executor& executor, bool own_scratch) const {
    std::vector<std::byte> memory = before;
    std::byte* data = memory.data() + guard + dst.origin;
    Status status = Status::ok;
    if (own_scratch) {
      const std::size_t size = plan.scratch_bytes(executor.threads());
      const kernels::Fenced scratch(size, true);
      status = plan.run(src, data, scratch.bytes(), executor);
    } else {
      status = plan.run(src, data, executor);
    }
    if (status != Status::ok) return name + ": " + std::string(describe(status));
    Arrangement shifted = dst;
    shifted.origin += guard;
    if (const auto wrong = difference(shifted, dtype, sums, memory, expected)) return name + ": " + *wrong;
    return std::nullopt;
  }
};

char current[8192];
std::size_t current_size = 0;

[[maybe_unused]] void on_crash(int number) {
  const char* what = "crashed while running: ";
  system::write(system::standard_error, what, std::strlen(what));
  system::write(system::standard_error, current, current_size);
  std::signal(number, SIG_DFL);
  std::raise(number);
}

}  // namespace

reference::Arguments reference_arguments(const std::vector<Argument>& arguments) {
  reference::Arguments result;
  for (const auto& argument : arguments) result.emplace(argument.name, reference_value(argument.value));
  return result;
}

void announce(const std::string& text) {
  current_size = std::min(text.size(), sizeof current);
  std::memcpy(current, text.data(), current_size);
#ifndef PATCHFOLD_SANITIZED
  static const bool installed = [] {
    for (const int number : {SIGSEGV, SIGFPE, SIGABRT}) std::signal(number, on_crash);
#ifdef SIGBUS
    std::signal(SIGBUS, on_crash);
#endif
    return true;
  }();
  static_cast<void>(installed);
#endif
}

std::optional<std::string> check(Problem& problem, bool sums, Random& random) {
  Features& features = problem.features;
  const ProblemText& text = problem.text;
  const OperatorSpec& spec = find_operator(text.op);
  const ElementType type{text.dtype, text.element_size};
  const bool has_data = !spec.data_input.empty();
  features.insert(name_of(type));

  const auto arguments = random.chance(40) ? with_index_tensors(random, spec, text.arguments) : text.arguments;
  if (has_index_tensor(arguments)) features.insert("index tensor");
  const BoundOperator op = spec.bind(arguments);

  // The source lies between pages that cannot be touched.
  const Arrangement src = random_arrangement(random, text.shape, type.size, true, features);
  const kernels::Fenced src_memory(src.bytes, random.chance(75));
  const auto src_noise = random_bytes(random, src.bytes);
  std::copy(src_noise.begin(), src_noise.end(), src_memory.bytes().begin());
  Features data_features;
  if (has_data) scatter(src, random_elements(random, type, element_count(text.shape), data_features), src_memory.bytes());
  features.merge(data_features);
  const std::vector<std::byte> src_before(src_memory.bytes().begin(), src_memory.bytes().end());
  reference::Array data{reference::List(text.shape.begin(), text.shape.end()), reference_type(type.dtype), type.size,
                        has_data ? gather(src, src_before) : std::vector<std::byte>()};

  // The destination has bytes around and between its elements that must not change.
  const Dims shape = op.output_shape(text.shape);
  note_extents(shape, features);
  const Arrangement dst = random_arrangement(random, shape, type.size, false, features);
  std::vector<std::byte> before = random_bytes(random, dst.bytes + 2 * guard);
  const std::span<std::byte> inner = std::span(before).subspan(guard, dst.bytes);
  Features held_features;
  const auto held = random_elements(random, type, element_count(shape), held_features);
  scatter(dst, held, inner);
  const reference::Array held_array{reference::List(shape.begin(), shape.end()), data.dtype, type.size, held};

  const ConstTensorView src_view{src_memory.bytes().data() + src.origin, text.shape, src.strides, type.dtype, type.size};
  const TensorView dst_view{before.data() + guard + dst.origin, shape, dst.strides, type.dtype, type.size};
  const ProblemText parsed = parse_problem(to_string(text));
  if (parsed.op != text.op || parsed.dtype != type.dtype || parsed.element_size != type.size || parsed.shape != text.shape ||
      spec.bind(parsed.arguments).output_shape(text.shape) != shape)
    return "the problem string is read as " + to_string(parsed);
  const Plan plan = op.plan(src_view, dst_view);
  if (plan.describe().empty()) return std::string("the plan does not describe itself");

  // The reference runs after the library has accepted the problem, since the reference has no checks.
  const reference::Array result = reference::run(text.op, data, reference_arguments(text.arguments), &held_array);
  if (result.shape != held_array.shape)
    return "output shape: got " + to_string(shape) + ", expected " + text_of(result.shape);
  std::vector<std::byte> expected = before;
  scatter(dst, result.bytes, std::span(expected).subspan(guard, dst.bytes));

  const auto* src_data = static_cast<const std::byte*>(src_view.data);
  const Runner runner{plan, src_data, dst, type.dtype, !has_certain_nans(text, sums), before, expected};
  const std::string where = "; src " + text_of(src) + "; dst " + text_of(dst) + "; strategy " + std::string(plan.strategy());
  const auto located = [&](const std::optional<std::string>& wrong) {
    return wrong ? std::optional(*wrong + where) : wrong;
  };

  if (const auto wrong = runner.run("one thread", serial_executor(), false)) return located(wrong);
  TwoThreads two;
  if (const auto wrong = runner.run("two threads", two, random.chance(50))) return located(wrong);
  if (const auto wrong = runner.run("default executor", default_executor(), false)) return located(wrong);
  if (sums) {
    const OddFloats floats;
    if (const auto wrong = runner.run("odd floats", serial_executor(), false)) return located(wrong);
    if (!floats.intact()) return std::string("the caller's floating-point environment was changed");
  }
  if (two.most_pieces > 1) features.insert("split");
  AnyOrder any{random.next(), static_cast<int>(random.between(1, 5))};
  if (const auto wrong = runner.run("pieces in any order", any, true)) return located(wrong);
  std::optional<std::string> wrong;
  for (const auto& name : sets_to_run()) {
    use_instruction_set(name);
    if (!wrong) wrong = runner.run("instruction set " + name, serial_executor(), false);
    features.insert(name);
  }
  use_instruction_set("");
  if (wrong) return located(wrong);
  if (!std::equal(src_before.begin(), src_before.end(), src_memory.bytes().begin()))
    return located("the source was changed");
  std::vector<std::byte> made = result.bytes;  // equal to the library's result in every run
  if (sums) make_nans_alike(type.dtype, made);
  const std::string_view bytes(reinterpret_cast<const char*>(made.data()), made.size());
  problem.result_digest = hash_of(bytes, hash_of(to_string(shape) + " " + std::string(name_of(type.dtype))));
  problem.digest = hash_of(bytes, hash_of(to_string(text)));
  return std::nullopt;
}

}  // namespace patchfold::testing
