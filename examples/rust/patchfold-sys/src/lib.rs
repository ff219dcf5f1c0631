// SPDX-License-Identifier: Apache-2.0
//! The C interface of patchfold, unchanged: `patchfold/patchfold.h` explains every function, struct and constant.
#![allow(non_camel_case_types, missing_docs)]

use std::os::raw::{c_char, c_void};

pub const PF_MAX_RANK: usize = 32;

pub type pf_status = i32;
pub const PF_OK: pf_status = 0;
pub const PF_ERROR_VALUE: pf_status = 4;
pub const PF_ERROR_SHAPE: pf_status = 7;
pub const PF_ERROR_UNKNOWN_OPERATOR: pf_status = 16;

pub type pf_dtype = i32;
pub const PF_DTYPE_BOOLEAN: pf_dtype = 0;
pub const PF_DTYPE_INT8: pf_dtype = 1;
pub const PF_DTYPE_INT16: pf_dtype = 2;
pub const PF_DTYPE_INT32: pf_dtype = 3;
pub const PF_DTYPE_INT64: pf_dtype = 4;
pub const PF_DTYPE_UINT8: pf_dtype = 5;
pub const PF_DTYPE_UINT16: pf_dtype = 6;
pub const PF_DTYPE_UINT32: pf_dtype = 7;
pub const PF_DTYPE_UINT64: pf_dtype = 8;
pub const PF_DTYPE_FLOAT16: pf_dtype = 9;
pub const PF_DTYPE_BFLOAT16: pf_dtype = 10;
pub const PF_DTYPE_FLOAT32: pf_dtype = 11;
pub const PF_DTYPE_FLOAT64: pf_dtype = 12;
pub const PF_DTYPE_COMPLEX64: pf_dtype = 13;
pub const PF_DTYPE_COMPLEX128: pf_dtype = 14;

pub const PF_VALUE_INTEGER: i32 = 0;
pub const PF_VALUE_UNSIGNED: i32 = 1;
pub const PF_VALUE_NUMBER: i32 = 2;
pub const PF_VALUE_COMPLEX: i32 = 3;
pub const PF_VALUE_INTEGERS: i32 = 4;
pub const PF_VALUE_PAIRS: i32 = 5;
pub const PF_VALUE_TEXT: i32 = 6;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_tensor {
    pub data: *mut c_void,
    pub shape: *const i64,
    pub stride_bytes: *const i64,
    pub rank: i32,
    pub dtype: pf_dtype,
    pub element_size: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_attribute {
    pub size: u32,
    pub kind: i32,
    pub name: *const c_char,
    pub integer: i64,
    pub number: f64,
    pub imaginary: f64,
    pub count: i64,
    pub integers: *const i64,
    pub text: *const c_char,
}

pub type pf_body = Option<unsafe extern "C" fn(body_context: *mut c_void, piece: i64)>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_executor {
    pub size: u32,
    pub threads: i32,
    pub context: *mut c_void,
    pub run:
        Option<unsafe extern "C" fn(context: *mut c_void, pieces: i64, body: pf_body, body_context: *mut c_void) -> i32>,
}

#[repr(C)]
pub struct pf_plan {
    _private: [u8; 0],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_explain_options {
    pub size: u32,
    pub plan: i32,
    pub dtype: *const pf_dtype,
}

extern "C" {
    pub fn pf_version() -> i32;
    pub fn pf_version_string() -> *const c_char;
    pub fn pf_status_name(status: pf_status) -> *const c_char;
    pub fn pf_last_error() -> *const c_char;
    pub fn pf_dtype_size(dtype: pf_dtype) -> u32;
    pub fn pf_serial_executor() -> *const pf_executor;
    pub fn pf_set_num_threads(threads: i32) -> pf_status;
    pub fn pf_get_num_threads() -> i32;
    pub fn pf_run(
        op: *const c_char,
        attributes: *const pf_attribute,
        n_attributes: i32,
        inputs: *const pf_tensor,
        n_inputs: i32,
        output: *const pf_tensor,
        executor: *const pf_executor,
    ) -> pf_status;
    pub fn pf_output_shape(
        op: *const c_char,
        attributes: *const pf_attribute,
        n_attributes: i32,
        inputs: *const pf_tensor,
        n_inputs: i32,
        shape: *mut i64,
        rank: *mut i32,
    ) -> pf_status;
    pub fn pf_plan_create(
        op: *const c_char,
        attributes: *const pf_attribute,
        n_attributes: i32,
        inputs: *const pf_tensor,
        n_inputs: i32,
        output: *const pf_tensor,
        plan: *mut *mut pf_plan,
    ) -> pf_status;
    pub fn pf_plan_run(
        plan: *const pf_plan,
        src: *const c_void,
        dst: *mut c_void,
        scratch: *mut c_void,
        scratch_bytes: usize,
        executor: *const pf_executor,
    ) -> pf_status;
    pub fn pf_plan_destroy(plan: *mut pf_plan);
    pub fn pf_explain(
        op: *const c_char,
        attributes: *const pf_attribute,
        n_attributes: i32,
        inputs: *const pf_tensor,
        n_inputs: i32,
        options: *const pf_explain_options,
        text: *mut *mut c_char,
    ) -> pf_status;
    pub fn pf_text_destroy(text: *mut c_char);
    pub fn pf_operator_count() -> i32;
    pub fn pf_operator_name(index: i32) -> *const c_char;
}
