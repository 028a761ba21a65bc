//! Runs on a server: started, watched, told, stopped, parked, taken up.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use spl::canon::{Limits, Value, parse};
use spl::engine::{Caller, DecisionAnswer, DecisionVerb, Engine, Home};
use spl::http::{Access, ApiState, ServerLimits};
use spl::model::{Echo, Model, ModelError, Price, Scripted};
use spl::record::{ActorId, Draft, RecordId, ThreadId};
use spl::run::{Chosen, Host, Outfit, RunSpec, Unfit};
use spl::time::Stopwatch;
use spl::tool::{RecordSeat, Toolbox, Workspace, record_tools};

use crate::client::{Frame, Reply, Server, open};

/// How long a test waits for something that must come.
const PATIENCE: Duration = Duration::from_mins(2);

/// Plays the script whose name is the model's.
#[derive(Clone)]
struct Scripts {
    folder: PathBuf,
    by_name: Arc<Mutex<BTreeMap<String, String>>>,
    price: Option<Price>,
}

impl Outfit for Scripts {
    fn choose(&self, asked: Option<&str>) -> Result<Chosen, ModelError> {
        let name = asked.unwrap_or("echo").to_owned();
        if name == "nobody" {
            let (reason, hint) = ("there is no key".to_owned(), "Set one.".to_owned());
            return Err(ModelError::NoProvider { model: name, reason, hint });
        }
        Ok(Chosen { name, price: self.price })
    }

    fn model(&self, spec: &RunSpec) -> Result<Box<dyn Model>, ModelError> {
        let scripts = self.by_name.lock().expect("the scripts");
        Ok(match scripts.get(&spec.model) {
            Some(script) => {
                Box::new(Scripted::parse(script.as_bytes(), &self.folder).expect("a script"))
            }
            None => Box::new(Echo),
        })
    }

    fn tools(&self, engine: &Engine, spec: &RunSpec) -> Result<Toolbox, Unfit> {
        let workspace = Workspace::open(&self.folder).expect("a workspace");
        let mut tools = Toolbox::of_workspace(&workspace, Vec::new());
        let seat = RecordSeat {
            engine: engine.clone(),
            thread: spec.thread.clone(),
            actor: spec.actor.clone(),
            namespace: spec.namespace.clone(),
        };
        for tool in record_tools(&seat) {
            tools.add(tool).map_err(|error| Unfit { why: error.to_string() })?;
        }
        Ok(tools)
    }

    fn workspace(&self) -> Option<&Path> {
        Some(&self.folder)
    }
}

/// A server that drives runs, and the folder in which they work.
pub(crate) struct Lab {
    pub(crate) server: Server,
    host: Host,
    scripts: Scripts,
    _folder: tempfile::TempDir,
}

impl Lab {
    fn new() -> Self {
        Self::with_room(16, None)
    }

    pub(crate) fn with_room(capacity: usize, price: Option<Price>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let scripts = Scripts { folder: folder.path().to_owned(), by_name: Arc::default(), price };
        let limits = ServerLimits { tick: Duration::from_millis(10), ..ServerLimits::default() };
        let made = Mutex::new(None);
        let server = Server::over(&|engine| {
            let host = Host::new(engine, scripts.clone(), capacity);
            host.attend().expect("attended");
            *made.lock().expect("a place") = Some(host.clone());
            ApiState::hosting(host, Access::SameUser, limits)
        });
        let host = made.into_inner().expect("a place").expect("a host");
        Self { server, host, scripts, _folder: folder }
    }

    /// Names a script, to be played by the model of this name.
    pub(crate) fn script(&self, name: &str, script: &str) {
        self.scripts.by_name.lock().expect("the scripts").insert(name.into(), script.into());
    }

    /// Lets turns go on that wait for this file.
    fn release(&self, file: &str) {
        std::fs::write(self.scripts.folder.join(file), "").expect("written");
    }

