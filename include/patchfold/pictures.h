/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of bytes in C: their size, and the numbers that stand for their bytes. patchfold.h includes this header, and its
 * rules hold here. */
#ifndef PATCHFOLD_PICTURES_H
#define PATCHFOLD_PICTURES_H

#ifndef PATCHFOLD_PATCHFOLD_H
#error "include <patchfold/patchfold.h>, which includes <patchfold/pictures.h>"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a table's entry for each byte: out[i0, .., iR-1] = table[i_axis, bytes[i0, .., iR-1]]. The patches of a picture are a
 * view of the picture with split axes, so one call cuts, permutes and normalizes.
 *   bytes     PF_DTYPE_UINT8, any shape
 *   axis      the axis of bytes that selects a row of the table, usually the channels; negative numbers count from the end
 *   table     (extent of the axis, 256), of any element type but PF_DTYPE_OPAQUE
 *   out       the shape of bytes and the element type of the table; shares memory with neither
 *   executor  may be NULL */
PF_CHECKED PF_API pf_status pf_apply_table(const pf_tensor* bytes, int32_t axis, const pf_tensor* table,
                                           const pf_tensor* out, const pf_executor* executor);

/* The filter of a resize. All but PF_FILTER_NEAREST are antialiased: when a picture shrinks, the filter's support grows. */
typedef int32_t pf_filter;
enum PF_INT32 {
  PF_FILTER_BICUBIC = 0,  /* Keys' cubic with a = -1/2, support 2 */
  PF_FILTER_NEAREST = 1,  /* the pixel at the place */
  PF_FILTER_BOX = 2,      /* 1, support 1/2 */
  PF_FILTER_BILINEAR = 3, /* 1 - |x|, support 1 */
  PF_FILTER_HAMMING = 4,  /* sinc with a Hamming window, support 1 */
  PF_FILTER_LANCZOS = 5   /* sinc(x) sinc(x / 3), support 3 */
};

/* Whose fixed point a resize has. That of torch has PF_FILTER_BILINEAR and PF_FILTER_BICUBIC only, and no box. */
typedef int32_t pf_fixed_point;
enum PF_INT32 {
  PF_FIXED_POINT_PILLOW = 0, /* weights have 22 bits behind the point */
  PF_FIXED_POINT_TORCH = 1   /* as many, up to 22, as let the largest weight of an axis fit into 16 bits */
};

/* Resizes pictures as Pillow's Image.resize does for the modes L and RGB, or as torch's antialiased interpolate does, bit for
 * bit.
 *   picture   PF_DTYPE_UINT8 (.., rows, columns), 1 to 2^20 of each
 *   resized   PF_DTYPE_UINT8: the other axes of picture, and any extents of rows and columns, 1 to 2^20
 *   box       left, upper, right, lower: the part of the picture that is resized, in pixels; NULL: the whole picture
 *   executor  may be NULL */
PF_CHECKED PF_API pf_status pf_resize(const pf_tensor* picture, const pf_tensor* resized, pf_filter filter,
                                      pf_fixed_point fixed_point, const float* box, const pf_executor* executor);

#ifdef __cplusplus
}
#endif

#endif
