//! A thread that drives what waits, so that the loop need not.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::sync::{Notify, oneshot};

use crate::tool::Cancel;

/// How long silence is listened to before looking whether a call is cancelled.
const TICK: Duration = Duration::from_millis(20);

/// How long what has not ended may take when the thread ends.
const SETTLE: Duration = Duration::from_millis(500);

/// The thread. It ends with this value.
pub(super) struct Runtime {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Runtime {
    /// Starts the thread.
    pub(super) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let drive = move || {
            let _ = runtime.block_on(stopped);
            runtime.shutdown_timeout(SETTLE);
        };
        let thread = thread::Builder::new().name("mcp".into()).spawn(drive)?;
        Ok(Self { handle, stop: Some(stop), thread: Some(thread) })
    }

    /// Does `work` on the thread and waits for it. `None` means that it broke off.
    pub(super) fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        self.run_until(work, &Cancel::new(), &Notify::new())
    }

    /// Does `work` on the thread and waits for it. When `cancel` is raised, `stop` is told, and
    /// whoever does the work is trusted to listen.
    pub(super) fn run_until<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
        cancel: &Cancel,
        stop: &Notify,
    ) -> Option<T> {
        let (done, result) = channel();
        self.handle.spawn(async move {
            // What the work held is let go before it is said to be done.
            let output = work.await;
            let _ = done.send(output);
        });
        loop {
            match result.recv_timeout(TICK) {
                Ok(output) => return Some(output),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => stop.notify_one(),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) =
            self.thread.take().filter(|t| t.thread().id() != thread::current().id())
        {
            let _ = thread.join();
        }
    }
}

/// Shared by the servers that it drives.
pub(super) type SharedRuntime = Arc<Runtime>;
