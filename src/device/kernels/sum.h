/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel "sum" for one element type: the sum of the column elements that point at each image element, in ascending order of the
 * taps, from +0, rounded once. */
#define COUNT (UNIT == 8 ? 2 : 4) /* elements of a thread */

INLINE Unit read_element(GLOBAL const u8* from, int is_aligned) {
  Chunk value;
  if (is_aligned) return load_unit(from);
  UNROLL for (int i = 0; i < UNIT; ++i) value.bytes[i] = from[i];
  return value.UNITS[0];
}

KERNEL(NAME(JOIN(sum_, SUM)), Combine) {
  ENTER(Combine);
  THREADS(t) {
    const Index thread = GROUP * p->threads + t;
    if (thread >= p->total) continue;
    Element e;
    find_element(p, thread, COUNT, &e);
    const int last = p->windows - 1;
    const bool is_window = p->along >= 0 && p->axis[p->along].window >= 0;
    /* The innermost taps of each element: along a dim all have the same. */
    Index count[COUNT], most = 0;
    i64 first[COUNT];
    UNROLL for (int k = 0; k < COUNT; ++k) {
      count[k] = 0;
      first[k] = 0;
      if (e.along + k >= p->extent) continue;
      if (last < 0) {
        count[k] = 1;
        first[k] = ALONG(k, p->along_src);
      } else if (k > 0 && is_window) {
        const Taps taps = taps_at(&p->window[last], e.along + k);
        count[k] = taps.count;
        first[k] = taps.offset;
      } else {
        count[k] = e.taps[last].count;
        first[k] = e.taps[last].offset + ALONG(k, p->along_src);
      }
      if (count[k] > most) most = count[k];
    }
    Sum sum[COUNT];
    UNROLL for (int k = 0; k < COUNT; ++k) sum[k] = 0;
    const Stride step = last < 0 ? 0 : p->window[last].step;
    ROLLED for (Index outer = 0; outer < e.outer; ++outer) {
      GLOBAL const u8* from = src + outer_offset(p, &e, outer);
      UNROLLED(2) for (Index i = 0; i < most; ++i, from += step) {
        /* Elements without this tap add +0, which changes no sum that began as +0. */
        UNROLL for (int k = 0; k < COUNT; ++k) {
          const Sum value = i < count[k] ? WIDEN(read_element(from + first[k], p->is_aligned)) : (Sum)0;
          sum[k] = PLUS(sum[k], value);
        }
      }
    }
    GLOBAL u8* const to = dst + e.dst;
    Chunk value;
    UNROLL for (int k = 0; k < COUNT; ++k) {
      value.UNITS[k] = NARROW(sum[k]);
      if (p->accumulate && e.along + k < p->extent) {
        const Unit before = read_element(to + ALONG(k, p->along_dst), p->is_aligned);
        value.UNITS[k] = NARROW(PLUS(WIDEN(before), WIDEN(value.UNITS[k])));
      }
    }
    const bool whole = e.along + COUNT <= p->extent && p->along_dst == UNIT;
    if (whole && ((u64)to & (COUNT * UNIT - 1)) == 0) {
      save_chunk(to, &value, COUNT * UNIT);
      continue;
    }
    UNROLL for (int k = 0; k < COUNT; ++k) {
      if (e.along + k >= p->extent) continue;
      GLOBAL u8* const place = to + ALONG(k, p->along_dst);
      if (p->is_aligned) {
        save_unit(place, value.UNITS[k]);
      } else {
        UNROLL for (int i = 0; i < UNIT; ++i) place[i] = value.bytes[k * UNIT + i];
      }
    }
  }
}
#undef COUNT
