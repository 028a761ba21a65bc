//! The one thread with a deep stack, where expressions that nobody has measured yet are parsed,
//! measured and dropped.
//!
//! The parser recurses, and so does dropping what it returns; a stack that overflows ends the
//! process, whatever catches panics. So both happen where the stack is larger than any source
//! that is taken can need. The memory is only reserved: pages that are never touched are never
//! there.

use std::sync::mpsc::channel;

use super::worker::Worker;

pub(super) use super::worker::NotDone;

const STACK_BYTES: usize = 64 * 1024 * 1024;

static DEEP: Worker = Worker::new("predicate", STACK_BYTES);

/// Does `work` on the deep thread and waits for it.
pub(super) fn run<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotDone> {
    let (answer, answered) = channel();
    DEEP.submit(Box::new(move || {
        // The receiver waits below; if it is gone, so is whoever asked.
        let _ = answer.send(work());
    }))?;
    answered.recv().map_err(|_| NotDone)
}

/// Does `work`, which may borrow, on a deep thread of its own and waits for it. For what is rare.
pub(super) fn run_scoped<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, NotDone> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("predicate".to_owned());
        let thread = thread.stack_size(STACK_BYTES).spawn_scoped(scope, work);
        thread.map_err(|_| NotDone)?.join().map_err(|_panic| NotDone)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_the_work_and_not_the_thread() {
        assert!(run(|| panic!("on purpose")).is_err());
        assert_eq!(run(|| 7).expect("done"), 7);
        let borrowed = [1, 2];
        assert!(run_scoped(|| panic!("on purpose")).is_err());
        assert_eq!(run_scoped(|| borrowed.len()).expect("done"), 2);
    }
}
