/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels "mean" and "count". A mean is made as kernels/mean.hpp and kernels/mean_careful.cpp describe: added up in float64,
 * in a pair of float64, or in 128 bits, then divided and rounded once; and made again with care if it is not finite. */

/* Runs for the column elements of one image element, in ascending order of the taps. TERM is the address of the element. */
#define TERMS                                           \
  ROLLED for (Index outer = 0; outer < e.outer; ++outer)    \
    ROLLED for (Index each = 0; each < inner.count; ++each)
#define TERM (src + outer_offset(p, &e, outer) + inner.offset + ALONG(each, step))

INLINE u64 read_bits(GLOBAL const u8* from, int size, int is_aligned) {
  Chunk value;
  value.longs[0] = 0;
  if (is_aligned)
    load_chunk(from, &value, size);
  else
    for (int i = 0; i < size; ++i) value.bytes[i] = from[i];
  return size == 1 ? value.bytes[0] : size == 2 ? value.halves[0] : size == 4 ? value.words[0] : value.longs[0];
}
INLINE void write_bits(GLOBAL u8* to, u64 bits, int size) {
  for (int i = 0; i < size; ++i) to[i] = (u8)(bits >> 8 * i);
}
INLINE int size_of_type(int dtype) {
  switch (dtype) {
    case PF_INT16: case PF_UINT16: case PF_FLOAT16: case PF_BFLOAT16: return 2;
    case PF_INT32: case PF_UINT32: case PF_FLOAT32: return 4;
    case PF_INT64: case PF_UINT64: case PF_FLOAT64: return 8;
    default: return 1;
  }
}
INLINE i64 signed_value(u64 bits, int dtype) {
  switch (dtype) {
    case PF_INT8: return (signed char)bits;
    case PF_INT16: return (short)bits;
    case PF_INT32: return (int)bits;
    default: return (i64)bits;
  }
}
INLINE bool is_integer(int dtype) {
  return dtype >= PF_INT8 && dtype <= PF_UINT64;
}

/* Returns the number of an element of up to 32 bits, or of float64. */
INLINE double widened(u64 bits, int dtype) {
  switch (dtype) {
    case PF_BOOLEAN: return bits != 0;
    case PF_FLOAT16: return float16_to_float((u16)bits);
    case PF_BFLOAT16: return bfloat16_to_float((u16)bits);
    case PF_FLOAT32: return as_float((u32)bits);
    case PF_FLOAT64: return as_double(bits);
    default: return (double)signed_value(bits, dtype);
  }
}

/* Returns the float of 1 + exponent_bits + mantissa_bits bits that is nearest to a number, ties to even. */
INLINE u64 rounded_float(double value, int exponent_bits, int mantissa_bits) {
  const u64 bits = as_bits(value), infinity = (((u64)1 << exponent_bits) - 1) << mantissa_bits;
  const u64 sign = bits >> 63 << (exponent_bits + mantissa_bits);
  const int exponent = (int)(bits >> 52 & 0x7ff) - 1023, smallest = 2 - (1 << (exponent_bits - 1));
  const u64 mantissa = (bits & 0xfffffffffffffu) | (u64)1 << 52;
  if (exponent == 1024) return mantissa << 12 != 0 ? infinity | (u64)1 << (mantissa_bits - 1) : sign | infinity;
  const int shift = 52 - mantissa_bits + (exponent < smallest ? smallest - exponent : 0);
  u64 units = 0;
  if (shift <= 53 && exponent != -1023) {
    const u64 rest = mantissa & (((u64)1 << shift) - 1), middle = (u64)1 << (shift - 1);
    units = (mantissa >> shift) + (rest > middle || (rest == middle && (mantissa >> shift & 1) != 0) ? 1 : 0);
  }
  if (exponent > smallest) units += (u64)(exponent - smallest) << mantissa_bits;
  return sign | (units > infinity ? infinity : units);
}

/* Returns the element of up to 32 bits, or of float64, that is nearest to a number; every NaN becomes the quiet NaN. */
INLINE u64 narrowed(double value, int dtype) {
  switch (dtype) {
    case PF_BOOLEAN: return rint(value) >= 1;
    case PF_FLOAT16: return rounded_float(value, 5, 10);
    case PF_BFLOAT16: return rounded_float(value, 8, 7);
    case PF_FLOAT32: return rounded_float(value, 8, 23);
    case PF_FLOAT64: return value != value ? (u64)0x7ff8 << 48 : as_bits(value);
    default: return (u64)(i64)rint(value);
  }
}

INLINE bool is_finite(double value) {
  return value - value == 0;
}

/* A number as the sum of two float64, as Pair in kernels/mean_scalar.hpp. */
typedef struct {
  double high;
  double low;
} Pair;
INLINE Pair sum_of(double a, double b) {
  const double sum = a + b, rest = sum - a;
  const Pair pair = {sum, (a - (sum - rest)) + (b - rest)};
  return pair;
}
INLINE void add_to(Pair* pair, double value) {
  const Pair sum = sum_of(pair->high, value);
  pair->high = sum.high;
  pair->low += sum.low;
}
INLINE double quotient_of(Pair pair, double count) {
  const Pair whole = pair.low == 0 ? pair : sum_of(pair.high, pair.low);
  const double low = pair.low == 0 ? 0 : whole.low;
  const double quotient = whole.high / count;
  const double upper = as_double(as_bits(quotient) & ~(u64)0x7ffffff);
  const double rest = (whole.high - upper * count) - (quotient - upper) * count + low;
  const double correction = rest / count;
  return correction == 0 ? quotient : quotient + correction;
}

