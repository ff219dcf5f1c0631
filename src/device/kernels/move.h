/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel "move" for units of UNIT bytes: any extract, any copy, and the inverses of block operators, in any layout. */

/* Returns the unit of the fill for the unit with this number along the lane. */
INLINE Unit fill_unit(CONST const Move* p, Index lane) {
  Chunk value;
  const int from = (int)lane * UNIT & p->fill_mask;
  UNROLL for (int i = 0; i < UNIT; ++i) value.bytes[i] = p->fill[from + i];
  return value.UNITS[0];
}

KERNEL(NAME(JOIN(move_, UNIT)), Move) {
  ENTER(Move);
  THREADS(t) {
    const Index first = (GROUP * p->threads + t) * VECTOR;
    if (first >= p->total) continue;
    Chunk value;
    GLOBAL u8* packed = dst;
    int done = 0;
    /* Units behind the end of the lane are the first ones of the next row, so they are decoded anew. */
    ROLLED while (done < VECTOR && first + done < p->total) {
      const Index n = first + done;
      const Index at = n - over(n, &p->extent) * p->extent.d;
      const int end = p->extent.d - at < VECTOR - done ? done + (int)(p->extent.d - at) : VECTOR;
      i64 image = 0, columns = 0;
      bool inside = true;
      Index lane = 0; /* coordinate of the first unit */
      ROLLED for (int i = 0; i < p->dims; ++i) {
        const Index index = index_along(n, &p->dim[i]);
        image += ALONG(index, p->dim[i].image);
        columns += ALONG(index, p->dim[i].columns);
      }
      ROLLED for (int i = 0; i < p->windows; ++i) {
        CONST const MoveWindow* const w = &p->window[i];
        const Index position = index_along(n, &w->position), tap = index_along(n, &w->tap);
        columns += ALONG(position, w->position.columns) + ALONG(tap, w->tap.columns);
        const Index coordinate = position * w->stride + tap * w->dilation - w->pad;
        if (i == p->lane)
          lane = coordinate;
        else
          image += ALONG(source_of(coordinate, w->extent, p->mode, &inside), w->image);
      }
      GLOBAL u8* to = dst + columns;
      if (done == 0) packed = to;
      CONST const MoveWindow* const own = &p->window[p->lane < 0 ? 0 : p->lane];
      const Index last = lane + (end - done - 1) * p->step;
      if (p->is_run && end - done == VECTOR && inside && (p->lane < 0 || (lane >= 0 && last < own->extent))) {
        load16(src + image + (p->lane < 0 ? 0 : ALONG(lane, own->image)), &value);
      } else {
        UNROLL for (int k = 0; k < VECTOR; ++k) {
          if (k < done || k >= end) continue;
          const int step = k - done;
          bool is_there = inside;
          i64 element = image;
          if (p->lane < 0)
            element += ALONG(step, p->lane_image);
          else
            element += ALONG(source_of(lane + step * p->step, own->extent, p->mode, &is_there), own->image);
          if (p->extracts) {
            value.UNITS[k] = is_there ? load_unit(src + element) : fill_unit(p, at + step);
          } else if (is_there) {
            save_unit(dst + element, load_unit(src + columns + ALONG(step, p->lane_columns)));
          }
        }
      }
      if (p->extracts && !p->is_packed) {
        UNROLL for (int k = 0; k < VECTOR; ++k)
          if (k >= done && k < end) save_unit(to + ALONG(k - done, p->lane_columns), value.UNITS[k]);
      }
      done = end;
    }
    if (!p->is_packed) continue;
    if (done == VECTOR && first + VECTOR <= p->total) {
      save_chunk(packed, &value, 16);
    } else {
      UNROLL for (int k = 0; k < VECTOR; ++k)
        if (first + k < p->total) save_unit(packed + k * UNIT, value.UNITS[k]);
    }
  }
}
