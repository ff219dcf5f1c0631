/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles, in C and in C++, only if the headers need no other header and have the types that bindings expect. */
#include "patchfold/patchfold.h"
#ifdef WITH_DLPACK
#include "patchfold/dlpack.h"
#endif

#ifdef __cplusplus
#include <type_traits>
#define IS_INT32(enumerator) \
  static_assert(std::is_same<std::underlying_type<decltype(enumerator)>::type, int32_t>::value, "")
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define IS_INT32(enumerator) _Static_assert(_Generic((enumerator), int32_t : 1, default : 0), "int32_t")
#else
#define IS_INT32(enumerator) typedef char check_##enumerator[sizeof(enumerator) == sizeof(int32_t) ? 1 : -1]
#endif
/* Every enumeration has the type int32_t; one enumerator of each is checked. */
IS_INT32(PF_OK);
IS_INT32(PF_PART_OPERATOR);
IS_INT32(PF_DTYPE_BOOLEAN);
IS_INT32(PF_VALUE_INTEGER);
IS_INT32(PF_ARGUMENT_INTEGER);
IS_INT32(PF_INDEX_INT64);
IS_INT32(PF_TAIL_SHIFT);
IS_INT32(PF_PADDING_CONSTANT);
IS_INT32(PF_REDUCE_STANDARD);
IS_INT32(PF_WINDOW_STANDARD);

/* Enumerators, and the types of the parameters that take them, convert into each other without a warning. */
pf_status compiled_against(pf_dtype dtype);
pf_status compiled_against(pf_dtype dtype) {
  const int64_t extents[] = {4, 4};
  pf_attribute attribute = pf_integers("kernel_size", extents, 2);
  pf_tiling_spec tiling = pf_tiling_spec_of(extents, 2, extents, 2);
  pf_merge_spec merge = pf_merge_spec_of(PF_DTYPE_FLOAT32, extents, 1);
  pf_tiling_layout layout = PF_ZEROS;
  layout.size = sizeof layout;
  attribute.kind = PF_VALUE_INTEGERS;
  tiling.tail = PF_TAIL_PAD;
  merge.reduce = PF_REDUCE_MEAN;
  if (dtype == PF_DTYPE_FLOAT32 && attribute.kind == tiling.tail && merge.reduce == PF_REDUCE_SUM) return PF_ERROR_VALUE;
  return layout.size > 0 ? PF_OK : PF_ERROR_INTERNAL;
}
