// SPDX-License-Identifier: Apache-2.0
// Runs random problems with every strategy that fits, on every instruction set, with stores through the cache and past it,
// and compares the results with the reference. Plans by themselves use few of these combinations; only tensors larger than
// the cache, for example, are stored past it.
//   PATCHFOLD_SEED    another seed           PATCHFOLD_CASES   a factor of the number of cases
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

#include "as_always.hpp"
#include "check.hpp"
#include "engine/table.hpp"
#include "geometry.hpp"
#include "instruction_sets.hpp"
#include "memory.hpp"
#include "reference/reference.hpp"

namespace patchfold::testing {
namespace {

using kernels::Store;

constexpr int wide_cases = 1200;  // for each operator
constexpr int small_cases = 120;
constexpr int big_cases = 10;
constexpr int most_failures = 3;
constexpr std::size_t guard = 192;

/// Widths around the numbers of bytes and lanes in one vector, and in the vectors that a kernel takes at once.
constexpr std::int64_t widths[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 112, 130, 600, 1100};

/// Returns the number of runs for each strategy, store and instruction set.
std::map<std::string, int>& runs() {
  static std::map<std::string, int> counts;
  return counts;
}

std::string name_of(std::string_view strategy, Store store, const std::string& set) {
  return std::string(strategy) + (store == Store::plain ? ", plain, " : ", past cache, ") + set;
}

/// Returns whether a strategy fits every copy or every sum. Other tests run these strategies often.
bool is_fallback(std::string_view strategy) {
  return strategy == "move" || strategy == "sum rows";
}

/// Returns whether the plan of the problem with contiguous tensors has the strategy "nothing", "memcpy" or a fallback, as
/// most plans have.
bool is_common(const ProblemText& text) {
  const BoundOperator op = find_operator(text.op).bind(text.arguments);
  const auto view_of = [&](const Dims& shape) {
    return TensorView{nullptr, shape, contiguous_strides(shape, text.element_size), text.dtype, text.element_size};
  };
  const Plan plan = op.plan(view_of(text.shape), view_of(op.output_shape(text.shape)));
  const std::string_view strategy = plan.strategy();
  return strategy == "nothing" || strategy == "memcpy" || is_fallback(strategy);
}

Arrangement contiguous(const Dims& shape, std::size_t element_size) {
  const auto bytes = static_cast<std::size_t>(element_count(shape)) * element_size;
  return {shape, contiguous_strides(shape, element_size), element_size, 0, std::max(bytes, element_size)};
}

/// Returns a layout with the first axis (usually a batch) innermost, so that units of several elements are copied.
Arrangement first_axis_innermost(const Dims& shape, std::size_t element_size) {
  Arrangement result = contiguous(shape, element_size);
  if (shape.empty() || element_count(shape) == 0) return result;
  auto step = static_cast<std::int64_t>(element_size);
  result.strides[0] = step;
  step *= shape[0];
  for (int axis = shape.size() - 1; axis > 0; --axis) {
    result.strides[axis] = step;
    step *= shape[axis];
  }
  return result;
}

enum class Lie { contiguous, first_axis_innermost, anyhow };

Arrangement arrange(Random& random, Lie lie, const Dims& shape, std::size_t element_size, bool source) {
  Features ignored;
  if (lie == Lie::anyhow) return random_arrangement(random, shape, element_size, source, ignored);
  return lie == Lie::contiguous ? contiguous(shape, element_size) : first_axis_innermost(shape, element_size);
}

/// A problem with the data that its runs share.
class Case {
 public:
  Case(const Problem& problem, bool sums, Random& random)
      : text_(problem.text),
        any_nan_(!has_certain_nans(text_, sums)),
        op_(find_operator(text_.op).bind(text_.arguments)),
        shape_(op_.output_shape(text_.shape)),
        lie_(random.chance(75)   ? Lie::contiguous
             : random.chance(40) ? Lie::first_axis_innermost
                                 : Lie::anyhow),
        src_(arrange(random, lie_, text_.shape, text_.element_size, true)),
        dst_(arrange(random, lie_, shape_, text_.element_size, false)),
        src_memory_(src_.bytes, random.chance(80)) {
    const ElementType type{text_.dtype, text_.element_size};
    const auto source = src_memory_.bytes();
    for (auto& byte : source) byte = static_cast<std::byte>(random.next());
    Features ignored;
    scatter(src_, random_elements(random, type, element_count(text_.shape), ignored), source);
    src_before_.assign(source.begin(), source.end());

    // The destination begins anywhere within a cache line, most often one element after the start of the line.
    const auto size = static_cast<std::int64_t>(type.size);
    shift_ = static_cast<std::size_t>(random.chance(30) ? 0 : random.chance(60) ? size % 64 : random.between(1, 63));
    before_.resize(dst_.bytes + 2 * guard + shift_);
    for (auto& byte : before_) byte = static_cast<std::byte>(random.next());
    const auto held = random_elements(random, type, element_count(shape_), ignored);
    scatter(dst_, held, inner(before_));

    reference::Arguments arguments = reference_arguments(text_.arguments);
    const auto list = [](const Dims& dims) { return reference::List(dims.begin(), dims.end()); };
    const reference::DType dtype = reference_type(type.dtype);
    const reference::Array data{list(text_.shape), dtype, type.size, gather(src_, source)};
    const reference::Array held_array{list(shape_), dtype, type.size, held};
    expected_ = before_;
    scatter(dst_, reference::run(text_.op, data, arguments, &held_array).bytes, inner(expected_));
    memory_ = std::make_unique<kernels::Fenced>(before_.size() + 64, false);
    scratch_seed_ = random.next();
  }

