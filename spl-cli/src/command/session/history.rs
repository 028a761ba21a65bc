//! What the store says of the sessions of a harness, and what their hooks had to complain of.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};

use spl::canon::Value;
use spl::engine::{Engine, EngineError, EngineOptions, Home};
use spl::object;
use spl::store::{Query, Stored};
use spl::time::Timestamp;

use super::harness::Harness;
use crate::output::cut;

/// The most events that are counted.
const MAX: usize = 1000;

/// How much of the log's end is read.
const TAIL: u64 = 64 * 1024;

/// The events of a harness that are in a store.
#[derive(Default)]
pub(super) struct History {
    /// How many there are since a given time; more than [`MAX`] are not counted.
    pub(super) since: usize,
    /// How many of them tell of a tool call.
    pub(super) calls: usize,
    /// The newest: when it was stored, and what it is.
    pub(super) last: Option<(Timestamp, String)>,
}

impl History {
    /// Reads the newest events of a harness.
    pub(super) fn of(
        home: &Home,
        harness: Harness,
        since: Option<Timestamp>,
    ) -> Result<Self, EngineError> {
        if !home.is_initialised() {
            return Ok(Self::default());
        }
        let engine = Engine::open(home, EngineOptions::default())?;
        let request = object! {
            "filter": object! {
                "actor": format!("did:sync:agent:{}", harness.name()),
                "body.kind": object! { "$like": "core.session.%" },
            },
            "limit": MAX,
            "sort": object! { "created_at": -1 },
        };
        let Ok(query) = Query::parse(&Value::from(request)) else { return Ok(Self::default()) };
        let found = engine.store().read(|reader| reader.query(&query))?.records;
        let since = since.unwrap_or(Timestamp::from_millis(0));
        let recent = found.iter().filter(|stored| stored.received_at >= since);
        let calls = |stored: &&Stored| kind(stored) == "tool";
        Ok(Self {
            since: recent.clone().count(),
            calls: recent.filter(calls).count(),
            last: found.first().map(|stored| (stored.received_at, shown(stored))),
        })
    }

    /// Returns the count in words.
    pub(super) fn count(&self) -> String {
        let many = if self.since == MAX { " or more" } else { "" };
        let events = if self.since == 1 { "event" } else { "events" };
        format!("{}{many} {events}, {} of tool calls", self.since, self.calls)
    }
}

/// `tool` of `core.session.tool.v1`.
fn kind(stored: &Stored) -> &str {
    let kind = stored.record.body.get("kind").and_then(Value::as_str).unwrap_or_default();
    kind.split('.').nth(2).unwrap_or(kind)
}

/// What an event is, in a word or three.
fn shown(stored: &Stored) -> String {
    let text = |key| stored.record.body.get(key).and_then(Value::as_str);
    let parts = [text("event"), text("tool")].into_iter().flatten().collect::<Vec<_>>().join(" ");
    cut(if parts.is_empty() { kind(stored) } else { &parts }, 60)
}

/// The last line that a hook has left in the home's log, and when.
pub(super) struct Complaint {
    /// The line.
    pub(super) line: String,
    /// When the log was last written.
    pub(super) at: Option<Timestamp>,
}

impl Complaint {
    /// Reads the end of the log. Whatever is in it, a line is a line.
    pub(super) fn last(home: &Home) -> Option<Self> {
        let mut file = File::open(home.path().join("logs/session-hook.log")).ok()?;
        let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
        file.seek(SeekFrom::Start(metadata.len().saturating_sub(TAIL))).ok()?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
        let written = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        let at = i64::try_from(written.as_millis()).ok().map(Timestamp::from_millis);
        Some(Self { line: cut(line.trim(), 300), at })
    }
}
