//! Logs, apart from answers (decision 12): readable lines of a short command, JSON lines of a
//! server.
//!
//! **Invariant:** no log holds a token or the body of a record. What is logged is the message and
//! the ids, and whoever adds a field here looks at it with that in mind.

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

/// Logs errors of a short command to standard error, or what `RUST_LOG` asks for.
pub(crate) fn to_stderr() {
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter(LevelFilter::ERROR))
        .with_writer(io::stderr)
        .with_ansi(false)
        .without_time()
        .try_init();
}

/// Logs what a server does to `writer`, one JSON object a line.
pub(crate) fn as_json<W>(writer: W)
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let _ = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_env_filter(filter(LevelFilter::INFO))
        .with_writer(writer)
        .try_init();
}

/// The clients of model providers and of servers of tools log what is answered to them, which may hold
/// anything: of them nothing is logged, whatever `RUST_LOG` asks for.
fn filter(default: LevelFilter) -> EnvFilter {
    let filter = EnvFilter::builder().with_default_directive(default.into()).from_env_lossy();
    let silent = ["genai=off", "rmcp=off"].into_iter().filter_map(|silent| silent.parse().ok());
    silent.fold(filter, EnvFilter::add_directive)
}
