//! Joins the page's modules, so that what cannot be joined does not compile.

use std::path::{Path, PathBuf};
use std::{env, fs};

#[path = "build/link.rs"]
mod link;

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed=src/page");
    let read = |name: &str| {
        let path = Path::new("src/page").join(name);
        fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
    };
    let script = link::link("main.js", &read)?;
    let folder = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo names no OUT_DIR")?);
    fs::write(folder.join("page.js"), script).map_err(|e| format!("page.js: {e}"))
}
