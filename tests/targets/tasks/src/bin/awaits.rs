// Tasks that wait known times at known places. At the end prints the nanoseconds that they measured themselves, one
// place a line: the functions that are awaited, in the order of their names.
//
//	naps       →  short_nap, long_nap          → Sleep
//	contend    →  with_lock → Mutex::lock      → Acquire
//	           →  keep_lock                    → Sleep
//	listen     →  boxed (a dyn Future, thrice) → recv of a channel that stays empty
//	join_two   →  a JoinHandle of a task in forever → Pending
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, Mutex};

static SHORT_NS: AtomicU64 = AtomicU64::new(0);
static LONG_NS: AtomicU64 = AtomicU64::new(0);
static LOCK_NS: AtomicU64 = AtomicU64::new(0);
static KEEP_NS: AtomicU64 = AtomicU64::new(0);

fn add(to: &AtomicU64, since: Instant) {
    to.fetch_add(since.elapsed().as_nanos() as u64, Ordering::Relaxed);
}

async fn short_nap(number: u64) {
    tokio::time::sleep(Duration::from_millis(20 + number % 7)).await;
}

async fn long_nap(number: u64) {
    tokio::time::sleep(Duration::from_millis(60 + number % 11)).await;
}

async fn naps(number: u64) {
    loop {
        let start = Instant::now();
        short_nap(number).await;
        add(&SHORT_NS, start);
        let start = Instant::now();
        long_nap(number).await;
        add(&LONG_NS, start);
    }
}

async fn with_lock(lock: &Mutex<u64>, number: u64) {
    let start = Instant::now();
    let mut guard = lock.lock().await;
    add(&LOCK_NS, start);
    *guard += 1;
    keep_lock(number).await;
}

async fn keep_lock(number: u64) {
    let start = Instant::now();
    tokio::time::sleep(Duration::from_millis(10 + number)).await;
    add(&KEEP_NS, start);
}

async fn contend(lock: Arc<Mutex<u64>>, number: u64) {
    loop {
        with_lock(&lock, number).await;
    }
}

fn boxed(depth: u32, channel: Arc<Mutex<mpsc::Receiver<u64>>>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        if depth > 0 {
            boxed(depth - 1, channel).await;
        } else {
            channel.lock().await.recv().await;
        }
    })
}

async fn listen(channel: mpsc::Receiver<u64>) {
    boxed(2, Arc::new(Mutex::new(channel))).await;
}

async fn forever() {
    std::future::pending::<()>().await;
}

async fn join_two() {
    tokio::spawn(forever()).await.unwrap();
}

fn main() {
    let argument = |index, otherwise| std::env::args().nth(index).map_or(otherwise, |text| text.parse().unwrap());
    let (seconds, count) = (argument(1, 3.0), argument(2, 24.0) as u64);
    let runtime = if argument(3, 2.0) > 0.0 {
        tokio::runtime::Builder::new_multi_thread().worker_threads(argument(3, 2.0) as usize).enable_time().build()
    } else {
        tokio::runtime::Builder::new_current_thread().enable_time().build()
    };
    runtime.unwrap().block_on(async {
        let lock = Arc::new(Mutex::new(0));
        let (keep_open, channel) = mpsc::channel(1);

        for number in 0..count {
            tokio::spawn(naps(number));
        }
        for number in 0..4 {
            tokio::spawn(contend(lock.clone(), number));
        }
        tokio::spawn(listen(channel));
        tokio::spawn(join_two());
        println!("ready");
        tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
        for (name, sum) in [("keep_lock", &KEEP_NS), ("lock", &LOCK_NS), ("long_nap", &LONG_NS), ("short_nap", &SHORT_NS)] {
            println!("{} {}", name, sum.load(Ordering::Relaxed));
        }
        drop(keep_open);
        std::process::exit(0);
    });
}
