/* SPDX-License-Identifier: Apache-2.0 */
/* Overlapping tiles in C: a tiling says where the tiles of an array lie and cuts them out, and a merger puts their results
 * together without seams. patchfold.h includes this header, and its rules hold here. docs/glossary.md explains the words. A
 * library that was built without PATCHFOLD_WITH_TILING has none of these functions.
 *
 *     pf_tiling_create(&spec, &tiling);
 *     pf_tiling_info(tiling, &layout);
 *     pf_merger_create(tiling, &merge, &output, NULL, &merger);
 *     for (k = 0; k < layout.count; ++k) .. pf_tiling_cut(tiling, k, ..), compute, pf_merger_add(merger, k, ..)
 *     pf_merger_finish(merger);
 *
 * Tile k of a tiled axis reads elements [start, start + tile) of the array, where start = k * stride - margin and stride =
 * tile - overlap. Elements outside the array are padding. The tail is the rule for the end of the axis and its margin, where
 * the last tile may not fit. Tiles are numbered row-major over the tiled axes: the number along the last axis runs fastest.
 * The function that makes a tile's result may scale it; the result lies at [start * scale + offset, start * scale + offset +
 * result) of the output, whose extent is ceil(extent * scale) unless another one is given.
 *
 * An optional field of a spec is a pointer, NULL if it is not given, or a number of which 0 is the default. So a spec has
 * its defaults if it is all zeros except its size and the fields that must be given; pf_tiling_spec_of() and
 * pf_merge_spec_of() make such specs.
 */
#ifndef PATCHFOLD_TILING_H
#define PATCHFOLD_TILING_H

#ifndef PATCHFOLD_PATCHFOLD_H
#error "include <patchfold/patchfold.h>, which includes <patchfold/tiling.h>"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Words ---- */

/* The rule for the end of an axis where the last tile does not fit. */
typedef int32_t pf_tail;
enum PF_INT32 {
  PF_TAIL_SHIFT = 0,       /* one more tile, moved back to end with the array, which must be at least as long as a tile */
  PF_TAIL_PAD = 1,         /* one more tile, whose part beyond the array is padding */
  PF_TAIL_PARTIAL = 2,     /* one more tile, shorter than the others; no tile has padding, in the margins either */
  PF_TAIL_DROP = 3,        /* no more tile: the end belongs to no tile */
  PF_TAIL_ERROR = 4,       /* PF_ERROR_VALUE */
  PF_TAIL_SHIFT_OR_PAD = 5 /* shift; along an axis that is shorter than the tile, pad: one tile, whose end is padding */
};

/* The content of a tile's padding, as numpy.pad defines these modes. */
typedef int32_t pf_padding_mode;
enum PF_INT32 {
  PF_PADDING_CONSTANT = 0, /* the value of the spec */
  PF_PADDING_EDGE = 1,
  PF_PADDING_REFLECT = 2,
  PF_PADDING_SYMMETRIC = 3,
  PF_PADDING_WRAP = 4
};

/* The value of an output element to which several tiles contribute. */
typedef int32_t pf_reduce;
enum PF_INT32 {
  PF_REDUCE_STANDARD = 0, /* mean; but center for integers and booleans that are not converted, if the window is
                             PF_WINDOW_STANDARD: means of labels would be other labels */
  PF_REDUCE_MEAN = 1,     /* sum of weight * value / sum of weights */
  PF_REDUCE_SUM = 2,      /* sum of weight * value */
  PF_REDUCE_MAX = 3,      /* the largest value; NaN if one of them is NaN */
  PF_REDUCE_MIN = 4,      /* the smallest value; NaN if one of them is NaN */
  PF_REDUCE_FIRST = 5,    /* the value of the tile with the lowest index */
  PF_REDUCE_LAST = 6,     /* the value of the tile with the highest index */
  PF_REDUCE_CENTER = 7,   /* the value of the tile whose middle is nearest, the lower index if two are equally near */
  PF_REDUCE_NANMEAN = 8,  /* as mean without NaNs; where only NaNs come, the fill, or NaN without a fill; so do the next two */
  PF_REDUCE_NANMAX = 9,
  PF_REDUCE_NANMIN = 10,
  PF_REDUCE_MEDIAN = 11, /* the middle value, or the mean of the two middle ones, rounded once; NaN if one of them is NaN */
  PF_REDUCE_VOTE = 12,   /* the most frequent integer or boolean, of equally frequent ones the smallest */
  PF_REDUCE_ARGMAX = 13  /* labels from scores: the first axis of results, which must not be tiled, holds a score for each
                            class, and the output, of uint8 or uint16, lacks this axis. It has the number of the class whose
                            mean is the largest, of equal ones the lowest number; a NaN counts as the largest */
};

