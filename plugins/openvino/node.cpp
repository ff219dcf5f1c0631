// SPDX-License-Identifier: Apache-2.0
#include "plugins/openvino/node.hpp"

#include <openvino/core/attribute_visitor.hpp>
#include <openvino/core/parallel.hpp>
#include <openvino/op/constant.hpp>
#include <utility>

namespace patchfold::plugins::openvino {
namespace {

/// Returns a node's attributes as settings for the library, with the two lists of pads joined to one.
std::vector<Setting> settings_of(const std::vector<Setting>& attributes) {
  std::vector<Setting> settings;
  Setting pads;
  pads.name = "pads";
  for (const Setting& attribute : attributes) {
    if (attribute.name == "pads_begin" || attribute.name == "pads_end") {
      pads.integers.insert(pads.integers.end(), attribute.integers.begin(), attribute.integers.end());
    } else if (attribute.kind != Setting::Kind::integers || !attribute.integers.empty()) {
      settings.push_back(attribute);
    }
  }
  if (!pads.integers.empty()) settings.push_back(std::move(pads));
  return settings;
}

/// Returns the library's type; nothing for a type that OpenVINO's CPU plugin converts to another type.
std::optional<pf_dtype> dtype_of(const ov::element::Type& type) {
  const std::string name = type == ov::element::boolean ? "bool" : type.get_type_name();
  pf_dtype dtype = PF_DTYPE_OPAQUE;
  const bool is_kept =
      pf_dtype_from_name(name.c_str(), &dtype) == PF_OK && pf_dtype_is_summable(dtype) == 1 && pf_dtype_size(dtype) <= 4;
  return is_kept ? std::optional(dtype) : std::nullopt;
}

Extents integers_of(const ov::Tensor& tensor) {
  Extents values(tensor.get_size());
  const ov::element::Type type = tensor.get_element_type();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (type == ov::element::i64) {
      values[i] = tensor.data<const std::int64_t>()[i];
    } else {
      values[i] = tensor.data<const std::int32_t>()[i];
    }
  }
  return values;
}

Extents extents_of(const ov::Shape& shape) {
  return {shape.begin(), shape.end()};
}

/// Runs the pieces on OpenVINO's threads, those of the calling thread's arena.
std::int32_t run_pieces(void*, std::int64_t pieces, pf_body body, void* context) {
  ov::parallel_for(static_cast<std::size_t>(pieces),
                   [&](std::size_t piece) { body(context, static_cast<std::int64_t>(piece)); });
  return 0;
}

}  // namespace

Node::Node(const Kind& kind) : kind_(kind), attributes_(kind.attributes) {}

Node::Node(const Kind& kind, const ov::OutputVector& inputs, std::vector<Setting> attributes)
    : Op(inputs), kind_(kind), attributes_(std::move(attributes)) {
  constructor_validate_and_infer_types();
}

std::shared_ptr<ov::Node> Node::clone_with_new_inputs(const ov::OutputVector& inputs) const {
  return std::make_shared<Node>(kind_, inputs, attributes_);
}

bool Node::visit_attributes(ov::AttributeVisitor& visitor) {
  for (Setting& attribute : attributes_) {
    switch (attribute.kind) {
      case Setting::Kind::integers: visitor.on_attribute(attribute.name, attribute.integers); break;
      case Setting::Kind::integer: visitor.on_attribute(attribute.name, attribute.integers.at(0)); break;
      case Setting::Kind::text: visitor.on_attribute(attribute.name, attribute.text); break;
      case Setting::Kind::number: visitor.on_attribute(attribute.name, attribute.number); break;
    }
  }
  return true;
}

void Node::refuse_type(const ov::element::Type& type) const {
  const bool narrowed = type == ov::element::i64 || type == ov::element::u64 || type == ov::element::f64;
  OPENVINO_THROW("patchfold: ", get_friendly_name(), ": ", kind_.definition.name,
                 ": data: must be boolean, i8, i16, i32, u8, u16, u32, f16, bf16 or f32; given ", type.to_string(),
                 narrowed ? ", which OpenVINO's CPU plugin cuts to 32 bits without saying so; convert it first" : "");
}

void Node::check_list(std::size_t input, const ov::PartialShape& shape) const {
  const Argument& argument = kind_.definition.inputs[input - 1];
  const bool pairs = argument.pairs == Argument::Pairs::in_turn;
  // An output of unknown extents gets an axis for each entry of the input, so more entries than a tensor may have axes are refused.
  ov::PartialShape wanted{ov::Dimension(0, PF_MAX_RANK)};
  if (pairs) wanted.push_back(2);
  OPENVINO_ASSERT(shape.compatible(wanted), "patchfold: ", get_friendly_name(), ": ", kind_.definition.name, ": ",
                  argument.name, ": must have the shape ", pairs ? "(M, 2)" : "(M)", " for M axes, at most ", PF_MAX_RANK,
                  "; given ", shape);
}

