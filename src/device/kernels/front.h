/* SPDX-License-Identifier: Apache-2.0 */
/* The layer between the kernels and what compiles them: CUDA (nvcc, NVRTC), OpenCL C, or the host's C++ compiler. Kernels are
 * written in the C that the three have in common.
 *
 * A kernel is KERNEL(name, Params) { ENTER(Params); .. }, with src, dst and `p`, a pointer to its Params. Work is done in groups
 * of `p->threads` threads. A group runs the phases of a kernel one after the other: each phase is THREADS(t) { .. }, which
 * `continue` leaves, and BARRIER stands between two phases that use the same SHARED memory. The host runs all threads of a phase
 * before the next phase.
 *
 * Index counts elements and coordinates, and a Stride counts bytes. Both have 32 bits; with PF_WIDE, for problems that need it,
 * 64. Offsets in bytes always have 64 bits. With PF_BOTH, both widths are compiled together. */

#if defined(PF_HOST)
#define CONST
#define GLOBAL
#define LOCAL
#define SHARED(type, name, count) type name[count]
#define RESTRICT __restrict
#define INLINE static inline
#define UNROLL
#define ROLLED
#define UNROLLED(times)
#define BARRIER
#define THREADS(t) for (int t = 0; t < p->threads; ++t)
#define GROUP ((Index)group)
#define KERNEL(name, Params) \
  static inline void name([[maybe_unused]] const u8* RESTRICT src, u8* RESTRICT dst, const Params* RESTRICT p, u64 group)
#define ENTER(Params)
#elif defined(__OPENCL_VERSION__)
#if defined(PF_DOUBLE)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT OFF
typedef uchar u8;
typedef ushort u16;
typedef uint u32;
typedef ulong u64;
typedef long i64;
typedef uint4 Quad;
#define as_bits(x) as_ulong(x)
#define CONST __constant
#define GLOBAL __global
#define LOCAL __local
#define SHARED(type, name, count) __local type name[count]
#define RESTRICT restrict
#define INLINE inline static
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
#define UNROLLED(times) PRAGMA(unroll times)
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define THREADS(t) for (int t = (int)get_local_id(0), pf_once = 1; pf_once; pf_once = 0)
#define GROUP ((Index)get_group_id(0))
/* Memory objects have no address to add to, so their offsets are parameters. */
#define KERNEL(name, Params) \
  __kernel void name(GLOBAL const u8* src_base, i64 src_at, GLOBAL u8* dst_base, i64 dst_at, CONST const Params* p)
#define ENTER(Params)                                     \
  GLOBAL const u8* const RESTRICT src = src_base + src_at; \
  GLOBAL u8* const RESTRICT dst = dst_base + dst_at
#else
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
typedef uint4 Quad;
#define CONST
#define GLOBAL
#define LOCAL
#define SHARED(type, name, count) __shared__ type name[count]
#define RESTRICT __restrict__
#define INLINE static __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
#define UNROLLED(times) PRAGMA(unroll times)
#define BARRIER __syncthreads()
#define THREADS(t) for (int t = (int)threadIdx.x, pf_once = 1; pf_once; pf_once = 0)
#define GROUP ((Index)blockIdx.x)
#define KERNEL(name, Params)                        \
  extern "C" __global__ void __launch_bounds__(256) \
      name(const u8* RESTRICT src, u8* RESTRICT dst, const __grid_constant__ Params params)
#define ENTER(Params) const Params* const p = &params
INLINE float as_float(u32 bits) {
  return __uint_as_float(bits);
}
INLINE u32 as_uint(float value) {
  return __float_as_uint(value);
}
INLINE double as_double(u64 bits) {
  return __longlong_as_double((i64)bits);
}
INLINE u64 as_bits(double value) {
  return (u64)__double_as_longlong(value);
}
#endif

#if !defined(PF_HOST)
#define HALF_FUNCTION INLINE
#if defined(PF_WIDE)
typedef i64 Index, Stride;
#elif !defined(PF_BOTH)
typedef int Index, Stride;
#endif
#endif

#define PRAGMA(text) _Pragma(#text)
/* The offset in bytes of an index along an axis. */
#define ALONG(index, stride) ((i64)(index) * (stride))
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#if defined(PF_WIDE)
#define NAME(name) JOIN(name, _64)
#else
#define NAME(name) JOIN(name, _32)
#endif