/* The weights of the elements of a tile's result. In the formulas t = (i + 1/2) / n for element i of n: weights are
 * sampled at the middle of elements, so no weight of a formula is 0. They are the weights of a whole tile; a shorter tile
 * uses the first of them. */
typedef int32_t pf_window;
enum PF_INT32 {
  PF_WINDOW_STANDARD = 0, /* hann for mean, nanmean and argmax, ones for other reductions */
  PF_WINDOW_ONES = 1,     /* 1 */
  PF_WINDOW_LINEAR = 2,   /* 1 - |2t - 1| */
  PF_WINDOW_HANN = 3,     /* sin(pi t)^2 */
  PF_WINDOW_COSINE = 4,   /* sin(pi t) */
  PF_WINDOW_GAUSSIAN = 5, /* exp(-((t - 1/2) / sigma_scale)^2 / 2), at least 2^-100 */
  PF_WINDOW_AXES = 6,     /* given weights, a list for each tiled axis; the weight of an element is the product */
  PF_WINDOW_ARRAY = 7,    /* given weights, row-major over the extents of a whole result along the tiled axes */
  PF_WINDOW_TUKEY = 8,    /* sin(pi t / alpha)^2 for t < alpha / 2, 1 in the middle, mirrored for t > 1 - alpha / 2 */
  PF_WINDOW_HAMMING = 9   /* 0.54 - 0.46 cos(2 pi t) */
};

/* ---- Values. These four structs never grow. ---- */

/* A fraction; both at least 1. */
typedef struct pf_ratio {
  int64_t num;
  int64_t den;
} pf_ratio;

/* A number of any type. It is converted to the element type where it is used; PF_ERROR_VALUE if that type cannot hold it. */
typedef struct pf_scalar {
  int32_t kind;     /* PF_VALUE_INTEGER, PF_VALUE_UNSIGNED, PF_VALUE_NUMBER or PF_VALUE_COMPLEX */
  int32_t reserved; /* 0 */
  int64_t integer;
  double number;
  double imaginary;
} pf_scalar;

/* One tile along one tiled axis: elements [read_begin, read_end) of the array become [write_begin, write_end) of the output. */
typedef struct pf_tile_span {
  int64_t read_begin; /* the elements of the array that the tile holds */
  int64_t read_end;
  int64_t extent;      /* of the tile: the elements that it reads, and the padding before and behind them */
  int64_t write_begin; /* the elements of the output to which the result contributes */
  int64_t write_end;
  int64_t keep_begin; /* the elements of the result that become [write_begin, write_end); others lie outside the output */
  int64_t keep_end;
  int64_t result; /* extent of the tile's result */
  int64_t start;  /* the output coordinate of the result's first element; may be negative. The tile's own first element
                     lies at (start - offset) / scale of the array: before read_begin if the tile begins with padding */
} pf_tile_span;

/* The elements [begin, end). */
typedef struct pf_span {
  int64_t begin;
  int64_t end;
} pf_span;

/* ---- Tilings ---- */

/* The tiles to make. A list about tiled axes has one entry, which applies to all of them, or an entry for each. At most
 * one of overlap, overlap_fraction and stride is given; without any, tiles lie side by side. */
