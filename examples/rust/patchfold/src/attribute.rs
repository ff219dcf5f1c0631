// SPDX-License-Identifier: Apache-2.0
use std::ffi::CString;
use std::ptr;

use patchfold_sys as sys;

use crate::Error;

/// The value of an argument of an operator.
#[derive(Clone, Copy, Debug)]
pub enum Attribute<'a> {
    /// An integer, or a boolean as 0 or 1.
    Integer(i64),
    /// A number.
    Number(f64),
    /// Integers, one for each axis.
    Integers(&'a [i64]),
    /// (begin, end) for each axis.
    Pairs(&'a [[i64; 2]]),
    /// A word ("same_upper"), or any value as the command line reads it ("3", "1:2,0:1").
    Text(&'a str),
}

/// Attributes in C's form, with the texts to which they point.
pub(crate) struct Attributes {
    list: Vec<sys::pf_attribute>,
    _texts: Vec<CString>,
}

impl Attributes {
    pub(crate) fn new(given: &[(&str, Attribute<'_>)]) -> Result<Self, Error> {
        let mut texts = Vec::new();
        let mut list = Vec::new();
        for (name, value) in given {
            let mut entry = sys::pf_attribute {
                size: std::mem::size_of::<sys::pf_attribute>() as u32,
                kind: sys::PF_VALUE_INTEGER,
                name: keep(&mut texts, name)?,
                integer: 0,
                number: 0.0,
                imaginary: 0.0,
                count: 0,
                integers: ptr::null(),
                text: ptr::null(),
            };
            match *value {
                Attribute::Integer(integer) => entry.integer = integer,
                Attribute::Number(number) => {
                    entry.kind = sys::PF_VALUE_NUMBER;
                    entry.number = number;
                }
                Attribute::Integers(integers) => {
                    entry.kind = sys::PF_VALUE_INTEGERS;
                    entry.count = integers.len() as i64;
                    entry.integers = integers.as_ptr();
                }
                Attribute::Pairs(pairs) => {
                    entry.kind = sys::PF_VALUE_PAIRS;
                    entry.count = pairs.len() as i64;
                    entry.integers = pairs.as_ptr().cast();
                }
                Attribute::Text(text) => {
                    entry.kind = sys::PF_VALUE_TEXT;
                    entry.text = keep(&mut texts, text)?;
                }
            }
            list.push(entry);
        }
        Ok(Self { list, _texts: texts })
    }

    pub(crate) fn as_ptr(&self) -> *const sys::pf_attribute {
        self.list.as_ptr()
    }

    pub(crate) fn len(&self) -> i32 {
        self.list.len() as i32
    }
}

/// Keeps a text and returns a pointer to it, which stays valid when the list grows, since the text itself does not move.
fn keep(texts: &mut Vec<CString>, text: &str) -> Result<*const std::os::raw::c_char, Error> {
    texts.push(c_text(text)?);
    Ok(texts[texts.len() - 1].as_ptr())
}

pub(crate) fn c_text(text: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::new(sys::PF_ERROR_VALUE, format!("{text:?} has a NUL, which no name has")))
}
