//! How watchers learn that something was written, by this process or by another.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::watch;
use tokio::task::{JoinHandle, spawn_blocking};

use super::ApiState;

/// Tells watchers to look again. Says neither what was written nor how much: a watcher reads the
/// store from where it stands, so none can miss anything and none can hold up a writer.
#[derive(Default)]
pub(super) struct News {
    written: watch::Sender<()>,
    listening: OnceLock<()>,
    ticker: Mutex<Ticker>,
}

/// Asks whether another process has written, while anybody watches.
#[derive(Default)]
struct Ticker {
    watchers: usize,
    task: Option<JoinHandle<()>>,
}

/// One watcher's share of the news.
pub(super) struct Subscription {
    state: ApiState,
    written: watch::Receiver<()>,
}

impl Subscription {
    /// Starts to listen. What is written from now on is news.
    pub(super) fn new(state: &ApiState) -> Self {
        let news = state.news();
        news.listening.get_or_init(|| {
            let written = news.written.clone();
            state.engine().store().on_commit(Box::new(move |_| {
                written.send_replace(());
            }));
        });
        let mut ticker = news.ticker();
        ticker.watchers += 1;
        // The task also ends with its runtime, and there may be another one now.
        if ticker.task.as_ref().is_none_or(JoinHandle::is_finished) {
            ticker.task = Some(tokio::spawn(tick(state.clone())));
        }
        Self { state: state.clone(), written: news.written.subscribe() }
    }

    /// Takes note that everything written until now is about to be read.
    pub(super) fn catch_up(&mut self) {
        self.written.borrow_and_update();
    }

    /// Returns whether something was written after the last [`Subscription::catch_up`].
    pub(super) fn is_behind(&self) -> bool {
        // The sender lives as long as the state that is held here.
        self.written.has_changed().unwrap_or_default()
    }

    /// Waits until something was written after the last [`Subscription::catch_up`].
    pub(super) async fn written(&mut self) {
        if self.written.changed().await.is_err() {
            // The sender lives as long as the state that is held here.
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.state.news().ticker().watchers -= 1;
    }
}

impl News {
    fn ticker(&self) -> MutexGuard<'_, Ticker> {
        self.ticker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many watch now.
    pub(super) fn watchers(&self) -> usize {
        self.ticker().watchers
    }

    /// Returns whether anybody watches; if not, the next watcher starts another ticker.
    fn goes_on(&self) -> bool {
        let mut ticker = self.ticker();
        if ticker.watchers == 0 {
            ticker.task = None;
        }
        ticker.watchers > 0
    }
}

async fn tick(state: ApiState) {
    let mut seen = None;
    while state.news().goes_on() {
        let engine = state.engine().clone();
        let version = spawn_blocking(move || engine.store().data_version()).await;
        // The first answer is news too: whoever subscribed before it may have read before that.
        if let Ok(Ok(version)) = version
            && seen.replace(version) != Some(version)
        {
            state.news().written.send_replace(());
        }
        tokio::time::sleep(state.limits().tick).await;
    }
}
