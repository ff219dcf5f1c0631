// SPDX-License-Identifier: Apache-2.0
#include "cli/run.hpp"

#include <chrono>
#include <filesystem>

#include "cli/inputs.hpp"
#include "cli/interrupt.hpp"
#include "cli/report.hpp"
#include "cli/text.hpp"
#include "formats/file.hpp"
#include "formats/output_file.hpp"
#include "formats/picture.hpp"

namespace patchfold::cli {
namespace {

using Seconds = std::chrono::duration<double>;

/// A planned operator with its data, and what the output will be.
struct Work {
  formats::LoadedTensor data{};
  TensorView output{};  ///< without memory
  formats::ElementType type{};
  Plan plan{};
};

BoundOperator bind_with_files(const RunRequest& request) {
  std::vector<Argument> arguments = request.arguments;
  for (const auto& [argument, path] : request.shape_inputs)
    arguments.push_back({std::string(argument->name), index_tensor(*request.op, *argument, formats::read_npy(path))});
  return request.op->bind(arguments);
}

Work prepare(const RunRequest& request) {
  const OperatorSpec& op = *request.op;
  const BoundOperator bound = request.bound ? *request.bound : bind_with_files(request);

  Work work;
  if (!op.data_input.empty()) work.data = load_data(request);
  work.type = op.data_input.empty() ? formats::element_type(request.dtype.value_or(DType::int64)) : work.data.type;
  const Dims shape = bound.output_shape(work.data.view.shape);
  if (!formats::byte_count(shape, work.type.size))
    throw Error({ErrorCode::overflow, std::string(op.name), "output", "the size in bytes must fit into 63 bits",
                 shape_text(shape), ""});
  work.output = {nullptr, shape, contiguous_strides(shape, work.type.size), work.type.dtype, work.type.size};
  work.plan = bound.plan(work.data.view, work.output);
  return work;
}

Seconds run_plan(const Work& work, void* output, const RunRequest& request, InterruptGuard& guard) {
  const auto begin = std::chrono::steady_clock::now();
  throw_if_failed(work.plan.run(work.data.view.data, output, guard.executor()), request.op->name);
  return std::chrono::steady_clock::now() - begin;
}

Seconds run_to_npy(const Work& work, const RunRequest& request) {
  InterruptGuard guard(request.output);
  formats::NpyOutput file(request.output, work.output.shape, work.type);
  const Seconds time = run_plan(work, file.view().data, request, guard);
  file.commit();
  return time;
}

/// The output as write_picture takes it: H x W x C.
ConstTensorView as_picture(ConstTensorView view, const RunRequest& request) {
  if (view.shape.size() == 2) {
    view.shape.push_back(1);
    view.strides.push_back(static_cast<std::int64_t>(view.element_size));
    return view;
  }
  if (view.shape.size() != 3)
    throw Error({ErrorCode::rank, "picture", request.output, "a picture has 2 or 3 axes", shape_text(view.shape),
                 request.chw ? "(channels, height, width)" : "(height, width, channels)"});
  return request.chw ? channels_last(view) : view;
}

Seconds run_to_picture(Work& work, const RunRequest& request) {
  as_picture(work.output, request);  // refuses an array that is not a picture before anything is computed
  const std::filesystem::path path = request.output;
  const auto bytes = element_count(work.output.shape) * static_cast<std::int64_t>(work.type.size);  // prepare() checked it
  const auto memory = formats::allocate(bytes, {"picture", path});
  InterruptGuard guard(request.output);
  const Seconds time = run_plan(work, memory.get(), request, guard);
  work.output.data = memory.get();
  formats::WriteOptions options = request.picture.options();
  options.executor = &guard.executor();
  print_losses(request.output, formats::write_picture(path, as_picture(work.output, request), options), request.quiet);
  return time;
}

}  // namespace

void run_operator(const RunRequest& request) {
  Work work = prepare(request);
  const bool picture = formats::is_picture_path(request.output);
  const Seconds time = picture ? run_to_picture(work, request) : run_to_npy(work, request);
  if (request.quiet) return;

  const auto elements = element_count(work.output.shape) + (request.data.empty() ? 0 : element_count(work.data.view.shape));
  const double bytes = static_cast<double>(elements) * static_cast<double>(work.type.size);
  const auto type = work.type.dtype == DType::opaque ? work.type.descr : std::string(name_of(work.type.dtype));
  note(text_of(request.output, ": ", type, " ", shape_text(work.output.shape), ", ", decimal(time.count() * 1e3, 1), " ms, ",
               decimal(time.count() > 0 ? bytes / time.count() / 1e9 : 0.0, 1), " GB/s\n"));
}

}  // namespace patchfold::cli
