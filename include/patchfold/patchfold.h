/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface: every operator of the library by name, for C99 and later, C++, and any language that calls C.
 * docs/glossary.md explains the words.
 *
 * A call names an operator, gives its arguments as attributes by name, and its inputs and its output as tensors:
 *     pf_run(..)                       checks, plans and runs an operator
 *     pf_output_shape(..)              computes the shape of the output
 *     pf_plan_create(..), pf_plan_run  checks and plans once, then runs any number of times, from any thread
 *     pf_explain(..)                   shows what an operator does to one shape
 * This header includes pictures.h, and tiling.h for overlapping tiles, which a build without PATCHFOLD_WITH_TILING leaves out.
 * Operators and arguments have the same names everywhere in the library. The functions of the operator table, at the end of
 * this header, list them with types, defaults and one line of text each, enough to generate a binding.
 *
 * These rules hold for every function, unless its own comment says otherwise:
 *   - Errors: a function that can fail returns a pf_status: PF_OK, or the reason of the failure. pf_last_error() returns
 *     the message, pf_last_error_part() one part of it. A failed call has written nothing through its pointers, except
 *     after an error that is found only while it runs (PF_ERROR_EXECUTOR): the content of the output is then unspecified.
 *     No function throws, prints or aborts. A line on standard error names an environment variable that cannot be used.
 *   - NULL: a pointer must not be NULL unless its comment allows that; PF_ERROR_MISSING names a pointer that must not be
 *     NULL and is. A pointer to 0 entries may be NULL. Text is UTF-8 and ends with a NUL.
 *   - Memory: the library keeps no pointer of the caller, so the caller may free or change its memory after the call; a
 *     pf_merger is the exception. Inputs are only read. A returned pointer to const stays valid until the process ends,
 *     unless its comment says otherwise.
 *   - Threads: every function may be called from any number of threads at once, as long as no thread writes memory that
 *     another call reads or writes. Settings (threads, instruction set) hold for the whole process.
 *   - Growth: a struct that begins with `size` may get more fields at its end in later versions. The caller stores
 *     sizeof(the struct) in `size`, and zeros in unused fields. PF_ERROR_VALUE is returned for a size smaller than the
 *     first version's, and for non-zero bytes beyond the fields that this version knows. Enumerators keep their numbers.
 *     docs/c-abi.md says which versions of the library a compiled program runs with.
 */
#ifndef PATCHFOLD_PATCHFOLD_H
#define PATCHFOLD_PATCHFOLD_H

#include <stddef.h>
#include <stdint.h>

#include "patchfold/export.hpp"
#include "patchfold/version.hpp"

#if defined(PATCHFOLD_STATIC) && defined(__GNUC__) && !defined(_WIN32)
#define PF_API __attribute__((visibility("hidden")))
#else
#define PF_API PATCHFOLD_API
#endif

/* Marks functions whose result says whether they did their work: a compiler warns of a call that ignores it. */
#if (defined(__cplusplus) && __cplusplus >= 201703L) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define PF_CHECKED [[nodiscard]]
#elif defined(__GNUC__)
#define PF_CHECKED __attribute__((warn_unused_result))
#else
#define PF_CHECKED
#endif
/* Version of this header. PF_VERSION is major * 1000000 + minor * 1000 + patch. */
#define PF_VERSION_MAJOR PATCHFOLD_VERSION_MAJOR
#define PF_VERSION_MINOR PATCHFOLD_VERSION_MINOR
#define PF_VERSION_PATCH PATCHFOLD_VERSION_PATCH
#define PF_VERSION_STRING PATCHFOLD_VERSION_STRING
#define PF_VERSION (PF_VERSION_MAJOR * 1000000 + PF_VERSION_MINOR * 1000 + PF_VERSION_PATCH)

/* The largest number of axes of a tensor, and of entries of a list. */
#define PF_MAX_RANK 32

/* Gives enumerators the type int32_t in C++, C23 and generators of bindings. In older C they are int, an equal type. */
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define PF_INT32 : int32_t
#elif defined(__clang__)
#define PF_INT32                                                                      \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wpedantic\"") \
      : int32_t _Pragma("clang diagnostic pop")
#else
#define PF_INT32
#endif

