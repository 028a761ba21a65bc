//! The signals that end a command which runs for long.

use std::fs;

use tokio::signal::unix::{SignalKind, signal};

use crate::failure::Failure;

/// Starts to listen for what tells this process to end, be it a key, a signal or the end of its
/// terminal, and returns what is ready when it was told. Works inside a runtime.
pub(crate) fn told_to_end() -> Result<impl Future<Output = ()>, Failure> {
    let heard = |kind| {
        signal(kind).map_err(|error| Failure::local("signals could not be listened for", &error))
    };
    let mut interrupt = heard(SignalKind::interrupt())?;
    let mut terminate = heard(SignalKind::terminate())?;
    let mut hangup = if outlives_terminal() { None } else { Some(heard(SignalKind::hangup())?) };
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            Some(()) = async { hangup.as_mut()?.recv().await } => {}
        }
    })
}

/// Tells whether this process was started to outlive its terminal, as `nohup` does it.
fn outlives_terminal() -> bool {
    // The signals that are ignored; the lowest bit is SIGHUP's.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|m| m & 1 == 1)
}
