// SPDX-License-Identifier: Apache-2.0
// The targets that XLA calls to run an operator on XLA's buffers: on XLA's threads, and on XLA's stream of a CUDA device.
#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "python/native/arrays.hpp"
#include "python/native/linear.hpp"
#include "python/native/xla_ffi.hpp"

namespace patchfold::python {
namespace {

/// Destroys an error of XLA; returns whether there was an error.
bool drop_error(const xla::CallFrame& frame, xla::Error* error) noexcept {
  if (error == nullptr) return false;
  xla::ErrorDestroyArgs args{sizeof(args), nullptr, error};
  frame.api->error_destroy(&args);
  return true;
}

/// An executor on XLA's threads. XLA promises neither a number of threads nor that a task starts while another task waits. So the
/// calling thread works too, and waits only for pieces that a task has begun.
class XlaExecutor final : public Executor {
 public:
  explicit XlaExecutor(const xla::CallFrame& frame) : frame_(frame) {}

  int threads() const noexcept override {
    std::int64_t available = 1;
    xla::NumThreadsArgs args{sizeof(args), nullptr, frame_.context, &available};
    if (drop(frame_.api->num_threads(&args))) available = 1;
    return static_cast<int>(std::clamp<std::int64_t>(available, 1, get_num_threads()));
  }

  bool run(std::int64_t pieces, Body body, void* context) noexcept override {
    std::shared_ptr<Work> work;
    try {
      work = std::make_shared<Work>(pieces, body, context);
    } catch (const std::bad_alloc&) {
      for (std::int64_t piece = 0; piece < pieces; ++piece) body(context, piece);
      return true;
    }
    for (std::int64_t helpers = std::min<std::int64_t>(threads(), pieces) - 1; helpers > 0 && schedule(work); --helpers) {
    }
    work->take_part();
    work->wait();
    return true;
  }

 private:
  /// Pieces that threads take one by one. A task may start after all pieces are done; such a task touches only this object.
  struct Work {
    Work(std::int64_t count, Body run, void* with) : pieces(count), body(run), context(with) {}
    void take_part() noexcept {
      for (std::int64_t piece = next++; piece < pieces; piece = next++) {
        body(context, piece);
        if (++done == pieces) done.notify_all();
      }
    }
    void wait() const noexcept {
      for (std::int64_t seen = done; seen < pieces; seen = done) done.wait(seen);
    }
    const std::int64_t pieces;
    const Body body;
    void* const context;
    std::atomic<std::int64_t> next = 0;
    std::atomic<std::int64_t> done = 0;
  };

  bool schedule(const std::shared_ptr<Work>& work) noexcept {
    auto* const own = new (std::nothrow) std::shared_ptr<Work>(work);
    if (own == nullptr) return false;
    const auto task = [](void* data) {
      const std::unique_ptr<std::shared_ptr<Work>> mine(static_cast<std::shared_ptr<Work>*>(data));
      (*mine)->take_part();
    };
    xla::ScheduleArgs args{sizeof(args), nullptr, frame_.context, task, own};
    if (!drop(frame_.api->schedule(&args))) return true;
    delete own;
    return false;
  }

  bool drop(xla::Error* error) const noexcept { return drop_error(frame_, error); }

