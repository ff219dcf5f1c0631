// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs.hpp"

#include <cstring>
#include <limits>

#include "cli/report.hpp"
#include "cli/text.hpp"
#include "formats/file.hpp"
#include "formats/picture.hpp"
#include "src/base/index.hpp"

namespace patchfold::cli {
namespace {

ConstTensorView permuted(const ConstTensorView& view, std::initializer_list<int> axes) {
  ConstTensorView result = view;
  int to = 0;
  for (const int from : axes) {
    result.shape[to] = view.shape[from];
    result.strides[to++] = view.strides[from];
  }
  return result;
}

}  // namespace

ConstTensorView channels_first(const ConstTensorView& picture) {
  return permuted(picture, {2, 0, 1});
}
ConstTensorView channels_last(const ConstTensorView& picture) {
  return permuted(picture, {1, 2, 0});
}

ConstTensorView with_batch(const ConstTensorView& picture) {
  ConstTensorView result = picture;
  result.shape = {1};
  result.strides = {element_count(picture.shape) * static_cast<std::int64_t>(picture.element_size)};
  for (int axis = 0; axis < picture.shape.size(); ++axis) {
    result.shape.push_back(picture.shape[axis]);
    result.strides.push_back(picture.strides[axis]);
  }
  return result;
}

formats::LoadedTensor load_data(const RunRequest& request, formats::Metadata& metadata) {
  const std::filesystem::path path = request.data.path;
  const bool picture = request.data.kind == Source::Kind::picture;
  auto tensor = picture ? formats::read_picture(path, request.page, &metadata, request.level)
                        : formats::read_npy(path, request.dtype);
  if (request.as) tensor = convert(tensor, *request.as, {"--as", path});
  if (picture && request.chw) tensor.view = channels_first(tensor.view);
  if (picture && request.batch) tensor.view = with_batch(tensor.view);
  return tensor;
}

IndexTensor index_tensor(const OperatorSpec& op, const ArgumentSpec& argument, const formats::LoadedTensor& tensor) {
  const auto fail = [&](ErrorCode code, std::string_view rule, std::string given, std::string expected) {
    throw Error(
        {code, std::string(op.name), std::string(argument.name), std::string(rule), std::move(given), std::move(expected)});
  };
  const DType dtype = tensor.view.dtype;
  IndexTensor result{{}, tensor.view.shape, dtype};
  if (dtype == DType::opaque) fail(ErrorCode::type, "must hold integers", tensor.type.descr, "");
  const std::int64_t count = element_count(tensor.view.shape);
  if (count > max_rank) fail(ErrorCode::length, "has too many entries", text_of(count), text_of("at most ", max_rank));
  visit(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::integral<T>) {
      for (std::int64_t entry = 0; entry < count; ++entry) {
        const Dims index = index_at(entry, tensor.view.shape);
        const auto* from = static_cast<const std::byte*>(tensor.view.data);
        for (int axis = 0; axis < index.size(); ++axis) from += index[axis] * tensor.view.strides[axis];
        T value;
        std::memcpy(&value, from, sizeof(T));
        if (!std::in_range<std::int64_t>(value)) fail(ErrorCode::overflow, "does not fit into 63 bits", text_of(value), "");
        result.values.push_back(static_cast<std::int64_t>(value));
      }
    } else {
      fail(ErrorCode::type, "must hold integers", std::string(name_of(dtype)), "");
    }
  });
  return result;
}

}  // namespace patchfold::cli
