// SPDX-License-Identifier: Apache-2.0
#include "plugins/onnxruntime/kernel.hpp"

#include <exception>
#include <new>
#include <optional>

#include "patchfold/dtype.hpp"

namespace patchfold::plugins::ort {
namespace {

/// Carries an error status of ONNX Runtime to guarded(), which returns it.
struct Failed {
  Status* status;
};

void check(Status* status) {
  if (status != nullptr) throw Failed{status};
}

/// Returns whether a call succeeded; releases its status.
bool went_well(const Api& api, Status* status) {
  if (status == nullptr) return true;
  api.release_status(status);
  return false;
}

/// Runs `work`. Returns its exception as a status, since ONNX Runtime cannot catch it; null if there was none.
template <class Work>
Status* guarded(const Api& api, Work&& work) noexcept {
  try {
    work();
    return nullptr;
  } catch (const Failed& failed) {
    return failed.status;
  } catch (const Refused& refused) {
    return api.create_status(invalid_argument, refused.what());
  } catch (const std::bad_alloc&) {
    return api.create_status(fail, "patchfold: an allocation failed");
  } catch (const std::exception& error) {
    return api.create_status(fail, error.what());
  } catch (...) {
    return api.create_status(fail, "patchfold: an unknown error");
  }
}

Extents shape_of(const Api& api, const TypeAndShape* info) {
  std::size_t rank = 0;
  check(api.rank(info, &rank));
  Extents extents(rank);
  check(api.dimensions(info, extents.data(), rank));
  return extents;
}

/// Releases a TypeAndShape at the end of its scope.
struct Info {
  Info(const Api& with, TypeAndShape* made) : api(with), info(made) {}
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  ~Info() { api.release_type_and_shape(info); }

  Extents shape() const { return shape_of(api, info); }

