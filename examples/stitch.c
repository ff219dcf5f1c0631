/* SPDX-License-Identifier: Apache-2.0 */
/* Blurs a picture tile by tile through the C interface. Near its border a blurred tile is wrong, since the blur does not see
 * the pixels beyond the border. Each pixel is taken from the tile whose middle is nearest, so the result equals the blurred
 * picture.
 *
 * usage: stitch [OUTPUT.ppm] */
#include <patchfold/patchfold.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { height = 300, width = 400, colours = 3, tile_size = 128, overlap = 8 };

static unsigned char picture[height * width * colours], whole[height * width * colours], stitched[height * width * colours];

/* Writes the mean of 3 x 3 pixels to each pixel; the border is repeated. */
static void blur(const unsigned char* from, unsigned char* to, int rows, int columns) {
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x)
      for (int c = 0; c < colours; ++c) {
        int sum = 0;
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx) {
            const int row = y + dy < 0 ? 0 : y + dy >= rows ? rows - 1 : y + dy;
            const int column = x + dx < 0 ? 0 : x + dx >= columns ? columns - 1 : x + dx;
            sum += from[(row * columns + column) * colours + c];
          }
        to[(y * columns + x) * colours + c] = (unsigned char)(sum / 9);
      }
}

/* Takes finished rows, in order. A program with larger pictures writes them to a file here. */
static int32_t take_rows(void* context, int64_t begin, int64_t end, const pf_tensor* band) {
  const size_t row = (size_t)width * colours;
  memcpy((unsigned char*)context + (size_t)begin * row, band->data, (size_t)(end - begin) * row);
  return 0;
}

static void require(pf_status status) {
  if (status == PF_OK) return;
  fprintf(stderr, "%s\n", pf_last_error());
  exit(1);
}

int main(int argc, char** argv) {
  const int64_t shape[] = {height, width, colours}, tile[] = {tile_size, tile_size}, shared[] = {overlap}, axes[] = {0, 1};
  const pf_tensor array = {picture, shape, NULL, 3, PF_DTYPE_UINT8, 0};
  const pf_row_sink sink = {sizeof sink, 0, stitched, take_rows};
  pf_tiling* tiling = NULL;
  pf_merger* merger = NULL;
  int64_t peak = 0;

  for (int i = 0; i < height * width * colours; ++i) picture[i] = (unsigned char)(i * 7 % 251 + i / 5000 % 5);
  blur(picture, whole, height, width);

  pf_tiling_spec spec = pf_tiling_spec_of(shape, 3, tile, 2);
  spec.overlap = shared; /* one number for both axes */
  spec.n_overlap = 1;
  spec.axes = axes; /* rows and columns; the last axis holds the colours */
  spec.n_axes = 2;
  require(pf_tiling_create(&spec, &tiling));
  pf_tiling_layout layout = PF_ZEROS;
  layout.size = sizeof layout;
  require(pf_tiling_info(tiling, &layout));

  pf_merge_spec merge = pf_merge_spec_of(PF_DTYPE_UINT8, layout.channels, layout.n_channels);
  merge.reduce = PF_REDUCE_CENTER;
  merge.copy = 1; /* one buffer then serves all tiles */
  require(pf_merger_create_to_sink(tiling, &merge, &sink, NULL, &merger));
  for (int64_t index = 0; index < layout.count; ++index) {
    static unsigned char part[tile_size * tile_size * colours], blurred[tile_size * tile_size * colours];
    int64_t extents[PF_MAX_RANK];
    int32_t rank = PF_MAX_RANK;
    require(pf_tiling_tile_shape(tiling, index, extents, &rank));
    const pf_tensor cut = {part, extents, NULL, rank, PF_DTYPE_UINT8, 0};
    const pf_tensor result = {blurred, extents, NULL, rank, PF_DTYPE_UINT8, 0};
    require(pf_tiling_cut(tiling, index, &array, &cut, NULL));
    blur(part, blurred, (int)extents[0], (int)extents[1]);
    require(pf_merger_add(merger, index, &result, NULL));
  }
  require(pf_merger_finish(merger));
  require(pf_merger_waiting(merger, NULL, &peak));
  printf("stitched %d x %d pixels from %d tiles; at most %d bytes waited\n", width, height, (int)layout.count, (int)peak);
  pf_merger_destroy(merger);
  pf_tiling_destroy(tiling);

  if (argc > 1) {
    FILE* file = fopen(argv[1], "wb");
    if (file == NULL) return perror(argv[1]), 1;
    fprintf(file, "P6\n%d %d\n255\n", width, height);
    fwrite(stitched, 1, sizeof stitched, file);
    if (fclose(file) != 0) return perror(argv[1]), 1;
  }
  return memcmp(stitched, whole, sizeof whole) == 0 ? 0 : 1;
}