  /// Runs every strategy that fits, fallbacks only if `with_fallbacks` is true; returns the fault, if any.
  std::optional<std::string> run_all(bool with_fallbacks) {
    const AsAlways after;
    const bool nothing = plan().strategy() == "nothing";
    for (const std::string& set : sets_to_run()) {
      use_instruction_set(set);
      for (const std::string_view strategy : engine::strategy_names()) {
        if (nothing != (strategy == "nothing") || (is_fallback(strategy) && !with_fallbacks)) continue;
        for (const Store store : {Store::plain, Store::past_cache}) {
          engine::force({strategy, store});
          const Plan forced = plan();
          if (forced.strategy() != strategy) break;  // the strategy does not fit the problem
          ++runs()[name_of(strategy, store, set)];
          for (const int threads : {1, 3})
            if (const auto wrong = run(forced, threads))
              return name_of(strategy, store, set) + ", threads " + std::to_string(threads) + ": " + *wrong + where();
        }
      }
    }
    const auto source = src_memory_.bytes();
    if (!std::equal(source.begin(), source.end(), src_before_.begin())) return "the source was changed" + where();
    return std::nullopt;
  }

 private:
  std::span<std::byte> inner(std::span<std::byte> bytes) const { return bytes.subspan(guard + shift_, dst_.bytes); }

  Plan plan() const {
    const ConstTensorView src{nullptr, text_.shape, src_.strides, text_.dtype, text_.element_size};
    return op_.plan(src, {nullptr, shape_, dst_.strides, text_.dtype, text_.element_size});
  }