typedef struct pf_tiling_spec {
  uint32_t size;                  /* sizeof(pf_tiling_spec) */
  int32_t rank;                   /* axes of the array, 1 to PF_MAX_RANK */
  const int64_t* shape;           /* its extents */
  const int64_t* tile;            /* n_tiled extents of a tile, at least 1 */
  const int64_t* overlap;         /* n_overlap: elements that neighbours share, less than the tile; negative: gaps */
  const double* overlap_fraction; /* n_overlap_fraction: the overlap as a fraction of the tile in [0, 1), rounded */
  const int64_t* stride;          /* n_stride: elements from one tile's start to the next one's, at least 1 */
  const int64_t* axes;            /* n_axes = n_tiled: the tiled axes in ascending order; negative numbers count from the
                                     end. n_axes = 0: the last ones */
  const pf_ratio* scale;          /* n_scale: output elements for each element of the array; n_scale = 0: 1 */
  const int64_t* offset;  /* n_offset = n_tiled: where in the output the result of a tile at 0 begins; n_offset = 0: 0 */
  const int64_t* result;  /* n_result = n_tiled: extents of the result of a whole tile; n_result = 0: tile * scale */
  const pf_scalar* value; /* fill of PF_PADDING_CONSTANT; NULL: 0 */
  int32_t n_tiled;        /* 1 to rank */
  int32_t n_overlap;
  int32_t n_overlap_fraction;
  int32_t n_stride;
  int32_t n_axes;
  int32_t n_scale;
  int32_t n_offset;
  int32_t n_result;
  pf_tail tail;
  pf_padding_mode padding_mode; /* the elements of tiles that lie outside the array */
  const int64_t* align;         /* n_align: tiles begin at multiples of align, strides must be multiples; n_align = 0: 1 */
  int32_t n_align;
  int32_t n_margin;
  const int64_t* margin;     /* n_margin: elements that tiles read before the array, and behind it unless margin_end is
                                given; negative: elements that tiles leave out; n_margin = 0: 0 */
  const int64_t* margin_end; /* n_margin_end: elements that tiles read behind the array; n_margin_end = 0: as margin */
  const int64_t* output;     /* n_output = n_tiled: extents of the output; n_output = 0: ceil(extent * scale) */
  int32_t n_margin_end;
  int32_t n_output;
} pf_tiling_spec;

/* Returns a spec with defaults. It keeps the given pointers. */
static inline pf_tiling_spec pf_tiling_spec_of(const int64_t* shape, int32_t rank, const int64_t* tile, int32_t n_tiled) {
  pf_tiling_spec spec = PF_ZEROS;
  spec.size = sizeof(pf_tiling_spec);
  spec.rank = rank;
  spec.shape = shape;
  spec.tile = tile;
  spec.n_tiled = n_tiled;
  return spec;
}

/* The tiles of an array: a checked spec, and the arithmetic that says where each tile lies. A tiling never changes, has
 * the same size for any number of tiles, and may be used from any number of threads at once. It knows no element type. */
typedef struct pf_tiling pf_tiling;

/* Makes a tiling. Errors have the operator "tiling".
 *   tiling  receives the tiling, or NULL after an error. The caller owns it and destroys it with pf_tiling_destroy(). A
 *           merger does not need it once the merger is made. */
PF_CHECKED PF_API pf_status pf_tiling_create(const pf_tiling_spec* spec, pf_tiling** tiling);
/* Destroys a tiling; NULL is allowed. No call may use it, or the pointers of its pf_tiling_layout, afterwards. */
PF_API void pf_tiling_destroy(pf_tiling* tiling);

/* Facts from a spec. The lists are valid as long as the tiling, and have n_tiled entries unless another length is given. */
typedef struct pf_tiling_layout {
  uint32_t size;           /* sizeof(pf_tiling_layout), set by the caller */
  int32_t rank;            /* axes of the array */
  int32_t n_tiled;         /* tiled axes */
  int32_t n_channels;      /* axes of the array that are not tiled */
  int32_t stream_axis;     /* the first tiled axis: a merge finishes its output in the order of this axis */
  int32_t reserved;        /* 0 */
  int64_t count;           /* number of tiles */
  const int64_t* shape;    /* rank extents of the array */
  const int64_t* channels; /* n_channels extents of the axes that are not tiled, in order */
  const int64_t* axes;     /* the tiled axes, from 0 */
  const int64_t* tile;     /* extents of a whole tile */
  const int64_t* stride;   /* elements from one tile's start to the next one's */
  const int64_t* grid;     /* number of tiles along each tiled axis */
  const int64_t* result;   /* extents of the result of a whole tile */
  const int64_t* output;   /* extents of the output */
} pf_tiling_layout;

/* Fills the fields of *layout behind `size`, as many as fit into `size` bytes. */
PF_CHECKED PF_API pf_status pf_tiling_info(const pf_tiling* tiling, pf_tiling_layout* layout);

/* Finds tile `index`: its place in the grid, and its span along each tiled axis. PF_ERROR_VALUE unless 0 <= index < count.
 *   position, spans  room for n_tiled entries each, or NULL */
