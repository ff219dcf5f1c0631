// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <openvino/op/op.hpp>
#include <optional>
#include <vector>

#include "plugins/openvino/kinds.hpp"

namespace patchfold::plugins::openvino {

/// An operator of the library as a node of an OpenVINO model. Its inputs are the data, and the integers that its kind names.
class Node final : public ov::op::Op {
 public:
  /// Makes a node with the default attributes of a kind.
  explicit Node(const Kind& kind);
  Node(const Kind& kind, const ov::OutputVector& inputs, std::vector<Setting> attributes);

  const ov::DiscreteTypeInfo& get_type_info() const override { return kind_.type; }
  std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector& inputs) const override;
  bool visit_attributes(ov::AttributeVisitor& visitor) override;
  /// Infers the shape of the output, as far as it is known. Refuses elements that OpenVINO's CPU plugin narrows, or that are not
  /// whole bytes.
  void validate_and_infer_types() override;
  bool has_evaluate() const override { return true; }
  bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override;
  bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs, const ov::EvaluationContext&) const override {
    return evaluate(outputs, inputs);
  }

 private:
  [[noreturn]] void refuse_type(const ov::element::Type& type) const;
  /// Throws unless an input after the data is a list, or a list of pairs, with at most PF_MAX_RANK entries.
  void check_list(std::size_t input, const ov::PartialShape& shape) const;
  std::optional<std::vector<Extents>> known_inputs() const;
  ov::PartialShape output_shape(const ov::PartialShape& shape) const;

  const Kind& kind_;
  std::vector<Setting> attributes_;
  std::shared_ptr<const Operation> operation_;
};

}  // namespace patchfold::plugins::openvino
