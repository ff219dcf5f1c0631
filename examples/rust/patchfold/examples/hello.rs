// SPDX-License-Identifier: Apache-2.0
//! Cuts an image into overlapping 3 x 3 patches, and averages them to the image again.
use patchfold::{output_shape, run, Attribute, Error, View, ViewMut};

fn main() -> Result<(), Error> {
    let image: Vec<f32> = (0..40).map(|i| i as f32).collect(); // two channels, 4 x 5 pixels
    let patches = [("kernel_size", Attribute::Integers(&[3, 3])), ("padding", Attribute::Integers(&[1, 1]))];
    let input = View::new(&image, &[2, 4, 5])?;
    let shape = output_shape("unfold", &patches, &input)?;
    let mut columns = vec![0.0; 18 * 20];
    run("unfold", &patches, &input, &mut ViewMut::new(&mut columns, &shape)?)?;
    println!("columns {shape:?}, row 4 ends with {}", columns[4 * 20 + 19]);

    let size = ("output_size", Attribute::Integers(&[4, 5]));
    let mean = ("reduce", Attribute::Text("mean"));
    let mut again = vec![0.0; 40];
    run(
        "fold",
        &[patches[0], patches[1], size, mean],
        &View::new(&columns, &shape)?,
        &mut ViewMut::new(&mut again, &[2, 4, 5])?,
    )?;
    println!("the image again: {}", again == image);
    Ok(())
}