PF_CHECKED PF_API pf_status pf_tiling_tile(const pf_tiling* tiling, int64_t index, int64_t* position, pf_tile_span* spans);
/* Finds the span of tile k along tiled axis i. PF_ERROR_VALUE unless 0 <= i < n_tiled and 0 <= k < grid[i]. */
PF_CHECKED PF_API pf_status pf_tiling_span(const pf_tiling* tiling, int32_t i, int64_t k, pf_tile_span* span);

/* A box of the output has a span for each tiled axis: an array of n_tiled entries. The box has all elements along the
 * other axes. PF_ERROR_VALUE for a box outside the output. */

/* Finds the tiles whose results touch a box: a span [begin, end) of tiles along each tiled axis, of which every combination
 * touches the box. Spans are empty if a span of the box is empty or in a gap. Takes O(log n) for n tiles along an axis.
 *   tiles  room for n_tiled entries */
PF_CHECKED PF_API pf_status pf_tiling_touching(const pf_tiling* tiling, const pf_span* box, pf_span* tiles);
/* Finds the part of the result of tile `index` in a box: along each tiled axis the elements [begin, end) of the result,
 * {0, 0} where result and box share none.
 *   part  room for n_tiled entries */
PF_CHECKED PF_API pf_status pf_tiling_piece(const pf_tiling* tiling, int64_t index, const pf_span* box, pf_span* part);

/* The shapes below are given as pf_output_shape gives them: *rank is the room that shape has, and becomes the number of
 * axes; shape may be NULL. channels are n_channels extents of the axes of a result that are not tiled, in order: those of
 * the array (pf_tiling_layout), or what a function makes of them. */

/* Computes the shape of tile `index` of the array, with the axes that are not tiled. */
PF_CHECKED PF_API pf_status pf_tiling_tile_shape(const pf_tiling* tiling, int64_t index, int64_t* shape, int32_t* rank);
/* Computes the shape of the result of tile `index`. */
PF_CHECKED PF_API pf_status pf_tiling_result_shape(const pf_tiling* tiling, int64_t index, const int64_t* channels,
                                                   int32_t n_channels, int64_t* shape, int32_t* rank);
/* Computes the shape of the output of a merge. */
PF_CHECKED PF_API pf_status pf_tiling_output_shape(const pf_tiling* tiling, const int64_t* channels, int32_t n_channels,
                                                   int64_t* shape, int32_t* rank);
/* Computes the tiled axes of results of that rank: the axes of the spec, negative ones counted from the end of this rank.
 *   axes  room for n_tiled entries */
PF_CHECKED PF_API pf_status pf_tiling_axes_in(const pf_tiling* tiling, int32_t rank, int64_t* axes);
/* Computes, for a result of tile `index` with this shape of `rank` extents, the extents of the axes that are not tiled.
 * PF_ERROR_SHAPE for a shape that no result of the tile has.
 *   channels    receives these extents; may be NULL
 *   n_channels  the room that channels has; becomes the number of these extents */
PF_CHECKED PF_API pf_status pf_tiling_result_channels(const pf_tiling* tiling, int64_t index, const int64_t* shape,
                                                      int32_t rank, int64_t* channels, int32_t* n_channels);
/* Finds the scale with which results of tile `index` would have this shape of `rank` extents, in lowest terms. {0, 0} if this
 * scale is that of the spec or differs along the tiled axes, or if the spec has an offset, or a result but tile * scale. */
PF_CHECKED PF_API pf_status pf_tiling_scale_of(const pf_tiling* tiling, int64_t index, const int64_t* shape, int32_t rank,
                                               pf_ratio* scale);

/* Copies tile `index` of `array`, padding included, to `tile`, which must have the shape that pf_tiling_tile_shape gives
 * and the array's element type, and must share no memory with the array. executor: may be NULL. */
PF_CHECKED PF_API pf_status pf_tiling_cut(const pf_tiling* tiling, int64_t index, const pf_tensor* array,
                                          const pf_tensor* tile, const pf_executor* executor);
/* Counts the tiles that contribute to each element of the output.
 *   counts  receives the numbers: int64, of the shape `output` of pf_tiling_layout: the tiled axes alone */
