// SPDX-License-Identifier: Apache-2.0
// The extensions that `core.add_extension(path)` finds: with them every frontend makes this library's nodes instead of OpenVINO's.
#include <openvino/core/extension.hpp>
#include <openvino/core/op_extension.hpp>
#include <openvino/core/version.hpp>
#include <openvino/frontend/onnx/extension/conversion.hpp>
#include <openvino/frontend/pytorch/extension/conversion.hpp>
#include <openvino/frontend/tensorflow/extension/conversion.hpp>
#include <openvino/op/constant.hpp>
#include <string>
#include <vector>

#include "plugins/openvino/node.hpp"

namespace patchfold::plugins::openvino {
namespace {

namespace front = ov::frontend;
using Context = front::NodeContext;

/// Makes nodes of one kind for nodes of a file, whose type is the kind's own, or an OpenVINO type with the same attributes.
class Reader final : public ov::BaseOpExtension {
 public:
  Reader(const Kind& kind, const ov::DiscreteTypeInfo& type) : kind_(kind), type_(type) {}
  Reader(const Kind& kind, const char* name, const char* opset) : Reader(kind, ov::DiscreteTypeInfo{name, opset}) {}

  const ov::DiscreteTypeInfo& get_type_info() const override { return type_; }
  ov::OutputVector create(const ov::OutputVector& inputs, ov::AttributeVisitor& visitor) const override {
    const auto node = std::make_shared<Node>(kind_);
    node->set_arguments(inputs);
    if (node->visit_attributes(visitor)) node->constructor_validate_and_infer_types();
    return node->outputs();
  }
  std::vector<ov::Extension::Ptr> get_attached_extensions() const override { return {}; }

 private:
  const Kind& kind_;
  const ov::DiscreteTypeInfo type_;
};

/// The default attributes of a kind, some of which are then replaced.
class Attributes {
 public:
  explicit Attributes(const Kind& kind) : list_(kind.attributes) {}
  Attributes& set(const char* name, Extents values) {
    at(name).integers = std::move(values);
    return *this;
  }
  Attributes& set(const char* name, std::string text) {
    at(name).text = std::move(text);
    return *this;
  }
  /// Sets the padding. `pads` holds all begins, then all ends.
  Attributes& pad(const Extents& pads) {
    OPENVINO_ASSERT(pads.size() % 2 == 0, "patchfold: pads: must have a begin and an end for each axis; given ", pads.size(),
                    " numbers");
    const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(pads.size() / 2);
    return set("pads_begin", Extents(pads.begin(), middle)).set("pads_end", Extents(middle, pads.end()));
  }
  operator std::vector<Setting>() const { return list_; }

