// SPDX-License-Identifier: Apache-2.0
// ONNX node tests: a model and tensors. The input is a row of sections, each a letter (m: model, i: an input, o: an output,
// d: begin another data set), its size in two bytes, the higher first, and its content.
#include "formats/node_test.hpp"

#include "fuzz/folder.hpp"
#include "fuzz/target.hpp"

namespace patchfold::fuzz {
namespace {

void run(std::span<const std::uint8_t> bytes) {
  clear_folder();
  int sets = 0;
  int inputs = 0;
  int outputs = 0;
  while (bytes.size() >= 3 && sets < 4) {
    const auto kind = bytes[0];
    const auto size = std::min<std::size_t>(bytes[1] << 8 | bytes[2], bytes.size() - 3);
    const auto content = bytes.subspan(3, size);
    bytes = bytes.subspan(3 + size);
    const std::string set = "test_data_set_" + std::to_string(sets) + "/";
    if (kind == 'd') {
      ++sets;
      inputs = outputs = 0;
    } else if (kind == 'i') {
      put_file(set + "input_" + std::to_string(inputs++) + ".pb", content);
    } else if (kind == 'o') {
      put_file(set + "output_" + std::to_string(outputs++) + ".pb", content);
    } else {
      put_file("model.onnx", content);
    }
  }
  formats::NodeTest test;
  if (refusal([&] { test = formats::read_node_test(folder()); })) return;
  refusal([&] {
    const BoundOperator op = find_operator(test.op).bind(test.attributes);
    for (const auto& set : test.data_sets) op.output_shape(set.inputs.at(0).view.shape);
  });
}

}  // namespace
}  // namespace patchfold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  patchfold::fuzz::run({data, size});
  return 0;
}