PF_CHECKED PF_API pf_status pf_tiling_coverage(const pf_tiling* tiling, const pf_tensor* counts);
/* Writes the tiling as JSON: {"shape": .., "tile": .., ..}.
 *   with_tiles  not 0: also the list "tiles", of about 200 bytes for each tile
 *   text        receives the text, or NULL after an error. The caller owns it and frees it with pf_text_destroy(). */
PF_CHECKED PF_API pf_status pf_tiling_json(const pf_tiling* tiling, int32_t with_tiles, char** text);

/* ---- Merging ---- */

/* The rules that make one output of the results of tiles. */
typedef struct pf_merge_spec {
  uint32_t size;         /* sizeof(pf_merge_spec) */
  pf_dtype dtype;        /* of the tiles; must be given, since 0 is PF_DTYPE_BOOLEAN */
  uint32_t element_size; /* bytes of one element: pf_dtype_size(dtype), or 0, which means the same */
  pf_reduce reduce;
  pf_window window;        /* for reductions without means and sums it only matters which weights are 0 */
  int32_t copy;            /* 0: the merger borrows tiles that have to wait; 1: it copies them; 2: as 1, but means of float32
                              add tiles that come in order to the output: tiles take no weights of their own, and elements
                              have no meaning until all their tiles have come; 3: as 2, with sums of 37 significant bits */
  int32_t n_channels;      /* axes of the results that are not tiled */
  int32_t reserved;        /* 0 */
  const int64_t* channels; /* their extents, in order */
  double sigma_scale;      /* of PF_WINDOW_GAUSSIAN, as a part of the tile; 0: 0.125 */
  const double* weights;   /* of PF_WINDOW_AXES, one list behind the other, and of PF_WINDOW_ARRAY; finite and at least
                              0. An element with the weight 0 contributes nothing */
  int64_t n_weights;       /* PF_WINDOW_AXES: the sum of the extents of a whole result; PF_WINDOW_ARRAY: their product */
  const uint8_t* mask;     /* for each tile, 0 if it will not come */
  int64_t n_mask;          /* the number of tiles; 0: all tiles come */
  const pf_dtype* output_dtype; /* PF_DTYPE_FLOAT32 or PF_DTYPE_FLOAT64 for means, sums and medians, PF_DTYPE_UINT8 or
                                   PF_DTYPE_UINT16 for argmax; NULL: the type of the tiles, and for argmax the smaller of
                                   both that holds all classes */
  const pf_scalar* fill;        /* value of elements that no tile contributes to; NULL: they are PF_ERROR_VALUE */
  const int64_t* memory_limit;  /* the most bytes of tiles that may wait; NULL: no limit */
  int64_t sink_rows;            /* a sink gets a multiple of this number of rows at a time, except at the end: a store whose
                                   chunks have this number of rows gets each chunk once. 0: 1 */
  double alpha;                 /* of PF_WINDOW_TUKEY: the part of the tile that its two slopes take together, at most 1; 0: 0.5 */
} pf_merge_spec;

/* Returns a spec with defaults. It keeps the given pointer. */
static inline pf_merge_spec pf_merge_spec_of(pf_dtype dtype, const int64_t* channels, int32_t n_channels) {
  pf_merge_spec spec = PF_ZEROS;
  spec.size = sizeof(pf_merge_spec);
  spec.dtype = dtype;
  spec.n_channels = n_channels;
  spec.channels = channels;
  return spec;
}

/* The most bytes that a merger holds if tiles come in ascending order, without weights of single tiles. */
typedef struct pf_merge_bytes {
  uint32_t size;    /* sizeof(pf_merge_bytes), set by the caller */
  int32_t reserved; /* 0 */
  int64_t tiles;    /* tiles, or copies of their parts, that wait for their neighbours */
  int64_t rows;     /* rows of the output that wait for their last elements before they go to a sink; 0 without a sink */
  int64_t most;     /* the most of tiles and rows together at one time */
} pf_merge_bytes;

/* Checks a spec as pf_merger_create does, but leaves two checks to pf_merger_create: memory_limit, and whether weights of
 * 0 leave elements without a value. The second check takes as long as visiting every element of the output. */