 private:
  Setting& at(const std::string& name) {
    for (Setting& each : list_) {
      if (each.name == name) return each;
    }
    OPENVINO_THROW("patchfold: there is no attribute ", name);
  }
  std::vector<Setting> list_;
};

ov::OutputVector make(const Context& context, const Kind& kind, const ov::OutputVector& inputs,
                      const std::vector<Setting>& attributes) {
  const auto node = std::make_shared<Node>(kind, inputs, attributes);
  context.mark_node(node);
  return node->outputs();
}

ov::OutputVector all_inputs(const Context& context) {
  ov::OutputVector inputs;
  for (std::size_t i = 0; i < context.get_input_size(); ++i) inputs.push_back(context.get_input(static_cast<int>(i)));
  return inputs;
}

// ---- ONNX ----

ov::OutputVector onnx_col2im(const Context& context) {
  Attributes attributes(kind_of(col2im));
  attributes.set("strides", context.get_attribute<Extents>("strides", {}))
      .set("dilations", context.get_attribute<Extents>("dilations", {}))
      .pad(context.get_attribute<Extents>("pads", {}));
  return make(context, kind_of(col2im), all_inputs(context), attributes);
}

ov::OutputVector onnx_depth(const Context& context, const Kind& kind) {
  const auto mode = context.get_attribute<std::string>("mode", "DCR");
  OPENVINO_ASSERT(mode == "DCR" || mode == "CRD", "patchfold: ", kind.definition.name, ": mode: must be DCR or CRD; given ",
                  mode);
  Attributes attributes(kind);
  attributes.set("mode", mode == "CRD" ? "depth_first" : "blocks_first")
      .set("block_size", Extents{context.get_attribute<std::int64_t>("blocksize")});
  return make(context, kind, all_inputs(context), attributes);
}

// ---- torch ----

Extents list(const Context& context, int index) {
  if (context.input_is_none(static_cast<std::size_t>(index))) return {};
  const ov::Any value = context.get_values_from_const_input(index);
  if (value.is<std::int64_t>()) return {value.as<std::int64_t>()};
  return value.as<Extents>();
}

/// Returns two numbers from an input of torch; a single number counts for both axes.
Extents pair(const Context& context, int index) {
  Extents values = list(context, index);
  if (values.size() == 1) values.push_back(values[0]);
  return values;
}

Extents both_ends(const Extents& padding) {
  Extents pads = padding;
  pads.insert(pads.end(), padding.begin(), padding.end());
  return pads;
}

/// Translates torch's col2im(input, output_size, kernel_size, dilation, padding, stride).
ov::OutputVector torch_col2im(const Context& context) {
  Attributes attributes(kind_of(col2im));
  attributes.set("dilations", pair(context, 3)).pad(both_ends(pair(context, 4))).set("strides", pair(context, 5));
  return make(context, kind_of(col2im), {context.get_input(0), context.get_input(1), context.get_input(2)}, attributes);
}

/// Translates torch's im2col(input, kernel_size, dilation, padding, stride).
ov::OutputVector torch_im2col(const Context& context) {
  Attributes attributes(kind_of(im2col));
  attributes.set("kernel_size", pair(context, 1)).set("dilations", pair(context, 2));
  attributes.pad(both_ends(pair(context, 3))).set("strides", pair(context, 4));
  return make(context, kind_of(im2col), {context.get_input(0)}, attributes);
}

ov::OutputVector torch_shuffle(const Context& context, const Kind& kind) {
  Attributes attributes(kind);
  attributes.set(kind.attributes[0].name.c_str(), list(context, 1));
  return make(context, kind, {context.get_input(0)}, attributes);
}

// ---- TensorFlow ----

ov::OutputVector tensorflow_patches(const Context& context) {
  const Kind& kind = kind_of(tensorflow_extract_image_patches);
  Attributes attributes(kind);
  for (const char* name : {"ksizes", "strides", "rates"}) attributes.set(name, context.get_attribute<Extents>(name));
  attributes.set("padding", context.get_attribute<std::string>("padding"));
  return make(context, kind, {context.get_input(0)}, attributes);
}

ov::OutputVector tensorflow_depth(const Context& context, const Kind& kind) {
  Attributes attributes(kind);
  attributes.set("block_size", Extents{context.get_attribute<std::int64_t>("block_size")})
      .set("data_format", context.get_attribute<std::string>("data_format", "NHWC"));
  return make(context, kind, {context.get_input(0)}, attributes);
}

ov::OutputVector tensorflow_batch(const Context& context, const Kind& kind) {
  return make(context, kind, all_inputs(context), kind.attributes);
}

template <class Extension, class Function, class... More>
ov::Extension::Ptr convert(const char* name, Function function, const More&... more) {
  return std::make_shared<Extension>(
      name, front::CreatorFunction([=](const Context& context) { return function(context, *more...); }));
}

void check_version() {
  const std::string built = std::to_string(OPENVINO_VERSION_MAJOR) + "." + std::to_string(OPENVINO_VERSION_MINOR) + "." +
                            std::to_string(OPENVINO_VERSION_PATCH);
  const std::string running = ov::get_openvino_version().buildNumber;
  OPENVINO_ASSERT(running.rfind(built, 0) == 0, "patchfold: this extension is built for OpenVINO ", built,
                  ", and runs with no other; this is ", running, "; build it again beside the OpenVINO that loads it");
}

std::vector<ov::Extension::Ptr> extensions() {
  check_version();
  using Onnx = front::onnx::ConversionExtension;
  using Torch = front::pytorch::ConversionExtension;
  using Tensorflow = front::tensorflow::ConversionExtension;
  std::vector<ov::Extension::Ptr> all = {
      std::make_shared<Reader>(kind_of(col2im), "Col2Im", "opset15"),
      std::make_shared<Reader>(kind_of(extract_image_patches), "ExtractImagePatches", "opset3"),
      std::make_shared<Reader>(kind_of(space_to_batch), "SpaceToBatch", "opset2"),
      std::make_shared<Reader>(kind_of(batch_to_space), "BatchToSpace", "opset2"),
      std::make_shared<Reader>(kind_of(space_to_depth), "SpaceToDepth", "opset1"),
      std::make_shared<Reader>(kind_of(depth_to_space), "DepthToSpace", "opset1"),
      convert<Onnx>("Col2Im", onnx_col2im),
      convert<Onnx>("SpaceToDepth", onnx_depth, &kind_of(space_to_depth)),
      convert<Onnx>("DepthToSpace", onnx_depth, &kind_of(depth_to_space)),
      convert<Tensorflow>("ExtractImagePatches", tensorflow_patches),
      convert<Tensorflow>("SpaceToBatchND", tensorflow_batch, &kind_of(tensorflow_space_to_batch)),
      convert<Tensorflow>("BatchToSpaceND", tensorflow_batch, &kind_of(tensorflow_batch_to_space)),
      convert<Tensorflow>("SpaceToDepth", tensorflow_depth, &kind_of(tensorflow_space_to_depth)),
      convert<Tensorflow>("DepthToSpace", tensorflow_depth, &kind_of(tensorflow_depth_to_space)),
  };
  // Adds a translation under the names of torch.jit and of torch.export.
  const auto torch = [&](const char* name, auto function, const auto&... kind) {
    all.push_back(convert<Torch>((std::string("aten::") + name).c_str(), function, kind...));
    all.push_back(convert<Torch>((std::string("aten.") + name + ".default").c_str(), function, kind...));
  };
  torch("col2im", torch_col2im);
  torch("im2col", torch_im2col);
  torch("pixel_shuffle", torch_shuffle, &kind_of(pixel_shuffle));
  torch("pixel_unshuffle", torch_shuffle, &kind_of(pixel_unshuffle));
  for (const Kind& kind : kinds()) all.push_back(std::make_shared<Reader>(kind, kind.type));
  return all;
}

}  // namespace
}  // namespace patchfold::plugins::openvino

OPENVINO_CREATE_EXTENSIONS(patchfold::plugins::openvino::extensions());
