// Async tasks on four worker threads of tokio that block their workers: they share a std::sync::Mutex, and the one that has it
// sleeps for 300 us.
//
//	clone3 … tokio … worker
//	  shared_lock::request::{async_fn#0}
//	    shared_lock::lookup
//	      std::sync::Mutex::lock … futex(2)   3 of 4 workers, nearly all of the time
//	      shared_lock::refresh                1 of 4 workers: sleeps
//
// shared_lock [SECONDS]
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const WORKERS: usize = 4;
const HELD: Duration = Duration::from_micros(300);

fn main() {
    let seconds = std::env::args().nth(1).map_or(1.0, |text| text.parse().unwrap());
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let cache = Arc::new(Mutex::new(0));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).build().unwrap();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..8 * WORKERS).map(|_| tokio::spawn(request(cache.clone(), end))).collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    println!("{} look-ups", cache.lock().unwrap());
}

async fn request(cache: Arc<Mutex<u64>>, end: Instant) {
    while Instant::now() < end {
        lookup(&cache);
        tokio::task::yield_now().await;
    }
}

#[inline(never)]
fn lookup(cache: &Mutex<u64>) {
    let mut entries = cache.lock().unwrap();
    refresh(&mut entries);
}

#[inline(never)]
fn refresh(entries: &mut u64) {
    std::thread::sleep(HELD);
    *entries += 1;
}