/* Initialises a struct with zeros: pf_operator info = PF_ZEROS; info.size = sizeof info; */
#ifdef __cplusplus
#define PF_ZEROS \
  {}
#else
#define PF_ZEROS \
  { 0 }
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* PF_VERSION and PF_VERSION_STRING of the library that the program runs with. */
PF_API int32_t pf_version(void);
PF_API const char* pf_version_string(void);

/* ---- Errors ---- */

/* The status of a call. */
typedef int32_t pf_status;
enum PF_INT32 {
  PF_ERROR_INTERNAL = -1,         /* a fault of the library, please report it */
  PF_OK = 0,                      /* no error */
  PF_ERROR_RANK = 1,              /* a tensor has the wrong number of axes */
  PF_ERROR_LENGTH = 2,            /* a list has the wrong number of entries */
  PF_ERROR_TYPE = 3,              /* an attribute or a shape input has the wrong type */
  PF_ERROR_VALUE = 4,             /* a number or a word is outside its range */
  PF_ERROR_DIVISIBLE = 5,         /* an extent is not a multiple of a block or a kernel */
  PF_ERROR_POSITION_COUNT = 6,    /* the columns that are read have another number of positions than the arguments give */
  PF_ERROR_SHAPE = 7,             /* the shape of the output, or another shape, differs from the operator's */
  PF_ERROR_DTYPE = 8,             /* two element types differ, or the operator does not support one */
  PF_ERROR_OVERFLOW = 9,          /* a size or an offset is 2^60 or more */
  PF_ERROR_LIMIT = 10,            /* more axes than a problem may have */
  PF_ERROR_STRIDES = 11,          /* two elements of the destination share memory */
  PF_ERROR_OVERLAP = 12,          /* two of source, destination and scratch share memory */
  PF_ERROR_NULL_DATA = 13,        /* a tensor with elements has no data */
  PF_ERROR_MISSING = 14,          /* a required argument is not given, or a pointer is NULL */
  PF_ERROR_UNKNOWN_ARGUMENT = 15, /* the operator has no argument of that name, or it is given twice */
  PF_ERROR_UNKNOWN_OPERATOR = 16, /* there is no operator of that name */
  PF_ERROR_OUT_OF_MEMORY = 17,    /* an allocation failed */
  PF_ERROR_EXECUTOR = 18,         /* the caller's executor or sink did not do its work */
  PF_ERROR_FILE_OPEN = 19,        /* 19 to 23: only other front ends of the library return them */
  PF_ERROR_FILE_WRITE = 20,
  PF_ERROR_FILE_FORMAT = 21,
  PF_ERROR_FILE_UNSUPPORTED = 22,
  PF_ERROR_USAGE = 23
};

/* Returns "ok", "rank", "length", ..; NULL for a number that is not a status. */
PF_API const char* pf_status_name(pf_status status);
/* Returns the cause of a status, as a sentence; NULL for a number that is not a status. */
PF_API const char* pf_status_doc(pf_status status);

/* Returns the message of this thread's last call that returned a pf_status: "OPERATOR: ARGUMENT: RULE; given GIVEN, expected
 * EXPECTED; HINT", without empty parts. "" after a call that succeeded, and before the first call. Never NULL. Valid until
 * this thread's next call that returns a pf_status. */
PF_API const char* pf_last_error(void);

/* Returns one part of that message, valid as long as the message; "" if there is no such part, and for other numbers. */
enum PF_INT32 {
  PF_PART_OPERATOR = 0,
  PF_PART_ARGUMENT = 1,
  PF_PART_RULE = 2,
  PF_PART_GIVEN = 3,
  PF_PART_EXPECTED = 4,
  PF_PART_HINT = 5 /* what to type instead */
};
PF_API const char* pf_last_error_part(int32_t part);

/* ---- Tensors ---- */

/* Element types, all in the machine's byte order. PF_DTYPE_OPAQUE stands for any element of a fixed number of bytes: it can
 * be moved but not added. Do not move elements that hold pointers to objects. */
