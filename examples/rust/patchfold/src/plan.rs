// SPDX-License-Identifier: Apache-2.0
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use patchfold_sys as sys;

use crate::attribute::{c_text, Attribute, Attributes};
use crate::view::Layout;
use crate::{Element, Error, View, ViewMut};

/// An operator, checked and planned once for tensors of one layout, to be run any number of times, from any thread.
#[derive(Debug)]
pub struct Plan<T> {
    plan: NonNull<sys::pf_plan>,
    input: Layout,
    output: Layout,
    element: PhantomData<fn(T) -> T>,
}

// SAFETY: a plan never changes, and the library runs it from any thread.
unsafe impl<T> Send for Plan<T> {}
unsafe impl<T> Sync for Plan<T> {}

impl<T: Element> Plan<T> {
    /// Plans for tensors with the layouts of these views.
    pub fn new(
        op: &str,
        attributes: &[(&str, Attribute<'_>)],
        input: &View<'_, T>,
        output: &mut ViewMut<'_, T>,
    ) -> Result<Self, Error> {
        let (op, attributes) = (c_text(op)?, Attributes::new(attributes)?);
        let mut plan = ptr::null_mut();
        // SAFETY: all pointers are valid during the call.
        Error::check(unsafe {
            let (from, to) = (input.tensor(), output.tensor());
            sys::pf_plan_create(op.as_ptr(), attributes.as_ptr(), attributes.len(), &from, 1, &to, &mut plan)
        })?;
        let plan = NonNull::new(plan).ok_or_else(|| Error::new(-1, "a plan was made, but is null"))?;
        Ok(Self { plan, input: input.layout.clone(), output: output.layout.clone(), element: PhantomData })
    }

    /// Runs on slices that have at least as many elements as the planned tensors need.
    pub fn run(&self, input: &[T], output: &mut [T]) -> Result<(), Error> {
        self.input.check(input.len())?;
        self.output.check(output.len())?;
        let from = self.input.tensor(input.as_ptr().cast_mut());
        let to = self.output.tensor(output.as_mut_ptr());
        // SAFETY: both slices hold all elements that the plan touches.
        Error::check(unsafe { sys::pf_plan_run(self.plan.as_ptr(), from.data, to.data, ptr::null_mut(), 0, ptr::null()) })
    }
}

impl<T> Drop for Plan<T> {
    fn drop(&mut self) {
        // SAFETY: made by pf_plan_create, and destroyed once.
        unsafe { sys::pf_plan_destroy(self.plan.as_ptr()) }
    }
}