  std::optional<std::string> run(const Plan& plan, int threads) {
    CallableExecutor backwards(threads, [](std::int64_t pieces, const auto& task) {
      for (std::int64_t piece = pieces; piece-- > 0;) task(piece);
    });
    if (threads > 1 && text_.element_size * static_cast<std::size_t>(element_count(shape_)) < (64u << 10))
      return std::nullopt;  // one piece, as on one thread
    // Scratch memory is filled with garbage, and bytes after it cannot be written.
    const std::size_t size = plan.scratch_bytes(threads);
    const kernels::Fenced scratch(size, (++scratch_seed_ & 1) != 0);
    std::fill(scratch.bytes().begin(), scratch.bytes().end(), std::byte{0xff});

    // The memory begins at a page, and the guard consists of whole cache lines, so the destination begins `shift_` bytes
    // after the start of a line.
    const std::span<std::byte> memory = memory_->bytes().first(before_.size());
    std::copy(before_.begin(), before_.end(), memory.begin());
    const Status status = plan.run(src_memory_.bytes().data() + src_.origin, memory.data() + guard + shift_ + dst_.origin,
                                   scratch.bytes(), backwards);
    if (status != Status::ok) return std::string(describe(status));
    Arrangement placed = dst_;
    placed.origin += guard + shift_;
    if (auto wrong = difference(placed, text_.dtype, any_nan_, memory, expected_)) return wrong;
    // The scratch memory has a cache line to spare for alignment. If the memory begins at a line, its last line must not
    // change.
    if (size > 64 && reinterpret_cast<std::uintptr_t>(scratch.bytes().data()) % 64 == 0)
      for (const std::byte byte : scratch.bytes().last(64))
        if (byte != std::byte{0xff}) return "more scratch memory was written than asked for";
    return std::nullopt;
  }

  std::string where() const {
    const auto text_of = [](const Arrangement& a) {
      return "strides " + to_string(a.strides) + ", element 0 at byte " + std::to_string(a.origin);
    };
    return "; src " + text_of(src_) + "; dst " + text_of(dst_) + ", " + std::to_string(shift_) + " bytes behind a line";
  }

  const ProblemText& text_;
  bool any_nan_;
  BoundOperator op_;
  Dims shape_;
  Lie lie_;
  Arrangement src_, dst_;
  kernels::Fenced src_memory_;
  std::vector<std::byte> src_before_{}, before_{}, expected_{};
  std::unique_ptr<kernels::Fenced> memory_{};
  std::size_t shift_ = 0;
  std::uint64_t scratch_seed_ = 0;
};

/// Returns the factor of an operator's cases: above 1 for folds, which have strategies of their own, and below 1 for folds
/// of blocks, for which the reference takes long.
double weight_of(std::string_view op) {
  return op == "fold" ? 3 : op == "fold, blocks" ? 0.3 : 1;
}

class Forced : public ::testing::Test {
 public:
  explicit Forced(const Subject& subject) : subject_(subject) {}

  void TestBody() override {
    const auto types = subject_.sums ? summable_types() : all_types();
    const auto scaled = [](double cases) { return std::max(1, static_cast<int>(cases * scale_of_run())); };
    const int wide = scaled(wide_cases * weight_of(subject_.op)), small = scaled(small_cases), big = scaled(big_cases);
    const std::string name = "forced " + std::string(subject_.op);
    int failures = 0;
    for (int number = 0; number < wide + small + big && failures < most_failures; ++number) {
      Random random(seed_of_case(seed_of_run(), name, number));
      Request request{types[static_cast<std::size_t>(number) % types.size()], number >= wide + small};
      if (number < wide) {
        request.width = random.pick(widths);
        request.big = random.chance(3);
      }
      Problem problem = subject_.make(random, request);
      // In every second case, redraws common problems up to 20 times, to get one with a strategy that fits few problems.
      for (int tries = 0; number % 2 == 0 && number < wide && tries < 20 && is_common(problem.text); ++tries)
        problem = subject_.make(random, request);
      const std::string label = to_string(problem.text) + "  (PATCHFOLD_SEED=" + std::to_string(seed_of_run()) + ", case " +
                                std::to_string(number) + ")\n";
      announce(label);
      std::optional<std::string> wrong;
      try {
        wrong = Case(problem, subject_.sums, random).run_all(number % 4 == 1 || number >= wide);
      } catch (const std::exception& error) {
        wrong = std::string("threw ") + error.what();
      }
      if (wrong) {
        ++failures;
        ADD_FAILURE() << label << *wrong;
      }
    }
  }

