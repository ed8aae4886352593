//! A profile of each Criterion benchmark, recorded by prof, a sampling profiler for Linux.
//!
//! ```ignore
//! criterion_group! {
//!     name = benches;
//!     config = Criterion::default().with_profiler(criterion_with_prof::Prof::new());
//!     targets = parse, render
//! }
//! ```
//!
//! `cargo bench --bench NAME -- --profile-time 5` then runs each benchmark for five seconds and writes
//! `target/criterion/BENCHMARK/profile/profile.pb.gz`. Without `--profile-time` nothing is started
//! and nothing changes. If prof is missing or may not sample, one line on stderr says so, and the
//! benchmarks run as they would.
//!
//! prof is the program that the environment variable `PROF` names, else the one in `PATH`. Under
//! `prof record --control auto`, that recorder is used instead of another one.
//! The crate `prof` on crates.io is another program.

#[cfg(not(any(
    feature = "criterion-0_8",
    feature = "criterion-0_7",
    feature = "criterion-0_6",
    feature = "criterion-0_5"
)))]
compile_error!(
    "name the version of criterion that the benchmarks use: features = [\"criterion-0_8\"]"
);

mod recorder;

use recorder::{Problem, Recorder};
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// What `Criterion::with_profiler()` takes. All groups of benchmarks share one recorder, which the
/// first one starts.
#[derive(Default)]
pub struct Prof {
    options: Vec<OsString>,
    extensions: Vec<String>,
}

enum State {
    Unused,
    Records(Recorder),
    /// Why was printed.
    Ended,
}

static STATE: Mutex<State> = Mutex::new(State::Unused);

impl Prof {
    pub fn new() -> Self {
        Self::default()
    }

    /// Options of `prof record`, such as `["-F", "4999"]` or `["--wall"]`.
    pub fn options<I, S>(mut self, options: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<OsString>,
    {
        self.options.extend(options.into_iter().map(Into::into));
        self
    }

    /// Also writes the profile as `profile.EXTENSION`: "html", "svg", "folded", or what else
    /// `prof convert` writes.
    pub fn also(mut self, extension: &str) -> Self {
        self.extensions.push(extension.to_owned());
        self
    }

    fn start(&self) {
        self.run(Recorder::enable);
    }

    fn stop(&self, folder: &Path) {
        self.run(|recorder| recorder.write(folder, &self.extensions));
    }

    /// Starts the recorder, the first time.
    fn run(&self, step: impl FnOnce(&mut Recorder) -> Result<(), Problem>) {
        let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Unused = *state {
            *state = match Recorder::start(&self.options) {
                Ok(recorder) => State::Records(recorder),
                Err(problem) => {
                    report(&problem);
                    State::Ended
                }
            };
        }
        let State::Records(recorder) = &mut *state else {
            return;
        };
        if let Err(problem) = step(recorder) {
            report(&problem);
            if matches!(problem, Problem::Ended(_)) {
                *state = State::Ended;
            }
        }
    }
}

fn report(problem: &Problem) {
    match problem {
        Problem::Ended(why) => eprintln!("criterion-with-prof: no profiles: {why}"),
        Problem::Refused(why) => eprintln!("criterion-with-prof: a profile is missing: {why}"),
    }
}

macro_rules! implement_profiler {
    ($feature:literal, $version:ident) => {
        #[cfg(feature = $feature)]
        impl $version::profiler::Profiler for Prof {
            fn start_profiling(&mut self, _benchmark_id: &str, _benchmark_dir: &Path) {
                self.start();
            }

            fn stop_profiling(&mut self, _benchmark_id: &str, benchmark_dir: &Path) {
                self.stop(benchmark_dir);
            }
        }
    };
}

implement_profiler!("criterion-0_8", criterion_0_8);
implement_profiler!("criterion-0_7", criterion_0_7);
implement_profiler!("criterion-0_6", criterion_0_6);
implement_profiler!("criterion-0_5", criterion_0_5);
