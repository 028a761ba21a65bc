//! A session told event by event.

use std::sync::atomic::{AtomicU32, Ordering};

use spl::canon::{Object, Value, hash_of};
use spl::engine::{Caller, Engine, EngineOptions, Home};
use spl::identity::{KeyPair, Keyring};
use spl::record::ThreadId;
use spl::session::{Agent, Event, Harness, Moment, Status, ToolCall, receive, session_thread};
use spl::store::StoreOptions;
use spl::time::{TimeSource, Timestamp};

/// Where the time of a test begins; each time it is asked for it has moved on by a second.
pub(crate) const START: i64 = 1_796_000_000_000;

fn time() -> TimeSource {
    TimeSource::stepped(Timestamp::from_millis(START), 1000)
}

/// Returns an instance whose ids are the same in each test run.
pub(crate) fn in_memory() -> Engine {
    let keyring = Keyring::new(KeyPair::from_seed(&[1; 32]));
    Engine::in_memory_with(StoreOptions::new(keyring, time())).expect("an engine")
}

/// Returns an instance with a home in a folder.
pub(crate) fn at_home(folder: &tempfile::TempDir) -> Engine {
    let home = Home::at(folder.path().join("home"));
    home.initialise("vera").expect("a home");
    let options = EngineOptions { time: time(), ..EngineOptions::default() };
    Engine::open(&home, options).expect("an engine")
}

/// Writes a record of the operator.
pub(crate) fn writes(engine: &Engine, envelope: &str) {
    engine.ingest(&Caller::operator(), envelope.as_bytes()).expect("written");
}

/// Writes a lesson.
pub(crate) fn teaches(engine: &Engine, name: &str, when: &str, text: &str) {
    let body = spl::object! {
        "kind": "core.hook.v1", "topic": "hook", "name": name, "when": when, "text": text,
    };
    let clock = engine.store().read(|reader| reader.last()).expect("a number").get();
    let record = spl::object! {
        "act": "LEARN", "actor": "did:sync:user:vera", "thread": "th_engine_config",
        "body": body, "clock": clock,
    };
    writes(engine, &Value::from(record).to_string());
}

/// A session of a harness.
pub(crate) struct Told<'e> {
    engine: &'e Engine,
    harness: Harness,
    id: &'static str,
    agent: Option<&'static str>,
}

impl<'e> Told<'e> {
    pub(crate) fn of(engine: &'e Engine, harness: Harness, id: &'static str) -> Self {
        Self { engine, harness, id, agent: None }
    }

    /// Returns the same session inside a subagent.
    pub(crate) fn inside(&self, agent: &'static str) -> Told<'e> {
        Told { engine: self.engine, harness: self.harness, id: self.id, agent: Some(agent) }
    }

    pub(crate) fn thread(&self) -> ThreadId {
        session_thread(self.harness, self.id, self.agent)
    }

    pub(crate) fn event(&self, name: &str, moment: Moment) -> &Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed).to_string();
        let agent = self.agent.map(|id| Agent { id: id.into(), kind: Some("Explore".into()) });
        let event = Event {
            harness: self.harness,
            session_id: self.id.into(),
            agent,
            name: name.into(),
            moment,
            turn: None,
            cwd: Some("/home/dev/shop".into()),
            model: Some("m-1".into()),
            transcript_path: Some("/home/dev/.claude/projects/p/s.jsonl".into()),
            deaf: false,
            decided: None,
            digest: hash_of(&[number.as_bytes()]),
            rest: Object::new(),
        };
        receive(self.engine, &event, None, &number).expect("received");
        self
    }

    pub(crate) fn starts(&self, source: &str) -> &Self {
        self.event("SessionStart", Moment::Started { source: Some(source.into()) })
    }

    pub(crate) fn asks(&self, text: &str) -> &Self {
        self.event("UserPromptSubmit", Moment::Prompted { text: text.into() })
    }

    pub(crate) fn calls(&self, tool: &str, id: &str, ok: bool, content: &str) -> &Self {
        let name = if ok { "PostToolUse" } else { "PostToolUseFailure" };
        self.event(
            name,
            Moment::Returned(ToolCall {
                call_id: id.into(),
                tool: tool.into(),
                canonical: if tool == "Bash" { "bash".into() } else { tool.into() },
                args: spl::object! { "command": id },
                status: if ok { Status::Ok } else { Status::Error },
                content: content.into(),
            }),
        )
    }

    pub(crate) fn answers(&self, text: &str) -> &Self {
        self.event("Stop", Moment::TurnEnded { text: Some(text.into()), failed: None })
    }

    pub(crate) fn ends(&self, reason: &str) -> &Self {
        self.event("SessionEnd", Moment::Ended { reason: Some(reason.into()) })
    }
}

/// Returns a value laid out for a snapshot, with ids numbered as they appear.
pub(crate) fn shown(value: &Value) -> String {
    let sorted = value.to_string();
    let json: serde_json::Value = serde_json::from_str(&sorted).expect("JSON");
    serde_json::to_string_pretty(&json).expect("JSON")
}

/// Checks that a body has the members that the schema of its kind says.
#[track_caller]
pub(crate) fn follows_its_schema(body: &Object) {
    let kind = body.get("kind").and_then(Value::as_str).expect("a kind");
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/session");
    let text = std::fs::read(folder.join(format!("{kind}.json"))).expect("a schema");
    let schema = spl::canon::parse(&text, spl::canon::Limits::STORED).expect("JSON");
    let known = schema.get("properties").and_then(Value::as_object).expect("properties");
    for member in body.keys() {
        assert!(known.contains_key(member), "{kind} has `{member}`");
    }
    let required = schema.get("required").and_then(Value::as_array).expect("required");
    for member in required.iter().filter_map(Value::as_str) {
        assert!(body.contains_key(member), "{kind} lacks `{member}`");
    }
}