typedef int32_t pf_dtype;
enum PF_INT32 {
  PF_DTYPE_BOOLEAN = 0, /* 1 byte */
  PF_DTYPE_INT8 = 1,
  PF_DTYPE_INT16 = 2,
  PF_DTYPE_INT32 = 3,
  PF_DTYPE_INT64 = 4,
  PF_DTYPE_UINT8 = 5,
  PF_DTYPE_UINT16 = 6,
  PF_DTYPE_UINT32 = 7,
  PF_DTYPE_UINT64 = 8,
  PF_DTYPE_FLOAT16 = 9,
  PF_DTYPE_BFLOAT16 = 10,
  PF_DTYPE_FLOAT32 = 11,
  PF_DTYPE_FLOAT64 = 12,
  PF_DTYPE_COMPLEX64 = 13,
  PF_DTYPE_COMPLEX128 = 14,
  PF_DTYPE_FLOAT8_E4M3FN = 15,
  PF_DTYPE_FLOAT8_E4M3FNUZ = 16,
  PF_DTYPE_FLOAT8_E5M2 = 17,
  PF_DTYPE_FLOAT8_E5M2FNUZ = 18,
  PF_DTYPE_OPAQUE = 19
};

/* Returns "float32", ..; NULL for a number that is not an element type. */
PF_API const char* pf_dtype_name(pf_dtype dtype);
/* Finds the type of a name ("float32" or "f32"). PF_ERROR_VALUE if there is none. */
PF_CHECKED PF_API pf_status pf_dtype_from_name(const char* name, pf_dtype* dtype);
/* Returns the bytes of one element; 0 for PF_DTYPE_OPAQUE and for a number that is not an element type. */
PF_API uint32_t pf_dtype_size(pf_dtype dtype);
/* Returns 1 if fold can add elements of this type, otherwise 0. */
PF_API int32_t pf_dtype_is_summable(pf_dtype dtype);

/* A tensor in memory of the caller. This struct never grows.
 *   data          the element with index 0 on every axis, of any alignment. An input's data is only read. May be NULL if the
 *                 tensor has no elements. pf_output_shape and pf_plan_create read only shape inputs: others may be NULL.
 *   shape         rank extents, each at least 0. May be NULL if rank is 0.
 *   stride_bytes  rank distances in bytes between neighbours on an axis, of any sign; NULL: row-major. Inputs may have
 *                 strides of 0; no two elements of an output may share memory.
 *   rank          0 to PF_MAX_RANK
 *   element_size  bytes of one element: pf_dtype_size(dtype), or 0 for this size; at least 1 for PF_DTYPE_OPAQUE. */
typedef struct pf_tensor {
  void* data;
  const int64_t* shape;
  const int64_t* stride_bytes;
  int32_t rank;
  pf_dtype dtype;
  uint32_t element_size;
} pf_tensor;

/* ---- Attributes ---- */

/* The kind of a pf_attribute's value, with the fields that are read. */
enum PF_INT32 {
  PF_VALUE_INTEGER = 0,  /* integer; a boolean is 0 or 1 */
  PF_VALUE_UNSIGNED = 1, /* integer, taken as a uint64_t */
  PF_VALUE_NUMBER = 2,   /* number */
  PF_VALUE_COMPLEX = 3,  /* number and imaginary */
  PF_VALUE_INTEGERS = 4, /* integers[0 .. count - 1] */
  PF_VALUE_PAIRS = 5,    /* integers[0 .. 2 * count - 1]: begin, end, begin, end, .. */
  PF_VALUE_TEXT = 6      /* text: a word ("same_upper"), or any value as the command line reads it ("3", "3,5", "1:2,0:1",
                            "nan", "1+2j", "true") */
};

/* One argument of an operator. pf_argument_kind says which values an argument takes. Fields that its kind does not read
 * are ignored. All attributes of an array have the same `size`. */
typedef struct pf_attribute {
  uint32_t size; /* sizeof(pf_attribute) */
  int32_t kind;  /* PF_VALUE_.. */
  const char* name;
  int64_t integer;
  double number;
  double imaginary;
  int64_t count;
  const int64_t* integers;
  const char* text;
} pf_attribute;

