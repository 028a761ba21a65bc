//! Who was refused what: lines in the log, and records of it (contract §2.2, §10 C20).
//!
//! Comes in: each refusal of a caller who is known, as the face that refused tells of it. Goes out:
//! one line in the log at once, and when the minute is over one record on `th_audit_security` for
//! each caller and code, which says how often. A caller who is not known leaves nothing: whoever
//! guesses at bearers could fill the store.
//!
//! **Invariant:** a refusal waits for nothing. It counts in memory, in a table that is bounded; what
//! does not fit is counted under [`OTHERS`], so that the counts add up. Nothing of a body is in a
//! line or a record.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::{Mutex, PoisonError};

use super::{Engine, EngineError};
use crate::code::Code;
use crate::object;
use crate::record::{Act, ActorId, Draft, ThreadId};
use crate::secret::mask;
use crate::time::Timestamp;

/// The kind of the record of denials.
pub const DENIAL_KIND: &str = "core.audit.denial.v1";

/// Its topic.
pub const DENIAL_TOPIC: &str = "permission_denied";

/// The name under which callers are counted for whom there is no more room.
const OTHERS: &str = "others";

/// The most rows that are kept in memory; besides them one for each code of [`OTHERS`] a minute.
const MAX_ROWS: usize = 1024;

/// The most resources and actors that one row names.
const MAX_NAMES: usize = 8;

/// The most characters of a name in a row: a client has made it up.
const MAX_NAME_CHARS: usize = 128;

const MINUTE_MILLIS: i64 = 60_000;

/// A refusal of a caller who is known.
#[derive(Debug, Clone, Copy)]
pub struct Denial<'a> {
    /// What the caller is called.
    pub caller: &'a str,
    /// Why it was refused.
    pub code: Code,
    /// What it asked for.
    pub resource: Option<&'a str>,
    /// The actor that it claimed to be, if it claimed one.
    pub actor: Option<&'a str>,
}

/// Which denials are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// Those of minutes that are over.
    Over,
    /// All: this process ends.
    All,
}

/// The denials that are not written down yet.
#[derive(Default)]
pub(super) struct Denials(Mutex<Rows>);

type Rows = BTreeMap<Key, Row>;

/// What makes denials one row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    minute: i64,
    caller: Box<str>,
    code: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    count: u64,
    from: Timestamp,
    to: Timestamp,
    resources: BTreeSet<Box<str>>,
    actors: BTreeSet<Box<str>>,
}

impl Row {
    fn at(now: Timestamp) -> Self {
        let (resources, actors) = (BTreeSet::new(), BTreeSet::new());
        Self { count: 0, from: now, to: now, resources, actors }
    }

    fn add(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.from = self.from.min(other.from);
        self.to = self.to.max(other.to);
        for name in &other.resources {
            note(&mut self.resources, name);
        }
        for name in &other.actors {
            note(&mut self.actors, name);
        }
    }

    fn draft(&self, key: &Key) -> Draft {
        let names = |names: &BTreeSet<Box<str>>| {
            names.iter().map(|name| name.to_string()).collect::<Vec<_>>()
        };
        let body = object! {
            "actors_claimed": names(&self.actors),
            "caller": &*key.caller,
            "code": key.code,
            "count": self.count,
            "from": self.from.to_string(),
            "kind": DENIAL_KIND,
            "resources": names(&self.resources),
            "to": self.to.to_string(),
            "topic": DENIAL_TOPIC,
        };
        Draft::new(ThreadId::security(), ActorId::governance(), Act::Know, body)
    }
}

fn note(names: &mut BTreeSet<Box<str>>, name: &str) {
    if names.len() < MAX_NAMES && !names.contains(name) {
        names.insert(name.into());
    }
}

/// Returns a name as it may stand in a log: without secrets and control characters, and cut.
fn tame(name: &str) -> String {
    let name: String = name.chars().take(MAX_NAME_CHARS).collect();
    let name = name.replace(char::is_control, " ");
    mask(&name).into_owned()
}

impl Denials {
    /// Counts a denial and returns whether it is the first of its row.
    fn count(&self, denial: &Denial<'_>, now: Timestamp) -> bool {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut key = Key {
            minute: now.as_millis().div_euclid(MINUTE_MILLIS),
            caller: denial.caller.into(),
            code: denial.code.as_str(),
        };
        if rows.len() >= MAX_ROWS && !rows.contains_key(&key) {
            key.caller = OTHERS.into();
        }
        let row = rows.entry(key);
        let first = matches!(row, Entry::Vacant(_));
        let row = row.or_insert_with(|| Row::at(now));
        row.count = row.count.saturating_add(1);
        row.to = row.to.max(now);
        if let Some(resource) = denial.resource {
            note(&mut row.resources, resource);
        }
        if let Some(actor) = denial.actor.filter(|_| row.actors.len() < MAX_NAMES) {
            note(&mut row.actors, &tame(actor));
        }
        first
    }

    /// Takes out the rows that are due. Where there are none, nobody is asked for the time.
    fn take(&self, due: Due, now: impl FnOnce() -> Timestamp) -> Rows {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match due {
            _ if rows.is_empty() => Rows::new(),
            Due::All => std::mem::take(&mut *rows),
            Due::Over => {
                let minute = now().as_millis().div_euclid(MINUTE_MILLIS);
                let first = Key { minute, caller: "".into(), code: "" };
                let not_over = rows.split_off(&first);
                std::mem::replace(&mut *rows, not_over)
            }
        }
    }

    /// Puts back rows that could not be written.
    fn put_back(&self, taken: Rows) {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (mut key, row) in taken {
            if rows.len() >= MAX_ROWS && !rows.contains_key(&key) {
                key.caller = OTHERS.into();
            }
            let from = row.from;
            rows.entry(key).or_insert_with(|| Row::at(from)).add(&row);
        }
    }
}