  const Api& api;
  TypeAndShape* info;
};

pf_dtype dtype_of(ElementType type, const char* name) {
  for (const DTypeInfo& each : dtype_table)
    if (type != undefined && each.onnx == type) return static_cast<pf_dtype>(each.dtype);
  throw Refused(std::string(name) + ": the input's elements must be numbers or booleans of whole bytes; given " +
                (type == text ? "strings" : "ONNX's element type " + std::to_string(static_cast<int>(type))));
}

/// Returns a text setting, without the NUL with which ONNX Runtime ends texts.
Setting ended_text_setting(const char* name, std::string text) {
  if (!text.empty() && text.back() == '\0') text.pop_back();
  return text_setting(name, std::move(text));
}

/// Returns an attribute of a node, of whatever kind, so that a wrong kind can be refused; nothing if the node does not have it.
std::optional<Setting> attribute_of(const Api& api, const KernelInfo* info, const char* name) {
  // ONNX Runtime may report an attribute of another kind as an empty list of integers, so the other kinds are tried before
  // an empty list counts.
  std::size_t size = 0;
  const bool listed = went_well(api, api.attribute_integers(info, name, nullptr, &size));
  if (listed && size > 0) {
    Extents values(size);
    check(api.attribute_integers(info, name, values.data(), &size));
    return integers_setting(name, std::move(values));
  }
  std::int64_t integer = 0;
  if (went_well(api, api.attribute_integer(info, name, &integer))) return integer_setting(name, integer);
  if (went_well(api, api.attribute_text(info, name, nullptr, &size))) {
    std::string text(size, '\0');
    check(api.attribute_text(info, name, text.data(), &size));
    return ended_text_setting(name, std::move(text));
  }
  float number = 0;
  if (went_well(api, api.attribute_number(info, name, &number))) return number_setting(name, number);
  return listed ? std::optional(integers_setting(name, {})) : std::nullopt;
}

std::optional<Setting> attribute_of(const Api& api, const ShapeContext* context, const char* name) {
  const OpAttribute* attribute = nullptr;
  if (!went_well(api, api.shape_attribute(context, name, &attribute)) || attribute == nullptr) return std::nullopt;
  std::int64_t integer = 0;
  std::size_t bytes = 0;
  if (went_well(api, api.read_attribute(attribute, an_integer, &integer, sizeof(integer), &bytes))) {
    return integer_setting(name, integer);
  }
  // If the memory is too small, ONNX Runtime writes to `bytes` the size that it needs.
  const auto read = [&](AttributeKind kind, void* data, std::size_t room) {
    bytes = 0;
    return went_well(api, api.read_attribute(attribute, kind, data, room, &bytes));
  };
  char nothing = 0;
  const bool listed = read(integers, &nothing, 0);
  if (bytes > 0) {
    Extents values(bytes / sizeof(std::int64_t));
    if (read(integers, values.data(), bytes)) return integers_setting(name, std::move(values));
  }
  float number = 0;
  if (read(a_number, &number, sizeof(number))) return number_setting(name, number);
  read(a_text, &nothing, 0);
  if (bytes > 1) {
    std::string text(bytes, '\0');
    if (read(a_text, text.data(), bytes)) return ended_text_setting(name, std::move(text));
  }
  return listed ? std::optional(integers_setting(name, {})) : std::nullopt;
}

template <class Source>
std::vector<Setting> settings_of(const Api& api, const Definition& definition, const Source* source) {
  std::vector<Setting> settings;
  for (const Argument& argument : definition.attributes) {
    if (std::optional<Setting> setting = attribute_of(api, source, argument.name)) settings.push_back(std::move(*setting));
  }
  return settings;
}

/// The threads of the session, on which pieces run, besides the calling thread.
struct SessionThreads {
  const Api& api;
  const KernelContext* context;
};

struct Pieces {
  pf_body body;
  void* context;
};

std::int32_t run_pieces(void* threads, std::int64_t pieces, pf_body body, void* body_context) {
  const auto& [api, context] = *static_cast<const SessionThreads*>(threads);
  Pieces work{body, body_context};
  const auto one = [](void* data, std::size_t piece) {
    const Pieces& all = *static_cast<const Pieces*>(data);
    all.body(all.context, static_cast<std::int64_t>(piece));
  };
  // Each piece is a batch of its own, so that a thread that is done takes the next piece.
  const std::size_t total = static_cast<std::size_t>(pieces);
  return went_well(api, api.parallel_for(context, one, total, total, &work)) ? 0 : 1;
}

class Kernel {
 public:
  Kernel(const Api& api, const Definition& definition, const KernelInfo* info)
      : api_(api), definition_(definition), operation_(definition, settings_of(api, definition, info)) {}

  void compute(KernelContext* context) const {
    std::size_t count = 0;
    check(api_.input_count(context, &count));
    std::vector<Extents> inputs;
    for (std::size_t i = 1; i < count; ++i) inputs.push_back(integers_of(context, i));
    const Value* data = value_of(context, 0);
    const Info info(api_, info_of(data));
    ElementType type = undefined;
    check(api_.element_type(info.info, &type));
    const pf_dtype dtype = dtype_of(type, definition_.name);
    SessionThreads threads{api_, context};
    // Here pf_get_num_threads() only decides into how many pieces a run is cut; the session divides them among its threads.
    const pf_executor executor{sizeof(pf_executor), pf_get_num_threads(), &threads, run_pieces};
    operation_.run({pointer_of(data), dtype}, info.shape(), inputs, executor, [&](const Extents& shape) {
      Value* output = nullptr;
      check(api_.output(context, 0, shape.data(), shape.size(), &output));
      return pointer_of(output);
    });
  }

  const Api& api() const { return api_; }

 private:
  const Value* value_of(const KernelContext* context, std::size_t index) const {
    const Value* value = nullptr;
    check(api_.input(context, index, &value));
    if (value == nullptr)
      throw Refused(std::string(definition_.name) + ": input " + std::to_string(index) + " must be given");
    return value;
  }

  TypeAndShape* info_of(const Value* value) const {
    TypeAndShape* info = nullptr;
    check(api_.type_and_shape(value, &info));
    return info;
  }