static inline pf_attribute pf_attribute_of_kind(const char* name, int32_t kind) {
  pf_attribute attribute = PF_ZEROS;
  attribute.size = sizeof(pf_attribute);
  attribute.kind = kind;
  attribute.name = name;
  return attribute;
}
/* Each of these functions returns an attribute of the kind in its name. The attribute keeps the given pointers. */
static inline pf_attribute pf_integer(const char* name, int64_t value) {
  pf_attribute attribute = pf_attribute_of_kind(name, PF_VALUE_INTEGER);
  attribute.integer = value;
  return attribute;
}
static inline pf_attribute pf_number(const char* name, double value) {
  pf_attribute attribute = pf_attribute_of_kind(name, PF_VALUE_NUMBER);
  attribute.number = value;
  return attribute;
}
static inline pf_attribute pf_integers(const char* name, const int64_t* values, int64_t count) {
  pf_attribute attribute = pf_attribute_of_kind(name, PF_VALUE_INTEGERS);
  attribute.integers = values;
  attribute.count = count;
  return attribute;
}
static inline pf_attribute pf_pairs(const char* name, const int64_t* values, int64_t count) {
  pf_attribute attribute = pf_attribute_of_kind(name, PF_VALUE_PAIRS);
  attribute.integers = values;
  attribute.count = count;
  return attribute;
}
static inline pf_attribute pf_text(const char* name, const char* text) {
  pf_attribute attribute = pf_attribute_of_kind(name, PF_VALUE_TEXT);
  attribute.text = text;
  return attribute;
}

/* ---- Executors ---- */

/* Runs one piece of work. */
typedef void (*pf_body)(void* body_context, int64_t piece);

/* Runs pieces of work on the caller's own threads. A parameter const pf_executor* may be NULL: the library's own threads.
 *   threads  how many pieces can run at the same time, at least 1. On more threads, pieces may have to wait for others.
 *   run      calls body(body_context, piece) exactly once for each piece in [0, pieces), from any thread, in any order,
 *            and returns 0 when all have ended; otherwise the call fails with PF_ERROR_EXECUTOR. A piece out of range is
 *            not run. run must not throw or be left by longjmp. Calls may nest: run may call functions of the library.
 *   context  is passed to run and not used otherwise; may be NULL */
typedef struct pf_executor {
  uint32_t size; /* sizeof(pf_executor) */
  int32_t threads;
  void* context;
  int32_t (*run)(void* context, int64_t pieces, pf_body body, void* body_context);
} pf_executor;

/* Returns the executor that runs every piece on the calling thread. */
PF_API const pf_executor* pf_serial_executor(void);
/* Sets the number of threads of the library's own executor; 0: as many as the machine has. PF_ERROR_VALUE if negative. */
PF_CHECKED PF_API pf_status pf_set_num_threads(int32_t threads);
PF_API int32_t pf_get_num_threads(void);
/* Limits calls of the calling thread to this number of threads of the library's own executor; 0: no limit. Other threads and
 * pf_set_num_threads stay as they are. PF_ERROR_VALUE for a negative number. before: gets the former limit; may be NULL. */
PF_CHECKED PF_API pf_status pf_limit_threads(int32_t threads, int32_t* before);

/* ---- Running ---- */

/* Arguments that several functions share:
 *   op          name of an operator ("unfold", "openvino.Col2Im-15"); the version of a dialect's operator may be left out
 *               and means the newest. PF_ERROR_UNKNOWN_OPERATOR names the operator with the most similar name.
 *   attributes  n_attributes of them, in any order. Arguments that are not given have their defaults.
 *   inputs      n_inputs tensors: first the data, unless the operator has no data input (coverage), then its shape inputs
 *               (output_size, block_shape, ..) in the order of the operator's definition. Shape inputs are integers in this
 *               machine's memory; the call reads them through their strides. The operator's pf_index_types says which
 *               integer types they may have. A trailing shape input may be left out of the array and be given as an
 *               attribute of its name.
 *   output      a tensor of the shape that pf_output_shape gives and of the data's element type. None of its elements may
 *               share memory with an element of the data. */

/* Checks, plans and runs an operator. executor: may be NULL. Each thread keeps the plans of its last calls. */
PF_CHECKED PF_API pf_status pf_run(const char* op, const pf_attribute* attributes, int32_t n_attributes,
                                   const pf_tensor* inputs, int32_t n_inputs, const pf_tensor* output,
                                   const pf_executor* executor);

