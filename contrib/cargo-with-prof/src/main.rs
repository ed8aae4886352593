//! `cargo with-prof …` executes `prof cargo …`.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{exit, Command, Stdio};

/// Other programs are called prof, too. Without a valid `PROF`, a copy of this one does not answer.
fn is_profiler(program: &Path) -> bool {
    Command::new(program)
        .args(["cargo", "-h"])
        .env("PROF", "")
        .stdin(Stdio::null())
        .output()
        .map_or(false, |help| help.stdout.starts_with(b"Usage: prof cargo"))
}

/// The folders of `PATH`, then the one of this program.
fn folders() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
    if let Ok(own) = env::current_exe() {
        folders.extend(own.parent().map(Path::to_owned));
    }
    folders
}

/// Returns the program that `PROF` names, else the first one that is the profiler, else the
/// programs that are called prof and are not.
fn find() -> Result<OsString, Vec<PathBuf>> {
    if let Some(chosen) = env::var_os("PROF") {
        return Ok(chosen);
    }
    let mut others = Vec::new();
    for program in folders().iter().map(|folder| folder.join("prof")) {
        if is_profiler(&program) {
            return Ok(program.into());
        }
        if program.is_file() && !others.contains(&program) {
            others.push(program);
        }
    }
    Err(others)
}

fn fail(problem: &str) -> ! {
    eprintln!("cargo-with-prof: {problem}");
    eprintln!("  install prof from its source tree or a release archive, or set PROF to its path");
    eprintln!("  (the crate prof on crates.io is another program)");
    exit(127);
}

fn main() {
    let prof = find().unwrap_or_else(|others| {
        for other in others {
            eprintln!("cargo-with-prof: {} is another program", other.display());
        }
        fail("the profiler prof is neither in PATH nor beside this program")
    });
    // Cargo passes the name of the subcommand first.
    let mut words = env::args_os().skip(1).peekable();
    words.next_if(|word| word == "with-prof");
    let error = Command::new(&prof).arg("cargo").args(words).exec();
    let prof = prof.to_string_lossy();
    fail(&format!("cannot execute {prof}: {error}"));
}