PF_CHECKED PF_API pf_status pf_merge_check(const pf_tiling* tiling, const pf_merge_spec* spec);
/* Makes the second of these checks too, and leaves only that of memory_limit to pf_merger_create. */
PF_CHECKED PF_API pf_status pf_merge_check_weights(const pf_tiling* tiling, const pf_merge_spec* spec);
/* Finds the reduction of a merge with that spec: the given one, or the one that PF_REDUCE_STANDARD stands for. */
PF_CHECKED PF_API pf_status pf_merge_reduction(const pf_tiling* tiling, const pf_merge_spec* spec, pf_reduce* reduce);
/* Finds the form of the output of a merge with that spec: that of pf_tiling_output_shape and the tiles' type, but for
 * PF_REDUCE_ARGMAX without the results' first axis and of the type of labels. Checks no more of the spec.
 *   axes   room for n_tiled entries: the tiled axes, as axes of the output; may be NULL
 *   dtype  may be NULL */
PF_CHECKED PF_API pf_status pf_merge_output(const pf_tiling* tiling, const pf_merge_spec* spec, int64_t* shape, int32_t* rank,
                                            int64_t* axes, pf_dtype* dtype);
/* Computes, without data, the memory that a merge needs. to_sink: not 0 if pf_merger_create_to_sink makes the merger.
 * Fills the fields of *bytes behind `size`, as many as fit into `size` bytes. */
PF_CHECKED PF_API pf_status pf_merge_memory(const pf_tiling* tiling, const pf_merge_spec* spec, int32_t to_sink,
                                            pf_merge_bytes* bytes);
/* Computes n samples of a window with a formula; PF_WINDOW_STANDARD gives those of hann.
 *   parameter  of PF_WINDOW_GAUSSIAN sigma_scale, of PF_WINDOW_TUKEY alpha, as in pf_merge_spec
 *   samples    room for n numbers */
PF_CHECKED PF_API pf_status pf_window_samples(pf_window window, double parameter, int64_t n, double* samples);

/* Receives the output of a merge in parts, so that it never has to be in memory as a whole.
 *   write    takes rows [begin, end) of the output's stream axis and returns 0 when it has taken them. `band` is the
 *            output cut to these rows; it is only read, and valid during the call. Calls come in ascending order, without
 *            gaps, never two at once, from the threads that call the merger. After another value than 0 the merger takes
 *            no more tiles, and the running call fails with PF_ERROR_EXECUTOR. write must not call the merger, throw, or
 *            be left by longjmp.
 *   context  is passed to write and not used otherwise; may be NULL */
typedef struct pf_row_sink {
  uint32_t size;    /* sizeof(pf_row_sink) */
  int32_t reserved; /* 0 */
  void* context;
  int32_t (*write)(void* context, int64_t begin, int64_t end, const pf_tensor* band);
} pf_row_sink;

/* Tells the caller that the library no longer needs a tile's memory. The function must not throw or be left by
 * longjmp. */
typedef void (*pf_release)(void* context);

/* The options of pf_merger_add. */
typedef struct pf_tile_options {
  uint32_t size;            /* sizeof(pf_tile_options) */
  int32_t reserved;         /* 0 */
  const double* weight;     /* the tile's weight, by which those of the window are multiplied; NULL: 1 */
  const pf_tensor* weights; /* a weight for each element: float64, of a shape that broadcasts to that of the result as in
                               NumPy; copied. NULL: none. Not together with weight */
  pf_release release;       /* NULL: the tile's memory stays as it is until the merger is destroyed, unless spec.copy is set.
                               Else called once with release_context as soon as the tile need not wait any more, at the
                               latest by pf_merger_destroy, from any thread that calls the merger; it may call the merger,
                               but not destroy it. Never called if pf_merger_add fails: the tile is the caller's then */
  void* release_context;
} pf_tile_options;

/* A merge in progress. Tiles may come in any order and from several threads at once. Each element of the output is written
 * once, as soon as all tiles that contribute to it have come; until then these tiles wait, in their own type.
 *
 * Results are exact and repeatable: where all contributions to an element have equal bits, a mean is that value.
 * Otherwise products are added in ascending order of the tiles, in float64, and rounded once. Sums saturate. Results do
 * not depend on threads, instruction sets, or the order in which tiles come.
 *
 * Errors have the operator "merge". A tile that is refused leaves the merger as it was, even if memory runs out; parts of
 * the output that the tile contributes to may have been written. If a sink fails, or memory runs out after a tile has
 * been taken, the merger closes: it takes no more tiles, and cannot finish. */
typedef struct pf_merger pf_merger;