/* Computes the shape of the output. Only the shape of the data tensor is used; its data may be NULL.
 *   shape  receives the extents; if NULL, only the rank is computed
 *   rank   in: the number of entries that shape has room for (PF_MAX_RANK is always enough; ignored if shape is NULL);
 *          out: the number of axes, also if there is too little room, which is PF_ERROR_LENGTH */
PF_CHECKED PF_API pf_status pf_output_shape(const char* op, const pf_attribute* attributes, int32_t n_attributes,
                                            const pf_tensor* inputs, int32_t n_inputs, int64_t* shape, int32_t* rank);

/* A checked problem together with the strategy that runs it: one operator, shapes, strides and element type. Immutable. */
typedef struct pf_plan pf_plan;

/* Makes a plan. The data pointers of the data input and of the output are ignored and may be NULL.
 *   plan  receives the plan, or NULL after an error. The caller owns it and destroys it with pf_plan_destroy(). */
PF_CHECKED PF_API pf_status pf_plan_create(const char* op, const pf_attribute* attributes, int32_t n_attributes,
                                           const pf_tensor* inputs, int32_t n_inputs, const pf_tensor* output,
                                           pf_plan** plan);

/* Runs a plan, from any number of threads at once, each with its own dst and scratch.
 *   src, dst   the elements with index 0 on every axis; may be NULL if the tensor has no elements. src is ignored if the
 *              operator has no data input.
 *   scratch    memory of any alignment, at least pf_plan_scratch_bytes() for the executor's threads (PF_ERROR_VALUE), apart
 *              from all that src and dst span (PF_ERROR_OVERLAP). The run then allocates nothing. NULL, with scratch_bytes
 *              0: memory that the library keeps for the calling thread; one of this thread's first runs allocates it.
 *   executor   may be NULL */
PF_CHECKED PF_API pf_status pf_plan_run(const pf_plan* plan, const void* src, void* dst, void* scratch, size_t scratch_bytes,
                                        const pf_executor* executor);

/* Returns the bytes of scratch memory that a run with this many threads needs; threads must be at least 1. */
PF_CHECKED PF_API pf_status pf_plan_scratch_bytes(const pf_plan* plan, int32_t threads, size_t* bytes);

/* Describes the plan in lines of text: strategy, normal form, pieces, bytes moved.
 *   buffer    receives as much of the text as fits, always ended by a NUL. May be NULL if capacity is 0.
 *   capacity  bytes of buffer
 *   length    receives the length of the whole text in bytes, without its NUL; the text was cut if length >= capacity.
 *             May be NULL. */
PF_CHECKED PF_API pf_status pf_plan_describe(const pf_plan* plan, char* buffer, size_t capacity, size_t* length);

/* Destroys a plan; NULL is allowed. No call may use the plan afterwards. */
PF_API void pf_plan_destroy(pf_plan* plan);

/* ---- Explanations ---- */

/* The optional parts of an explanation. */
typedef struct pf_explain_options {
  uint32_t size;         /* sizeof(pf_explain_options) */
  int32_t plan;          /* not 0: show how the library runs the operator, and where the operator is defined */
  const pf_dtype* dtype; /* element type of an operator without a data input; NULL: PF_DTYPE_FLOAT32 */
} pf_explain_options;

/* Explains one operator for one shape, as text for people: ASCII, in lines of at most 100 characters. Shows its
 * arguments, shapes and bytes, positions, how often each element is used, and which element comes from which; for large
 * shapes it omits parts that would take long, and says so. op, attributes and inputs are those of pf_run; the data
 * pointer of the data input is ignored and may be NULL. Users of the static library link patchfold::explain, too. A
 * library that was built without PATCHFOLD_WITH_EXPLAIN returns PF_ERROR_UNKNOWN_OPERATOR.
 *   options  may be NULL
 *   text     receives the text, or NULL after an error. The caller owns it and frees it with pf_text_destroy(). */
PF_CHECKED PF_API pf_status pf_explain(const char* op, const pf_attribute* attributes, int32_t n_attributes,
                                       const pf_tensor* inputs, int32_t n_inputs, const pf_explain_options* options,
                                       char** text);

/* Frees a text that a function returned; NULL is allowed. */
PF_API void pf_text_destroy(char* text);

/* ---- The operator table ---- */

