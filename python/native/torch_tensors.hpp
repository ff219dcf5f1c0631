// SPDX-License-Identifier: Apache-2.0
// Reads torch tensors without torch's dispatcher, which would take most of the time of a small call.
#pragma once

#include <cstdint>
#include <optional>

#include "patchfold/tensor.hpp"
#include "python/native/device.hpp"

namespace patchfold::python {

/// The way in which a call may read a tensor.
enum class TorchKind : std::uint8_t {
  other,     ///< no tensor, or a tensor that must go through torch's dispatcher
  plain,     ///< a dense tensor on the CPU or on CUDA, in a call that torch need not see: the memory may be read at once
  recorded,  ///< a dense tensor on the CPU or on CUDA, in a call that torch must record for its derivative
};

/// The view of a tensor, and where its memory lies. On a device the stream is torch's current one.
struct TorchView : TensorView {
  Location location{};
};

/// Returns whether an object is a tensor, also of a subclass. Returns false until the program has imported torch.
bool is_torch(nb::handle object);

/// Returns how an operator that torch's dispatcher knows may read a tensor. A tensor is plain only if it is of no subclass
/// and has no lazy conj or neg bit, and only outside of modes, transforms of torch.func, forward-mode derivatives, tracing
/// and profiling.
TorchKind torch_kind(nb::handle object);

/// Returns the view of a plain or recorded tensor. The tensor must outlive the view. Returns nothing for element types that this
/// library lacks, and, before torch 2.10, for tensors on CUDA.
std::optional<TorchView> torch_view(nb::handle tensor);

/// Returns the view of a dense tensor on the CPU or on CUDA, if a plain read loses no derivative and no trace of the call. Returns
/// nothing for other objects, and for tensors that need further checks. The function is for operators that torch's dispatcher does
/// not know.
std::optional<TorchView> torch_memory(nb::handle object);

/// Returns a new tensor of arbitrary elements, of the type of `like` and on its device. Strides count bytes.
nb::object new_torch(nb::handle like, const Dims& shape, const Dims& strides, std::size_t element_size);

/// Returns the byte strides of a row-major tensor by torch's rule: an extent of 0 counts as 1.
Dims torch_strides(const Dims& shape, std::size_t element_size);
/// Returns the byte strides of an output in the memory format of the input: channels last or row-major. As in torch, some row-major
/// strides count as channels last.
Dims torch_strides_like(const ConstTensorView& input, const Dims& shape);

}  // namespace patchfold::python
