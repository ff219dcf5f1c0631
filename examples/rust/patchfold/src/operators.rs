// SPDX-License-Identifier: Apache-2.0
use std::ffi::CStr;
use std::ptr;

use patchfold_sys as sys;

use crate::attribute::{c_text, Attribute, Attributes};
use crate::{Element, Error, View, ViewMut};

/// Returns the library's version, as "0.1.0".
pub fn version() -> &'static str {
    // SAFETY: the text lives as long as the process.
    unsafe { CStr::from_ptr(sys::pf_version_string()) }.to_str().unwrap_or_default()
}

/// Returns the names of all operators.
pub fn operators() -> impl Iterator<Item = &'static str> {
    // SAFETY: names live as long as the process; every index is in range.
    (0..unsafe { sys::pf_operator_count() })
        .map(|i| unsafe { CStr::from_ptr(sys::pf_operator_name(i)) }.to_str().unwrap_or_default())
}

/// Sets the number of threads that the library uses in this process; 0: as many as the machine has.
pub fn set_num_threads(threads: i32) -> Result<(), Error> {
    // SAFETY: takes no pointer.
    Error::check(unsafe { sys::pf_set_num_threads(threads) })
}

/// Returns the shape of an operator's output.
pub fn output_shape<T: Element>(
    op: &str,
    attributes: &[(&str, Attribute<'_>)],
    input: &View<'_, T>,
) -> Result<Vec<i64>, Error> {
    let (op, attributes) = (c_text(op)?, Attributes::new(attributes)?);
    let mut shape = vec![0; sys::PF_MAX_RANK];
    let mut rank = sys::PF_MAX_RANK as i32;
    // SAFETY: all pointers are valid during the call, and `shape` has room for `rank` extents.
    Error::check(unsafe {
        sys::pf_output_shape(
            op.as_ptr(),
            attributes.as_ptr(),
            attributes.len(),
            &input.tensor(),
            1,
            shape.as_mut_ptr(),
            &mut rank,
        )
    })?;
    shape.truncate(rank as usize);
    Ok(shape)
}

/// Checks, plans and runs an operator. The output must have the shape that [`output_shape`] returns. Further inputs of an
/// operator's definition (output_size, block_shape, ..) are attributes of their names.
pub fn run<T: Element>(
    op: &str,
    attributes: &[(&str, Attribute<'_>)],
    input: &View<'_, T>,
    output: &mut ViewMut<'_, T>,
) -> Result<(), Error> {
    let (op, attributes) = (c_text(op)?, Attributes::new(attributes)?);
    // SAFETY: views lie within their slices, and the output's slice is borrowed by nobody else.
    Error::check(unsafe {
        sys::pf_run(op.as_ptr(), attributes.as_ptr(), attributes.len(), &input.tensor(), 1, &output.tensor(), ptr::null())
    })
}

/// Returns an explanation of the operator on this tensor, as text for people.
pub fn explain<T: Element>(op: &str, attributes: &[(&str, Attribute<'_>)], input: &View<'_, T>) -> Result<String, Error> {
    let (op, attributes) = (c_text(op)?, Attributes::new(attributes)?);
    let mut text = ptr::null_mut();
    // SAFETY: all pointers are valid during the call; the text is ours to free.
    unsafe {
        let status =
            sys::pf_explain(op.as_ptr(), attributes.as_ptr(), attributes.len(), &input.tensor(), 1, ptr::null(), &mut text);
        Error::check(status)?;
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        sys::pf_text_destroy(text);
        Ok(copy)
    }
}
