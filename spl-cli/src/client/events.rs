//! A stream of events, read one at a time (contract §2.6).

use std::collections::VecDeque;

use http_body_util::BodyExt as _;
use spl::canon::{Limits, Value, parse};
use tokio::runtime::Runtime;

use super::Body;
use crate::failure::Failure;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// What it is.
    pub(crate) name: String,
    /// The cursor to go on from.
    pub(crate) id: Option<String>,
    /// What it holds.
    pub(crate) data: Value,
}

/// The events of one stream, until it ends.
pub(crate) struct Events<'r> {
    runtime: &'r Runtime,
    body: Body,
    frames: Frames,
}

impl<'r> Events<'r> {
    pub(super) const fn new(runtime: &'r Runtime, body: Body) -> Self {
        Self { runtime, body, frames: Frames::new() }
    }

    /// Waits for the next event; `None` when the stream has ended.
    pub(crate) fn next(&mut self) -> Result<Option<Event>, Failure> {
        loop {
            if let Some(event) = self.frames.next() {
                return Ok(Some(event));
            }
            let Some(frame) = self.runtime.block_on(self.body.frame()) else { return Ok(None) };
            let frame = frame
                .map_err(|error| Failure::unreachable(format!("the stream broke: {error}")))?;
            if let Ok(bytes) = frame.into_data() {
                self.frames.feed(&bytes);
            }
        }
    }
}

/// Cuts bytes into events. Bytes come as the network likes, also in the middle of a character.
struct Frames {
    line: Vec<u8>,
    event: Event,
    data: String,
    ready: VecDeque<Event>,
}

impl Frames {
    const fn new() -> Self {
        Self { line: Vec::new(), event: empty(), data: String::new(), ready: VecDeque::new() }
    }

    fn next(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }

    fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if *byte == b'\n' {
                let line = std::mem::take(&mut self.line);
                let line = String::from_utf8_lossy(&line);
                self.line_ended(line.strip_suffix('\r').unwrap_or(&line));
            } else {
                self.line.push(*byte);
            }
        }
    }

    fn line_ended(&mut self, line: &str) {
        if line.is_empty() {
            return self.event_ended();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "id" => self.event.id = Some(value.to_owned()),
            "data" => {
                self.data.push_str(value);
                self.data.push('\n');
            }
            _ => {}
        }
    }

    /// An event without data is none.
    fn event_ended(&mut self) {
        let mut event = std::mem::replace(&mut self.event, empty());
        let data = std::mem::take(&mut self.data);
        if let Ok(value) = parse(data.trim_end().as_bytes(), Limits::STORED) {
            event.data = value;
            self.ready.push_back(event);
        }
    }
}

const fn empty() -> Event {
    Event { name: String::new(), id: None, data: Value::Null }
}

#[cfg(test)]
mod tests {
    use spl::object;

    use super::*;

    #[test]
    fn an_event_may_arrive_byte_by_byte() {
        let text = ": comment\nevent: record.created\r\nid: 7\ndata: {\"text\":\"ü\"}\n\n\
                    event: heartbeat\n\nevent:heartbeat\ndata:{}\n\n";
        let mut frames = Frames::new();
        for byte in text.as_bytes() {
            frames.feed(std::slice::from_ref(byte));
        }
        let created = Event {
            name: "record.created".into(),
            id: Some("7".into()),
            data: object! { "text": "ü" }.into(),
        };
        assert_eq!(frames.next(), Some(created));
        assert_eq!(frames.next().map(|event| event.name).as_deref(), Some("heartbeat"));
        assert_eq!(frames.next(), None);
    }
}
