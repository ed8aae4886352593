//! `cargo prof …` executes `prof cargo …`.

use std::env;
use std::os::unix::process::CommandExt;
use std::process::{exit, Command};

fn main() {
    let prof = env::var_os("PROF").unwrap_or_else(|| "prof".into());
    // Cargo passes the name of the subcommand first.
    let mut words = env::args_os().skip(1).peekable();
    words.next_if(|word| word == "prof");
    let error = Command::new(&prof).arg("cargo").args(words).exec();
    eprintln!("cargo-prof: {}: {error}", prof.to_string_lossy());
    eprintln!("  install prof, or set PROF to its path");
    exit(127);
}