/* An integer of 128 bits. */
typedef struct {
  u64 low;
  u64 high;
} Wide;
INLINE void add_wide(Wide* sum, u64 low, u64 high) {
  sum->low += low;
  sum->high += high + (sum->low < low ? 1 : 0);
}
/* Returns sum / count, rounded to nearest even, modulo 2^64. */
INLINE u64 wide_quotient(Wide sum, u64 count) {
  const bool negative = sum.high >> 63 != 0;
  if (negative) {
    sum.low = ~sum.low + 1;
    sum.high = ~sum.high + (sum.low == 0 ? 1 : 0);
  }
  u64 quotient = sum.low / count, rest = sum.low % count;
  if (sum.high != 0) {
    quotient = rest = 0;
    for (int i = 127; i >= 0; --i) {
      rest = rest << 1 | ((i >= 64 ? sum.high >> (i - 64) : sum.low >> i) & 1);
      quotient = quotient << 1 | (rest >= count ? 1 : 0);
      if (rest >= count) rest -= count;
    }
  }
  if (rest > count - rest || (rest == count - rest && (quotient & 1) != 0)) ++quotient;
  return negative ? ~quotient + 1 : quotient;
}

KERNEL(NAME(mean), Combine) {
  ENTER(Combine);
  THREADS(t) {
    const Index thread = GROUP * p->threads + t;
    if (thread >= p->total) continue;
    const int dtype = p->dtype, size = size_of_type(dtype), is_aligned = p->is_aligned, last = p->windows - 1;
    Element e;
    find_element(p, thread, 1, &e);
    const Taps one = {1, 0};
    const Taps inner = last < 0 ? one : e.taps[last];
    const Stride step = last < 0 ? 0 : p->window[last].step;
    const i64 count = (i64)e.outer * inner.count;
    GLOBAL u8* const to = dst + e.dst;
    if (count == 0) {
      for (int i = 0; i < size; ++i) to[i] = p->fill[e.part * size + i];
      continue;
    }
    if (is_integer(dtype) && (size == 8 || p->is_careful)) {
      Wide sum = {0, 0};
      TERMS {
        const u64 bits = read_bits(TERM, size, is_aligned);
        const u64 value = (u64)signed_value(bits, dtype);
        add_wide(&sum, value, dtype <= PF_INT64 && value >> 63 != 0 ? ~(u64)0 : 0);
      }
      write_bits(to, wide_quotient(sum, (u64)count), size);
      continue;
    }
    double mean = 0;
    Pair sum = {-0.0, 0};
    bool certain = !p->is_careful;
    TERMS {
      const u64 bits = read_bits(TERM, size, is_aligned);
      certain = certain && !(dtype == PF_BOOLEAN && bits > 1);
      if (dtype == PF_FLOAT64)
        add_to(&sum, as_double(bits));
      else
        sum.high += widened(bits, dtype);
    }
    mean = dtype == PF_FLOAT64 ? quotient_of(sum, (double)count) : sum.high / (double)count;
    if (certain && is_finite(mean)) {
      write_bits(to, narrowed(mean, dtype), size);
      continue;
    }
    /* The mean of equal elements has their bits. Otherwise it is infinite or a NaN if elements are, and finite if all are. */
    u64 bits = 0;
    bool is_first = true, same = true, has_nan = false, has_infinity = false, has_minus_infinity = false;
    TERMS {
      const u64 found = read_bits(TERM, size, is_aligned);
      if (is_first) bits = found;
      is_first = false;
      same = same && found == bits;
      const double value = widened(found, dtype);
      has_nan = has_nan || value != value;
      if (value == value && !is_finite(value)) {
        has_infinity = has_infinity || value > 0;
        has_minus_infinity = has_minus_infinity || value < 0;
      }
    }
    const double infinity = as_double((u64)0x7ff << 52), nan = as_double((u64)0x7ff8 << 48);
    if (has_nan || (has_infinity && has_minus_infinity)) {
      mean = nan;
    } else if (has_infinity || has_minus_infinity) {
      mean = has_infinity ? infinity : -infinity;
    } else if (!is_finite(mean)) {
      /* Finite float64 elements overflowed. Powers of two scale without rounding numbers of this size. */
      const double down = as_double((u64)(1023 - 64) << 52), up = as_double((u64)(1023 + 64) << 52);
      sum.high = -0.0;
      sum.low = 0;
      TERMS { add_to(&sum, as_double(read_bits(TERM, size, is_aligned)) * down); }
      mean = quotient_of(sum, (double)count) * up;
    }
    write_bits(to, same ? bits : narrowed(mean, dtype), size);
  }
}

/* Coverage: the number of column elements of each image element, as the sum of as many ones. */
KERNEL(NAME(count), Combine) {
  ENTER(Combine);
  THREADS(t) {
    const Index thread = GROUP * p->threads + t;
    if (thread >= p->total) continue;
    const int dtype = p->dtype, size = size_of_type(dtype);
    Element e;
    find_element(p, thread, 1, &e);
    i64 count = 1;
    for (int i = 0; i < p->windows; ++i) count *= e.taps[i].count;
    /* Adding 1 to a float of 2^digits or more changes nothing. */
    const i64 most = (i64)1 << (dtype == PF_FLOAT64 ? 53 : 24);
    u64 bits = (u64)count;
    if (!is_integer(dtype)) {
      if (dtype != PF_BOOLEAN && count > most) count = most;
      bits = dtype == PF_BOOLEAN ? count != 0 : narrowed((double)count, dtype);
    }
    write_bits(dst + e.dst, e.part == 0 ? bits : 0, size);
  }
}
#undef TERMS
#undef TERM
