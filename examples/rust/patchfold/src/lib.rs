// SPDX-License-Identifier: Apache-2.0
//! Cuts tensors into blocks and patches and puts them back: im2col, col2im, space-to-depth and their relatives, as PyTorch,
//! ONNX, OpenVINO and TensorFlow define them. Operators and their arguments have the names of docs/operators.md.
//!
//! ```
//! use patchfold::{output_shape, run, Attribute, View, ViewMut};
//! let image: Vec<f32> = (0..12).map(|i| i as f32).collect();
//! let attributes = [("kernel_size", Attribute::Integers(&[2, 2]))];
//! let input = View::new(&image, &[1, 3, 4])?;
//! let shape = output_shape("unfold", &attributes, &input)?;
//! assert_eq!(shape, [4, 6]);
//! let mut columns = vec![0.0; 24];
//! run("unfold", &attributes, &input, &mut ViewMut::new(&mut columns, &shape)?)?;
//! assert_eq!(columns[..6], [0.0, 1.0, 2.0, 4.0, 5.0, 6.0]);
//! # Ok::<(), patchfold::Error>(())
//! ```

#![warn(missing_docs)]

mod attribute;
mod error;
mod operators;
mod plan;
mod view;

pub use attribute::Attribute;
pub use error::Error;
pub use operators::{explain, operators, output_shape, run, set_num_threads, version};
pub use plan::Plan;
pub use view::{Element, View, ViewMut};
