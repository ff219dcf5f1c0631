/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels share. */

/* Up to 16 neighbouring bytes, in registers. */
typedef union {
  u8 bytes[16];
  u16 halves[8];
  u32 words[4];
  u64 longs[2];
  Quad quads[1];
} Chunk;

INLINE Index over(Index n, CONST const Divisor* divisor) {
#if defined(PF_WIDE)
  return n / divisor->d;
#else
  return (Index)((u64)(u32)n * divisor->multiplier >> divisor->shift);
#endif
}

INLINE Index index_along(Index n, CONST const Walk* walk) {
  const Index place = over(n, &walk->below);
  return place - over(place, &walk->extent) * walk->extent.d;
}

INLINE Index floor_over(Index n, Index d) {
  return n / d - (n % d < 0 ? 1 : 0);
}

/* Returns the coordinate that is read in place of a coordinate, by the PaddingMode with this number. A coordinate that is filled
 * clears *inside; then the result is 0. Equals run_at() of engine/padding.hpp. */
INLINE Index source_of(Index coordinate, Index extent, int mode, bool* inside) {
  if (coordinate >= 0 && coordinate < extent) return coordinate;
  if (mode == PF_CONSTANT) {
    *inside = false;
    return 0;
  }
  if (mode == PF_EDGE) return coordinate < 0 ? 0 : extent - 1;
  if (mode == PF_WRAP) return coordinate - floor_over(coordinate, extent) * extent;
  /* An image that is mirrored again and again consists of cells of `period` coordinates, alternately forward and backward. */
  const Index period = mode == PF_SYMMETRIC ? extent : extent - 1;
  if (period == 0) return 0;
  const Index cell = floor_over(coordinate, period);
  const Index within = coordinate - cell * period;
  return (cell & 1) != 0 ? extent - 1 - within : within;
}

/* Copies 1, 2, 4, 8 or 16 bytes, which devices have at an address that is a multiple of their number. */
INLINE void load_chunk(GLOBAL const u8* from, Chunk* to, int bytes) {
#if defined(PF_HOST)
  memcpy(to, from, (size_t)bytes);
#else
  if (bytes == 16)
    to->quads[0] = *(GLOBAL const Quad*)from;
  else if (bytes == 8)
    to->longs[0] = *(GLOBAL const u64*)from;
  else if (bytes == 4)
    to->words[0] = *(GLOBAL const u32*)from;
  else if (bytes == 2)
    to->halves[0] = *(GLOBAL const u16*)from;
  else
    to->bytes[0] = *from;
#endif
}
INLINE void save_chunk(GLOBAL u8* to, const Chunk* from, int bytes) {
#if defined(PF_HOST)
  memcpy(to, from, (size_t)bytes);
#else
  if (bytes == 16)
    *(GLOBAL Quad*)to = from->quads[0];
  else if (bytes == 8)
    *(GLOBAL u64*)to = from->longs[0];
  else if (bytes == 4)
    *(GLOBAL u32*)to = from->words[0];
  else if (bytes == 2)
    *(GLOBAL u16*)to = from->halves[0];
  else
    *to = from->bytes[0];
#endif
}

/* Copies 16 bytes from any address. A device reads words, the first and last of which may hold bytes outside of the tensor, but
 * none outside of its memory. */
INLINE void load16(GLOBAL const u8* from, Chunk* to) {
#if defined(PF_HOST)
  memcpy(to, from, 16);
#else
  const u32 past = (u32)(u64)from & 15;
  if (past == 0) {
    load_chunk(from, to, 16);
    return;
  }
  const u32 shift = (past & 3) * 8;
  GLOBAL const u32* const aligned = (GLOBAL const u32*)(from - (past & 3));
  u32 low = aligned[0];
  UNROLL for (int i = 0; i < 4; ++i) {
    const u32 high = i < 3 || shift != 0 ? aligned[i + 1] : 0;
    to->words[i] = (u32)(((u64)high << 32 | low) >> shift);
    low = high;
  }
#endif
}
