// SPDX-License-Identifier: Apache-2.0
// The operators of the vectors as problem strings without element type and shape, for oracle.py.
#pragma once

#include <string>

#include "patchfold/patchfold.hpp"

namespace patchfold::vectors {

std::string text_of(const Fold& op);
std::string text_of(const keras::ExtractPatches& op);
std::string text_of(const keras::Fold& op);
std::string text_of(const keras::Unfold& op);
std::string text_of(const onnx::Col2Im& op);
std::string text_of(const onnx::DepthToSpace& op);
std::string text_of(const onnx::SpaceToDepth& op);
std::string text_of(const openvino::BatchToSpace& op);
std::string text_of(const openvino::Col2Im& op);
std::string text_of(const openvino::DepthToSpace& op);
std::string text_of(const openvino::ExtractImagePatches& op);
std::string text_of(const openvino::SpaceToBatch& op);
std::string text_of(const openvino::SpaceToDepth& op);
std::string text_of(const tensorflow::BatchToSpace& op);
std::string text_of(const tensorflow::BatchToSpaceND& op);
std::string text_of(const tensorflow::DepthToSpace& op);
std::string text_of(const tensorflow::ExtractImagePatches& op);
std::string text_of(const tensorflow::ExtractVolumePatches& op);
std::string text_of(const tensorflow::SpaceToBatch& op);
std::string text_of(const tensorflow::SpaceToBatchND& op);
std::string text_of(const tensorflow::SpaceToDepth& op);
std::string text_of(const torch::Fold& op);
std::string text_of(const torch::PixelShuffle& op);
std::string text_of(const torch::PixelUnshuffle& op);
std::string text_of(const torch::Unfold& op);
/// Of an operator of the table.
std::string text_of(std::string_view op, const std::vector<Argument>& arguments);

}  // namespace patchfold::vectors
