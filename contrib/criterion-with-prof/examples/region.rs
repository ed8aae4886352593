//! Samples a region of a program, such as the body of a divan benchmark or one phase of a service:
//! `prof record --control auto -D -1 ./program`. Without prof nothing happens. Copy `Region`.

use std::io::{BufRead, BufReader};
use std::{env, fs};

/// Samples are taken as long as it lives.
struct Region;

fn say(word: &str) -> Option<()> {
    let control = env::var("PROF_CONTROL").ok()?;
    let (words, answers) = control.strip_prefix("fifo:")?.split_once(',')?;
    fs::write(words, format!("{word}\n")).ok()?;
    BufReader::new(fs::File::open(answers).ok()?)
        .read_until(b'\n', &mut Vec::new())
        .ok()?;
    Some(())
}

impl Region {
    fn new() -> Self {
        say("enable");
        Region
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        say("disable");
    }
}

#[inline(never)]
fn collatz(limit: u64) -> u64 {
    let steps = |mut n: u64| {
        let mut steps = 0;
        while n != 1 {
            n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
            steps += 1;
        }
        steps
    };
    (1..limit).map(steps).max().unwrap_or(0)
}

#[inline(never)]
fn primes(limit: u64) -> usize {
    (2..limit)
        .filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0))
        .count()
}

fn main() {
    println!("{}", collatz(1_500_000));
    {
        let _region = Region::new();
        println!("{}", primes(2_000_000));
    }
    println!("{}", collatz(1_500_000));
}
