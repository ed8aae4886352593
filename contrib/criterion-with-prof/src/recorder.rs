//! A prof that records this process, and does what it is told: see "CONTROL" in prof-record(1).

use std::env;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The names of a large program's functions may have to be looked up.
const PATIENCE: Duration = Duration::from_secs(300);

/// What is in a FIFO comes at once.
const STALE: Duration = Duration::from_millis(20);

pub enum Problem {
    /// The recorder does not run, or does not answer.
    Ended(String),
    /// It refuses something, and goes on.
    Refused(String),
}

use Problem::{Ended, Refused};

pub struct Recorder {
    words: Box<dyn Write + Send>,
    answers: Receiver<String>,
    /// `None`: it runs this program.
    child: Option<Child>,
}

impl Recorder {
    /// The recorder that runs this program, else a new one. It samples nothing yet.
    pub fn start(options: &[OsString]) -> Result<Self, Problem> {
        let mut recorder = match env::var("PROF_CONTROL") {
            Ok(address) => Self::attach(&address)?,
            Err(_) => Self::spawn(options)?,
        };
        // An answer that another program has not read.
        while recorder.child.is_none() && recorder.answers.recv_timeout(STALE).is_ok() {}
        recorder.say("ping")?;
        Ok(recorder)
    }

    fn attach(address: &str) -> Result<Self, Problem> {
        let (words, answers) = address
            .strip_prefix("fifo:")
            .and_then(|paths| paths.split_once(','))
            .ok_or_else(|| Ended(format!("PROF_CONTROL={address} is not fifo:CTL,ACK")))?;
        // For both, so that this does not wait for prof, which has both ends open.
        let open = |path: &str| {
            OpenOptions::new()
                .read(true)
                .write(true)
                .open(path)
                .map_err(|error| Ended(format!("open {path}: {error}")))
        };
        let (words, answers): (File, File) = (open(words)?, open(answers)?);
        Ok(Self {
            words: Box::new(words),
            answers: listen(answers),
            child: None,
        })
    }

    fn spawn(options: &[OsString]) -> Result<Self, Problem> {
        let program = program();
        let mut child = Command::new(&program)
            .args([
                "record",
                "-q",
                "-D",
                "-1",
                "--control",
                "fd:0,1",
                "-o",
                "/dev/null",
                "-p",
            ])
            .arg(process::id().to_string())
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| Ended(format!("start {}: {error}", program.to_string_lossy())))?;
        Ok(Self {
            words: Box::new(child.stdin.take().unwrap()),
            answers: listen(child.stdout.take().unwrap()),
            child: Some(child),
        })
    }

    /// Samples, and forgets what was sampled before.
    pub fn enable(&mut self) -> Result<(), Problem> {
        self.say("snapshot /dev/null")?;
        self.say("enable")
    }

    /// Samples no more, and writes the profile into the folder.
    pub fn write(&mut self, folder: &Path, extensions: &[String]) -> Result<(), Problem> {
        self.say("disable")?;
        fs::create_dir_all(folder)
            .map_err(|error| Refused(format!("make {}: {error}", folder.display())))?;
        let path = absolute(folder)?.join("profile.pb.gz");
        self.say(&format!("snapshot {}", escaped(&path)?))?;
        extensions
            .iter()
            .try_for_each(|extension| convert(&path, extension))
    }

    fn say(&mut self, words: &str) -> Result<(), Problem> {
        let sent = self.words.write_all(format!("{words}\n").as_bytes());
        sent.and_then(|()| self.words.flush())
            .map_err(|_| self.end())?;
        match self.answers.recv_timeout(PATIENCE) {
            Ok(answer) if answer == "ack" => Ok(()),
            Ok(answer) => Err(Refused(answer.trim_start_matches("nack ").to_owned())),
            Err(RecvTimeoutError::Timeout) => {
                Err(Ended(format!("prof does not answer \"{words}\"")))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.end()),
        }
    }

    /// It has printed why.
    fn end(&mut self) -> Problem {
        Ended(match self.child.as_mut().map(Child::wait) {
            Some(Ok(status)) => format!("{} has ended ({status})", program().to_string_lossy()),
            _ => "prof has ended".to_owned(),
        })
    }
}

fn program() -> OsString {
    env::var_os("PROF").unwrap_or_else(|| "prof".into())
}

/// A thread reads: the standard library can wait for a channel with a limit, but not for a pipe.
/// Answers end with a newline and a NUL.
fn listen(answers: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(answers).lines().map_while(Result::ok) {
            if sender
                .send(line.trim_start_matches('\0').to_owned())
                .is_err()
            {
                break;
            }
        }
    });
    receiver
}

fn absolute(folder: &Path) -> Result<PathBuf, Problem> {
    let here =
        env::current_dir().map_err(|error| Refused(format!("find this directory: {error}")))?;
    Ok(here.join(folder))
}

/// As prof takes names of files: %p and the like have a meaning.
fn escaped(path: &Path) -> Result<String, Problem> {
    match path.to_str() {
        Some(text) if !text.contains(['\n', '\0']) => Ok(text.replace('%', "%%")),
        _ => Err(Refused(format!(
            "{} has characters that cannot be passed on",
            path.display()
        ))),
    }
}

fn convert(path: &Path, extension: &str) -> Result<(), Problem> {
    let output = path.with_file_name(format!("profile.{extension}"));
    let status = Command::new(program())
        .args(["convert", "-q"])
        .arg(path)
        .arg("-o")
        .arg(escaped(&output)?)
        .stdout(Stdio::null())
        .status()
        .map_err(|error| Refused(format!("start {}: {error}", program().to_string_lossy())))?;
    if status.success() {
        Ok(())
    } else {
        Err(Refused(format!("{} was not written", output.display())))
    }
}
