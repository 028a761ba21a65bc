//! Ten thousand hostile writes of hooks at each door: every one refused by name, none in force, and
//! whoever may not write hooks hears no word of what they wrote.

mod blueprint;
mod case;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use spl::canon::Value;
use spl::engine::{Caller, Engine};
use spl::record::{Draft, Origin, RecordId};
use spl::store::AppendError;

use crate::client::{Reply, Request, Server};
use case::{Case, Want};

const CASES: usize = 10_000;

/// Who writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    Socket,
    Insecure,
    Admin,
    Nobody,
    Reader,
    Writer,
    Configurer,
    AllButAdmin,
}

impl Who {
    const OPERATORS: [Self; 3] = [Self::Socket, Self::Insecure, Self::Admin];
    const OTHERS: [Self; 5] =
        [Self::Nobody, Self::Reader, Self::Writer, Self::Configurer, Self::AllButAdmin];

    /// Whose turn it is to make the write with this number.
    fn of(case: &Case) -> Self {
        let turn = case.number / 20;
        // What is wrong with a whole hook is who writes it.
        if case.want == Want::Whole || turn.is_multiple_of(2) {
            Self::OTHERS[turn / 2 % Self::OTHERS.len()]
        } else {
            Self::OPERATORS[turn / 2 % Self::OPERATORS.len()]
        }
    }

    fn is_operator(self) -> bool {
        Self::OPERATORS.contains(&self)
    }

    fn scopes(self) -> Option<&'static str> {
        match self {
            Self::Socket | Self::Insecure | Self::Nobody => None,
            Self::Admin => Some("admin"),
            Self::Reader => Some("records:read"),
            Self::Writer => Some("records:write"),
            Self::Configurer => Some("config:write"),
            Self::AllButAdmin => Some("records:read,records:write,config:read,config:write"),
        }
    }

    fn may_configure(self) -> bool {
        matches!(self, Self::Configurer | Self::AllButAdmin)
    }
}

/// A status, a code, a field and a reason.
type Said = (u16, String, Option<String>, Option<String>);

fn said(reply: &Reply) -> Said {
    let json = reply.json();
    let member = |key: &str| json.get(key).and_then(Value::as_str).map(str::to_owned);
    (reply.status, member("code").unwrap_or_default(), member("field"), member("reason"))
}

/// What the contract has the records door say to this caller.
fn expected(who: Who, case: &Case) -> Said {
    let bare = |status: u16, code: &str| (status, code.to_owned(), None, None);
    let shape = |field: &str, reason: &str| {
        (422, "INVALID_BODY".to_owned(), Some(field.to_owned()), Some(reason.to_owned()))
    };
    match who {
        Who::Nobody => return bare(401, "AUTH_REQUIRED"),
        Who::Reader => return bare(403, "SCOPE_FORBIDDEN"),
        _ => {}
    }
    // JSON and envelope come before the gate, whoever writes (decision 20).
    match &case.want {
        Want::Unread => return bare(400, "INGEST_FAILED"),
        Want::TooLarge => return bare(413, "BODY_TOO_LARGE"),
        Want::NoEnvelope { field, reason } => return shape(field, reason),
        Want::Near { .. } if who.is_operator() || who.may_configure() => return bare(201, ""),
        _ if !who.is_operator() => return bare(403, "CONFIG_WRITE_DENIED"),
        _ => {}
    }
    match &case.want {
        // The namespace of any record is looked at before its kind is.
        Want::Refused { field, reason } if field == "namespace" => shape("body.namespace", reason),
        Want::Refused { field, reason } => shape(field, reason),
        other => panic!("{other:?} is not the operator's"),
    }
}

/// What a test holds a server against.
fn hooks_loaded(engine: &Engine) -> i64 {
    let health = engine.health().expect("health");
    let loaded = health.get("work_loop").and_then(|it| it.get("hooks_loaded"));
    loaded.and_then(Value::as_i64).expect("a count")
}