/* The kind of value that an argument takes. */
typedef int32_t pf_argument_kind;
enum PF_INT32 {
  PF_ARGUMENT_INTEGER = 0,  /* an integer */
  PF_ARGUMENT_INTEGERS = 1, /* integers */
  PF_ARGUMENT_AXES = 2,     /* an integer for every spatial axis, or integers, one for each */
  PF_ARGUMENT_PAIRS = 3,    /* pairs (begin, end) */
  PF_ARGUMENT_PADDING = 4,  /* text "valid", "same_upper" ("same" too), "same_lower"; an integer; integers; or pairs */
  PF_ARGUMENT_NUMBER = 5,   /* an integer, unsigned, number or complex */
  PF_ARGUMENT_BOOLEAN = 6,  /* an integer, 0 or 1 */
  PF_ARGUMENT_CHOICE = 7    /* text: one of the choices, or a word of another system for it (docs/operators.md) */
};

/* Integer types that the shape inputs of an operator may have. */
typedef int32_t pf_index_types;
enum PF_INT32 {
  PF_INDEX_INT64 = 0,               /* int64 only */
  PF_INDEX_INT32_OR_INT64 = 1,      /* each input int32 or int64 */
  PF_INDEX_SAME_INT32_OR_INT64 = 2, /* int32 or int64, the same for all inputs */
  PF_INDEX_INTEGRAL = 3,            /* any integer type, each input its own */
  PF_INDEX_SAME_INTEGRAL = 4        /* any integer type, the same for all inputs */
};

/* One operator. */
typedef struct pf_operator {
  uint32_t size; /* sizeof(pf_operator), set by the caller */
  pf_index_types index_types;
  const char* name;
  const char* doc;        /* one line */
  const char* definition; /* where the operator is defined */
  const char* data_input; /* name of the data input; NULL if there is none */
  int32_t n_shape_inputs; /* the first so many arguments are shape inputs: inputs behind the data */
  int32_t n_arguments;
} pf_operator;

/* One argument of an operator. */
typedef struct pf_argument {
  uint32_t size; /* sizeof(pf_argument), set by the caller */
  pf_argument_kind kind;
  const char* name;
  const char* doc;            /* one line, with the range */
  const char* default_text;   /* as PF_VALUE_TEXT reads it; "" if the argument is required or its default is derived */
  const char* const* choices; /* n_choices words */
  int32_t n_choices;          /* 0 unless kind is PF_ARGUMENT_CHOICE */
  int32_t is_input;           /* 1 for a shape input */
  int32_t required;           /* 1 if it must be given */
  int32_t reserved;           /* 0 */
} pf_argument;

/* Returns the number of operators, which never changes in a process; neutral operators come first. 0 only if the first call
 * lacked memory. */
PF_API int32_t pf_operator_count(void);
/* Returns the name of an operator; NULL unless 0 <= index < pf_operator_count(). */
PF_API const char* pf_operator_name(int32_t index);
/* Finds the index of the operator that `op` names. */
PF_CHECKED PF_API pf_status pf_find_operator(const char* op, int32_t* index);
/* Fills the fields of *info behind `size`, as many as fit into `size` bytes. PF_ERROR_VALUE for an index out of range. */
PF_CHECKED PF_API pf_status pf_operator_info(int32_t index, pf_operator* info);
PF_CHECKED PF_API pf_status pf_argument_info(int32_t index, int32_t argument, pf_argument* info);

/* ---- Instruction sets ---- */

/* Return the number of instruction sets that this build contains and this processor has, and the name of one, best first
 * ("AVX2"; NULL for an index out of range). */
PF_API int32_t pf_instruction_set_count(void);
PF_API const char* pf_instruction_set_name(int32_t index);
/* Selects one of these sets for every thread by its name, in upper or lower case; NULL or "" selects the best.
 * PF_ERROR_VALUE for any other name. Results are identical on every set. */
PF_CHECKED PF_API pf_status pf_use_instruction_set(const char* name);

#ifdef __cplusplus
}
#endif
#include "patchfold/pictures.h"
#if PATCHFOLD_WITH_TILING
#include "patchfold/tiling.h"
#endif
#endif /* PATCHFOLD_PATCHFOLD_H */
