// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <filesystem>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "cli/interrupt.hpp"
#include "cli/report.hpp"
#include "cli/text.hpp"
#include "formats/file.hpp"
#include "formats/output_file.hpp"
#include "formats/picture.hpp"
#include "formats/tile_plan.hpp"

namespace patchfold::cli {
namespace {

using Seconds = std::chrono::duration<double>;

/// A planned operator with its data and its output.
struct Work {
  formats::LoadedTensor data{};
  TensorView output{};  ///< without memory, which is allocated later
  formats::ElementType type{};
  formats::Metadata metadata{};  ///< of the data, if it is a picture
  Plan plan{};
};

/// Finds out from a stream's first bytes whether the stream is a picture, and sets the operator's layout accordingly.
void settle_stream(RunRequest& request) {
  const bool picture = formats::format_of_file(request.data.path) != formats::FileFormat::npy;
  request.data.kind = picture ? Source::Kind::picture : Source::Kind::array;
  settle_layout(request);
  if (request.shape_inputs.empty()) request.bound = request.op->bind(request.arguments);
  if (picture && request.dtype)
    fail_usage(request.op->name, "--dtype", "does not apply to pictures", "", "--as, which converts");
  if (!picture && request.page) fail_usage(request.op->name, "--page", "applies to pictures only");
  if (!picture && request.level != 0) fail_usage(request.op->name, "--level", "applies to pictures only");
}

BoundOperator bind_with_files(const RunRequest& request) {
  std::vector<Argument> arguments = request.arguments;
  for (const auto& [argument, path] : request.shape_inputs)
    arguments.push_back({std::string(argument->name), index_tensor(*request.op, *argument, formats::read_npy(path))});
  return request.op->bind(arguments);
}

/// Returns the shape of the output for data of this shape; nothing if the operator refuses it.
std::optional<Dims> shape_with(const BoundOperator& bound, const Dims& shape) try {
  return bound.output_shape(shape);
} catch (const Error&) {
  return std::nullopt;
}

/// Returns the shape of the output. If the data is a picture with one axis too few, or an array whose channels lie on another axis
/// than a picture's, the error names the options to add.
Dims output_shape(const BoundOperator& bound, const ConstTensorView& data, const RunRequest& request) try {
  return bound.output_shape(data.shape);
} catch (const Error& error) {
  if (request.data.kind == Source::Kind::none) throw;
  Error::Parts parts = error.parts();
  if (request.data.kind == Source::Kind::picture) {
    if (error.code() != ErrorCode::rank || request.batch || !shape_with(bound, with_batch(data).shape)) throw;
    parts.given = data.shape;
    parts.expected = "--batch, which gives a picture a batch axis";
  } else {
    if (request.format == formats::FileFormat::npy) throw;
    const auto other = shape_with(bind_with_files(with_other_layout(request)), data.shape);
    if (!other) throw;
    const bool adds_batch = other->size() == 4 && !request.batch;
    parts.hint = text_of(output_name(request.output), " is written as ",
                         request.chw ? "C x H x W with --chw; leave --chw out" : "H x W x C; add --chw",
                         !adds_batch   ? ""
                         : request.chw ? ", and add --batch"
                                       : " and --batch");
  }
  throw Error(std::move(parts));
}

Work prepare(const RunRequest& request) {
  const OperatorSpec& op = *request.op;
  const BoundOperator bound = request.bound ? *request.bound : bind_with_files(request);

  Work work;
  if (!op.data_input.empty()) work.data = load_data(request, work.metadata);
  work.type = op.data_input.empty() ? formats::element_type(request.dtype.value_or(DType::int64)) : work.data.type;
  const Dims shape = output_shape(bound, work.data.view, request);
  if (!formats::byte_count(shape, work.type.size))
    throw Error({ErrorCode::overflow, std::string(op.name), "output", "the size in bytes must fit into 63 bits",
                 formats::shape_text(shape), ""});
  work.output = {nullptr, shape, contiguous_strides(shape, work.type.size), work.type.dtype, work.type.size};
  work.plan = bound.plan(work.data.view, work.output);
  return work;
}

Seconds run_plan(const Work& work, void* output, const RunRequest& request, InterruptGuard& guard) {
  const auto begin = std::chrono::steady_clock::now();
  throw_if_failed(work.plan.run(work.data.view.data, output, guard.executor()), request.op->name, request.op->output);
  return std::chrono::steady_clock::now() - begin;
}

Seconds run_to_npy(const Work& work, const RunRequest& request) {
  InterruptGuard guard(request.output);
  formats::NpyOutput file(request.output, work.output.shape, work.type);
  const Seconds time = run_plan(work, file.view().data, request, guard);
  file.commit();
  return time;
}

/// Returns the output as H x W x C, as write_picture takes it. Throws if it is not a picture.
ConstTensorView as_picture(ConstTensorView view, const RunRequest& request) {
  const auto refuse = [&](const char* rule) {
    throw Error(
        {ErrorCode::rank, "picture", output_name(request.output), rule, formats::shape_text(view.shape),
         text_of("(", request.batch ? "1, " : "", request.chw ? "channels, height, width)" : "height, width, channels)")});
  };
  if (request.batch) {
    if (view.shape.size() < 3 || view.shape[0] != 1) refuse("with --batch, a picture is a batch of one");
    view.shape = view.shape.slice(1, view.shape.size());
    view.strides = view.strides.slice(1, view.strides.size());
  }
  if (view.shape.size() == 2) {
    view.shape.push_back(1);
    view.strides.push_back(static_cast<std::int64_t>(view.element_size));
    return view;
  }
  if (view.shape.size() == 4 && view.shape[0] == 1 && !request.batch)
    throw Error({ErrorCode::rank, "picture", output_name(request.output), "a picture has 2 or 3 axes",
                 formats::shape_text(view.shape), "--batch, which takes the batch axis off"});
  if (view.shape.size() != 3) refuse("a picture has 2 or 3 axes");
  return request.chw ? channels_last(view) : view;
}

/// Returns the part of the data's metadata that holds for the output: all if both have the same rows and columns, else only
/// colours and texts.
formats::Metadata carried(const Work& work, const RunRequest& request, std::vector<std::string>& losses) {
  if (work.metadata == formats::Metadata{}) return {};
  const Dims from = (request.chw ? channels_last(work.data.view) : work.data.view).shape;
  const Dims to = as_picture(work.output, request).shape;
  const bool has_size = from[0] == to[0] && from[1] == to[1];
  const bool has_numbers = !request.as && from[2] == to[2];  // no operator changes the element type
  formats::Metadata held = work.metadata;
  losses = formats::take_what_does_not_hold(held, has_numbers || !has_size, has_numbers && has_size && !request.page);
  if (has_size) return held;
  formats::Metadata kept;
  kept.icc = held.icc;
  kept.colours = held.colours;
  kept.texts = held.texts;
  const std::pair<bool, const char*> kinds[] = {{work.metadata.resolution.has_value(), "the resolution was"},
                                                {work.metadata.orientation != 1, "the orientation was"},
                                                {!work.metadata.exif.empty(), "the camera data (EXIF) were"},
                                                {!work.metadata.xmp.empty(), "the XMP packet was"},
                                                {!work.metadata.geo.empty(), "the GeoTIFF tags were"}};
  for (const auto& [is_lost, what] : kinds)
    if (is_lost) losses.push_back(text_of(what, " left out: the output has other rows and columns than ", request.data.path));
  return kept;
}

Seconds run_to_picture(Work& work, const RunRequest& request, std::vector<std::string>& losses) {
  as_picture(work.output, request);  // before the operator runs, refuses an output that is not a picture
  const std::filesystem::path path = request.output;
  const auto bytes = element_count(work.output.shape) * static_cast<std::int64_t>(work.type.size);  // prepare() checked this size
  const auto memory = formats::allocate(bytes, {"picture", path});
  InterruptGuard guard(request.output);
  const Seconds time = run_plan(work, memory.get(), request, guard);
  work.output.data = memory.get();
  formats::WriteOptions options = request.picture.options();
  options.executor = &guard.executor();
  options.format = request.format;
  options.metadata = carried(work, request, losses);
  for (auto& loss : formats::write_picture(path, as_picture(work.output, request), options))
    losses.push_back(std::move(loss));
  return time;
}

JsonObject tensor_json(const std::string& file, const formats::ElementType& type, const Dims& shape) {
  return JsonObject().add("file", file).add("dtype", formats::type_text(type)).add("shape", shape);
}

}  // namespace

void run_operator(const RunRequest& parsed) {
  RunRequest request = parsed;
  if (request.data.kind == Source::Kind::stream) settle_stream(request);
  Work work = prepare(request);
  const bool picture = request.format != formats::FileFormat::npy;
  std::vector<std::string> losses;
  const Seconds time = picture ? run_to_picture(work, request, losses) : run_to_npy(work, request);
  if (!picture) losses = formats::take_what_is_lost(work.metadata, formats::FileFormat::npy, 1);

  const bool has_data = request.data.kind != Source::Kind::none;
  const auto elements = element_count(work.output.shape) + (has_data ? element_count(work.data.view.shape) : 0);
  const double bytes = static_cast<double>(elements) * static_cast<double>(work.type.size);
  const std::string line = text_of(output_name(request.output), ": ", formats::type_text(work.type), " ",
                                   formats::shape_text(work.output.shape), ", ", decimal(time.count() * 1e3, 1), " ms, ",
                                   decimal(time.count() > 0 ? bytes / time.count() / 1e9 : 0.0, 1), " GB/s\n");
  std::optional<JsonObject> input;
  if (has_data) input = tensor_json(request.data.path, work.data.type, work.data.view.shape);
  JsonObject json;
  json.add("command", "run")
      .add("operator", request.op->name)
      .add("input", input)
      .add("output", tensor_json(request.output, work.type, work.output.shape).add("format", word_of(request.format)))
      .add("bytes", static_cast<std::int64_t>(bytes))
      .add("seconds", time.count())
      .add("losses", losses_json(losses));
  print_losses(output_name(request.output), losses, request.reporting.quiet || request.reporting.json);
  request.reporting.report(request.output, line, json);
}

}  // namespace patchfold::cli