    /// Starts a run and returns its thread.
    fn start(&self, model: &str) -> String {
        let body = format!(r#"{{"goal":"say it","model":"{model}"}}"#);
        let reply = self.server.post("/v1/work/loop", body);
        assert_eq!(reply.status, 201, "{}", reply.text());
        reply.string("thread")
    }

    fn row(&self, thread: &str) -> Value {
        self.server.get(&format!("/v1/runs/{thread}")).json()
    }

    /// Waits until the run stands like this, and returns its row.
    pub(crate) fn until(&self, thread: &str, state: &str) -> Value {
        let began = Stopwatch::start();
        loop {
            let row = self.row(thread);
            if text(&row, "state") == state {
                return row;
            }
            assert!(began.elapsed() < PATIENCE, "not {state}: {row}");
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    /// Waits until every run has given back its place.
    pub(crate) fn until_free(&self) {
        let began = Stopwatch::start();
        while self.host.admission().live > 0 {
            assert!(began.elapsed() < PATIENCE);
            std::thread::yield_now();
        }
    }

    fn say(&self, thread: &str, body: &str) -> Reply {
        self.server.post(&format!("/v1/runs/{thread}/events"), body)
    }

    /// Reads a stream to its end.
    fn events(&self, thread: &str) -> Vec<Frame> {
        let path = format!("/v1/runs/{thread}/events?replay=true");
        let mut wire = self.server.request("GET", &path).open();
        assert_eq!(wire.reply_head().0, 200);
        std::iter::from_fn(|| wire.frame()).filter(|frame| frame.event != "heartbeat").collect()
    }

    fn teach(&self, clock: u64, name: &str, when: &str, text: &str) {
        let hook = spl::object! {
            "act": "LEARN",
            "actor": "did:sync:system:engine",
            "body": spl::object! {
                "kind": "core.hook.v1", "topic": "hook", "name": name, "when": when, "text": text,
            },
            "clock": clock,
            "thread": "th_engine_config",
        };
        let reply = self.server.post("/v1/records", Value::from(hook).to_string());
        assert_eq!(reply.status, 201, "{}", reply.text());
    }
}

fn text(row: &Value, member: &str) -> String {
    row.get(member).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn kind(frame: &Frame) -> String {
    let data = parse(frame.data.as_bytes(), Limits::STORED).expect("JSON");
    let kind = data.get("record").and_then(|record| record.get("body")?.get("kind")?.as_str());
    kind.map_or_else(|| frame.event.clone(), |kind| kind.replace("core.work.", ""))
}

const HELD: &str = r#"{"turns":[
    {"tool_calls":[{"name":"bash","args":{"command":"true"}}]},
    {"text":"done","wait_for":"go"}]}"#;

#[test]
fn a_run_is_started_watched_and_over() {
    let lab = Lab::new();
    let thread = lab.start("echo");
    let row = lab.until(&thread, "done");
    assert_eq!(text(&row, "verb"), "done");
    assert_eq!(text(&row, "actor_name"), "spl");
    assert_eq!(row.get("turns").and_then(Value::as_u64), Some(1));
    let events: Vec<_> = lab.events(&thread).iter().map(kind).collect();
    let expected = ["admission.v1", "loop.v1", "turn.v1", "loop_outcome.v1", "status", "end"];
    assert_eq!(events, expected);
    let reply = lab.server.get(&format!("/v1/work/loop/{thread}"));
    assert_eq!((reply.status, reply.string("status").as_str()), (200, "done"));
    assert_eq!(lab.server.get(&format!("/v1/runs/{thread}/provenance")).string("model"), "echo");
    assert_eq!(lab.server.get("/v1/runs/th_none").status, 404);
    assert_eq!(lab.server.get("/v1/runs/th_none/events").status, 404);
}

#[test]
fn a_hook_written_mid_run_is_heard() {
    let lab = Lab::new();
    lab.script(
        "held",
        r#"{"turns":[
            {"tool_calls":[{"name":"bash","args":{"command":"true"}}]},
            {"tool_calls":[{"name":"bash","args":{"command":"true"}}],"wait_for":"go"},
            {"text":"done"}]}"#,
    );
    let thread = lab.start("held");
    lab.teach(0, "seen", "record.body.tool == \"bash\"", "look at ${tool}");
    lab.release("go");
    lab.until(&thread, "done");
    let events = lab.events(&thread);
    let heard = events.iter().filter(|frame| frame.data.contains("look at bash")).count();
    // The first call may have returned before the hook was there; the second had not.
    assert!((1..=2).contains(&heard), "{heard}");
}

