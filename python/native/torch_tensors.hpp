// SPDX-License-Identifier: Apache-2.0
// torch tensors without torch's dispatcher: a small call would spend most of its time there.
#pragma once

#include <cstdint>
#include <optional>

#include "patchfold/tensor.hpp"
#include "python/native/errors.hpp"

namespace patchfold::python {

/// What a call may do with a tensor.
enum class TorchKind : std::uint8_t {
  other,     ///< no tensor, or one for which torch's dispatcher decides what happens
  plain,     ///< dense, on the CPU, and nothing watches the call: its memory may be read at once
  recorded,  ///< the same, but the call belongs into the graph of derivatives
};

/// Whether an object is a tensor, also one of a subclass. False as long as the program has not imported torch.
bool is_torch(nb::handle object);

/// For operators that torch's dispatcher knows. A plain call is one without modes, transforms of torch.func, forward-mode
/// derivatives, tracing, profiling, subclasses, and lazy conj or neg bits.
TorchKind torch_kind(nb::handle object);

/// The elements of a plain or recorded tensor, which must outlive the view. Nothing for element types that this library does
/// not have.
std::optional<TensorView> torch_view(nb::handle tensor);

/// For operators that torch's dispatcher does not know: the elements of a dense tensor on the CPU, if reading them loses no
/// derivative, and no trace would miss it. Nothing for tensors that need a closer look, and for what is no tensor.
std::optional<TensorView> torch_memory(nb::handle object);

/// A new tensor of the type of `like`, which must be on the CPU. It holds arbitrary elements; strides count bytes.
nb::object new_torch(nb::handle like, const Dims& shape, const Dims& strides, std::size_t element_size);

/// Byte strides of a row-major tensor as torch counts them: an extent of 0 counts as 1.
Dims torch_strides(const Dims& shape, std::size_t element_size);
/// Those of an output that has the memory format of the input: channels last if torch takes the input's strides for it,
/// which it also does for some row-major ones; otherwise row-major.
Dims torch_strides_like(const ConstTensorView& input, const Dims& shape);

}  // namespace patchfold::python
