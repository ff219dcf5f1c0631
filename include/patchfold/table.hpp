// SPDX-License-Identifier: Apache-2.0
// The operator table: every operator of every dialect by name. The C ABI, the command line, the documentation and other
// front ends read this table; there is no other list of operators.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "patchfold/geometry.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold {

/// The kind of value that an argument takes.
enum class ArgumentKind : std::uint8_t {
  integer,   ///< 3
  integers,  ///< a list: 3,5
  axes,      ///< one number for every spatial axis: 3, or a list: 3,5
  pairs,     ///< a list of (begin, end): 1:2,0:1
  padding,   ///< valid, same_upper (same), same_lower, one number, a list, or a list of pairs
  number,    ///< 1.5, -3, nan, inf, 1+2j
  boolean,   ///< true or false
  choice,    ///< one of the words in `choices`
};
template <>
inline constexpr auto words<ArgumentKind> = std::to_array<Word<ArgumentKind>>({{ArgumentKind::integer, "integer"},
                                                                               {ArgumentKind::integers, "integers"},
                                                                               {ArgumentKind::axes, "axes"},
                                                                               {ArgumentKind::pairs, "pairs"},
                                                                               {ArgumentKind::padding, "padding"},
                                                                               {ArgumentKind::number, "number"},
                                                                               {ArgumentKind::boolean, "boolean"},
                                                                               {ArgumentKind::choice, "choice"}});

/// Returns the word of a kind: "integer", "integers", ..
PATCHFOLD_API std::string_view name_of(ArgumentKind kind) noexcept;

/// A tensor of integers in place of a list, for an input such as output_size that a model passes as a tensor.
struct IndexTensor {
  Dims values{};  ///< row-major
  Dims shape{};
  DType dtype = DType::int64;
};

/// The value of an argument. Booleans are 0 and 1.
using ArgumentValue = std::variant<std::int64_t, Dims, PadsList, Scalar, std::string, IndexTensor>;

struct Argument {
  std::string name;
  ArgumentValue value;
};

/// Element types that a shape input may have.
enum class IndexTypes : std::uint8_t {
  int64,                ///< int64 only
  int32_or_int64,       ///< each input int32 or int64
  same_int32_or_int64,  ///< int32 or int64, the same for all inputs
  integral,             ///< any integer type, each input its own
  same_integral,        ///< any integer type, the same for all inputs
};

/// One argument of an operator: an attribute, or a shape input.
struct ArgumentSpec {
  std::string_view name;
  ArgumentKind kind = ArgumentKind::integer;
  bool is_input = false;  ///< an input of the operator, after the data; may be given as an IndexTensor
  bool required = false;
  std::string default_text{};                   ///< as parse_value() reads it; empty if required or derived
  std::span<const std::string_view> choices{};  ///< the words of an argument of kind choice
  std::string_view old_name{};                  ///< a name that is still read until 1.0; empty if there is none
  std::string_view doc{};                       ///< one line, with the range
};

/// The names that a front end's errors give to an operator's tensors; empty: the names in the table.
struct TensorNames {
  std::string_view data{};
  std::string_view output{};
};

/// An operator with all its arguments, ready for tensors.
class PATCHFOLD_API BoundOperator {
 public:
  using Lower = std::function<Lowering(const Dims& data, const TensorNames& names)>;
  explicit BoundOperator(Lower lower) : lower_(std::move(lower)) {}

  /// Returns the operator at one shape of its data; the shape is ignored if the operator has no data input. Throws Error for a
  /// shape that the operator refuses. A plan made from the returned Lowering repeats no checks.
  Lowering lower(const Dims& data, const TensorNames& names = {}) const { return lower_(data, names); }
  /// Returns the shape of the output.
  Dims output_shape(const Dims& data) const { return lower(data).geometry.output; }
  Plan plan(const ConstTensorView& data, const TensorView& output) const { return lower(data.shape).plan(data, output); }

 private:
  Lower lower_;
};

/// The operators of one system, or the neutral operators.
struct DialectSpec {
  std::string_view name;        ///< "neutral", "openvino": the first part of the operators' names
  std::string_view doc;         ///< one line
  std::string_view definition;  ///< the system's page about its operators
};

/// One row of the table.
struct OperatorSpec {
  std::string_view name;        ///< "unfold", "openvino.Col2Im-15"
  std::string_view dialect{};   ///< "neutral", "openvino"
  std::string_view doc;         ///< one line
  std::string_view definition;  ///< the page that defines the operator
  std::string_view data_input;  ///< name of the data input; empty if there is none (coverage)
  std::string_view output{};    ///< name of the output in errors
  IndexTypes index_types = IndexTypes::int32_or_int64;
  bool sums = false;           ///< adds elements where patches meet: needs a type with an addition
  std::string_view example{};  ///< a small problem without the operator's name: "f32 1x4x4x4 kernel_size=2,2"
  /// The neutral operator of the example, with its options: "unfold layout=channels_last order=kernel". For a neutral operator this
  /// text begins with its own name.
  std::string neutral{};
  std::vector<ArgumentSpec> arguments{};  ///< shape inputs first, in the order of the operator's inputs
  std::function<BoundOperator(std::span<const Argument>)> bind{};  ///< throws Error for wrong arguments
  /// Returns the plan of the operator with these arguments: one of this thread's last plans, or a new plan.
  std::function<Plan(std::span<const Argument>, const ConstTensorView& data, const TensorView& output)> plan{};
};

/// Returns every dialect, the neutral operators first.
PATCHFOLD_API std::span<const DialectSpec> all_dialects();
/// Returns every operator, neutral ones first.
PATCHFOLD_API std::span<const OperatorSpec> operators();
/// Returns the operator with the given name. The name of a dialect's operator may lack the version, and then means the newest
/// version. Throws Error(unknown_operator), which names the operator with the most similar name.
PATCHFOLD_API const OperatorSpec& find_operator(std::string_view name);
/// Returns the argument's value from its text form. Throws Error(value) or Error(type) that names operator and argument.
PATCHFOLD_API ArgumentValue parse_value(const OperatorSpec& op, const ArgumentSpec& argument, std::string_view text);

/// A problem as one line of text, shared by tests, benchmarks and bug reports:
///   OP DTYPE SHAPE [ARGUMENT=VALUE]..        fold f32 1x4x9 output_size=4,4 kernel_size=2,2
/// For the neutral operators kA, sA, dA, pA (A = 3 or 3x3, pads also 1:2x0:1) stand for kernel_size, stride, dilation,
/// padding:
///   unfold f32 8x64x112x112 k3x3 s1x1 d1x1 p1x1
struct ProblemText {
  std::string op;
  DType dtype = DType::float32;
  std::size_t element_size = 4;  ///< opaque elements are written opaqueN with N bytes
  Dims shape{};                  ///< shape of the data input
  std::vector<Argument> arguments{};
};

/// Returns the problem that the text describes. Throws Error(usage) for any other text.
PATCHFOLD_API ProblemText parse_problem(std::string_view text);
PATCHFOLD_API std::string to_string(const ProblemText& problem);
PATCHFOLD_API std::string to_string(const ArgumentValue& value);

}  // namespace patchfold
