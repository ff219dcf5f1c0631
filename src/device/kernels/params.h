/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the kernels, which the host fills in (launch.cpp). Like the kernels, they exist for each width of Index.
 * Strides are in bytes, of the type Stride, and the data pointers of the kernels already include the offsets of the problem. */

/* Numbers of PaddingMode and DType. */
#define PF_CONSTANT 0
#define PF_EDGE 1
#define PF_REFLECT 2
#define PF_SYMMETRIC 3
#define PF_WRAP 4
#define PF_BOOLEAN 0
#define PF_INT8 1
#define PF_INT16 2
#define PF_INT32 3
#define PF_INT64 4
#define PF_UINT8 5
#define PF_UINT16 6
#define PF_UINT32 7
#define PF_UINT64 8
#define PF_FLOAT16 9
#define PF_BFLOAT16 10
#define PF_FLOAT32 11
#define PF_FLOAT64 12

#define PF_DIMS 33 /* dims of a copy */
#define PF_WINDOWS 16
#define PF_IMAGE_AXES 17
#define PF_BRICK_AXES 4
#define PF_BRICK_BYTES 18432 /* shared memory of a brick */

/* A divisor d of numbers n >= 0: n / d is (n * multiplier) >> shift for 32 bits (launch.cpp computes both). */
typedef struct {
  Index d;
  u32 multiplier;
  u32 shift;
} Divisor;

/* The axis of a window along its positions or its taps, or an axis without a window. An element number n has the index
 * (n / below) % extent. */
typedef struct {
  Divisor below;
  Divisor extent;
  Stride image;   /* stride in the image; 0 along a window */
  Stride columns; /* stride in the columns */
} Walk;

typedef struct {
  Walk position;
  Walk tap;
  Stride image; /* stride of a coordinate */
  Index stride;
  Index dilation;
  Index pad;
  Index extent;
} MoveWindow;

/* Copies without shared memory: one thread copies `vector` units that are neighbours in the order of the destination. The first
 * axis of this order is the lane. The problem's mode has the number of PaddingMode. */
typedef struct {
  int threads;
  int mode;
  int extracts;   /* the image is the source */
  int dims;       /* number of entries of `dim` that are used */
  int windows;    /* number of entries of `window` that are used */
  int is_packed;  /* each thread writes its units as 16 bytes */
  int is_run;     /* along the lane the source has neighbouring units, too */
  int lane;       /* number of the lane's window; -1: the lane is a dim */
  int fill_mask;  /* unit k of the lane is filled from byte (k * size & fill_mask) of the fill */
  Index total;    /* units */
  Index step;     /* coordinates from unit to unit of the lane */
  Divisor extent; /* of the lane */
  Stride lane_image; /* strides of the lane; in the image that of a dim */
  Stride lane_columns;
  u8 fill[16];
  Walk dim[PF_DIMS];
  MoveWindow window[PF_WINDOWS];
} Move;

/* An axis of the bricks of a copy. The first `axes` axes are longer than 1 unit within a brick. */
typedef struct {
  Divisor bricks; /* number of bricks along the axis */
  Index extent;
  int tile; /* extent of a brick */
  Stride src;
  Stride dst;
} BrickAxis;

/* An axis in the order of one side. */
typedef struct {
  Divisor chunks; /* extent of a brick, in chunks along the first axis */
  int axis;       /* number of the BrickAxis */
  int units;      /* that one step moves along the axis */
  int pitch;      /* units in shared memory for one step */
  Stride stride;     /* bytes in the tensor for one step */
} SideAxis;

typedef struct {
  int chunk;      /* units */
  int chunks;     /* of a brick */
  int unit_pitch; /* from unit to unit of a chunk in shared memory */
  SideAxis axis[PF_BRICK_AXES];
} Side;

/* Copies through shared memory, for tensors whose neighbours differ. A group copies one brick: it reads the brick in the order of
 * the source and writes it in the order of the destination, both in chunks of units that are neighbours. */
typedef struct {
  int threads;
  int axes; /* of a brick */
  int dims;
  Side from;
  Side to;
  BrickAxis dim[PF_DIMS];
} Brick;

/* The taps of a window that point at a coordinate. With t = (coordinate + pad) / common, they are the taps
 * first + k * tap_step at the positions b - k * position_step (engine/window.hpp). */
typedef struct {
  Divisor common;        /* of stride and dilation */
  Divisor tap_step;      /* stride / common */
  Divisor position_step; /* dilation / common; 0 for a dilation of 0 */
  Index inverse;         /* of position_step modulo tap_step */
  Index tap_count;
  Index positions;
  Index pad;
  Stride tap; /* strides in the columns */
  Stride position;
  Stride step; /* from one element of a coordinate to the next */
} Solver;

/* An axis of the image, in the order of the threads. */
typedef struct {
  Divisor extent; /* in groups of `vector` elements along the axis that has them */
  int window;     /* number of the solver; -1: a dim */
  int is_part;    /* the two parts of a complex number */
  Stride src;
  Stride dst;
} ImageAxis;

/* Sums, means and counts: one thread makes `vector` elements of the image along one axis. */
typedef struct {
  int threads;
  int axes;
  int windows;
  int along;      /* number of the axis with vectors; -1: none */
  int dtype;      /* means and counts: number of DType */
  int is_aligned; /* elements may be read and written as a whole */
  int accumulate;
  int is_careful; /* means: every mean is made with care */
  Index total;    /* threads with work */
  Index extent;   /* of the axis with vectors, in elements */
  Stride along_src;  /* strides of a step along it; in the columns that of a dim */
  Stride along_dst;
  u8 fill[16];
  ImageAxis axis[PF_IMAGE_AXES];
  Solver window[PF_WINDOWS];
} Combine;