struct Doors {
    server: Server,
    bearers: BTreeMap<Who, String>,
}

impl Doors {
    fn open() -> Self {
        let server = Server::start();
        let all = Who::OPERATORS.into_iter().chain(Who::OTHERS);
        let bearer = |who: Who| Some((who, server.token(who.scopes()?)));
        let bearers = all.filter_map(bearer).collect();
        Self { server, bearers }
    }

    fn request(&self, who: Who, path: &str) -> Request {
        match who {
            Who::Socket => self.server.request("POST", path),
            Who::Insecure => self.server.insecure("POST", path),
            Who::Nobody => self.server.tcp("POST", path),
            _ => self.server.tcp("POST", path).bearer(&self.bearers[&who]),
        }
    }

    /// Makes one write, and holds the answer against what it must be.
    fn check(&self, case: &Case) {
        let who = Who::of(case);
        let reply = self.request(who, "/v1/records").json(&case.sent).send();
        let about = format!("{} by {who:?}: {:?}", case.number, case.want);
        assert_eq!(said(&reply), expected(who, case), "{about}\n{}", reply.text());
        // What was stored is answered as it was written.
        if !who.is_operator() && reply.status != 201 {
            let text = reply.text();
            assert!(!text.contains(&case.word), "{about}\n{text}");
        }
    }
}

/// Hands every case to `check`, some at once.
fn all(check: impl Fn(&Case) + Sync) {
    let next = AtomicUsize::new(20);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= CASES + 20 {
                        return;
                    }
                    check(&Case::new(number));
                }
            });
        }
    });
}

#[test]
fn the_records_door_refuses_each_by_name() {
    let doors = Doors::open();
    let good = Case::new(19);
    let taught = doors.request(Who::Socket, "/v1/records").json(&good.sent).send();
    assert_eq!(taught.status, 201, "{}", taught.text());
    assert_eq!(hooks_loaded(&doors.server.engine), 1);
    all(|case| {
        doors.check(case);
        if case.number.is_multiple_of(100) {
            assert_eq!(hooks_loaded(&doors.server.engine), 1, "at {}", case.number);
        }
    });
    assert_eq!(hooks_loaded(&doors.server.engine), 1);
}

/// Puts records into the store behind every door.
fn place(engine: &Engine, drafts: Vec<(Draft, Origin)>) -> Vec<RecordId> {
    let prepare = |(draft, origin): (Draft, Origin)| {
        (engine.store().prepare(draft).expect("prepared"), origin)
    };
    let prepared: Vec<_> = drafts.into_iter().map(prepare).collect();
    let write = move |tx: &mut spl::store::Tx<'_>| {
        let mut ids = Vec::new();
        for (prepared, origin) in prepared {
            tx.append(&prepared, origin)?;
            ids.push(prepared.record().id());
        }
        Ok::<_, AppendError>(ids)
    };
    engine.store().write(write).expect("placed")
}

/// What load must say of a record that passed no door: the field and the reason.
fn expected_at_load(case: &Case, origin: Origin) -> (Option<&str>, &str) {
    match (&case.want, origin) {
        (Want::Near { field }, _) => (Some(field), "bad_value"),
        (_, Origin::Import) => (None, "imported"),
        (Want::Refused { field, reason }, _) => (Some(field), reason),
        (other, _) => panic!("{other:?} passes no door"),
    }
}

