// SPDX-License-Identifier: Apache-2.0
use std::ffi::CStr;
use std::fmt;

use patchfold_sys as sys;

/// The error of a failed call. `{}` shows operator, argument, rule, and the given and expected values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The status of the C interface, `PF_ERROR_..`.
    pub status: i32,
    /// The message.
    pub message: String,
}

impl Error {
    pub(crate) fn new(status: i32, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// Returns the error of this thread's last call as `Err` if `status` is the status of an error.
    pub(crate) fn check(status: i32) -> Result<(), Self> {
        if status == sys::PF_OK {
            return Ok(());
        }
        // SAFETY: the message is never null, and valid until this thread's next call.
        let message = unsafe { CStr::from_ptr(sys::pf_last_error()) };
        Err(Self::new(status, message.to_string_lossy()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
