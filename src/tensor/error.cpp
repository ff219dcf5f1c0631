// SPDX-License-Identifier: Apache-2.0
#include "patchfold/error.hpp"

#include <algorithm>
#include <utility>

#include "base/fail.hpp"
#include "base/printable.hpp"

namespace patchfold {
namespace {

constexpr ErrorEntry catalogue[] = {
    {ErrorCode::rank, "rank", "InvalidValue", "A tensor has the wrong number of axes for the operator.",
     "unfold: image: must have a channel axis and the spatial axes; given [5, 5] of rank 2, expected rank 3 or more; a grey "
     "picture: image with shape [1, 5, 5]",
     "Give the tensor the axes that the message names: (batch.., channels, spatial axes..). A grey image needs a channel "
     "axis of extent 1. Give the kernel as a list, [3, 3] instead of 3, to state how many axes are spatial."},
    {ErrorCode::length, "length", "InvalidValue", "A list has the wrong number of entries, or two lists disagree.",
     "unfold: stride: must have as many entries as kernel_size; given 3, expected 2",
     "Give one entry for each spatial axis. Where a single number is allowed, it holds for all of them."},
    {ErrorCode::type, "type", "InvalidType", "An attribute or a shape input has the wrong type for its argument.",
     "unfold: kernel_size: must be an integer, or a list with one for each spatial axis; given wide",
     "Give the kind of value that the message names; `patchfold ops OP` lists the kinds of all arguments."},
    {ErrorCode::value, "value", "InvalidValue", "A number or a word is outside the range of its argument.",
     "unfold: stride: must be at least 1 on every axis; given [0, 1]",
     "Change the value as the rule says. `patchfold ops OP` explains each argument, its default and the words that it "
     "accepts."},
    {ErrorCode::divisible, "divisible", "InvalidValue", "An extent is not a multiple of a block or of the kernel's size.",
     "space_to_depth: image: spatial extents must be multiples of block; given [4, 5], expected multiples of 2",
     "Pad or crop the image to a multiple, or choose another block. If the tensor holds columns, check that they were made "
     "with the same kernel and that their axes are (batch, channels * taps, positions)."},
    {ErrorCode::position_count, "position_count", "InvalidValue",
     "The number of positions of the columns differs from the formula.",
     "openvino.Col2Im-15: data: must have one column for each position of the kernel in the padded image; given 25, "
     "expected 49 = product of [7, 7]",
     "Give the size of the image and the kernel, stride, dilation and padding that the columns were made with. `patchfold "
     "explain` shows how the number of positions follows from them. Columns that are written with a wrong number of "
     "positions are an error of the code shape."},
    {ErrorCode::shape, "shape", "InvalidValue",
     "The shape of a tensor differs from the operator's, or a shape is impossible.",
     "unfold: columns: must have the shape of the operator's result; given [1, 9, 5], expected [1, 9, 4]",
     "Make the output with the expected shape; `output_shape` computes it before the call. In Python, leave `out` out to "
     "get a new array."},
    {ErrorCode::dtype, "dtype", "InvalidType",
     "Element types differ, or the operator does not support one (a sum of strings).",
     "unfold: columns: must have the element type of image; given float64, expected float32",
     "Convert one of the two tensors; the library never converts by itself. Copies take any element type, sums only types "
     "that can be added."},
    {ErrorCode::overflow, "overflow", "InvalidValue", "A size or an offset is 2^60 or more, or does not fit into 63 bits.",
     "unfold: dilation: extents, pads and effective kernels must stay below 2^60; given 2305843009213693952",
     "Look for a wrong number: no tensor is that large. Sizes from a file or from your own arithmetic may have wrapped "
     "around."},
    {ErrorCode::limit, "limit", "InvalidValue",
     "A list, a tensor or a problem has too many axes, or a merge too many tiles.",
     "tensor: axes: a list or a shape must have at most 32 entries",
     "Merge neighbouring axes with a reshape, or cut the work into smaller parts. For a merge, use larger tiles."},
    {ErrorCode::strides, "strides", "InvalidValue",
     "Elements of the destination share memory, so results would overwrite each other.",
     "unfold: columns: elements must not share memory: each stride must step over what smaller ones reach; given [36, 0, "
     "4], expected a stride of at least 4 bytes in place of 0",
     "Write to a tensor whose elements all have separate memory, such as a contiguous one. Broadcast and overlapping views "
     "may be read, but not written."},
    {ErrorCode::overlap, "overlap", "InvalidValue", "Two of source, destination and scratch share memory.",
     "unfold: source and destination must not share memory",
     "Give the output and the scratch separate memory, or copy the source first: no operator works in place."},
    {ErrorCode::null_data, "null_data", "InvalidValue", "A tensor that has elements has no data pointer.",
     "unfold: data: a tensor that has elements has no data",
     "Set the pointer; only tensors without elements may have none. Check whether the allocation of the tensor failed."},
    {ErrorCode::missing, "missing", "InvalidValue", "A required argument is not given.",
     "unfold: kernel_size: must be given",
     "Give the argument that the message names; `patchfold ops OP` lists the required ones."},
    {ErrorCode::unknown_argument, "unknown_argument", "InvalidValue",
     "The operator has no argument of this name, or the argument is given twice.",
     "torch.pixel_shuffle: factor: is not an argument of this operator; expected upscale_factor",
     "Use the expected name; `patchfold ops OP` lists all of them. An argument may have another name in another dialect, "
     "because each dialect uses the names of its specification."},
    {ErrorCode::unknown_operator, "unknown_operator", "InvalidValue", "There is no operator of this name.",
     "operator: there is no operator of this name; given unfodl; did you mean unfold?",
     "Choose a name from `patchfold ops`. The name of a dialect's operator begins with the dialect, as in torch.fold. "
     "Without a version it means the newest one."},
    {ErrorCode::out_of_memory, "out_of_memory", "MemoryError", "An allocation failed.",
     "fold: scratch: scratch memory could not be had",
     "Free memory, use fewer threads, or cut the work into parts. `patchfold split` and `patchfold merge` process pictures "
     "that do not fit into memory."},
    {ErrorCode::executor, "executor", "RuntimeError", "The caller's executor or sink did not do its work.",
     "fold: executor: the executor did not run the work",
     "Correct the executor: it must run each piece once, return true and not throw. The content of the output is "
     "unspecified until a run succeeds. A sink of the C interface must take its rows and return 0; begin the merge again."},
    {ErrorCode::file_open, "file_open", "", "A file cannot be opened or read.",
     "npy: columns.npy: cannot be opened: No such file or directory",
     "Check the path, relative to the folder in which the program runs, and the permission to read the file. The message "
     "ends with the system's reason."},
    {ErrorCode::file_write, "file_write", "", "A file cannot be written; an existing file is unchanged.",
     "file: none/columns.npy: cannot be written: No such file or directory",
     "Check that the folder exists and is writable and that the disk has room, then run again. No half-written file is "
     "left."},
    {ErrorCode::file_format, "file_format", "", "A file is damaged, cut short, or of another format than its name says.",
     "npy: columns.npy: is cut short; given 7 bytes, expected at least 10 bytes",
     "Make or copy the file again. Check that the ending of its name matches its format."},
    {ErrorCode::file_unsupported, "file_unsupported", "", "A file is valid but uses a feature that is not supported.",
     "npy: columns.npy: holds Python objects, which cannot be moved as bytes; given |O",
     "Convert the file first: arrays to elements of a fixed size, pictures to grey or RGB."},
    {ErrorCode::usage, "usage", "", "A command line or a problem string is wrong.",
     "problem: dtype: must read OP DTYPE SHAPE [ARGUMENT=VALUE]..; given f33, expected for example: unfold f32 8x64x112x112 "
     "k3x3 s1x1 d1x1 p1x1",
     "Run `patchfold --help` or `patchfold COMMAND --help`. Put quotes around values that contain spaces."},
};
static_assert(std::ranges::all_of(catalogue,
                                  [](const ErrorEntry& e) { return &e == &catalogue[static_cast<std::size_t>(e.code)]; }));

/// Returns a text without control characters and of limited length.
std::string printable(std::string text) {
  constexpr std::size_t most = 1000;
  if (text.size() > most) text.replace(cut_of(text, most), std::string::npos, "..");
  for (char& c : text) c = patchfold::printable(c);
  return text;
}

Error::Parts printable(Error::Parts parts) {
  for (std::string* part : {&parts.op, &parts.argument, &parts.rule}) *part = printable(std::move(*part));
  return parts;
}

std::string join(const Error::Parts& parts, const std::string& given, const std::string& expected, const std::string& hint) {
  std::string message;
  for (const std::string* part : {&parts.op, &parts.argument, &parts.rule}) {
    if (part->empty()) continue;
    if (!message.empty()) message += ": ";
    message += *part;
  }
  if (!given.empty()) message += "; given " + given;
  if (!expected.empty()) message += (given.empty() ? "; expected " : ", expected ") + expected;
  if (!hint.empty()) message += "; " + hint;
  return message;
}

/// Writes the parts of an ErrorValue, with one function for each kind of part.
struct PartWriter {
  const ErrorWriter& writer;

  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(std::int64_t number) const { return std::to_string(number); }
  std::string operator()(std::uint64_t number) const { return std::to_string(number); }
  std::string operator()(const Dims& list) const { return writer.list(list); }
  std::string operator()(Pads pads) const { return writer.pair(pads); }
  std::string operator()(DType dtype) const { return std::string(name_of(dtype)); }
  std::string operator()(const Setting& setting) const { return writer.setting(setting); }
  std::string operator()(const Rearrangement& one) const { return writer.rearranged(one); }
};

/// Returns fractions as text: "1/2,3".
std::string joined(const Setting::Fractions& fractions) {
  std::string text;
  for (const auto& [over, under] : fractions)
    text += (text.empty() ? "" : ",") + std::to_string(over) + (under == 1 ? "" : "/" + std::to_string(under));
  return text;
}

/// Writes a value in the form of problem strings, which parse_value() reads.
struct ProblemTextWriter {
  std::string operator()(const std::string& word) const { return word; }
  std::string operator()(std::int64_t number) const { return std::to_string(number); }
  std::string operator()(bool yes) const { return yes ? "true" : "false"; }
  std::string operator()(const Dims& list) const {
    std::string text;
    for (int i = 0; i < list.size(); ++i) text += (i ? "," : "") + std::to_string(list[i]);
    return list.size() == 1 ? text + "," : text;
  }
  std::string operator()(const PadsList& pairs) const {
    std::string text;
    for (int i = 0; i < pairs.size(); ++i)
      text += (i ? "," : "") + std::to_string(pairs[i].begin) + ":" + std::to_string(pairs[i].end);
    return text;
  }
  std::string operator()(const Setting::Fractions& fractions) const { return joined(fractions); }
};

}  // namespace

std::span<const ErrorEntry> error_catalogue() noexcept {
  return catalogue;
}

void fail(ErrorCode code, std::string_view op, std::string_view argument, std::string_view rule, ErrorValue given,
          ErrorValue expected, ErrorValue hint) {
  throw Error({code, std::string(op), std::string(argument), std::string(rule), std::move(given), std::move(expected),
               std::move(hint)});
}

void fail_rank(std::string_view op, std::string_view argument, std::string_view rule, const Dims& shape, ErrorValue expected,
               ErrorValue hint) {
  fail(ErrorCode::rank, op, argument, rule, ErrorValue(shape, " of rank ", shape.size()), std::move(expected),
       std::move(hint));
}

const ErrorEntry& describe(ErrorCode code) noexcept {
  return catalogue[static_cast<std::size_t>(code)];
}

std::string ErrorWriter::list(const Dims& list) const {
  return to_string(list);
}

std::string ErrorWriter::pair(Pads pads) const {
  return std::to_string(pads.begin) + ":" + std::to_string(pads.end);
}

std::string ErrorWriter::setting(const Setting& setting) const {
  return setting.name + "=" + std::visit(ProblemTextWriter{}, setting.value);
}

std::string ErrorWriter::rearranged(const Rearrangement& one) const {
  if (one.kind == Rearrangement::Kind::reshape) return one.tensor + " with shape " + list(one.numbers);
  return one.tensor + " with axes " + std::to_string(one.numbers[0]) + " and " + std::to_string(one.numbers[1]) + " swapped";
}

ErrorValue::ErrorValue(const ErrorValue& other) = default;
ErrorValue& ErrorValue::operator=(const ErrorValue& other) = default;
ErrorValue::~ErrorValue() = default;

void ErrorValue::reserve(std::size_t more) {
  parts_.reserve(parts_.size() + more);
}

void ErrorValue::add(std::string_view text) {
  if (!text.empty()) parts_.emplace_back(std::string(text));
}

void ErrorValue::add(std::int64_t number) {
  parts_.emplace_back(number);
}

void ErrorValue::add(std::uint64_t number) {
  parts_.emplace_back(number);
}

void ErrorValue::add(const Dims& list) {
  parts_.emplace_back(list);
}

void ErrorValue::add(const Axes& axes) {
  if (axes.is_scalar())
    add(axes.values()[0]);
  else
    add(axes.values());
}

void ErrorValue::add(Pads pads) {
  parts_.emplace_back(pads);
}

void ErrorValue::add(DType dtype) {
  parts_.emplace_back(dtype);
}

void ErrorValue::add(const Setting& setting) {
  parts_.emplace_back(setting);
}

void ErrorValue::add(const Rearrangement& one) {
  parts_.emplace_back(one);
}

std::string ErrorValue::text(const ErrorWriter& writer) const {
  std::string text;
  for (const Part& part : parts_) text += std::visit(PartWriter{writer}, part);
  return printable(std::move(text));
}

Error::Error(Parts parts)
    : parts_(printable(std::move(parts))),
      given_(parts_.given.text()),
      expected_(parts_.expected.text()),
      hint_(parts_.hint.text()),
      message_(join(parts_, given_, expected_, hint_)) {}

std::string Error::message(const ErrorWriter& writer) const {
  return join(parts_, parts_.given.text(writer), parts_.expected.text(writer), parts_.hint.text(writer));
}

}  // namespace patchfold
