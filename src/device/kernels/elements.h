/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the elements of the next kernel: of "move" or "brick" for units of PF_MOVE or PF_BRICK bytes, or of "sum" for the
 * element type with the number PF_SUM. UNIT is their size. SUM names the type, Sum is the type in which elements are added, WIDEN
 * and NARROW convert to it and back, and PLUS adds. */
#undef UNIT
#undef SUM
#undef Sum
#undef WIDEN
#undef NARROW
#undef PLUS
#if defined(PF_MOVE)
#define UNIT PF_MOVE
#elif defined(PF_BRICK)
#define UNIT PF_BRICK
#elif defined(PF_SUM)
#if PF_SUM == PF_BOOLEAN
#define SUM bool
#define UNIT 1
#define Sum u8
#define WIDEN(x) ((x) != 0)
#define PLUS(a, b) ((u8)((a) | (b)))
#elif PF_SUM == PF_UINT8
#define SUM uint8
#define UNIT 1
#define Sum u8
#elif PF_SUM == PF_UINT16
#define SUM uint16
#define UNIT 2
#define Sum u16
#elif PF_SUM == PF_UINT32
#define SUM uint32
#define UNIT 4
#define Sum u32
#elif PF_SUM == PF_UINT64
#define SUM uint64
#define UNIT 8
#define Sum u64
#elif PF_SUM == PF_FLOAT16
#define SUM float16
#define UNIT 2
#define Sum float
#define WIDEN(x) float16_to_float(x)
#define NARROW(x) float_to_float16(x)
#elif PF_SUM == PF_BFLOAT16
#define SUM bfloat16
#define UNIT 2
#define Sum float
#define WIDEN(x) bfloat16_to_float(x)
#define NARROW(x) float_to_bfloat16(x)
#elif PF_SUM == PF_FLOAT32
#define SUM float32
#define UNIT 4
#define Sum float
#define WIDEN(x) as_float(x)
#define NARROW(x) as_uint(x)
#elif PF_SUM == PF_FLOAT64
#define SUM float64
#define UNIT 8
#define Sum double
#define WIDEN(x) as_double(x)
#define NARROW(x) as_bits(x)
#endif
#if !defined(WIDEN)
#define WIDEN(x) (x)
#endif
#if !defined(NARROW)
#define NARROW(x) (x)
#endif
#if !defined(PLUS)
#define PLUS(a, b) ((Sum)((a) + (b)))
#endif
#endif