  void* pointer_of(const Value* value) const {
    void* data = nullptr;
    check(api_.mutable_data(const_cast<Value*>(value), &data));  // inputs are only read
    return data;
  }

  Extents integers_of(const KernelContext* context, std::size_t index) const {
    const Value* value = value_of(context, index);
    const Info info(api_, info_of(value));
    const Extents shape = info.shape();
    if (shape.size() != 1) {
      const std::size_t known = definition_.inputs.size();
      throw Refused(std::string(definition_.name) + ": " +
                    (index <= known ? definition_.inputs[index - 1].name : "input " + std::to_string(index)) +
                    ": must have one axis; given " + std::to_string(shape.size()));
    }
    const auto* values = static_cast<const std::int64_t*>(pointer_of(value));
    return Extents(values, values + shape[0]);
  }

  const Api& api_;
  const Definition& definition_;
  Operation operation_;
};

const Operator& operator_of(const CustomOp* op) {
  return *static_cast<const Operator*>(op);
}

Status* make(const CustomOp* op, const Api* api, const KernelInfo* info, void** kernel) {
  return guarded(*api, [&] { *kernel = new Kernel(*api, operator_of(op).definition, info); });
}

Status* run(void* kernel, KernelContext* context) {
  const auto& known = *static_cast<const Kernel*>(kernel);
  return guarded(known.api(), [&] { known.compute(context); });
}

/// Infers the shape of the output if all extents of the input are known, so that a wrong node is refused before the session runs.
Status* infer_shape(const CustomOp* op, ShapeContext* context) {
  const auto& [definition, api] = operator_of(op).parts();
  return guarded(api, [&] {
    if (!definition.inputs.empty()) return;
    TypeAndShape* given = nullptr;
    if (!went_well(api, api.shape_input(context, 0, &given))) return;
    const Extents shape = shape_of(api, given);
    // ONNX Runtime gives an empty shape if the shape is unknown.
    if (shape.empty()) return;
    for (const std::int64_t extent : shape) {
      if (extent < 0) return;
    }
    const Operation operation(definition, settings_of(api, definition, context));
    const Extents result = operation.output_shape(shape, std::vector<Extents>());
    ElementType type = undefined;
    check(api.element_type(given, &type));
    TypeAndShape* made = nullptr;
    check(api.create_type_and_shape(&made));
    const Info info(api, made);
    std::vector<const char*> names(result.size(), "");
    check(api.set_element_type(made, type));
    check(api.set_dimensions(made, result.data(), result.size()));
    check(api.set_names(made, names.data(), names.size()));
    check(api.set_output_shape(context, 0, made));
  });
}

}  // namespace

Operator::Operator(const Definition& known, const Api& with) : definition(known), api(with) {
  name = [](const CustomOp* op) { return operator_of(op).definition.name; };
  provider = [](const CustomOp*) -> const char* { return nullptr; };
  input_type = [](const CustomOp*, std::size_t index) { return index == 0 ? undefined : int64; };
  input_count = [](const CustomOp* op) { return operator_of(op).definition.inputs.size() + 1; };
  output_type = [](const CustomOp*, std::size_t) { return undefined; };
  output_count = [](const CustomOp*) -> std::size_t { return 1; };
  destroy = [](void* kernel) { delete static_cast<Kernel*>(kernel); };
  input_presence = [](const CustomOp*, std::size_t) { return required; };
  output_presence = [](const CustomOp*, std::size_t) { return required; };
  input_memory = [](const CustomOp*, std::size_t) { return usual; };
  const auto one = [](const CustomOp*) { return 1; };
  least_variadic_inputs = like_variadic_inputs = least_variadic_outputs = like_variadic_outputs = one;
  create_kernel_v2 = make;
  compute_v2 = run;
  CustomOp::infer_shape = ort::infer_shape;
  first_version = one;
  last_version = [](const CustomOp*) { return std::numeric_limits<int>::max(); };
}

}  // namespace patchfold::plugins::ort
