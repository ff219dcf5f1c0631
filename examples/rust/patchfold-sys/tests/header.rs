// SPDX-License-Identifier: Apache-2.0
// The declarations of this package must equal those in the list of the C ABI (pointers of 64 bits).
use patchfold_sys::*;
use std::mem::{size_of, MaybeUninit};
use std::ptr::addr_of;

const LIST: &str = include_str!("../../../../tests/capi/abi.txt");
const SOURCE: &str = include_str!("../src/lib.rs");

fn is_listed(line: &str) -> bool {
    LIST.lines().any(|listed| listed == line || listed.starts_with(&format!("{line} ")))
}

#[test]
fn constants_have_their_numbers() {
    let mut count = 0;
    for line in SOURCE.lines().filter_map(|line| line.strip_prefix("pub const ")) {
        let (name, rest) = line.split_once(": ").unwrap();
        let value = rest.split_once(" = ").unwrap().1.trim_end_matches(';');
        let kind = if name == "PF_MAX_RANK" { "constant" } else { "enumerator" };
        assert!(is_listed(&format!("{kind} {name} = {value}")), "{name} = {value}");
        count += 1;
    }
    assert!(count > 25);
}

/// Checks that the list has the fields named here, at the offsets that they have in Rust, and no others.
macro_rules! check_struct {
    ($type:ident: $($field:ident),*) => {{
        let name = stringify!($type);
        assert!(is_listed(&format!("struct {name}: {} bytes", size_of::<$type>())), "{name}");
        let value = MaybeUninit::<$type>::uninit();
        let start = value.as_ptr();
        let mut fields = 0;
        $(
            // SAFETY: only the address is taken.
            let at = unsafe { addr_of!((*start).$field) } as usize - start as usize;
            let field = format!("field {name}.{}: ", stringify!($field));
            let line = LIST.lines().find(|line| line.starts_with(&field)).expect(&field);
            assert!(line.ends_with(&format!(" at {at}")), "{line}, not {at}");
            fields += 1;
        )*
        assert_eq!(LIST.lines().filter(|line| line.starts_with(&format!("field {name}."))).count(), fields);
    }};
}

#[test]
fn structs_have_their_fields() {
    check_struct!(pf_tensor: data, shape, stride_bytes, rank, dtype, element_size);
    check_struct!(pf_attribute: size, kind, name, integer, number, imaginary, count, integers, text);
    check_struct!(pf_executor: size, threads, context, run);
    check_struct!(pf_explain_options: size, plan, dtype);
}

/// Returns the C type, without spaces, that a Rust type stands for.
fn in_c(rust: &str) -> String {
    let (pointers, base) = match rust.rsplit_once(' ') {
        Some((pointers, base)) => (pointers, base),
        None => ("", rust),
    };
    let base = match base {
        "i32" => "int32_t",
        "i64" => "int64_t",
        "u32" => "uint32_t",
        "usize" => "size_t",
        "c_void" => "void",
        "c_char" => "char",
        other => other,
    };
    let stars = "*".repeat(pointers.matches('*').count());
    format!("{}{base}{stars}", if pointers.ends_with("*const") { "const" } else { "" })
}

#[test]
fn functions_have_their_parameters() {
    let (_, declared) = SOURCE.split_once("extern \"C\" {\n    pub fn").unwrap();
    let mut count = 0;
    for function in declared.trim_end_matches("}\n").split("pub fn") {
        let (name, rest) = function.trim().split_once('(').unwrap();
        let (parameters, result) = rest.rsplit_once(')').unwrap();
        let result = result.trim().trim_end_matches(';').trim_start_matches("-> ");
        let types: Vec<String> = parameters
            .split(',')
            .filter_map(|parameter| parameter.split_once(':'))
            .map(|(_, rust)| in_c(rust.trim()))
            .collect();
        let types = if types.is_empty() { "void".to_string() } else { types.join(",") };
        let result = if result.is_empty() { "void".to_string() } else { in_c(result) };
        let wanted = format!("function{result}{name}({types})");
        assert!(LIST.lines().any(|line| line.replace(' ', "") == wanted), "{wanted}");
        count += 1;
    }
    assert!(count > 15);
}
