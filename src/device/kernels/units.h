/* SPDX-License-Identifier: Apache-2.0 */
/* The type Unit for units of UNIT bytes, the UNITS of a Chunk, and reads and writes of one unit. */
#undef Unit
#undef UNITS
#undef VECTOR
#if UNIT == 1
#define Unit u8
#define UNITS bytes
#elif UNIT == 2
#define Unit u16
#define UNITS halves
#elif UNIT == 4
#define Unit u32
#define UNITS words
#elif UNIT == 8
#define Unit u64
#define UNITS longs
#else
#define Unit Quad
#define UNITS quads
#endif
#define VECTOR (16 / UNIT) /* units in a chunk */

INLINE Unit load_unit(GLOBAL const u8* from) {
  Chunk value;
  load_chunk(from, &value, UNIT);
  return value.UNITS[0];
}
INLINE void save_unit(GLOBAL u8* to, Unit unit) {
  Chunk value;
  value.UNITS[0] = unit;
  save_chunk(to, &value, UNIT);
}
