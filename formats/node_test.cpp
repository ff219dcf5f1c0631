// SPDX-License-Identifier: Apache-2.0
#include "formats/node_test.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>

#include "formats/tensor_proto.hpp"
#include "src/tensor/fail.hpp"

namespace patchfold::formats {
namespace {

namespace fs = std::filesystem;

/// A model of one node is small. Read into objects, a hostile one would grow many times over.
constexpr std::size_t most_model_bytes = std::size_t{1} << 26;

template <class Message>
Message parse_message(const Subject& subject, std::size_t most_bytes) {
  const FileBytes file = open_file(subject);
  if (file.bytes.size() > most_bytes)
    subject.fail(ErrorCode::file_unsupported, "is too large", bytes_text(file.bytes.size()),
                 "at most " + bytes_text(most_bytes));
  Message message;
  if (file.bytes.empty() || !message.ParseFromArray(file.bytes.data(), static_cast<int>(file.bytes.size())))
    subject.fail(ErrorCode::file_format, "must be an ONNX file (a protocol buffer)");
  return message;
}

LoadedTensor read_tensor(const fs::path& path) {
  const Subject subject{"onnx", path};
  auto proto = parse_message<::onnx::TensorProto>(subject, std::numeric_limits<std::int32_t>::max());
  return take_tensor(proto, subject);
}

bool is_onnx_domain(const std::string& domain) {
  return domain.empty() || domain == "ai.onnx";
}

/// The newest version in the operator table that is not newer than the opset that the model asks for.
const OperatorSpec& find_version(const ::onnx::ModelProto& model, const std::string& op_type, const Subject& subject) {
  std::int64_t opset = 0;
  for (const auto& import : model.opset_import())
    if (is_onnx_domain(import.domain())) opset = std::max<std::int64_t>(opset, import.version());
  if (opset < 1) subject.fail(ErrorCode::file_format, "must import an opset of ONNX");
  const OperatorSpec* newest = nullptr;
  std::int64_t newest_version = 0;
  const std::string prefix = "onnx." + op_type + "-";
  for (const auto& spec : operators()) {
    if (!spec.name.starts_with(prefix)) continue;
    std::int64_t version = 0;
    std::from_chars(spec.name.data() + prefix.size(), spec.name.data() + spec.name.size(), version);
    if (version > opset || version <= newest_version) continue;
    newest = &spec;
    newest_version = version;
  }
  if (newest == nullptr)
    subject.fail(ErrorCode::file_unsupported, "has an operator that is not in the operator table",
                 excerpt(op_type) + " of opset " + std::to_string(opset));
  return *newest;
}

Argument read_attribute(const ::onnx::AttributeProto& attribute, const Subject& subject) {
  switch (attribute.type()) {
    case ::onnx::AttributeProto::INT: return {attribute.name(), std::int64_t{attribute.i()}};
    case ::onnx::AttributeProto::FLOAT: return {attribute.name(), Scalar(attribute.f())};
    case ::onnx::AttributeProto::STRING: return {attribute.name(), attribute.s()};
    case ::onnx::AttributeProto::INTS:
      if (attribute.ints_size() <= max_rank)
        return {attribute.name(), Dims(std::span(attribute.ints().data(), static_cast<std::size_t>(attribute.ints_size())))};
      [[fallthrough]];
    default:
      subject.fail(ErrorCode::file_unsupported,
                   "must have attributes that are numbers, strings or lists of at most 32 integers",
                   excerpt(attribute.name()));
  }
}

/// Where an input of the node comes from: an input file of the data set, or a constant in the model.
struct NodeInput {
  int file = -1;
  LoadedTensor constant{};
};

struct Model {
  std::string op{};
  std::vector<Argument> attributes{};
  std::vector<NodeInput> inputs{};
  int files = 0;  ///< inputs of the graph
};

Model read_model(const fs::path& path) {
  const Subject subject{"onnx", path};
  auto proto = parse_message<::onnx::ModelProto>(subject, most_model_bytes);
  auto& graph = *proto.mutable_graph();
  if (graph.node_size() != 1)
    subject.fail(ErrorCode::file_unsupported, "must be a model of one node", std::to_string(graph.node_size()));
  const auto& node = graph.node(0);
  if (!is_onnx_domain(node.domain()))
    subject.fail(ErrorCode::file_unsupported, "has an operator of a domain that is not read", excerpt(node.domain()),
                 "ai.onnx");
  const OperatorSpec& spec = find_version(proto, node.op_type(), subject);

  Model model{std::string(spec.name), {}, {}, 0};
  for (const auto& attribute : node.attribute()) model.attributes.push_back(read_attribute(attribute, subject));

  const auto shape_inputs = std::count_if(spec.arguments.begin(), spec.arguments.end(),
                                          [](const ArgumentSpec& argument) { return argument.is_input; });
  if (node.input_size() != 1 + shape_inputs)
    subject.fail(ErrorCode::file_format, "must give each input of its operator", std::to_string(node.input_size()),
                 std::to_string(1 + shape_inputs));
  if (node.output_size() != 1 || graph.output_size() != 1 || graph.output(0).name() != node.output(0))
    subject.fail(ErrorCode::file_format, "must have the output of its node as its only output");

  std::map<std::string, NodeInput> sources;
  for (auto& initializer : *graph.mutable_initializer()) {
    const std::string name = initializer.name();
    sources[name].constant = take_tensor(initializer, subject);
  }
  for (const auto& input : graph.input())
    if (const auto [entry, is_new] = sources.try_emplace(input.name()); is_new) entry->second.file = model.files++;
  for (const auto& name : node.input()) {
    const auto source = sources.find(name);
    if (source == sources.end())
      subject.fail(ErrorCode::file_format, "has a node whose input comes from nowhere", excerpt(name));
    model.inputs.push_back(source->second);
  }
  return model;
}

/// Names in a folder that begin and end so, shorter ones first: in the order of their numbers.
std::vector<std::string> list(const fs::path& folder, std::string_view begin, std::string_view end) {
  auto names = names_in(folder, "onnx");
  std::erase_if(names, [&](const auto& name) { return !name.starts_with(begin) || !name.ends_with(end); });
  std::sort(names.begin(), names.end(),
            [](const auto& a, const auto& b) { return a.size() != b.size() ? a.size() < b.size() : a < b; });
  return names;
}

/// The files NAME_0.pb, NAME_1.pb, .. of a data set: exactly `count`.
std::vector<LoadedTensor> read_tensors(const fs::path& folder, const std::string& name, int count) {
  const auto names = list(folder, name + "_", ".pb");
  if (names.size() != static_cast<std::size_t>(count))
    Subject{"onnx", folder}.fail(ErrorCode::file_format,
                                 "must hold one " + name + "_N.pb for each " + name + " of the model",
                                 std::to_string(names.size()), std::to_string(count));
  std::vector<LoadedTensor> tensors;
  for (int i = 0; i < count; ++i) tensors.push_back(read_tensor(folder / (name + "_" + std::to_string(i) + ".pb")));
  return tensors;
}

NodeTestDataSet read_data_set(const fs::path& folder, const Model& model) {
  NodeTestDataSet data_set{folder.filename().string(), {}, {}};
  const auto tensors = read_tensors(folder, "input", model.files);
  for (const auto& input : model.inputs)
    data_set.inputs.push_back(input.file < 0 ? input.constant : tensors[static_cast<std::size_t>(input.file)]);
  data_set.expected = read_tensors(folder, "output", 1).front();
  return data_set;
}

}  // namespace

bool has_onnx() noexcept {
  return true;
}

NodeTest read_node_test(const fs::path& folder) try {
  const Model model = read_model(folder / "model.onnx");
  NodeTest test{model.op, model.attributes, {}};
  for (const auto& name : list(folder, "test_data_set_", "")) test.data_sets.push_back(read_data_set(folder / name, model));
  if (test.data_sets.empty())
    Subject{"onnx", folder}.fail(ErrorCode::file_format, "must hold folders named test_data_set_N");
  return test;
} catch (const std::bad_alloc&) {
  fail_memory();
}

}  // namespace patchfold::formats
