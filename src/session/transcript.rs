//! Keeping the transcript of a session, and forgetting it.
//!
//! Comes in: the bytes of a file that whoever owns it has read and handed over. Goes out: a masked
//! copy in the home of the instance, and a record that says what was kept. Nothing here opens a path
//! that a payload names. What is forgotten is the copy alone: records are never taken back, and the
//! file of the harness is not this program's.

use std::path::PathBuf;

use super::account::Kept;
use super::read::account_of;
use crate::canon::{Limits, Object, Value, hash_of, hex, parse};
use crate::code::{Code, Coded};
use crate::engine::{Engine, EngineError, HomeError};
use crate::object;
use crate::record::{Act, ActorId, Draft, RecordId, ThreadId};
use crate::secret::{mask, mask_value};

/// The kind of the record that a transcript is kept.
pub const TRANSCRIPT_KIND: &str = "core.session.transcript.v1";

/// The kind of the record that it is no more.
pub const FORGOTTEN_KIND: &str = "core.session.forgotten.v1";

/// The most bytes of a transcript.
pub const MAX_TRANSCRIPT_BYTES: usize = 64 * 1024 * 1024;

/// How every mark begins that stands in the place of a secret.
const MARK: &str = "[masked:";

/// Why a transcript was not kept or not forgotten.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TranscriptError {
    /// No session was captured on the thread.
    #[error("there is no session on `{thread}`")]
    NoSession {
        /// The thread.
        thread: ThreadId,
    },
    /// It is too long.
    #[error("{len} bytes, and a transcript of at most {MAX_TRANSCRIPT_BYTES} is taken")]
    TooLarge {
        /// How many bytes there were.
        len: usize,
    },
    /// The instance has no home to keep a file in.
    #[error("this instance is in memory and keeps no files")]
    NoHome,
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<HomeError> for TranscriptError {
    fn from(error: HomeError) -> Self {
        Self::Engine(error.into())
    }
}

impl Coded for TranscriptError {
    fn code(&self) -> Code {
        match self {
            Self::NoSession { .. } => Code::NotFound,
            Self::TooLarge { .. } => Code::BodyTooLarge,
            Self::NoHome => Code::SessionNotKept,
            Self::Engine(error) => error.code(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::NoSession { .. } => Some("See `spl session list`.".into()),
            Self::Engine(error) => error.hint(),
            Self::TooLarge { .. } | Self::NoHome => None,
        }
    }
}

/// A transcript that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retained {
    /// The record that says so.
    pub record: RecordId,
    /// The file.
    pub path: PathBuf,
    /// What is in it.
    pub kept: Kept,
    /// How many secrets were masked.
    pub masked: u64,
}

/// What came of forgetting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgotten {
    /// Whether there was a file to delete.
    pub deleted: bool,
    /// The record that says so; `None` if none said that one was kept.
    pub record: Option<RecordId>,
    /// What was kept.
    pub kept: Option<Kept>,
    /// How many records of the session remain.
    pub records: u64,
    /// Where the harness keeps its own, if it has said so.
    pub source: Option<String>,
}

/// Keeps a masked copy of the transcript of a session, in the place of one that was kept before.
pub fn retain(
    engine: &Engine,
    thread: &ThreadId,
    bytes: &[u8],
) -> Result<Retained, TranscriptError> {
    if bytes.len() > MAX_TRANSCRIPT_BYTES {
        return Err(TranscriptError::TooLarge { len: bytes.len() });
    }
    let Place { charter, namespace, .. } = place(engine, thread)?;
    let home = engine.home().ok_or(TranscriptError::NoHome)?;
    let (text, masked) = masked(&String::from_utf8_lossy(bytes));
    let no_session = || TranscriptError::NoSession { thread: thread.clone() };
    let path = home.keep_transcript(thread, text.as_bytes())?.ok_or_else(no_session)?;
    let kept = Kept { sha256: hex(&hash_of(&[text.as_bytes()])), bytes: text.len() as u64 };
    let body = object! {
        "bytes": kept.bytes,
        "kind": TRANSCRIPT_KIND,
        "masked": masked,
        "sha256": kept.sha256.as_str(),
    };
    let record = note(engine, thread, charter, body, namespace)?;
    Ok(Retained { record, path, kept, masked })
}

