/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel "brick" for units of UNIT bytes: strided copies whose source and destination have different neighbours. */

/* Finds the unit at which a chunk of one side begins: its offset in the tensor and its place in shared memory. Returns false for a
 * chunk behind the end of the tensor. `left` has the extents of this brick. */
INLINE bool find_chunk(CONST const Brick* p, CONST const Side* side, int chunk, const Index* left, i64* offset,
                                    int* place) {
  Index rest = chunk;
  ROLLED for (int i = 0; i < p->axes; ++i) {
    CONST const SideAxis* const axis = &side->axis[i];
    const Index above = over(rest, &axis->chunks);
    const int index = (int)(rest - above * axis->chunks.d);
    rest = above;
    /* A loop over constant numbers keeps `left` in registers. */
    Index end = left[0];
    UNROLL for (int k = 1; k < PF_BRICK_AXES; ++k) end = axis->axis == k ? left[k] : end;
    if (index * axis->units >= end) return false;
    *offset += ALONG(index, axis->stride);
    *place += index * axis->pitch;
  }
  return true;
}

KERNEL(NAME(JOIN(brick_, UNIT)), Brick) {
  ENTER(Brick);
  SHARED(Unit, brick, PF_BRICK_BYTES / UNIT);
  Index left[PF_BRICK_AXES];
  i64 src_offset = 0, dst_offset = 0;
  Index rest = GROUP;
  UNROLL for (int i = 0; i < PF_BRICK_AXES; ++i) left[i] = 1;
  ROLLED for (int i = 0; i < p->dims; ++i) {
    const Index above = over(rest, &p->dim[i].bricks);
    const Index begin = (rest - above * p->dim[i].bricks.d) * p->dim[i].tile;
    rest = above;
    src_offset += ALONG(begin, p->dim[i].src);
    dst_offset += ALONG(begin, p->dim[i].dst);
    UNROLL for (int k = 0; k < PF_BRICK_AXES; ++k)
      if (k == i) left[k] = p->dim[i].extent - begin;
  }
  THREADS(t) {
    ROLLED for (int chunk = t; chunk < p->from.chunks; chunk += p->threads) {
      i64 offset = src_offset;
      int place = 0;
      if (!find_chunk(p, &p->from, chunk, left, &offset, &place)) continue;
      Chunk value;
      load_chunk(src + offset, &value, p->from.chunk * UNIT);
      UNROLL for (int k = 0; k < VECTOR; ++k)
        if (k < p->from.chunk) brick[place + k * p->from.unit_pitch] = value.UNITS[k];
    }
  }
  BARRIER;
  THREADS(t) {
    ROLLED for (int chunk = t; chunk < p->to.chunks; chunk += p->threads) {
      i64 offset = dst_offset;
      int place = 0;
      if (!find_chunk(p, &p->to, chunk, left, &offset, &place)) continue;
      Chunk value;
      UNROLL for (int k = 0; k < VECTOR; ++k)
        if (k < p->to.chunk) value.UNITS[k] = brick[place + k * p->to.unit_pitch];
      save_chunk(dst + offset, &value, p->to.chunk * UNIT);
    }
  }
}
