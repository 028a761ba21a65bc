//! Threads of our own, each started when it is first needed and then kept.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};

/// What a thread is given to do. Where it panics the thread ends, and the next job starts another.
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
        let job = match door.as_ref() {
            Some(open) => match open.send(job) {
                Ok(()) => return Ok(()),
                Err(unsent) => unsent.0,
            },
            None => job,
        };
        let open = self.start()?;
        let sent = open.send(job);
        *door = Some(open);
        sent.map_err(|_| NotDone)
    }

    fn start(&self) -> Result<Sender<Job>, NotDone> {
        let (open, jobs) = channel::<Job>();
        let thread = std::thread::Builder::new().name(self.name.to_owned());
        let thread = thread.stack_size(self.stack_bytes);
        thread.spawn(move || jobs.iter().for_each(|job| job())).map_err(|_| NotDone)?;
        Ok(open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_ended_is_started_again() {
        let worker = Worker::new("worker-test", 256 * 1024);
        let (says, said) = channel();
        let ends = says.clone();
        let job: Job = Box::new(move || {
            let _on_the_way_out = ends;
            panic!("on purpose");
        });
        worker.submit(job).expect("a thread");
        drop(says);
        // The panic drops the only sender, so this returns when the thread is on its way out.
        assert!(said.recv().is_err());
        let mut answer = Err(());
        while answer.is_err() {
            let (says, said) = channel();
            // Still taken by the thread that ends, or by the next one.
            let _ = worker.submit(Box::new(move || says.send(7).expect("someone waits")));
            answer = said.recv().map_err(|_| ());
        }
        assert_eq!(answer, Ok(7));
    }
}
