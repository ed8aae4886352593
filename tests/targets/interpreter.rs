//! A tree-walking interpreter: closures, generics, trait objects, threads, and about twenty frames
//! below the hot one, which is typical of Rust programs.
//!
//! ```text
//! main            …  interpreter::main … interpreter::evaluate::<f64> × 12 …
//!     the closure of interpreter::multiplication   (its work inlined)   60 %
//!     <interpreter::Sum as interpreter::Operator>::apply                40 %
//! helper          …  std thread start … interpreter::main::{closure} … the same
//! ```
//! Both threads do the same work.

use std::hint::black_box;
use std::thread;

trait Operator {
    fn apply(&self, left: f64, right: f64) -> f64;
}

struct Sum;

struct Function<F>(F);

enum Node {
    Number(f64),
    Binary(Box<dyn Operator + Send + Sync>, Box<Node>, Box<Node>),
}

#[inline(always)]
fn work(rounds: u32, mut value: f64) -> f64 {
    for _ in 0..rounds {
        value = black_box(value * 1.000_000_1 + 0.5);
    }
    value
}

impl Operator for Sum {
    #[inline(never)]
    fn apply(&self, left: f64, right: f64) -> f64 {
        work(400, left + right)
    }
}

impl<F: Fn(f64, f64) -> f64> Operator for Function<F> {
    fn apply(&self, left: f64, right: f64) -> f64 {
        (self.0)(left, right)
    }
}

fn multiplication() -> Box<dyn Operator + Send + Sync> {
    Box::new(Function(|left, right| work(600, left * right)))
}

#[inline(never)]
fn evaluate<T: From<f64> + Into<f64>>(node: &Node) -> T {
    match node {
        Node::Number(value) => T::from(*value),
        Node::Binary(operator, left, right) => {
            let left: T = evaluate(left);
            let right: T = evaluate(right);
            T::from(operator.apply(left.into(), right.into()))
        }
    }
}

/// Has as many sums as products, at the same depths.
fn tree(depth: u32) -> Node {
    if depth == 0 {
        return Node::Number(1.5);
    }
    let product = Node::Binary(
        multiplication(),
        Box::new(Node::Number(2.0)),
        Box::new(Node::Number(3.0)),
    );
    Node::Binary(Box::new(Sum), Box::new(tree(depth - 1)), Box::new(product))
}

/// Does a fixed amount of work: about `seconds` of CPU time.
fn run(node: &Node, seconds: f64) -> f64 {
    let passes = (seconds * 20_000.0) as u32;
    (0..passes).map(|_| evaluate::<f64>(node)).sum()
}

fn main() {
    let seconds: f64 = std::env::args()
        .nth(1)
        .and_then(|argument| argument.parse().ok())
        .unwrap_or(1.0);
    let helper = thread::Builder::new()
        .name("helper".into())
        .spawn(move || black_box(run(&tree(12), seconds)))
        .unwrap();
    black_box(run(&tree(12), seconds));
    helper.join().unwrap();
}