std::optional<std::vector<Extents>> Node::known_inputs() const {
  std::vector<Extents> inputs;
  for (std::size_t i = 1; i < get_input_size(); ++i) {
    const auto constant = ov::as_type_ptr<ov::op::v0::Constant>(input_value(i).get_node_shared_ptr());
    if (constant == nullptr) return std::nullopt;
    inputs.push_back(constant->cast_vector<std::int64_t>());
  }
  return inputs;
}

ov::PartialShape Node::output_shape(const ov::PartialShape& shape) const {
  const std::optional<std::vector<Extents>> inputs = known_inputs();
  if (shape.rank().is_dynamic()) return ov::PartialShape::dynamic();
  // A batch of unknown extent passes to the output unchanged, since no other extent depends on it.
  ov::PartialShape known = shape;
  const bool passes = kind_.batched > 0 && shape.rank().get_length() >= kind_.batched;
  if (passes) known[0] = 1;
  if (known.is_static() && inputs) {
    const Extents result = operation_->output_shape(extents_of(known.to_shape()), *inputs);
    ov::PartialShape output = ov::Shape(result.begin(), result.end());
    if (passes) output[0] = shape[0];
    return output;
  }
  // The length of an input or attribute with one entry for each spatial axis gives the number of spatial axes.
  const int axes = static_cast<int>(shape.rank().get_length());
  int spatial = attributes_.empty() ? 0 : static_cast<int>(attributes_[0].integers.size());
  if (get_input_size() > 1) {
    const ov::PartialShape& listed = get_input_partial_shape(1);
    if (listed.rank().is_static() && listed[0].is_static()) {
      spatial = static_cast<int>(listed[0].get_length());
    } else if (kind_.rank(axes, 0) != kind_.rank(axes, 1)) {
      return ov::PartialShape::dynamic();
    }
  }
  const int rank = kind_.rank(axes, spatial);
  return rank < 0 ? ov::PartialShape::dynamic() : ov::PartialShape::dynamic(rank);
}

void Node::validate_and_infer_types() {
  const std::size_t wanted = kind_.definition.inputs.size() + 1;
  OPENVINO_ASSERT(get_input_size() == wanted, "patchfold: ", kind_.definition.name, ": must have ", wanted,
                  " inputs; given ", get_input_size());
  const ov::element::Type data = get_input_element_type(0);
  if (!data.is_dynamic() && !dtype_of(data)) refuse_type(data);
  for (std::size_t i = 1; i < wanted; ++i) {
    const ov::element::Type type = get_input_element_type(i);
    OPENVINO_ASSERT(type.is_dynamic() || type == ov::element::i32 || type == ov::element::i64,
                    "patchfold: ", kind_.definition.name, ": ", kind_.definition.inputs[i - 1].name,
                    ": must be i32 or i64; given ", type.to_string());
    check_list(i, get_input_partial_shape(i));
  }
  operation_ = std::make_shared<Operation>(kind_.definition, settings_of(attributes_));
  try {
    set_output_type(0, get_input_element_type(0), output_shape(get_input_partial_shape(0)));
  } catch (const Refused& refused) {
    OPENVINO_THROW("patchfold: ", get_friendly_name(), ": ", refused.what());
  }
}

bool Node::evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const {
  const std::optional<pf_dtype> dtype = dtype_of(inputs[0].get_element_type());
  if (!dtype) refuse_type(inputs[0].get_element_type());
  std::vector<Extents> integers;
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    check_list(i, inputs[i].get_shape());
    integers.push_back(integers_of(inputs[i]));
  }
  const pf_executor executor{sizeof(pf_executor), parallel_get_max_threads(), nullptr, run_pieces};
  try {
    operation_->run({const_cast<void*>(inputs[0].data()), *dtype}, extents_of(inputs[0].get_shape()), integers, executor,
                    [&](const Extents& shape) {
                      outputs[0].set_shape(ov::Shape(shape.begin(), shape.end()));
                      return outputs[0].data();
                    });
  } catch (const Refused& refused) {
    OPENVINO_THROW("patchfold: ", get_friendly_name(), ": ", refused.what());
  }
  return true;
}

}  // namespace patchfold::plugins::openvino
