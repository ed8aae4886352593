// Tasks that measure their own CPU time: each prints its name, as prof calls it, and its nanoseconds.
//
// task_clocks tokio    futures on two workers, alone, in a box, made by hand, by a generic function; a closure that may
//                      block, and block_in_place(); one future blocks its worker: it sleeps
// task_clocks local    a current-thread runtime with a LocalSet, and the future that it waits for
// task_clocks smol     futures of async-executor, and the future that its thread waits for
// task_clocks rayon    jobs of scope() and of a parallel iterator
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};
use std::thread::sleep;
use std::time::Duration;

static CLOCKS: Mutex<Vec<(String, u64)>> = Mutex::new(Vec::new());

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

fn cpu_ns() -> u64 {
    const CLOCK_THREAD_CPUTIME_ID: i32 = 3;
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.seconds as u64 * 1_000_000_000 + time.nanoseconds as u64
}

/// Burns CPU time of this thread, and adds what it was to the task's.
#[inline(never)]
fn burn(task: &str, us: u64) {
    let begin = cpu_ns();
    let mut value = 1u64;
    while cpu_ns() - begin < us * 1000 {
        for _ in 0..2000 {
            value = black_box(value.wrapping_mul(6364136223846793005).wrapping_add(1));
        }
    }
    let used = cpu_ns() - begin;
    let mut clocks = CLOCKS.lock().unwrap();
    match clocks.iter_mut().find(|(name, _)| name == task) {
        Some((_, ns)) => *ns += used,
        None => clocks.push((task.to_string(), used)),
    }
}

/// The name of what is declared on this line.
macro_rules! here {
    ($what:literal) => {
        &format!("{} src/bin/task_clocks.rs:{}", $what, line!())
    };
}

/// Gives the thread to other tasks.
struct Yield(bool);

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

mod shop {
    pub async fn cart(polls: u64) {
        for _ in 0..polls {
            price(super::burn).await;
            super::Yield(false).await;
        }
    }

    async fn price(burn: fn(&str, u64)) {
        burn("task_clocks::shop::cart", 1700);
        super::Yield(false).await;
    }
}

async fn generic<T: Default>(polls: u64) {
    for _ in 0..polls {
        burn("task_clocks::generic", 900);
        Yield(false).await;
    }
    black_box(T::default());
}

struct ByHand(u64);

impl Future for ByHand {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        burn("task_clocks::ByHand", 1300);
        self.0 -= 1;
        if self.0 == 0 {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

fn on_tokio() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let boxed: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(shop::cart(100));
    #[rustfmt::skip]
    runtime.block_on(async {
        let tasks = [
            tokio::spawn(shop::cart(150)),
            tokio::spawn(boxed),
            tokio::spawn(generic::<u32>(200)),
            tokio::spawn(ByHand(200)),
            tokio::spawn(async { for _ in 0..150 { burn(here!("async block"), 2100); Yield(false).await } }),
            tokio::spawn(async { for _ in 0..10 { sleep(Duration::from_millis(20)); Yield(false).await } }),
            tokio::spawn(async { tokio::task::block_in_place(|| burn(here!("async block"), 150_000)) }),
            tokio::task::spawn_blocking(|| { let name = here!("closure"); burn(&format!("{name} (spawn_blocking)"), 200_000); sleep(Duration::from_millis(50)) }),
        ];
        for task in tasks {
            task.await.unwrap();
        }
    });
}

fn on_a_local_set() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    #[rustfmt::skip]
    tokio::task::LocalSet::new().block_on(&runtime, async { let root = line!();
        let tasks = [
            tokio::task::spawn_local(shop::cart(150)),
            tokio::task::spawn_local(async { for _ in 0..150 { burn(here!("async block"), 2100); Yield(false).await } }),
            tokio::spawn(generic::<u64>(150)),
        ];
        burn(&format!("async block src/bin/task_clocks.rs:{root} (block_on)"), 180_000);
        for task in tasks {
            task.await.unwrap();
        }
    });
}

fn on_smol() {
    let executor = async_executor::Executor::new();
    #[rustfmt::skip]
    futures_lite::future::block_on(executor.run(async { let root = line!();
        let tasks = [
            executor.spawn(shop::cart(150)),
            executor.spawn(async { for _ in 0..150 { burn(here!("async block"), 2100); Yield(false).await } }),
            executor.spawn(ByHand(150)),
        ];
        burn(&format!("async block src/bin/task_clocks.rs:{root} (block_on)"), 180_000);
        for task in tasks {
            task.await;
        }
    }));
}

#[rustfmt::skip]
fn on_rayon() {
    use rayon::prelude::*;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.scope(|scope| {
        scope.spawn(|_| (0..100).for_each(|_| burn(here!("closure"), 1700)));
        scope.spawn(|_| (0..100).for_each(|_| burn(here!("closure"), 2900)));
    });
    pool.install(|| (0..200).into_par_iter().for_each(|_| burn(here!("closure"), 1300)));
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("tokio") => on_tokio(),
        Some("local") => on_a_local_set(),
        Some("smol") => on_smol(),
        Some("rayon") => on_rayon(),
        _ => panic!("task_clocks tokio|local|smol|rayon"),
    }
    for (name, ns) in CLOCKS.lock().unwrap().iter() {
        println!("{ns} {name}");
    }
}