/// Deletes the copy of the transcript of a session, and says what remains.
pub fn forget(engine: &Engine, thread: &ThreadId) -> Result<Forgotten, TranscriptError> {
    let Place { charter, namespace, kept, source } = place(engine, thread)?;
    let home = engine.home().ok_or(TranscriptError::NoHome)?;
    // Also what was kept just before a power failure, and is in no record.
    let deleted = home.forget_transcript(thread)?;
    let record = match &kept {
        Some(kept) => {
            let body = object! { "kind": FORGOTTEN_KIND, "sha256": kept.sha256.as_str() };
            Some(note(engine, thread, charter, body, namespace)?)
        }
        None => None,
    };
    let clocks = engine.store().read(|reader| reader.clocks(thread)).map_err(EngineError::from)?;
    Ok(Forgotten { deleted, record, kept, records: clocks.record_count, source })
}

/// Where a transcript belongs.
struct Place {
    charter: RecordId,
    namespace: Option<Value>,
    kept: Option<Kept>,
    source: Option<String>,
}

fn place(engine: &Engine, thread: &ThreadId) -> Result<Place, TranscriptError> {
    let (account, _) = account_of(engine, thread)?;
    let no_session = || TranscriptError::NoSession { thread: thread.clone() };
    let charter = account.charter.ok_or_else(no_session)?;
    let source = charter.body.get("transcript_path").and_then(Value::as_str);
    Ok(Place {
        charter: charter.id,
        namespace: charter.body.get("namespace").cloned(),
        kept: account.transcript,
        source: source.map(str::to_owned),
    })
}

fn note(
    engine: &Engine,
    thread: &ThreadId,
    charter: RecordId,
    mut body: Object,
    namespace: Option<Value>,
) -> Result<RecordId, EngineError> {
    if let Some(namespace) = namespace {
        body.insert("namespace".into(), namespace);
    }
    let draft =
        Draft::new(thread.clone(), ActorId::engine(), Act::Know, body).with_parents(vec![charter]);
    engine.author(move |author| Ok(author.write(draft)?.id()))
}

/// Returns a transcript with every secret masked, and how many there were.
///
/// A line that is JSON is read, because a key says more than a text can; it stands as it was unless
/// something in it is masked. What stands between such lines is masked as one text, since a key in
/// PEM form takes several lines.
fn masked(text: &str) -> (String, u64) {
    let mut out = String::with_capacity(text.len());
    let mut plain = String::new();
    for line in text.split_inclusive('\n') {
        match parse(line.as_bytes(), Limits::STORED) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => {
                out.push_str(&mask(&plain));
                plain.clear();
                let masked = mask_value(&value);
                if masked == value {
                    out.push_str(line);
                } else {
                    out.push_str(&masked.to_string());
                    out.push_str(if line.ends_with('\n') { "\n" } else { "" });
                }
            }
            _ => plain.push_str(line),
        }
    }
    out.push_str(&mask(&plain));
    let marks = |text: &str| text.matches(MARK).count();
    let added = marks(&out).saturating_sub(marks(text));
    (out, added as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_is_masked_line_by_line() {
        let token = ["gh", "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"].concat();
        let text = format!(
            "{{\"b\": 1,  \"a\":\"plain\"}}\r\n{{\"clientSecret\":\"two words\",\"n\":1e400}}\n\
             {{\"text\":\"use {token} here\"}}\nnot JSON password=hunter2hunter2\n\
             -----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n\
             -----END PRIVATE KEY-----"
        );
        let (text, count) = masked(&text);
        let want = "{\"b\": 1,  \"a\":\"plain\"}\r\n\
                    {\"clientSecret\":\"[masked:assignment]\",\"n\":1e400}\n\
                    {\"text\":\"use [masked:github-token] here\"}\n\
                    not JSON password=[masked:assignment]\n[masked:private-key]";
        assert_eq!(text, want);
        assert_eq!(count, 4);
    }
}
