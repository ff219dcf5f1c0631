/* SPDX-License-Identifier: Apache-2.0 */
/* The taps that point at an image coordinate, as TapSolver of engine/window.hpp finds them, and the walk over them. */

/* The column elements of one coordinate along a window, in ascending order of the taps; step of the Solver leads to the next. */
typedef struct {
  Index count;
  i64 offset; /* of the first element */
} Taps;

/* Returns a * b modulo m, for 0 <= a, b < m. */
INLINE Index product_modulo(Index a, Index b, Index m) {
#if defined(PF_WIDE)
  Index product = 0;
  for (; b != 0; b >>= 1) {
    if ((b & 1) != 0) product = product >= m - a ? product - (m - a) : product + a;
    a = a >= m - a ? a - (m - a) : a + a;
  }
  return product;
#else
  return (Index)((u64)a * (u64)b % (u64)m);
#endif
}

INLINE Taps taps_at(CONST const Solver* s, Index coordinate) {
  const Taps none = {0, 0};
  Index t = coordinate + s->pad;
  if (t < 0) return none;
  if (s->common.d != 1) {
    const Index quotient = over(t, &s->common);
    if (quotient * s->common.d != t) return none;
    t = quotient;
  }
  Index tap = 0, position = t; /* the solution with the smallest tap, before its position is checked */
  if (s->tap_step.d != 1) {
    const Index quotient = over(t, &s->tap_step);
    tap = t - quotient * s->tap_step.d;
    if (s->inverse != 1) tap = product_modulo(tap, s->inverse, s->tap_step.d);
    if (tap >= s->tap_count || (tap != 0 && tap * s->position_step.d > t)) return none;
    position = s->position_step.d == 1 ? quotient : over(t - tap * s->position_step.d, &s->tap_step);
  }
  Index low = 0, high = over(s->tap_count - 1 - tap, &s->tap_step);
  if (s->position_step.d == 0) {
    if (position >= s->positions) return none;
  } else {
    const Index beyond = position - s->positions + 1; /* positions by which the first tap lies too far */
    if (beyond > 0) low = over(beyond + s->position_step.d - 1, &s->position_step);
    const Index last = over(position, &s->position_step);
    if (last < high) high = last;
  }
  if (low > high) return none;
  const Taps found = {high - low + 1, ALONG(tap + low * s->tap_step.d, s->tap) +
                                          ALONG(position - low * s->position_step.d, s->position)};
  return found;
}

/* An element of the image, or `vector` elements side by side, of which the first one is given: offsets, and the taps along all
 * windows. Windows are numbered as in the problem, so the last one is the innermost of a sum. */
typedef struct {
  i64 src;
  i64 dst;
  Index along; /* number of the first element along the axis with vectors, or its coordinate */
  int part;    /* of a complex number */
  Index outer; /* tuples of taps along all windows but the last */
  Taps taps[PF_WINDOWS];
} Element;

INLINE void find_element(CONST const Combine* p, Index thread, int vector, Element* e) {
  e->src = e->dst = 0;
  e->along = 0;
  e->part = 0;
  e->outer = 1;
  Index rest = thread;
  ROLLED for (int i = 0; i < p->axes; ++i) {
    CONST const ImageAxis* const axis = &p->axis[i];
    const Index above = over(rest, &axis->extent);
    Index index = rest - above * axis->extent.d;
    rest = above;
    if (i == p->along) {
      index *= vector;
      e->along = index;
    }
    e->dst += ALONG(index, axis->dst);
    if (axis->is_part) e->part = (int)index;
    if (axis->window < 0) {
      e->src += ALONG(index, axis->src);
    } else {
      e->taps[axis->window] = taps_at(&p->window[axis->window], index);
      if (axis->window < p->windows - 1) e->outer *= e->taps[axis->window].count;
    }
  }
}

/* Returns the offset of the tuple of taps with this number, along all windows but the last. */
INLINE i64 outer_offset(CONST const Combine* p, const Element* e, Index tuple) {
  i64 offset = e->src;
  ROLLED for (int i = p->windows - 2; i >= 0; --i) {
    Index index = tuple;
    if (i > 0) {
      index = tuple % e->taps[i].count;
      tuple /= e->taps[i].count;
    }
    offset += e->taps[i].offset + ALONG(index, p->window[i].step);
  }
  return offset;
}
