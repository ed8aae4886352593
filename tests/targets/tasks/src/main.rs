// Async functions on eight worker threads of tokio: what awaits is inlined into the poll of its future or calls
// that of what it awaits, whichever thread goes on with it.
//
//	clone3 … tokio … worker
//	  tasks::outer::{async_fn#0}
//	    tasks::middle::{async_fn#0}
//	      tasks::inner::{async_fn#0}
//	        tasks::work  ~100 %
use std::hint::black_box;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(8).build().unwrap();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..64).map(|number| tokio::spawn(outer(number))).collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
}

async fn outer(number: u64) {
    for _ in 0..20 {
        middle(number).await;
        tokio::task::yield_now().await;
    }
}

async fn middle(number: u64) {
    inner(number).await
}

async fn inner(number: u64) {
    tokio::task::yield_now().await;
    work(number);
}

#[inline(never)]
fn work(number: u64) {
    let mut value = number;
    for _ in 0..400_000 {
        value = black_box(value.wrapping_mul(6364136223846793005).wrapping_add(1));
    }
    black_box(value);
}
