// The seed of fuzz_layout_builder: the types that lib/tasks searches for in a tokio program, and little else.
//
//	RUSTC_BOOTSTRAP=1 rustc --crate-name tokio --edition 2021 -g -O -C panic=abort -C codegen-units=1 --emit obj \
//	    -C relocation-model=static --remap-path-prefix $PWD= layout_seed.rs -o seed.o
//	ld -static -Ttext 0x1000 -e _start --unresolved-symbols=ignore-all seed.o -o corpus/layout_builder/seed
//	objcopy -R .debug_loc -R .debug_aranges -R .debug_pub\* -R .debug_gdb_scripts -R .eh_frame --keep-section=.debug\* -S corpus/layout_builder/seed
#![no_std]
#![feature(thread_local)]
#![no_main]
#![allow(dead_code)]
use core::cell::{RefCell, UnsafeCell};
use core::future::Future;
use core::pin::Pin;
use core::ptr::NonNull;
use core::task::{Context as Polling, Poll};

pub mod util {
    pub mod linked_list {
        pub struct LinkedList<L, T> {
            pub head: Option<core::ptr::NonNull<T>>,
            pub tail: Option<core::ptr::NonNull<T>>,
            pub marker: core::marker::PhantomData<L>,
        }
        pub struct PointersInner<T> {
            pub prev: Option<core::ptr::NonNull<T>>,
            pub next: Option<core::ptr::NonNull<T>>,
        }
        pub struct Pointers<T> {
            pub inner: core::cell::UnsafeCell<PointersInner<T>>,
        }
    }
}

pub mod runtime {
    pub mod task {
        pub struct Task<S> {
            pub raw: ::core::ptr::NonNull<core::Header>,
            pub marker: ::core::marker::PhantomData<S>,
        }
        use ::core as real_core;
        pub mod core {
            use super::real_core::cell::UnsafeCell;
            use super::real_core::ptr::NonNull;
            pub struct Vtable {
                pub poll: unsafe fn(NonNull<Header>),
                pub trailer_offset: usize,
            }
            pub struct Header {
                pub state: usize,
                pub vtable: &'static Vtable,
            }
            pub enum Stage<T> {
                Running(T),
                Finished(u64),
            }
            pub struct Core<T, S> {
                pub scheduler: S,
                pub stage: UnsafeCell<Stage<T>>,
            }
            pub struct Trailer {
                pub owned: crate::util::linked_list::Pointers<Header>,
            }
            #[repr(C)]
            pub struct Cell<T, S> {
                pub header: Header,
                pub core: Core<T, S>,
                pub trailer: Trailer,
            }
        }
        pub mod raw {
            use super::core::{Cell, Header, Stage};
            use super::real_core::future::Future;
            use super::real_core::pin::Pin;
            use super::real_core::ptr::NonNull;
            #[inline(never)]
            pub unsafe fn poll<T: Future<Output = u64>, S>(header: NonNull<Header>) {
                let cell: NonNull<Cell<T, S>> = header.cast();
                let mut polling = super::real_core::task::Context::from_waker(super::real_core::task::Waker::noop());
                if let Stage::Running(future) = &mut *cell.as_ref().core.stage.get() {
                    let _ = Pin::new_unchecked(future).poll(&mut polling);
                }
            }
        }
    }
    pub mod context {
        pub struct Context {
            pub lists: *const crate::runtime::Lists,
        }
        #[allow(non_snake_case)]
        pub mod CONTEXT {
            #[thread_local]
            pub static VAL: crate::Shared<super::Context> = crate::Shared(super::Context { lists: ::core::ptr::null() });
        }
    }
    pub struct Lists {
        pub list: crate::util::linked_list::LinkedList<task::Task<crate::Scheduler>, task::core::Header>,
    }
}

pub struct Scheduler(pub u8);
pub struct Shared<T>(pub T);
unsafe impl<T> Sync for Shared<T> {}

struct Leaf(u64);
impl Future for Leaf {
    type Output = u64;
    #[inline(never)]
    fn poll(self: Pin<&mut Self>, _: &mut Polling<'_>) -> Poll<u64> {
        if self.0 > 5 { Poll::Ready(self.0) } else { Poll::Pending }
    }
}

async fn inner(number: u64) -> u64 {
    Leaf(number).await + Leaf(number + 1).await
}

async fn dynamic(future: &mut (dyn Future<Output = u64> + Unpin)) -> u64 {
    future.await
}

async fn outer(number: u64) -> u64 {
    let mut leaf = Leaf(number);
    inner(number).await + dynamic(&mut leaf).await
}

fn poll_of<T: Future<Output = u64>>(_: &T) -> unsafe fn(NonNull<runtime::task::core::Header>) {
    runtime::task::raw::poll::<T, crate::Scheduler>
}

#[no_mangle]
pub extern "C" fn _start() -> ! {
    let future = outer(3);
    let poll = poll_of(&future);
    let keep = RefCell::new(UnsafeCell::new(future));
    unsafe {
        core::hint::black_box(&runtime::context::CONTEXT::VAL);
        poll(core::hint::black_box(NonNull::dangling()));
    }
    core::hint::black_box(&keep);
    loop {}
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
