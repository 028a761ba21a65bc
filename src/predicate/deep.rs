//! The one thread with a deep stack, where expressions that nobody has measured yet are parsed,
//! measured and dropped.
//!
//! The parser recurses, and so does dropping what it returns; a stack that overflows ends the
//! process, whatever catches panics. So both happen where the stack is larger than any source
//! that is taken can need. The memory is only reserved: pages that are never touched are never
//! there.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};

const STACK_BYTES: usize = 64 * 1024 * 1024;

type Job = Box<dyn FnOnce() + Send>;

/// Where the thread takes its work from, once it has been started.
static DOOR: Mutex<Option<Sender<Job>>> = Mutex::new(None);

/// The work was not done: it panicked, or there is no thread to do it.
#[derive(Debug)]
pub(super) struct NotDone;

/// Does `work` on the deep thread and waits for it.
pub(super) fn run<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotDone> {
    let (answer, answered) = channel();
    submit(Box::new(move || {
        // The receiver waits below; if it is gone, so is whoever asked.
        let _ = answer.send(catch_unwind(AssertUnwindSafe(work)));
    }))?;
    answered.recv().map_err(|_| NotDone)?.map_err(|_panic| NotDone)
}

/// Does `work`, which may borrow, on a deep thread of its own and waits for it. For what is rare.
pub(super) fn run_scoped<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, NotDone> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("predicate".to_owned());
        let thread = thread.stack_size(STACK_BYTES).spawn_scoped(scope, work);
        thread.map_err(|_| NotDone)?.join().map_err(|_panic| NotDone)
    })
}

fn submit(job: Job) -> Result<(), NotDone> {
    let mut door = DOOR.lock().unwrap_or_else(PoisonError::into_inner);
    let job = match door.as_ref() {
        Some(open) => match open.send(job) {
            Ok(()) => return Ok(()),
            Err(unsent) => unsent.0,
        },
        None => job,
    };
    let open = start()?;
    let sent = open.send(job);
    *door = Some(open);
    sent.map_err(|_| NotDone)
}

fn start() -> Result<Sender<Job>, NotDone> {
    let (open, jobs) = channel::<Job>();
    let thread = std::thread::Builder::new().name("predicate".to_owned()).stack_size(STACK_BYTES);
    thread.spawn(move || jobs.iter().for_each(|job| job())).map_err(|_| NotDone)?;
    Ok(open)
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
