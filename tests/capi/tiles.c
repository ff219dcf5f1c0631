/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a signal into overlapping tiles. Merges these tiles into an array, and then into a sink; the merger borrows the tiles
 * and releases each once. */
#include <stdio.h>
#include <string.h>

#include "patchfold/patchfold.h"

enum { length = 100, tile_length = 16, most_tiles = 16 };

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, pf_last_error());
  return 1;
}

static void count_up(void* context) {
  ++*(int*)context;
}

static int32_t take_rows(void* context, int64_t begin, int64_t end, const pf_tensor* band) {
  memcpy((float*)context + begin, band->data, (size_t)(end - begin) * sizeof(float));
  return 0;
}

int main(void) {
  const int64_t shape[] = {length}, tile_shape[] = {tile_length}, overlap[] = {6};
  float signal[length], merged[length], received[length];
  static float tiles[most_tiles][tile_length];
  const pf_tensor array = {signal, shape, NULL, 1, PF_DTYPE_FLOAT32, 0};
  const pf_tensor output = {merged, shape, NULL, 1, PF_DTYPE_FLOAT32, 0};
  pf_tiling_spec spec = pf_tiling_spec_of(shape, 1, tile_shape, 1);
  pf_merge_spec merge = pf_merge_spec_of(PF_DTYPE_FLOAT32, NULL, 0);
  pf_tiling_layout layout = PF_ZEROS;
  pf_tiling* tiling = NULL;
  pf_merger* merger = NULL;
  pf_row_sink sink = PF_ZEROS;
  int released = 0, way, i;
  int64_t k;

  for (i = 0; i < length; ++i) signal[i] = (float)i / 7;
  spec.overlap = overlap;
  spec.n_overlap = 1;
  if (pf_tiling_create(&spec, &tiling) != PF_OK) return fail("tiling");
  layout.size = sizeof layout;
  if (pf_tiling_info(tiling, &layout) != PF_OK) return fail("layout");
  if (layout.count != 10 || layout.stride[0] != 10 || layout.count > most_tiles) return fail("count");
  sink.size = sizeof sink;
  sink.context = received;
  sink.write = take_rows;

  for (way = 0; way < 2; ++way) {
    const pf_status made = way == 0 ? pf_merger_create(tiling, &merge, &output, pf_serial_executor(), &merger)
                                    : pf_merger_create_to_sink(tiling, &merge, &sink, NULL, &merger);
    if (made != PF_OK) return fail("merger");
    for (k = layout.count - 1; k >= 0; --k) {
      const pf_tensor tile = {tiles[k], tile_shape, NULL, 1, PF_DTYPE_FLOAT32, 0};
      pf_tile_options options = PF_ZEROS;
      options.size = sizeof options;
      options.release = count_up;
      options.release_context = &released;
      if (pf_tiling_cut(tiling, k, &array, &tile, NULL) != PF_OK) return fail("cut");
      if (pf_merger_add(merger, k, &tile, &options) != PF_OK) return fail("add");
    }
    if (pf_merger_finish(merger) != PF_OK) return fail("finish");
    pf_merger_destroy(merger);
    if (released != (way + 1) * (int)layout.count) return fail("released");
  }
  pf_tiling_destroy(tiling);
  if (memcmp(merged, signal, sizeof signal) != 0 || memcmp(received, signal, sizeof signal) != 0) return fail("merged");
  return 0;
}