#[test]
fn load_refuses_each_by_name() {
    const BATCH: usize = 200;
    let mut named = 0;
    for batch in 0..CASES.div_ceil(BATCH) {
        // An instance of its own, since a list of hooks shows every one that was refused.
        let engine = Engine::in_memory().expect("an engine");
        let good = Draft::from_envelope(Case::new(19).envelope.expect("an envelope").into());
        engine.ingest_draft(&Caller::operator(), good.expect("a draft")).expect("taught");
        let mut cases = Vec::new();
        let mut drafts = Vec::new();
        for number in (batch + 1) * BATCH..(batch + 2) * BATCH {
            let case = Case::new(number);
            let Some(envelope) = case.envelope.clone() else { continue };
            let Ok(draft) = Draft::from_envelope(envelope.into()) else {
                assert!(matches!(case.want, Want::NoEnvelope { .. }), "{number}");
                continue;
            };
            let imported = case.want == Want::Whole || number / 20 % 3 == 0;
            let origin = if imported { Origin::Import } else { Origin::Door };
            drafts.push((draft, origin));
            cases.push((case, origin));
        }
        let ids = place(&engine, drafts);
        let rows = engine.hook_rows().expect("rows");
        let refused = |row: &spl::canon::Object| {
            let refusal = row.get("refused").filter(|it| **it != Value::Null)?.clone();
            let id = refusal.get("record_id").and_then(Value::as_str)?.to_owned();
            Some((id, refusal))
        };
        let refused: BTreeMap<String, Value> = rows.iter().filter_map(refused).collect();
        let mut elsewhere = BTreeSet::new();
        for (id, (case, origin)) in ids.iter().zip(&cases) {
            let Some(refusal) = refused.get(&id.to_string()) else {
                // Another thread is not read; and of those that share a name, the last is shown.
                elsewhere.insert(case.number);
                continue;
            };
            let word = |key: &str| refusal.get(key).and_then(Value::as_str);
            let got = (word("field"), word("reason").expect("a reason"));
            let about = format!("{}: {:?}, {refusal}", case.number, case.want);
            assert_eq!(got, expected_at_load(case, *origin), "{about}");
            named += 1;
        }
        for (case, _) in cases.iter().filter(|(case, _)| elsewhere.contains(&case.number)) {
            let Some(envelope) = &case.envelope else { continue };
            let body = envelope.get("body").expect("a body");
            let has_a_name = body.get("name").and_then(Value::as_str) == Some(&case.word);
            let is_read =
                envelope.get("thread").and_then(Value::as_str) == Some("th_engine_config");
            assert!(!(has_a_name && is_read), "{}: {:?} is not shown", case.number, case.want);
        }
        assert_eq!(hooks_loaded(&engine), 1, "after batch {batch}");
    }
    assert!(named > CASES * 8 / 10, "only {named} were shown");
}

/// The cases say what they are meant to: every forbidden field, every reason, every door's end.
#[test]
fn every_way_of_being_hostile_is_among_them() {
    let mut fields: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
    let mut others: BTreeSet<&'static str> = BTreeSet::new();
    let mut by: BTreeSet<(Who, bool)> = BTreeSet::new();
    for number in 20..CASES + 20 {
        let case = Case::new(number);
        by.insert((Who::of(&case), case.want == Want::Whole));
        others.insert(match case.want {
            Want::Refused { field, reason } => {
                fields.entry(reason).or_default().insert(field);
                continue;
            }
            Want::NoEnvelope { .. } => "envelope",
            Want::Unread => "bytes",
            Want::TooLarge => "size",
            Want::Near { field } => field,
            Want::Whole => "whole",
        });
    }
    let count = |reason: &str| fields.get(reason).map_or(0, BTreeSet::len);
    assert_eq!(count("forbidden_field"), 6, "{fields:?}");
    assert!(count("unknown_field") > 500, "{fields:?}");
    assert_eq!(count("missing_field"), 5, "{fields:?}");
    assert_eq!(count("wrong_type"), 10, "{fields:?}");
    // Name, text, when, cap, namespace, act, thread, kind, topic and `_v`.
    assert_eq!(count("bad_value"), 10, "{fields:?}");
    assert_eq!(count("bad_cel"), 1, "{fields:?}");
    assert_eq!(others.len(), 6, "{others:?}");
    for who in Who::OTHERS {
        assert!(by.contains(&(who, true)) && by.contains(&(who, false)), "{by:?}");
    }
    for who in Who::OPERATORS {
        assert!(by.contains(&(who, false)) && !by.contains(&(who, true)), "{by:?}");
    }
}