  const xla::CallFrame& frame_;
};

const xla::Buffer& buffer_of(const xla::Buffers& buffers, std::int64_t index) {
  if (buffers.types[index] != xla::type_buffer) refuse_call("XLA", "must have buffers only", "", "");
  return *static_cast<const xla::Buffer*>(buffers.buffers[index]);
}

Dims shape_of(const xla::Buffer& buffer) {
  Dims shape;
  for (std::int64_t axis = 0; axis < buffer.rank; ++axis) shape.push_back(buffer.dims[axis]);
  return shape;
}

std::string_view text_of_call(const xla::Attributes& attributes) {
  for (std::int64_t i = 0; i < attributes.size; ++i)
    if (std::string_view(attributes.names[i]->ptr, attributes.names[i]->len) == "call" &&
        attributes.types[i] == xla::attribute_string) {
      const auto& text = *static_cast<const xla::ByteSpan*>(attributes.values[i]);
      return {text.ptr, text.len};
    }
  refuse_call("XLA", "must have an attribute that is text", "", "call");
}

/// Returns a plan for buffers of these shapes and types only. argument: null for an operator without data. The extents of the batch
/// are taken from the buffers, not from the text: XLA may split a batch over several devices, and some programs leave its
/// extents open.
Plan plan_of(std::string_view text, const xla::Buffer* argument, const xla::Buffer& result) {
  LinearCall call = linear_call(text);
  if (call.lowering.geometry.has_data != (argument != nullptr))
    refuse_call("XLA", "must have an argument, if the operator has data", "", "");
  const Dims output = shape_of(result);
  const int own = output.size() - call.output().size();
  const Dims samples = output.slice(0, std::max(own, 0));
  if (own >= 0) call.set_batch(output.slice(own, output.size()));
  const auto check = [&](const xla::Buffer& buffer, const Dims& own) {
    Dims expected = samples;
    expected.append(own);
    const Dims given = shape_of(buffer);
    if (!(given == expected)) refuse_call("XLA", "must have buffers of its shapes", to_string(given), to_string(expected));
    const std::size_t size = xla::element_size(buffer.dtype);
    if (size != call.element_size)
      refuse_call("XLA", "must have buffers of its element type", std::to_string(size) + " bytes",
                  std::to_string(call.element_size));
  };
  check(result, call.output());
  if (argument) check(*argument, call.input());
  return call.plan(samples);
}

/// Returns the CUstream on which XLA runs the call.
void* stream_of(const xla::CallFrame& frame) {
  xla::StreamGetArgs args{sizeof(args), nullptr, frame.context, nullptr};
  if (drop_error(frame, frame.api->stream_get(&args)) && !runs_on_host())
    refuse_call("XLA", "must have a stream of CUDA", "", "");
  return args.stream;
}

void execute(const xla::CallFrame& frame, bool on_device) {
  if (frame.arguments.size > 1 || frame.results.size != 1)
    refuse_call("XLA", "must have one result and at most one argument", "", "");
  const xla::Buffer& result = buffer_of(frame.results, 0);
  const xla::Buffer* const argument = frame.arguments.size == 1 ? &buffer_of(frame.arguments, 0) : nullptr;
  const std::string_view text = text_of_call(frame.attributes);
  detail::PlanKey key(detail::PlanKey::Maker::xla);
  key.add(text, argument != nullptr);
  for (const xla::Buffer* buffer : {argument, &result})
    if (buffer) key.add(buffer->dtype, shape_of(*buffer));
  const Plan plan = detail::recent_plan(key, [&] { return detail::Planned{plan_of(text, argument, result)}; }).plan;
  if (on_device) return run_on_device(plan, "patchfold", stream_of(frame), argument ? argument->data : nullptr, result.data);
  XlaExecutor executor(frame);
  prefer_large_pages(result.data,
                     static_cast<std::size_t>(element_count(shape_of(result))) * xla::element_size(result.dtype));
  throw_if_failed(plan.run(argument ? argument->data : nullptr, result.data, executor), "patchfold", "result");
}

xla::Error* error_of(const xla::CallFrame& frame, const char* message, int code) {
  xla::ErrorCreateArgs args{sizeof(args), nullptr, message, code};
  return frame.api->error_create(&args);
}

/// Runs a target. XLA first asks for the version, by a call with an extension; later calls have no extension.
template <bool on_device>
xla::Error* handle(xla::CallFrame* frame) noexcept {
  if (frame->extensions != nullptr && frame->extensions->type == xla::extension_metadata) {
    xla::Version& version = reinterpret_cast<xla::MetadataExtension*>(frame->extensions)->metadata->version;
    version.major = xla::version_major;
    version.minor = xla::version_minor;
    return nullptr;
  }
  if (frame->stage != xla::stage_execute) return nullptr;
  try {
    execute(*frame, on_device);
    return nullptr;
  } catch (const std::bad_alloc&) {
    return error_of(*frame, "patchfold: out of memory", xla::error_resource_exhausted);
  } catch (const std::exception& error) {
    return error_of(*frame, error.what(), xla::error_invalid_argument);
  } catch (...) {
    return error_of(*frame, "patchfold: an unknown error", xla::error_internal);
  }
}

}  // namespace

void bind_xla(nb::module_& module) {
  module.def(
      "xla_target",
      [](bool on_device) { return nb::capsule(reinterpret_cast<const void*>(on_device ? &handle<true> : &handle<false>)); },
      nb::arg("on_device"));
}

}  // namespace patchfold::python