 private:
  const Subject& subject_;
};

/// A test that runs last, and fails for a strategy that no case could run.
class Coverage : public ::testing::Test {
 public:
  void TestBody() override {
    std::map<std::string, int> of_strategy;
    for (const std::string& set : sets_to_run()) {
      int of_set = 0;
      for (const std::string_view strategy : engine::strategy_names())
        for (const Store store : {Store::plain, Store::past_cache}) {
          const auto found = runs().find(name_of(strategy, store, set));
          if (found != runs().end())
            of_strategy[std::string(strategy)] += found->second, of_set += found->second;
          else if (scale_of_run() >= 1)
            ADD_FAILURE() << "never run: " << name_of(strategy, store, set);
        }
      EXPECT_GT(of_set, 0) << "never run on " << set;
    }
    for (const auto& [strategy, count] : of_strategy) std::printf("%s: %d plans\n", strategy.c_str(), count);
  }
};

/// Returns a window problem whose patches tile the image as blocks, since random windows rarely do.
Problem make_partition(Random& random, const Request& request, std::string op) {
  Problem problem = problem_of(op, request);
  const bool fold = op == "fold";
  const auto rank = static_cast<int>(random.between(1, 3));
  Dims image, block, blocks;
  std::int64_t elements = 0, channels = 1, batch = 1;
  do {
    image = block = blocks = {};
    for (int d = 0; d < rank; ++d) {
      block.push_back(random.pick(std::vector<std::int64_t>{1, 2, 2, 3, 4, 8, 16}));
      const std::int64_t extent = d == rank - 1 ? std::max<std::int64_t>(request.width, 1) : random.between(1, 40);
      blocks.push_back((extent + block[d] - 1) / block[d]);
      image.push_back(blocks[d] * block[d]);
    }
    channels = wide_channels(random);
    batch = random.between(1, 8);
    elements = element_count(image) * channels * batch;
  } while (elements > most_elements(request));
  const bool last = random.chance(40), grid = random.chance(50);
  if (fold) add(problem, "output_size", image);
  add(problem, "kernel_size", block);
  add(problem, "stride", block);
  add(problem, "layout", last ? "channels_last" : "channels_first");
  add(problem, "order", random.chance(50) ? "kernel" : "channel");
  add(problem, "positions", grid ? "grid" : "flat");
  const std::int64_t rows = fold ? channels * element_count(block) : channels;
  problem.text.shape = {batch};
  if (!last) problem.text.shape.push_back(rows);
  problem.text.shape.append(!fold ? image : grid ? blocks : Dims{element_count(blocks)});
  if (last) problem.text.shape.push_back(rows);
  return problem;
}

Problem make_partition_fold(Random& random, const Request& request) {
  return make_partition(random, request, "fold");
}
Problem make_partition_unfold(Random& random, const Request& request) {
  return make_partition(random, request, "unfold");
}

/// Returns subjects of the neutral operators only, since operators of dialects are lowered to the same problems.
const std::vector<Subject>& neutral_subjects() {
  static const std::vector<Subject> all = [] {
    std::vector<Subject> list = {{"fold, blocks", make_partition_fold, true},
                                 {"unfold, blocks", make_partition_unfold, false}};
    for (const auto& make : {window_subjects, block_subjects})
      for (auto& subject : make())
        if (subject.op.find('.') == subject.op.npos) list.push_back(std::move(subject));
    return list;
  }();
  return all;
}

}  // namespace
}  // namespace patchfold::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (const auto& subject : patchfold::testing::neutral_subjects())
    ::testing::RegisterTest("Forced", std::string(subject.op).c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [&subject]() -> ::testing::Test* { return new patchfold::testing::Forced(subject); });
  ::testing::RegisterTest("Forced", "EveryStrategyRan", nullptr, nullptr, __FILE__, __LINE__,
                          []() -> ::testing::Test* { return new patchfold::testing::Coverage; });
  return RUN_ALL_TESTS();
}
