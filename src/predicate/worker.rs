//! Threads of our own, each started when it is first needed and then kept.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};

/// What a thread is given to do. A panic ends the job, and not the thread.
pub(super) type Job = Box<dyn FnOnce() + Send>;

/// The work was not done: it panicked, or there is no thread to do it.
#[derive(Debug)]
pub(super) struct NotDone;

/// A thread that does one job after the other.
pub(super) struct Worker {
    name: &'static str,
    stack_bytes: usize,
    /// Where the thread takes its jobs from, once it has been started.
    door: Mutex<Option<Sender<Job>>>,
}

impl Worker {
    pub(super) const fn new(name: &'static str, stack_bytes: usize) -> Self {
        Self { name, stack_bytes, door: Mutex::new(None) }
    }

    /// Hands over a job and does not wait for it.
    pub(super) fn submit(&self, job: Job) -> Result<(), NotDone> {
        let mut door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
        let open = match door.take() {
            Some(open) => open,
            None => self.start()?,
        };
        open.send(job).map_err(|_| NotDone)?;
        *door = Some(open);
        Ok(())
    }

    fn start(&self) -> Result<Sender<Job>, NotDone> {
        let (open, jobs) = channel::<Job>();
        let work = move || {
            for job in jobs {
                // Whoever waits for it sees that nothing comes.
                let _ = catch_unwind(AssertUnwindSafe(job));
            }
        };
        let thread = std::thread::Builder::new().name(self.name.to_owned());
        thread.stack_size(self.stack_bytes).spawn(work).map_err(|_| NotDone)?;
        Ok(open)
    }
}
