// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/operation.hpp"

#include <algorithm>

namespace patchfold::plugins {
namespace {

const char* own_name(const Argument& argument) {
  return argument.own == nullptr ? argument.name : argument.own;
}

/// Returns pads as pairs (begin, end). `pads` holds all begins, then all ends.
Extents in_pairs(const Extents& pads) {
  Extents pairs;
  const std::size_t axes = pads.size() / 2;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    pairs.push_back(pads[axis]);
    pairs.push_back(pads[axes + axis]);
  }
  return pairs;
}

/// Returns a pointer to the list's data, which is not null even if the list is empty.
const std::int64_t* data_of(const Extents& list) {
  static const std::int64_t none = 0;
  return list.empty() ? &none : list.data();
}

pf_tensor tensor_of(const Extents& shape, pf_dtype dtype, void* data = nullptr) {
  return {data, data_of(shape), nullptr, static_cast<std::int32_t>(shape.size()), dtype, 0};
}

}  // namespace

/// The arguments of a call in the form of the C ABI: the settings, and the integer inputs.
struct Operation::Attributes {
  std::vector<Extents> sorted;  // the node's lists in another order, turned into pairs
  std::vector<pf_attribute> list;

  Attributes(const Operation& operation, const std::vector<Extents>& inputs) {
    const Definition& definition = operation.definition_;
    if (inputs.size() != definition.inputs.size()) {
      throw Refused(std::string(definition.name) + ": must have " + std::to_string(definition.inputs.size() + 1) +
                    " inputs; given " + std::to_string(inputs.size() + 1));
    }
    sorted.reserve(operation.settings_.size() + inputs.size());
    for (const Setting& setting : operation.settings_) add(definition, setting);
    for (std::size_t i = 0; i < inputs.size(); ++i) add(definition, definition.inputs[i], inputs[i]);
  }

  void add(const Definition& definition, const Setting& setting) {
    Argument known{setting.name.c_str()};
    for (const Argument& argument : definition.attributes) {
      if (setting.name == argument.name) known = argument;
    }
    switch (setting.kind) {
      case Setting::Kind::integer: return list.push_back(pf_integer(own_name(known), setting.integers.at(0)));
      case Setting::Kind::text: return add(definition, known, setting.text);
      case Setting::Kind::number: return list.push_back(pf_number(own_name(known), setting.number));
      case Setting::Kind::integers: return add(definition, known, setting.integers);
    }
  }

  /// Adds a word, which must outlive the list. Refuses a word that is long or not printable, since errors quote words.
  void add(const Definition& definition, const Argument& argument, const std::string& word) {
    const auto printable = [](char letter) { return letter >= ' ' && letter <= '~'; };
    if (word.size() > 100 || !std::all_of(word.begin(), word.end(), printable)) {
      throw Refused(std::string(definition.name) + ": " + argument.name +
                    ": must be at most 100 printable ASCII characters; given " + std::to_string(word.size()) + " bytes");
    }
    list.push_back(pf_text(own_name(argument), word.c_str()));
  }

  /// Adds integers; `values` must outlive the list.
  void add(const Definition& definition, const Argument& argument, const Extents& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    if (argument.pairs == Argument::Pairs::none) {
      return list.push_back(pf_integers(own_name(argument), data_of(values), count));
    }
    if (count % 2 != 0) {
      throw Refused(std::string(definition.name) + ": " + argument.name +
                    ": must have a begin and an end for each axis; given " + std::to_string(count) + " numbers");
    }
    const Extents* pairs = &values;
    if (argument.pairs == Argument::Pairs::begins_ends) pairs = &sorted.emplace_back(in_pairs(values));
    list.push_back(pf_pairs(own_name(argument), data_of(*pairs), count / 2));
  }

  std::int32_t count() const { return static_cast<std::int32_t>(list.size()); }
};

Operation::Operation(const Definition& definition, std::vector<Setting> settings)
    : definition_(definition), settings_(std::move(settings)) {}

void Operation::check(pf_status status) const {
  if (status == PF_OK) return;
  const auto part = [](std::int32_t number) { return std::string(pf_last_error_part(number)); };
  std::string argument = part(PF_PART_ARGUMENT);
  for (const std::vector<Argument>* arguments : {&definition_.inputs, &definition_.attributes}) {
    for (const Argument& known : *arguments) {
      if (argument == own_name(known)) argument = known.name;
    }
  }
  std::string text = definition_.name;
  if (!argument.empty()) text += ": " + argument;
  text += ": " + part(PF_PART_RULE);
  const std::string given = part(PF_PART_GIVEN), expected = part(PF_PART_EXPECTED);
  if (!given.empty()) text += "; given " + given;
  if (!expected.empty()) text += (given.empty() ? "; expected " : ", expected ") + expected;
  throw Refused(text);
}

Extents Operation::output_shape(const Extents& shape, const std::vector<Extents>& inputs) const {
  return output_shape(shape, Attributes(*this, inputs));
}

Extents Operation::output_shape(const Extents& shape, const Attributes& attributes) const {
  if (shape.size() > PF_MAX_RANK) {
    throw Refused(std::string(definition_.name) + ": a tensor may have " + std::to_string(PF_MAX_RANK) + " axes; given " +
                  std::to_string(shape.size()));
  }
  const pf_tensor data = tensor_of(shape, PF_DTYPE_FLOAT32);
  std::int32_t rank = PF_MAX_RANK;
  Extents result(PF_MAX_RANK);
  check(pf_output_shape(definition_.op, attributes.list.data(), attributes.count(), &data, 1, result.data(), &rank));
  result.resize(static_cast<std::size_t>(rank));
  return result;
}

void Operation::run(Buffer data, const Extents& shape, const std::vector<Extents>& inputs, const pf_executor& executor,
                    const std::function<void*(const Extents&)>& allocate) const {
  const Attributes attributes(*this, inputs);
  const Extents extents = output_shape(shape, attributes);
  const pf_tensor input = tensor_of(shape, data.dtype, data.data);
  const pf_tensor output = tensor_of(extents, data.dtype, allocate(extents));
  check(pf_run(definition_.op, attributes.list.data(), attributes.count(), &input, 1, &output, &executor));
}

}  // namespace patchfold::plugins