/* Makes a merger that writes to `output`, which must have the form that pf_merge_output gives and needs no initial values.
 *   output    its memory is the merger's until the merger is finished or destroyed; shape and strides are copied
 *   executor  copied; its context must live as long as the merger. NULL: the library's own threads
 *   merger    receives the merger, or NULL after an error. The caller owns it and destroys it with pf_merger_destroy(). */
PF_CHECKED PF_API pf_status pf_merger_create(const pf_tiling* tiling, const pf_merge_spec* spec, const pf_tensor* output,
                                             const pf_executor* executor, pf_merger** merger);
/* Makes a merger that hands rows of the output to *sink as soon as they are finished. sink: copied; its context must live as
 * long as the merger. */
PF_CHECKED PF_API pf_status pf_merger_create_to_sink(const pf_tiling* tiling, const pf_merge_spec* spec,
                                                     const pf_row_sink* sink, const pf_executor* executor,
                                                     pf_merger** merger);
/* Takes the result of tile `index`: a tensor of the shape that pf_tiling_result_shape gives and of the spec's element
 * type. Unless spec.copy is set, the tile's memory must not change before the merger releases it. Weights must be finite
 * and at least 0, and those above 0 must lie between 2^-300 and 2^300. For mean, nanmean, argmax and sum they weigh the
 * values (0 or 1 for 64-bit integers); for max, min, nanmax and nanmin it only matters which are 0; for median and vote
 * they must be 0 or 1; first, last and center take none.
 *   options  may be NULL */
PF_CHECKED PF_API pf_status pf_merger_add(pf_merger* merger, int64_t index, const pf_tensor* tile,
                                          const pf_tile_options* options);
/* Completes the output. PF_ERROR_MISSING, which names the first missing tiles, unless all have come; after this error
 * the merge can go on. */
PF_CHECKED PF_API pf_status pf_merger_finish(pf_merger* merger);
/* Reads the bytes that wait now, and the most that have waited at one time; each may be NULL. */
PF_CHECKED PF_API pf_status pf_merger_waiting(const pf_merger* merger, int64_t* now, int64_t* peak);
/* Destroys a merger, finished or not, and releases the tiles that wait; NULL is allowed. No call may use it afterwards. */
PF_API void pf_merger_destroy(pf_merger* merger);

/* ---- Boxes ---- */

/* A part of the result of a tile, as pf_tiling_piece gives it for a box, with all channels. This struct never grows. */
typedef struct pf_piece {
  int64_t index; /* of the tile */
  pf_tensor view;
} pf_piece;

/* Merges single boxes of an output from pieces of results, without state. Every element has the bits that a pf_merger of
 * the same tiling and spec gives it, whatever the boxes are. So the output may be made box by box, by several threads,
 * processes or machines. The time and memory of a call grow with the box and the tiles that touch it, not with the
 * tiling. A pf_box_merger never changes, and may be used from any number of threads at once. Errors have the operator
 * "merge". */
typedef struct pf_box_merger pf_box_merger;

/* Checks and keeps the window and the mask, which all boxes share. Elements that no tile gives are refused by the call
 * that merges them; pf_merge_check finds them before. copy, memory_limit and sink_rows of the spec do not matter.
 *   merger  receives the merger, or NULL after an error. The caller owns it and destroys it with pf_box_merger_destroy().
 *           A merger does not need the tiling or the spec once it is made. */
PF_CHECKED PF_API pf_status pf_box_merger_create(const pf_tiling* tiling, const pf_merge_spec* spec, pf_box_merger** merger);
/* Writes a box of the output. Every error except PF_ERROR_OUT_OF_MEMORY is returned before anything is written.
 *   box       n_tiled spans
 *   pieces    n_pieces of them, in any order: one of every tile that contributes to the box. PF_ERROR_MISSING names those
 *             that are missing. For first, last and center only tiles that give elements contribute, unless the window
 *             has weights of 0
 *   output    of the extents of the box along the tiled axes, with the channels between them
 *   executor  may be NULL */
PF_CHECKED PF_API pf_status pf_box_merger_merge(const pf_box_merger* merger, const pf_span* box, const pf_piece* pieces,
                                                int64_t n_pieces, const pf_tensor* output, const pf_executor* executor);
/* Destroys a merger of boxes; NULL is allowed. No call may use it afterwards. */
PF_API void pf_box_merger_destroy(pf_box_merger* merger);

#ifdef __cplusplus
}
#endif

#endif /* PATCHFOLD_TILING_H */
