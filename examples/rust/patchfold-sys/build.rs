// SPDX-License-Identifier: Apache-2.0
//! Asks pkg-config for the installed library. PKG_CONFIG names another program than pkg-config, and PKG_CONFIG_PATH
//! further folders. PATCHFOLD_STATIC=1 links the archive into the program.
use std::env;
use std::process::Command;

fn main() {
    for name in ["PKG_CONFIG", "PKG_CONFIG_PATH", "PATCHFOLD_STATIC"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    let libs = |package: &str| {
        Command::new(&program)
            .args(["--libs", package])
            .output()
            .unwrap_or_else(|error| panic!("{program} cannot be run: {error}; install pkg-config"))
    };
    let mut package = "patchfold";
    if env::var_os("PATCHFOLD_STATIC").map_or(false, |value| value == "1") {
        // A library built without explanations has no package patchfold-explain, only patchfold-static.
        package = if libs("patchfold-explain").status.success() { "patchfold-explain" } else { "patchfold-static" };
    }
    let answer = libs(package);
    if !answer.status.success() {
        panic!(
            "{program} does not find {package}: {}; install patchfold, or put the folder of patchfold.pc into PKG_CONFIG_PATH",
            String::from_utf8_lossy(&answer.stderr).trim()
        );
    }
    for word in String::from_utf8_lossy(&answer.stdout).split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if let Some(archive) = word.strip_prefix("-l:lib").and_then(|file| file.strip_suffix(".a")) {
            println!("cargo:rustc-link-lib=static={archive}");
        } else if let Some(name) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib={name}");
        } else if let Some((folder, archive)) = word.strip_suffix(".a").and_then(|path| path.rsplit_once("/lib")) {
            println!("cargo:rustc-link-search=native={folder}");
            println!("cargo:rustc-link-lib=static={archive}");
        } else {
            println!("cargo:rustc-link-arg={word}");
        }
    }
}
