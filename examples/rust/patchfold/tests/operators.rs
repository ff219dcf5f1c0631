// SPDX-License-Identifier: Apache-2.0
use patchfold::{explain, operators, output_shape, run, version, Attribute, Element, Plan, View, ViewMut};

const KERNEL: [(&str, Attribute); 1] = [("kernel_size", Attribute::Integers(&[2, 2]))];

fn cut<T: Element + Default>(image: &[T], height: usize, width: usize) -> Vec<T> {
    let mut columns = Vec::new();
    for tap in 0..4 {
        for y in 0..height - 1 {
            for x in 0..width - 1 {
                columns.push(image[(y + tap / 2) * width + x + tap % 2]);
            }
        }
    }
    columns
}

fn check<T: Element + Default + PartialEq + std::fmt::Debug>(image: &[T]) {
    let mut columns = vec![T::default(); 24];
    let input = View::new(image, &[1, 3, 4]).unwrap();
    let shape = output_shape("unfold", &KERNEL, &input).unwrap();
    assert_eq!(shape, [4, 6]);
    run("unfold", &KERNEL, &input, &mut ViewMut::new(&mut columns, &shape).unwrap()).unwrap();
    assert_eq!(columns, cut(image, 3, 4));
}

#[test]
fn every_type_is_cut() {
    let numbers: Vec<u8> = (0..12).collect();
    check(&numbers);
    check(&numbers.iter().map(|i| i % 3 == 0).collect::<Vec<bool>>());
    check(&numbers.iter().map(|i| -(*i as i8)).collect::<Vec<_>>());
    check(&numbers.iter().map(|i| u16::from(*i) * 300).collect::<Vec<_>>());
    check(&numbers.iter().map(|i| -300 * i16::from(*i)).collect::<Vec<_>>());
    check(&numbers.iter().map(|i| u32::from(*i) << 20).collect::<Vec<_>>());
    check(&numbers.iter().map(|i| -(i32::from(*i) << 20)).collect::<Vec<_>>());
    check(&numbers.iter().map(|i| u64::from(*i) << 40).collect::<Vec<_>>());
    check(&numbers.iter().map(|i| -(i64::from(*i) << 40)).collect::<Vec<_>>());
    check(&numbers.iter().map(|i| f32::from(*i) / 3.0).collect::<Vec<_>>());
    check(&numbers.iter().map(|i| f64::from(*i) / 3.0).collect::<Vec<_>>());
}

#[test]
fn layouts_are_read_and_written() {
    let image: Vec<i32> = (0..12).collect();
    let mut mirrored = image.clone();
    mirrored.reverse();
    let backwards = View::strided(&mirrored, 11, &[1, 3, 4], &[0, -4, -1]).unwrap();
    let mut columns = vec![-1; 48];
    let mut every_second = ViewMut::strided(&mut columns, 1, &[4, 6], &[12, 2]).unwrap();
    run("unfold", &KERNEL, &backwards, &mut every_second).unwrap();
    let written: Vec<i32> = columns.iter().skip(1).step_by(2).copied().collect();
    assert_eq!(written, cut(&image, 3, 4));
    assert!(columns.iter().step_by(2).all(|between| *between == -1));
}

#[test]
fn a_plan_runs_on_many_threads() {
    let mut first = vec![0; 24];
    let empty = vec![0; 12];
    let plan = Plan::new(
        "unfold",
        &KERNEL,
        &View::new(&empty, &[1, 3, 4]).unwrap(),
        &mut ViewMut::new(&mut first, &[4, 6]).unwrap(),
    )
    .unwrap();
    std::thread::scope(|threads| {
        for k in 0..4 {
            let plan = &plan;
            threads.spawn(move || {
                let image: Vec<i32> = (0..12).map(|i| i + 100 * k).collect();
                let mut columns = vec![0; 24];
                for _ in 0..100 {
                    plan.run(&image, &mut columns).unwrap();
                    assert_eq!(columns, cut(&image, 3, 4));
                }
            });
        }
    });
    assert!(plan.run(&empty[1..], &mut first).unwrap_err().message.contains("slice of 11 elements is too short"));
    assert!(plan.run(&empty, &mut first[1..]).unwrap_err().message.contains("expected 24"));
}

#[test]
fn what_lies_outside_is_refused() {
    let data = [0.0f32; 12];
    assert!(View::new(&data, &[1, 3, 5]).unwrap_err().message.contains("expected 15"));
    assert!(View::new(&data, &[-1]).unwrap_err().message.contains("negative"));
    assert!(View::new(&data, &[i64::MAX, i64::MAX]).unwrap_err().message.contains("64 bits"));
    assert!(View::new(&data, &[1; 33]).unwrap_err().message.contains("at most 32 axes"));
    assert!(View::strided(&data, 11, &[2], &[1]).is_err());
    assert!(View::strided(&data, 0, &[2], &[-1]).unwrap_err().message.contains("1 elements before"));
    assert!(View::strided(&data, usize::MAX, &[2], &[1]).is_err());
    assert!(View::strided(&data, 0, &[2], &[1, 1]).is_err());
    assert!(View::strided(&data, 0, &[2, 0], &[i64::MAX, 1]).is_err());
    assert!(View::new(&data, &[0]).is_ok());
}

#[test]
fn errors_say_what_to_do() {
    let image = [0.0f32; 12];
    let input = View::new(&image, &[1, 3, 4]).unwrap();
    let error = output_shape("unfolt", &KERNEL, &input).unwrap_err();
    assert_eq!(error.status, patchfold_sys::PF_ERROR_UNKNOWN_OPERATOR);
    assert!(error.to_string().contains("unfold"), "{error}");
    assert!(output_shape("unfold\0", &KERNEL, &input).is_err());
    let mut short = [0.0f32; 20];
    let mut output = ViewMut::new(&mut short, &[4, 5]).unwrap();
    let error = run("unfold", &KERNEL, &input, &mut output).unwrap_err();
    assert_eq!(error.status, patchfold_sys::PF_ERROR_SHAPE);
}

#[test]
fn attributes_of_every_kind_arrive() {
    let image: Vec<f32> = (0..4).map(|i| i as f32).collect();
    let input = View::new(&image, &[1, 2, 2]).unwrap();
    let padded = |padding, value| {
        let attributes = [KERNEL[0], ("padding", padding), ("value", value)];
        let shape = output_shape("unfold", &attributes, &input).unwrap();
        let mut columns = vec![0.0; shape.iter().product::<i64>() as usize];
        run("unfold", &attributes, &input, &mut ViewMut::new(&mut columns, &shape).unwrap()).unwrap();
        columns
    };
    let one = padded(Attribute::Pairs(&[[1, 0], [0, 0]]), Attribute::Number(7.5));
    assert_eq!(one, [7.5, 0.0, 7.5, 1.0, 0.0, 2.0, 1.0, 3.0]);
    assert_eq!(one, padded(Attribute::Text("1:0,0:0"), Attribute::Text("7.5")));
    assert_eq!(padded(Attribute::Integers(&[1, 1]), Attribute::Integer(2)).len(), 36);
}

#[test]
fn the_table_and_explanations_are_there() {
    assert!(operators().count() > 20);
    assert!(operators().any(|name| name == "space_to_depth"));
    assert_eq!(version(), env!("CARGO_PKG_VERSION"));
    let image = [0.0f32; 12];
    let text = explain("unfold", &KERNEL, &View::new(&image, &[1, 3, 4]).unwrap()).unwrap();
    assert!(text.starts_with("unfold"), "{text}");
}