impl Engine {
    /// Counts a refusal, and logs the first of its caller, code and minute. Waits for nothing.
    pub fn note_denial(&self, denial: &Denial<'_>) {
        let caller = tame(denial.caller);
        let denial = Denial { caller: &caller, ..*denial };
        if self.0.denials.count(&denial, self.whole().now()) {
            let actor = denial.actor.map(tame).unwrap_or_default();
            let resource = denial.resource.unwrap_or_default();
            tracing::warn!(caller, code = %denial.code, resource, actor, "PERMISSION DENIED");
        }
    }

    /// Writes the denials that are due, one record a row, in one commit; returns how many records.
    /// What cannot be written is kept for the next time.
    pub fn write_denials(&self, due: Due) -> Result<usize, EngineError> {
        let rows = self.0.denials.take(due, || self.whole().now());
        if rows.is_empty() {
            return Ok(0);
        }
        for (key, row) in rows.iter().filter(|(_, row)| row.count > 1) {
            let (caller, code, count) = (&*key.caller, key.code, row.count);
            tracing::warn!(caller, code, count, from = %row.from, "PERMISSION DENIED");
        }
        let drafts: Vec<Draft> = rows.iter().map(|(key, row)| row.draft(key)).collect();
        let written = self.author(move |author| {
            drafts.into_iter().try_for_each(|draft| author.write(draft).map(drop))
        });
        match written {
            Ok(()) => Ok(rows.len()),
            Err(error) => {
                self.0.denials.put_back(rows);
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denial(caller: &str) -> Denial<'_> {
        let code = Code::PermissionDenied;
        Denial { caller, code, resource: Some("thread_read"), actor: None }
    }

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_millis(secs * 1000)
    }

    #[test]
    fn the_table_is_bounded_and_its_counts_add_up() {
        let denials = Denials::default();
        let callers = MAX_ROWS + 500;
        for n in 0..callers {
            denials.count(&denial(&format!("sa-{n}")), at(1));
            denials.count(&denial(&format!("sa-{n}")), at(1));
        }
        let rows = denials.take(Due::All, || at(2));
        assert_eq!(rows.len(), MAX_ROWS + 1);
        let sum: u64 = rows.values().map(|row| row.count).sum();
        assert_eq!(sum, 2 * callers as u64);
        let others = rows.iter().find(|(key, _)| &*key.caller == OTHERS).expect("others");
        assert_eq!(others.1.count, 1000);
    }

    #[test]
    fn a_minute_is_due_when_it_is_over() {
        let denials = Denials::default();
        for secs in [10, 59, 60, 119, 120] {
            denials.count(&denial("sa-a"), at(secs));
        }
        let counts = |rows: Rows| rows.values().map(|row| row.count).collect::<Vec<_>>();
        assert_eq!(counts(denials.take(Due::Over, || at(59))), Vec::<u64>::new());
        assert_eq!(counts(denials.take(Due::Over, || at(120))), [2, 2]);
        assert_eq!(counts(denials.take(Due::Over, || at(179))), Vec::<u64>::new());
        assert_eq!(counts(denials.take(Due::All, || at(121))), [1]);
    }

    #[test]
    fn what_could_not_be_written_is_counted_on() {
        let denials = Denials::default();
        denials.count(&denial("sa-a"), at(1));
        let taken = denials.take(Due::All, || at(2));
        denials.count(&denial("sa-a"), at(3));
        denials.put_back(taken);
        let rows = denials.take(Due::All, || at(4));
        let [row] = rows.values().collect::<Vec<_>>()[..] else { panic!("one row") };
        assert_eq!((row.count, row.from, row.to), (2, at(1), at(3)));
    }

    #[test]
    fn names_are_bounded_and_hold_no_secret() {
        let denials = Denials::default();
        let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
        for n in 0..20 {
            let actor = format!("did:sync:agent:{n}\n{secret}");
            let denial = Denial { actor: Some(&actor), ..denial("sa-a") };
            denials.count(&denial, at(1));
        }
        let rows = denials.take(Due::All, || at(2));
        let (key, row) = rows.iter().next().expect("a row");
        assert_eq!(row.actors.len(), MAX_NAMES);
        let text = crate::canon::Value::from(row.draft(key).body).to_string();
        assert!(!text.contains(secret) && !text.contains("\\n"), "{text}");
    }
}