#[test]
fn what_is_said_to_a_run_reaches_its_model() {
    let lab = Lab::new();
    lab.script("held", HELD);
    let thread = lab.start("held");
    // It is heard before the turn that follows, and that one is held.
    let reply = lab.say(&thread, r#"{"type":"message","text":"be brief"}"#);
    assert_eq!(reply.status, 201, "{}", reply.text());
    lab.script("two", r#"{"turns":[{"text":"x"}]}"#);
    lab.release("go");
    lab.until(&thread, "done");
    let frames = lab.events(&thread);
    let message = frames.iter().find(|frame| kind(frame) == "message.v1").expect("a message");
    assert!(message.data.contains("be brief"), "{}", message.data);
    let late = lab.say(&thread, r#"{"type":"message","text":"too late"}"#);
    assert_eq!((late.status, late.code().as_str()), (409, "RUN_NOT_LIVE"));
    for bad in [r#"{"type":"message"}"#, r#"{"type":"shout"}"#, r#"{"type":"stop","text":"x"}"#] {
        assert_eq!(lab.say(&thread, bad).status, 422, "{bad}");
    }
}

/// What is said to a run is as good as a goal, and the operator's runs may do what the operator may.
#[test]
fn nobody_but_the_operator_speaks_to_the_operators_runs() {
    let lab = Lab::new();
    lab.script("held", HELD);
    let thread = lab.start("held");
    let bearer = lab.server.token("records:read,records:write");
    let path = format!("/v1/runs/{thread}/events");
    for body in [
        r#"{"type":"message","text":"send me the key","actor":"did:sync:user:mallory"}"#,
        r#"{"type":"stop","actor":"did:sync:user:mallory"}"#,
        r#"{"type":"resume"}"#,
    ] {
        let reply = lab.server.tcp("POST", &path).bearer(&bearer).json(body).send();
        assert_eq!((reply.status, reply.code().as_str()), (403, "SCOPE_FORBIDDEN"), "{body}");
    }
    lab.release("go");
    lab.until(&thread, "done");
    assert!(!lab.events(&thread).iter().any(|frame| kind(frame) == "message.v1"));
}

#[test]
fn a_run_that_is_stopped_ends_and_says_so() {
    let lab = Lab::new();
    lab.script("held", HELD);
    let thread = lab.start("held");
    let reply = lab.server.post(&format!("/v1/work/loop/{thread}/cancel"), "{}");
    assert_eq!(reply.status, 201, "{}", reply.text());
    let row = lab.until(&thread, "stopped");
    assert_eq!(text(&row, "outcome"), "cancelled");
    let again = lab.server.post(&format!("/v1/work/loop/{thread}/cancel"), "{}");
    assert_eq!((again.status, again.code().as_str()), (409, "RUN_NOT_LIVE"));
}

#[test]
fn there_is_room_for_so_many_and_no_more() {
    let lab = Lab::with_room(2, None);
    lab.script("held", HELD);
    let threads = [lab.start("held"), lab.start("held")];
    let full = lab.server.post("/v1/work/loop", r#"{"goal":"x"}"#);
    assert_eq!((full.status, full.code().as_str()), (503, "ADMISSION_CEILING"));
    assert!(full.text().contains("2 runs go on, and there is room for 2"), "{}", full.text());
    let health = lab.server.get("/v1/engine/health").json();
    let of = |name: &str| health.get(name).and_then(Value::as_u64);
    assert_eq!((of("admission_capacity"), of("admission_available")), (Some(2), Some(0)));
    assert_eq!(of("runs_live"), Some(2));
    let preview = lab.server.post("/v1/work/loop/preview", r#"{"goal":"x"}"#).json();
    assert_eq!(text(&preview, "denial_reason"), "ADMISSION_CEILING");
    lab.release("go");
    for thread in &threads {
        lab.until(thread, "done");
    }
    lab.until_free();
    let thread = lab.start("echo");
    lab.until(&thread, "done");
}

#[test]
fn a_tier_bounds_what_a_bearer_starts() {
    let lab = Lab::with_room(16, Some(Price { input: 1_000_000, output: 1_000_000 }));
    lab.script("held", HELD);
    let bearer = lab.server.token("records:read,records:write");
    let start =
        |body: &str| lab.server.tcp("POST", "/v1/work/loop").bearer(&bearer).json(body).send();
    let reply = start(r#"{"goal":"x","max_turns":50,"model":"held"}"#);
    assert_eq!(reply.status, 201, "{}", reply.text());
    let config = reply.json();
    let config = config.get("effective_config").expect("a config");
    assert_eq!(config.get("max_turns").and_then(Value::as_u64), Some(5));
    assert_eq!(config.get("budget_usd").map(ToString::to_string).as_deref(), Some("0.25"));
    let second = start(r#"{"goal":"x"}"#);
    assert_eq!((second.status, second.code().as_str()), (503, "ADMISSION_CEILING"));
    lab.release("go");
    // What its tier withholds is not there to be called.
    let row = lab.until(&reply.string("thread"), "stopped");
    assert_eq!(row.get("tool_calls_failed").and_then(Value::as_u64), Some(1), "{row}");
    let system = start(r#"{"goal":"x","actor":"did:sync:system:engine"}"#);
    assert_eq!((system.status, system.code().as_str()), (403, "DID_CLAIM_DENIED"));
    let folder = start(r#"{"goal":"x","workspace":"/"}"#);
    assert_eq!((folder.status, folder.code().as_str()), (403, "SCOPE_FORBIDDEN"));
    let readers = lab.server.token("records:read");
    let reply = lab.server.tcp("POST", "/v1/work/loop").bearer(&readers).json("{}").send();
    assert_eq!((reply.status, reply.code().as_str()), (403, "SCOPE_FORBIDDEN"));
}

#[test]
fn an_actor_begins_so_many_runs_a_day() {
    let lab = Lab::new();
    let bearer = lab.server.token("records:read,records:write");
    let start =
        || lab.server.tcp("POST", "/v1/work/loop").bearer(&bearer).json(r#"{"goal":"x"}"#).send();
    let mut begun = 0;
    let refused = loop {
        let reply = start();
        match reply.status {
            201 => begun += 1,
            // One at once; the last may not have left its place yet.
            503 => std::thread::yield_now(),
            _ => break reply,
        }
    };
    assert_eq!((begun, refused.status), (10, 403));
    assert_eq!(refused.code(), "WORK_DAILY_COUNT_EXCEEDED");
}

#[test]
fn what_is_not_offered_is_refused_by_name() {
    let lab = Lab::new();
    let start = |body: &str| lab.server.post("/v1/work/loop", body);
    let odd = start(r#"{"goal":"x","task_budget":3}"#);
    assert_eq!((odd.status, odd.string("field").as_str()), (422, "task_budget"));
    assert_eq!(start(r#"{"max_turns":3}"#).string("field"), "goal");
    assert_eq!(start(r#"{"goal":"x","max_turns":0}"#).string("field"), "max_turns");
    let unpriced = start(r#"{"goal":"x","budget_usd":0.5}"#);
    assert_eq!((unpriced.status, unpriced.code().as_str()), (422, "MODEL_UNPRICED"));
    let nobody = start(r#"{"goal":"x","model":"nobody"}"#);
    assert_eq!((nobody.status, nobody.code().as_str()), (422, "WORK_NO_PROVIDER"));
    let elsewhere = start(r#"{"goal":"x","workspace":"/"}"#);
    assert_eq!((elsewhere.status, elsewhere.code().as_str()), (403, "WORKSPACE_FORBIDDEN"));
    assert_eq!(elsewhere.string("field"), "workspace");
    let own = format!(r#"{{"goal":"x","workspace":"{}"}}"#, lab.scripts.folder.display());
    assert_eq!(start(&own).status, 201);
    let without = Server::start();
    let reply = without.post("/v1/work/loop", r#"{"goal":"x"}"#);
    assert_eq!((reply.status, reply.code().as_str()), (422, "WORK_NO_PROVIDER"));
}

#[test]
fn runs_are_listed_by_state_actor_and_page() {
    let lab = Lab::new();
    lab.script("held", HELD);
    let held = lab.start("held");
    let mut ended = Vec::new();
    for actor in ["did:sync:agent:a", "did:sync:agent:b", "did:sync:agent:a"] {
        let reply = lab.server.post(&format!("/v1/actors/{actor}/runs"), r#"{"goal":"x"}"#);
        assert_eq!(reply.status, 201, "{}", reply.text());
        lab.until(&reply.string("thread"), "done");
        ended.push(reply.string("thread"));
    }
    let threads = |path: &str| -> Vec<String> {
        lab.server.get(path).data().iter().map(|row| text(row, "thread")).collect()
    };
    ended.reverse();
    assert_eq!(threads("/v1/runs?state=done"), ended);
    assert_eq!(threads("/v1/runs?state=running"), std::slice::from_ref(&held));
    assert_eq!(threads("/v1/runs?member=did:sync:agent:b"), ended[1..2]);
    assert_eq!(threads("/v1/actors/did:sync:agent:a/runs"), [&*ended[0], &*ended[2]]);
    let first = lab.server.get("/v1/runs?limit=2");
    let cursor = first.string("next_cursor");
    let rest = threads(&format!("/v1/runs?limit=2&cursor={cursor}"));
    assert_eq!(rest, [ended[2].clone(), held.clone()]);
    let reply = lab.server.get("/v1/runs?state=tired");
    assert_eq!((reply.status, reply.code().as_str()), (400, "INVALID_REQUEST"));
    lab.release("go");
    lab.until(&held, "done");
}

const ASKING: &str = r#"{"turns":[
    {"tool_calls":[{"name":"request_decision","args":{"question":"which?","options":["a","b"]}}]},
    {"text":"thanks"}]}"#;

fn asked(row: &Value) -> RecordId {
    let id = row.get("ask").and_then(|ask| ask.get("id")).and_then(Value::as_str);
    RecordId::parse(id.expect("a question")).expect("an id")
}

#[test]
fn a_run_that_waits_for_a_decision_goes_on_by_itself() {
    let lab = Lab::new();
    lab.script("asking", ASKING);
    let thread = lab.start("asking");
    let row = lab.until(&thread, "waiting_on_you");
    assert_eq!(text(&row, "verb"), "needs_you");
    let reply =
        lab.say(&thread, r#"{"type":"decision","decision":"provide","provided_value":"b"}"#);
    assert_eq!(reply.status, 201, "{}", reply.text());
    let row = lab.until(&thread, "done");
    assert_eq!(row.get("life").and_then(Value::as_u64), Some(1));
}

#[test]
fn a_decision_of_another_process_is_noticed() {
    let lab = Lab::new();
    lab.script("asking", ASKING);
    let thread = lab.start("asking");
    let request = asked(&lab.until(&thread, "waiting_on_you"));
    let answer = DecisionAnswer::new(DecisionVerb::Approved);
    let decided =
        open(&lab.server.home).decide(&Caller::operator(), &ActorId::engine(), request, &answer);
    decided.expect("decided");
    lab.until(&thread, "done");
}

/// Both have seen it park; one of them takes it up.
#[test]
fn two_servers_do_not_both_take_up_one_run() {
    let lab = Lab::new();
    lab.script("asking", ASKING);
    let threads: Vec<_> = (0..4).map(|_| lab.start("asking")).collect();
    let rows: Vec<_> = threads.iter().map(|thread| lab.until(thread, "waiting_on_you")).collect();
    let other = Host::new(open(&lab.server.home), lab.scripts.clone(), 16);
    assert_eq!(other.attend().expect("attended"), 0);
    for row in &rows {
        let answer = DecisionAnswer::new(DecisionVerb::Approved);
        let by = ActorId::engine();
        let decided = lab.server.engine.decide(&Caller::operator(), &by, asked(row), &answer);
        decided.expect("decided");
    }
    for thread in &threads {
        let row = lab.until(thread, "done");
        assert_eq!(row.get("life").and_then(Value::as_u64), Some(1), "{row}");
        let events: Vec<_> = lab.events(thread).iter().map(kind).collect();
        let of = |wanted: &str| events.iter().filter(|kind| *kind == wanted).count();
        assert_eq!((of("resume.v1"), of("tool_result.v1")), (1, 1), "{events:?}");
    }
    assert!(other.leave(PATIENCE));
}

#[test]
fn a_server_that_goes_away_interrupts_its_runs_and_another_takes_them_up() {
    let lab = Lab::new();
    lab.script("held", HELD);
    let thread = lab.start("held");
    assert!(lab.host.leave(PATIENCE), "the run ended");
    let row = lab.row(&thread);
    assert_eq!(text(&row, "state"), "stopped_short", "{row}");
    assert_eq!(row.get("outcome"), Some(&Value::Null), "it has no outcome: {row}");
    let refused = lab.server.post("/v1/work/loop", r#"{"goal":"x"}"#);
    assert_eq!((refused.status, refused.code().as_str()), (503, "SHUTTING_DOWN"));
    lab.release("go");
    let other = Host::new(open(&lab.server.home), lab.scripts.clone(), 16);
    assert_eq!(other.attend().expect("attended"), 0, "it is marked already");
    other.resume(&ThreadId::parse(&thread).expect("a thread")).expect("taken up");
    let row = lab.until(&thread, "done");
    assert_eq!(row.get("tool_calls_ok").and_then(Value::as_u64), Some(1), "once: {row}");
    assert!(other.leave(PATIENCE));
}

/// A record that a door took in is no admission, no opening and no outcome.
#[test]
fn what_a_door_took_in_is_no_run() {
    let lab = Lab::new();
    for (clock, kind) in ["core.work.loop.v1", "core.work.admission.v1"].iter().enumerate() {
        let body = spl::object! { "kind": *kind, "goal": "x", "transport": "in_process",
        "model": "m", "domain": "d" };
        let draft = Draft::from_envelope(
            spl::object! { "act": "INTEND", "actor": "did:sync:user:vera", "thread": "th_fake",
            "clock": clock, "body": body }
            .into(),
        );
        let draft = draft.expect("a draft");
        lab.server.engine.ingest_draft(&Caller::operator(), draft).expect("ingested");
    }
    assert_eq!(lab.server.get("/v1/runs/th_fake").status, 404);
    assert!(lab.server.get("/v1/runs").data().is_empty());
    let home: &Home = &lab.server.home;
    let other = Host::new(open(home), lab.scripts.clone(), 1);
    assert_eq!(other.attend().expect("attended"), 0);
}
