//! Criterion benchmarks with known functions: each profile has the function of its benchmark.
//!
//! The benchmark `sort` calls sort_numbers, `words` is in a group of its own and calls
//! count_words, and `100 %p/odd name` calls mix; those of a group share the recorder.

use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion};
use std::collections::HashMap;
use std::hint::black_box;

#[inline(never)]
fn sort_numbers(seed: u64) -> u64 {
    let mut numbers = [0u64; 512];
    let mut value = seed;
    for number in &mut numbers {
        value = value
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        *number = value >> 33;
    }
    numbers.sort_unstable();
    numbers[256]
}

#[inline(never)]
fn count_words(text: &str) -> usize {
    let mut counts = HashMap::new();
    for word in text.split(' ') {
        *counts.entry(word).or_insert(0) += 1;
    }
    counts.len()
}

#[inline(never)]
fn mix(rounds: u64) -> u64 {
    (0..rounds).fold(1, |value: u64, round| {
        black_box(value.rotate_left(5) ^ round)
    })
}

fn numbers(c: &mut Criterion) {
    c.bench_function("sort", |b| b.iter(|| sort_numbers(black_box(1))));
    c.bench_with_input(
        BenchmarkId::new("100 %p", "odd name"),
        &2000,
        |b, rounds| b.iter(|| mix(*rounds)),
    );
}

fn texts(c: &mut Criterion) {
    let text = "one two three four five six seven eight nine ten one two three".repeat(20);
    c.bench_function("words", |b| b.iter(|| count_words(black_box(&text))));
}

criterion_group! {
    name = of_numbers;
    config = Criterion::default().with_profiler(criterion_with_prof::Prof::new());
    targets = numbers
}
criterion_group! {
    name = of_texts;
    config = Criterion::default().with_profiler(criterion_with_prof::Prof::new().also("folded"));
    targets = texts
}
criterion_main!(of_numbers, of_texts);
