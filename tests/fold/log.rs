//! A log in memory: records with their receipts, built by a test or read from a fixture.

use std::path::Path;

use spl::canon::{Limits, Value, parse};
use spl::record::{Draft, Origin, Received, Record, RecordId, Sequence};
use spl::time::Timestamp;

/// Records in the order of arrival.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Vec<(Record, Timestamp, Origin)>);

pub(crate) const DAY_MILLIS: i64 = 86_400_000;

impl Log {
    /// Appends a record that passed a door at the time 0.
    pub(crate) fn push(&mut self, draft: Draft) -> RecordId {
        self.push_from(draft, Timestamp::default(), Origin::Door)
    }

    pub(crate) fn push_from(&mut self, draft: Draft, at: Timestamp, origin: Origin) -> RecordId {
        let record = Record::seal(draft).expect("a small record");
        let id = record.id();
        self.0.push((record, at, origin));
        id
    }

    pub(crate) fn id(&self, position: usize) -> RecordId {
        self.0[position].0.id()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the records from `position` on; the first record has sequence 1.
    pub(crate) fn since(&self, position: usize) -> impl Iterator<Item = Received<'_>> {
        self.0.iter().enumerate().skip(position).map(|(position, (record, at, origin))| Received {
            record,
            sequence: Sequence::new(i64::try_from(position).expect("a short log") + 1),
            received_at: *at,
            origin: *origin,
        })
    }

    /// Reads a fixture: one `{day?, origin?, record}` a line. A string `@3` anywhere in a body
    /// stands for the id of the record on line 3.
    pub(crate) fn read(path: &Path) -> Self {
        let mut log = Self::default();
        for line in std::fs::read_to_string(path).expect("a fixture").lines() {
            let line = value(line);
            let Some(Value::Object(mut envelope)) = line.get("record").cloned() else {
                panic!("{}: a line is {{day?, origin?, record}}", path.display())
            };
            let body = envelope.remove("body").unwrap_or(Value::Object(spl::canon::Object::new()));
            envelope.insert("body".into(), log.resolve(body));
            let draft = Draft::from_envelope(Value::Object(envelope)).expect("a record");
            let day = line.get("day").and_then(Value::as_i64).unwrap_or_default();
            let origin = line.get("origin").and_then(Value::as_str).unwrap_or("door");
            log.push_from(
                draft,
                Timestamp::from_millis(day * DAY_MILLIS),
                Origin::parse(origin).expect("an origin"),
            );
        }
        log
    }

    fn resolve(&self, value: Value) -> Value {
        match value {
            Value::String(text) => match text.strip_prefix('@').and_then(|n| n.parse().ok()) {
                Some(line @ 1_usize..) => self.id(line - 1).into(),
                _ => Value::String(text),
            },
            Value::Array(items) => {
                Value::Array(items.into_iter().map(|item| self.resolve(item)).collect())
            }
            Value::Object(members) => Value::Object(
                members.into_iter().map(|(key, value)| (key, self.resolve(value))).collect(),
            ),
            other => other,
        }
    }
}

/// Reads JSON.
pub(crate) fn value(text: &str) -> Value {
    parse(text.as_bytes(), Limits::STORED).expect("JSON")
}

/// Returns the files of a folder of `fixtures/` whose names end in `suffix`, by name.
pub(crate) fn fixtures(folder: &str, suffix: &str) -> Vec<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("a folder of fixtures")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().ends_with(suffix))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} has no {suffix}", folder.display());
    files
}
