// SPDX-License-Identifier: Apache-2.0
#include "formats/node_test.hpp"
#include "samples.hpp"
#include "tests/formats/node_test_files.hpp"
#include "tests/limits/edges.hpp"

namespace patchfold::inputs {
namespace {

using namespace formats::test;

NodeTestSpec sound_test() {
  NodeTestSpec spec = col2im_test();
  spec.add_ints("pads", {0, 0, 0, 0});
  return spec;
}

std::string read_test(const std::filesystem::path& folder) {
  const formats::NodeTest test = formats::read_node_test(folder);
  std::string read = test.op;
  for (const auto& set : test.data_sets) {
    for (const auto& input : set.inputs) read += elements_of(input.view);
    read += elements_of(set.expected.view);
  }
  return read;
}

/// The numbers of a tensor, whose values are raw or typed.
void lie_in_tensor(const ::onnx::TensorProto& tensor, const TakeLie& take) {
  for (const std::int64_t edge : limits::edges()) {
    for (int axis = 0; axis < tensor.dims_size(); ++axis) {
      ::onnx::TensorProto changed = tensor;
      changed.set_dims(axis, edge);
      take("extent " + std::to_string(edge), changed.SerializeAsString());
      changed.clear_raw_data();
      changed.add_float_data(1);
      take("extent of typed values " + std::to_string(edge), changed.SerializeAsString());
    }
    ::onnx::TensorProto changed = tensor;
    changed.set_data_type(static_cast<std::int32_t>(edge));
    take("element type " + std::to_string(edge), changed.SerializeAsString());
    changed = tensor;
    changed.clear_dims();
    for (int axis = 0; axis < 40; ++axis) changed.add_dims(edge);
    take("40 extents " + std::to_string(edge), changed.SerializeAsString());
  }
}

void lie_in_model(const TakeLie& take) {
  for (const std::int64_t edge : limits::edges()) {
    NodeTestSpec spec = sound_test();
    spec.model.mutable_opset_import(0)->set_version(edge);
    take("opset " + std::to_string(edge), spec.model.SerializeAsString());
    spec = sound_test();
    spec.model.set_ir_version(edge);
    take("version " + std::to_string(edge), spec.model.SerializeAsString());
    spec = sound_test();
    spec.node().mutable_attribute(0)->set_ints(0, edge);
    take("pad " + std::to_string(edge), spec.model.SerializeAsString());
  }
}

Sample node_sample(const std::string& file, std::function<void(const TakeLie&)> lie) {
  return {"ONNX " + file, file,
          {"onnx"},       [](const std::filesystem::path& folder) { write_node_test(folder, sound_test()); },
          read_test,      std::move(lie)};
}

}  // namespace

std::vector<Sample> node_test_samples() {
  return {
      node_sample("model.onnx", lie_in_model),
      node_sample("test_data_set_0/input_0.pb", [](const TakeLie& take) { lie_in_tensor(sound_test().inputs[0], take); }),
      node_sample("test_data_set_0/input_1.pb", [](const TakeLie& take) { lie_in_tensor(sound_test().inputs[1], take); }),
      node_sample("test_data_set_0/output_0.pb", [](const TakeLie& take) { lie_in_tensor(sound_test().outputs[0], take); }),
  };
}

}  // namespace patchfold::inputs
