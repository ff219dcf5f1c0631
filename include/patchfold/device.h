/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface to GPUs: runs plans of patchfold.h in memory of a device. The functions are in the library
 * patchfold_device, beside patchfold; the rules at the beginning of patchfold.h hold. No driver is needed before the first
 * call that runs on it. */
#ifndef PATCHFOLD_DEVICE_H
#define PATCHFOLD_DEVICE_H

#include "patchfold/patchfold.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The interface of a device's driver. */
typedef int32_t pf_device_kind;
enum PF_INT32 {
  PF_DEVICE_HOST = 0,  /* no device: the kernels for devices run on the calling thread, in memory of the host; for tests */
  PF_DEVICE_CUDA = 1,  /* CUDA's driver interface */
  PF_DEVICE_OPENCL = 2 /* OpenCL 1.2 and later */
};

/* Enqueues a plan on a stream of the caller and returns without waiting. The first run of a kernel in a context loads or
 * compiles the kernel; a run allocates nothing else, except 4 KB in OpenCL. Results have the bits of pf_plan_run, but for
 * the bits of NaNs in sums.
 *   kind        PF_DEVICE_.. (PF_ERROR_VALUE for another number)
 *   stream      CUDA: a CUstream (or cudaStream_t) of the tensors' device; NULL is the default stream of the calling
 *               thread's current context. OpenCL: a cl_command_queue. Ignored for PF_DEVICE_HOST.
 *   src, dst    memory of the source and of the destination: addresses, or, in OpenCL, cl_mem. src is ignored if the
 *               operator has no data input. The memory must live until the stream has run the plan.
 *   src_offset, dst_offset  bytes from there to the elements with index 0 on every axis
 * PF_ERROR_EXECUTOR if there is no driver, if memory is not of the stream's device or is of another context, or if the
 * driver reports an error: the message has the driver's words. PF_ERROR_NULL_DATA and PF_ERROR_OVERLAP as for pf_plan_run. */
PF_CHECKED PF_API pf_status pf_plan_run_on(const pf_plan* plan, pf_device_kind kind, void* stream, const void* src,
                                           int64_t src_offset, void* dst, int64_t dst_offset);

#ifdef __cplusplus
}
#endif
#endif /* PATCHFOLD_DEVICE_H */
