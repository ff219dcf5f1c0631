// SPDX-License-Identifier: Apache-2.0
use std::ffi::c_void;
use std::mem::size_of;

use patchfold_sys as sys;

use crate::Error;

/// An element type of the library.
///
/// # Safety
/// `DTYPE` must be the library's number for this type, and every pattern of its bits that an operator may move or add up
/// must be a value of the type.
pub unsafe trait Element: Copy {
    /// `PF_DTYPE_..` of the C interface.
    const DTYPE: i32;
}

macro_rules! elements {
    ($($type:ty: $dtype:ident),*) => {
        $(
            // SAFETY: the library's types are those of C, which are those of Rust.
            unsafe impl Element for $type {
                const DTYPE: i32 = sys::$dtype;
            }
        )*
    };
}
// bool is safe, since the library writes 0 and 1 only.
elements!(bool: PF_DTYPE_BOOLEAN, i8: PF_DTYPE_INT8, i16: PF_DTYPE_INT16, i32: PF_DTYPE_INT32, i64: PF_DTYPE_INT64,
          u8: PF_DTYPE_UINT8, u16: PF_DTYPE_UINT16, u32: PF_DTYPE_UINT32, u64: PF_DTYPE_UINT64, f32: PF_DTYPE_FLOAT32,
          f64: PF_DTYPE_FLOAT64);

/// Where a tensor's elements lie in a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) shape: Vec<i64>,
    /// Bytes between neighbours on each axis.
    strides: Vec<i64>,
    /// `offset`: the index in the slice of the element with index 0 on every axis. `needed`: how long the slice must be.
    pub(crate) offset: usize,
    pub(crate) needed: usize,
}

impl Layout {
    fn row_major(shape: &[i64], size: usize) -> Result<Self, Error> {
        let mut strides = vec![0; shape.len()];
        let mut step: i64 = 1;
        for (stride, extent) in strides.iter_mut().zip(shape).rev() {
            *stride = step;
            step = step.checked_mul((*extent).max(1)).ok_or_else(too_large)?;
        }
        Self::strided(0, shape, &strides, size)
    }

    fn strided(offset: usize, shape: &[i64], strides: &[i64], size: usize) -> Result<Self, Error> {
        let fail = |rule: String| Err(Error::new(sys::PF_ERROR_SHAPE, rule));
        if shape.len() != strides.len() {
            return fail(format!(
                "shape and strides must have as many entries; given {} and {}",
                shape.len(),
                strides.len()
            ));
        }
        if shape.len() > sys::PF_MAX_RANK {
            return fail(format!("a tensor has at most {} axes; given {}", sys::PF_MAX_RANK, shape.len()));
        }
        if let Some(extent) = shape.iter().find(|extent| **extent < 0) {
            return fail(format!("extents must not be negative; given {extent}"));
        }
        let is_empty = shape.contains(&0);
        let (mut low, mut high) = (0i64, 0i64);
        let mut stride_bytes = Vec::new();
        for (extent, stride) in shape.iter().zip(strides) {
            stride_bytes.push(stride.checked_mul(size as i64).ok_or_else(too_large)?);
            let reach = if is_empty { 0 } else { (extent - 1).checked_mul(*stride).ok_or_else(too_large)? };
            let end = if reach < 0 { &mut low } else { &mut high };
            *end = end.checked_add(reach).ok_or_else(too_large)?;
        }
        let first = i64::try_from(offset).map_err(|_| too_large())?;
        if first.checked_add(low).ok_or_else(too_large)? < 0 {
            return fail(format!("strides reach {} elements before the slice", -(first + low)));
        }
        let needed = if is_empty { 0 } else { first.checked_add(high).ok_or_else(too_large)? as usize + 1 };
        Ok(Self { shape: shape.to_vec(), strides: stride_bytes, offset: if is_empty { 0 } else { offset }, needed })
    }

    pub(crate) fn check(&self, length: usize) -> Result<(), Error> {
        if length >= self.needed {
            return Ok(());
        }
        let message =
            format!("a slice of {length} elements is too short for shape {:?}; expected {}", self.shape, self.needed);
        Err(Error::new(sys::PF_ERROR_SHAPE, message))
    }

    /// Returns the C tensor; `first` points to the slice's first element.
    pub(crate) fn tensor<T: Element>(&self, first: *mut T) -> sys::pf_tensor {
        sys::pf_tensor {
            // The address lies within the slice, whose length is at least `needed`.
            data: first.wrapping_add(self.offset).cast::<c_void>(),
            shape: self.shape.as_ptr(),
            stride_bytes: self.strides.as_ptr(),
            rank: self.shape.len() as i32,
            dtype: T::DTYPE,
            element_size: 0,
        }
    }
}

fn too_large() -> Error {
    Error::new(sys::PF_ERROR_SHAPE, "shape and strides go beyond 64 bits")
}

/// A tensor to read.
#[derive(Clone, Debug)]
pub struct View<'a, T> {
    pub(crate) data: &'a [T],
    pub(crate) layout: Layout,
}

impl<'a, T: Element> View<'a, T> {
    /// Makes a row-major view: elements that are neighbours on the last axis are neighbours in memory. Fails if the slice
    /// has fewer elements than the shape.
    pub fn new(data: &'a [T], shape: &[i64]) -> Result<Self, Error> {
        let layout = Layout::row_major(shape, size_of::<T>())?;
        layout.check(data.len())?;
        Ok(Self { data, layout })
    }

    /// Makes a view with any layout. The element with index 0 on every axis is `data[offset]`. `strides` count elements
    /// between neighbours on an axis, and may be negative or 0. Fails if an element lies outside of the slice.
    pub fn strided(data: &'a [T], offset: usize, shape: &[i64], strides: &[i64]) -> Result<Self, Error> {
        let layout = Layout::strided(offset, shape, strides, size_of::<T>())?;
        layout.check(data.len())?;
        Ok(Self { data, layout })
    }

    pub(crate) fn tensor(&self) -> sys::pf_tensor {
        self.layout.tensor(self.data.as_ptr().cast_mut())
    }
}

/// A tensor to write.
#[derive(Debug)]
pub struct ViewMut<'a, T> {
    pub(crate) data: &'a mut [T],
    pub(crate) layout: Layout,
}

impl<'a, T: Element> ViewMut<'a, T> {
    /// Makes a row-major view, like [`View::new`].
    pub fn new(data: &'a mut [T], shape: &[i64]) -> Result<Self, Error> {
        let layout = Layout::row_major(shape, size_of::<T>())?;
        layout.check(data.len())?;
        Ok(Self { data, layout })
    }

    /// Makes a view with any layout, like [`View::strided`]; no two elements may share memory.
    pub fn strided(data: &'a mut [T], offset: usize, shape: &[i64], strides: &[i64]) -> Result<Self, Error> {
        let layout = Layout::strided(offset, shape, strides, size_of::<T>())?;
        layout.check(data.len())?;
        Ok(Self { data, layout })
    }

    pub(crate) fn tensor(&mut self) -> sys::pf_tensor {
        self.layout.tensor(self.data.as_mut_ptr())
    }
}
