//! What the allocator was asked for, while somebody wants to know.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

#[global_allocator]
static COUNTING: Counting = Counting;

static WANTED: AtomicBool = AtomicBool::new(false);
static TIMES: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicI64 = AtomicI64::new(0);

struct Counting;

/// What some work asked of the allocator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocated {
    /// How often it allocated.
    pub times: u64,
    /// How many bytes it left behind.
    pub bytes: i64,
}

/// Runs `work` and returns what it, and every other thread meanwhile, asked of the allocator.
pub fn during<T>(work: impl FnOnce() -> T) -> (T, Allocated) {
    TIMES.store(0, Ordering::Relaxed);
    BYTES.store(0, Ordering::Relaxed);
    WANTED.store(true, Ordering::SeqCst);
    let done = work();
    WANTED.store(false, Ordering::SeqCst);
    let (times, bytes) = (TIMES.load(Ordering::Relaxed), BYTES.load(Ordering::Relaxed));
    (done, Allocated { times, bytes })
}

fn count(times: u64, bytes: i64) {
    if WANTED.load(Ordering::Relaxed) {
        TIMES.fetch_add(times, Ordering::Relaxed);
        BYTES.fetch_add(bytes, Ordering::Relaxed);
    }
}

// SAFETY: every request is handed to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        // SAFETY: what the caller promised us.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        // SAFETY: what the caller promised us.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, -(layout.size() as i64));
        // SAFETY: what the caller promised us.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(1, size as i64 - layout.size() as i64);
        // SAFETY: what the caller promised us.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
