//! What is said to a run from outside: words, and the wish that it stop. Both are records on its
//! thread that the engine writes for whoever says so, and every driver looks for them, in whichever
//! process it is.

use crate::canon::Value;
use crate::engine::Engine;
use crate::object;
use crate::record::{Act, ActorId, Draft, Namespace, Origin, RecordId, Sequence, ThreadId};
use crate::secret::mask;
use crate::store::{StoreError, Stored, ThreadRange};

/// The kind of the record of words for a run.
pub(super) const MESSAGE_KIND: &str = "core.work.message.v1";

/// The kind of the record that somebody wants a run to stop.
pub(super) const CANCEL_KIND: &str = "core.work.loop_cancel.v1";

/// How many records are read at once.
const PAGE: usize = 1000;

/// What was said to a run since it was last looked.
#[derive(Debug, Default)]
pub(super) struct Mail {
    pub(super) messages: Vec<String>,
    pub(super) stop: bool,
}

/// Where a driver has read its thread to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Inbox {
    read_to: Sequence,
}

impl Inbox {
    /// Returns the inbox of a run whose thread has been read up to here.
    pub(super) const fn after(read_to: Sequence) -> Self {
        Self { read_to }
    }

    /// Takes out what was said.
    pub(super) fn take(&mut self, engine: &Engine, thread: &ThreadId) -> Result<Mail, StoreError> {
        let mut mail = Mail::default();
        loop {
            let range = ThreadRange { since_clock: None, after: self.read_to };
            let page = engine.store().read(|reader| reader.thread(thread, range, PAGE))?;
            for stored in &page {
                self.read_to = stored.sequence;
                match said(stored) {
                    Some(Said::Words(words)) => mail.messages.push(words),
                    Some(Said::Stop) => mail.stop = true,
                    None => {}
                }
            }
            if page.len() < PAGE {
                return Ok(mail);
            }
        }
    }
}

enum Said {
    Words(String),
    Stop,
}

/// Reads a record as something said to the run; what a door took in as one is plain data, and what
/// was erased is not heard.
fn said(stored: &Stored) -> Option<Said> {
    if stored.origin != Origin::Engine || stored.erased.is_some() {
        return None;
    }
    match stored.record.kind()? {
        MESSAGE_KIND => words(stored).map(Said::Words),
        CANCEL_KIND => Some(Said::Stop),
        _ => None,
    }
}

/// Returns the words of a message.
pub(super) fn words(stored: &Stored) -> Option<String> {
    stored.record.body.get("text").and_then(Value::as_str).map(str::to_owned)
}

/// Says something to a run, in the name of `from`. It hears it before its next turn.
pub fn steer(
    engine: &Engine,
    thread: &ThreadId,
    namespace: &Namespace,
    from: &ActorId,
    text: &str,
) -> Result<RecordId, crate::engine::EngineError> {
    let body = object! {
        "from": from.as_str(),
        "kind": MESSAGE_KIND,
        "namespace": namespace,
        "text": &*mask(text),
    };
    write(engine, Draft::new(thread.clone(), ActorId::engine(), Act::Know, body))
}

/// Asks a run to stop, in the name of `from`. Whoever drives it begins nothing more.
pub fn stop(
    engine: &Engine,
    thread: &ThreadId,
    namespace: &Namespace,
    from: &ActorId,
) -> Result<RecordId, crate::engine::EngineError> {
    let body = object! {
        "from": from.as_str(),
        "kind": CANCEL_KIND,
        "namespace": namespace,
    };
    write(engine, Draft::new(thread.clone(), ActorId::engine(), Act::Do, body))
}

fn write(engine: &Engine, draft: Draft) -> Result<RecordId, crate::engine::EngineError> {
    engine.author(move |author| Ok(author.write(draft)?.id()))
}
