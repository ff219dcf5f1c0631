/* SPDX-License-Identifier: Apache-2.0 */
/* Makes tensors of the C interface from DLPack's. Needs <dlpack/dlpack.h>, of any version. */
#ifndef PATCHFOLD_DLPACK_H
#define PATCHFOLD_DLPACK_H

#include <dlpack/dlpack.h>

#include "patchfold/patchfold.h"

#ifdef __cplusplus
#define PF_CAST(type, value) static_cast<type>(value)
#else
#define PF_CAST(type, value) ((type)(value))
#endif

/* Returns the element type of a DLPack type; -1 if the library has none. Types that older versions of dlpack.h lack are
 * known by the numbers that DLPack 1.1 gave them. */
static inline pf_dtype pf_dtype_from_dlpack(DLDataType type) {
  static const struct {
    uint8_t code, bits;
    pf_dtype dtype;
  } rows[] = {
      {kDLInt, 8, PF_DTYPE_INT8},
      {kDLInt, 16, PF_DTYPE_INT16},
      {kDLInt, 32, PF_DTYPE_INT32},
      {kDLInt, 64, PF_DTYPE_INT64},
      {kDLUInt, 8, PF_DTYPE_UINT8},
      {kDLUInt, 16, PF_DTYPE_UINT16},
      {kDLUInt, 32, PF_DTYPE_UINT32},
      {kDLUInt, 64, PF_DTYPE_UINT64},
      {kDLFloat, 16, PF_DTYPE_FLOAT16},
      {kDLFloat, 32, PF_DTYPE_FLOAT32},
      {kDLFloat, 64, PF_DTYPE_FLOAT64},
      {kDLBfloat, 16, PF_DTYPE_BFLOAT16},
      {kDLComplex, 64, PF_DTYPE_COMPLEX64},
      {kDLComplex, 128, PF_DTYPE_COMPLEX128},
      {6 /* kDLBool */, 8, PF_DTYPE_BOOLEAN},
      {10 /* kDLFloat8_e4m3fn */, 8, PF_DTYPE_FLOAT8_E4M3FN},
      {11 /* kDLFloat8_e4m3fnuz */, 8, PF_DTYPE_FLOAT8_E4M3FNUZ},
      {12 /* kDLFloat8_e5m2 */, 8, PF_DTYPE_FLOAT8_E5M2},
      {13 /* kDLFloat8_e5m2fnuz */, 8, PF_DTYPE_FLOAT8_E5M2FNUZ},
  };
  size_t i;
  for (i = 0; i < sizeof rows / sizeof rows[0]; ++i)
    if (type.lanes == 1 && rows[i].code == type.code && rows[i].bits == type.bits) return rows[i].dtype;
  return -1;
}

/* Describes the elements of a DLPack tensor; nothing is copied, and *to is valid as long as the memory of *from is.
 *   from            must be on the CPU. Read-only memory (DLPack 1.0's flag) must be used as an input only.
 *   to              gets the tensor: byte_offset is added to data, strides become bytes
 *   stride_storage  room for ndim strides that lives as long as *to; may be NULL if from->strides is NULL
 * Returns PF_OK, or, with *to untouched and without a message (pf_last_error() stays what it was):
 *   PF_ERROR_MISSING   a pointer is NULL: from, to, stride_storage, or the shape of a tensor with axes
 *   PF_ERROR_VALUE     the tensor is not on the CPU (device_type)
 *   PF_ERROR_RANK      ndim is negative or above PF_MAX_RANK
 *   PF_ERROR_DTYPE     the library has no such element type, or an element has more than one lane
 *   PF_ERROR_OVERFLOW  a stride in bytes does not fit into 63 bits */
static inline pf_status pf_from_dlpack(const DLTensor* from, pf_tensor* to, int64_t* stride_storage) {
  pf_tensor tensor;
  int32_t axis;
  if (from == NULL || to == NULL) return PF_ERROR_MISSING;
  if (from->device.device_type != kDLCPU) return PF_ERROR_VALUE;
  if (from->ndim < 0 || from->ndim > PF_MAX_RANK) return PF_ERROR_RANK;
  if (from->ndim > 0 && from->shape == NULL) return PF_ERROR_MISSING;
  if (from->ndim > 0 && from->strides != NULL && stride_storage == NULL) return PF_ERROR_MISSING;
  tensor.dtype = pf_dtype_from_dlpack(from->dtype);
  if (tensor.dtype < 0) return PF_ERROR_DTYPE;
  tensor.element_size = from->dtype.bits / 8u;
  tensor.rank = from->ndim;
  tensor.shape = from->shape;
  tensor.stride_bytes = from->ndim > 0 && from->strides != NULL ? stride_storage : NULL;
  tensor.data = from->data == NULL ? NULL : PF_CAST(char*, from->data) + from->byte_offset;
  if (tensor.stride_bytes != NULL) {
    const int64_t size = tensor.element_size, most = INT64_MAX / size;
    for (axis = 0; axis < from->ndim; ++axis)
      if (from->strides[axis] > most || from->strides[axis] < -most) return PF_ERROR_OVERFLOW;
    for (axis = 0; axis < from->ndim; ++axis) stride_storage[axis] = from->strides[axis] * size;
  }
  *to = tensor;
  return PF_OK;
}

#undef PF_CAST

#endif /* PATCHFOLD_DLPACK_H */
