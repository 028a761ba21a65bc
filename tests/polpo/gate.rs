//! What a termination gate does in an invocation: the machine, driven by a script, with a disk that
//! may fail and a process that may die.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use spl::canon;
use spl::policy::polpo::envelope::Candidate;
use spl::policy::polpo::gate::{
    Appended, Checkpoint, Effect, Event, Gate, GateFailure, Limits, Purpose, Reopening, Setup,
    Step, Subject, Validator, WriteFault, WritePoint, resume, step,
};
use spl::policy::polpo::trace::GateTrace;
use spl::policy::polpo::{GateLimits, HookName, Outcome, Site};
use spl::record::RecordId;
use spl::time::Timestamp;

use crate::cases::{cases, whole};
use crate::outcome::Ends;

/// An invocation with gates.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Gated {
    /// The limits of each gate; what is not said is as much as may be.
    gates: Vec<Bounds>,
    #[serde(default = "twenty")]
    max_turns: u64,
    #[serde(default)]
    structured: bool,
    /// How long each validator may take.
    #[serde(default = "five_seconds")]
    timeout_ms: u64,
    /// What happens, one after another.
    script: Vec<Line>,
    /// When the process dies, and how the gates stand afterwards.
    crash: Option<Crash>,
    /// Which write fails.
    fault: Option<Fault>,
    expect: Expect,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bounds {
    #[serde(rename = "max_cycles")]
    cycles: Option<u64>,
    #[serde(rename = "max_duration_ms")]
    duration_ms: Option<u64>,
    #[serde(rename = "max_tokens")]
    tokens: Option<u64>,
}

/// One line of a script.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    /// The model is wanted, and this is what it uses; null is not known.
    Model(Option<u64>),
    /// The same, to put its answer into form.
    Formats(Option<u64>),
    /// The same, to shorten the history.
    Compacts(Option<u64>),
    /// The same, to mend an answer without a gate.
    Recovers(Option<u64>),
    /// A tool is called. It uses as many tokens as it likes.
    Tool(String),
    /// A final answer, as text or as a value.
    Answer(Value),
    /// A validator ends.
    Validator(Ends),
    /// Time goes by.
    MovesMs(i64),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Crash {
    /// After which write; the n-th of its kind, from 1.
    after: String,
    #[serde(default = "one")]
    nth: usize,
    /// The gates when it goes on; null, if they are gone.
    gates: Option<Vec<Bounds>>,
    #[serde(default)]
    down_ms: i64,
    /// Whether what was stored is not what is found.
    #[serde(default)]
    garbled: bool,
    /// Another invocation finds it.
    agent: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    at: String,
    #[serde(default)]
    too_large: bool,
}

/// What comes of it. What is not said may be anything.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    /// `delivered` or `failed`; `open`, if the script ends before.
    end: String,
    answer: Option<Value>,
    replayed: Option<bool>,
    code: Option<String>,
    cause: Option<String>,
    status: Option<u16>,
    validator_runs: Option<usize>,
    model_calls: Option<usize>,
    tool_calls: Option<usize>,
    /// How many tokens the model may write at each call at most; the agent's own settings say 4096.
    caps: Option<Vec<u64>>,
    /// How long each validator may take.
    timeouts_ms: Option<Vec<u64>>,
    used: Option<BTreeMap<String, u64>>,
    /// The states in traces, in order; `*` behind one that is told again.
    states: Option<Vec<String>>,
    /// The execution ids in all traces, each once.
    executions: Option<usize>,
    /// Members of the last message to the model, by JSON pointer.
    message: Option<BTreeMap<String, Value>>,
    /// Attempt and cycle of each candidate that was validated.
    attempts: Option<Vec<(u64, u64)>>,
    /// The order of all writes.
    writes: Option<Vec<String>>,
    /// Whether each validator that ran twice had the same key.
    same_key: Option<bool>,
}

const fn one() -> usize {
    1
}

const fn twenty() -> u64 {
    20
}

const fn five_seconds() -> u64 {
    5_000
}

#[test]
fn what_a_gate_does() {
    for case in cases() {
        for (at, gated) in case.gate.iter().enumerate() {
            let id = format!("{} gate[{at}]", case.id);
            let mut world = World::new(gated);
            let end = world.drive(&id);
            world.check(&id, &end);
        }
    }
}

/// What a script drives, and all that was seen of it.
struct World<'a> {
    case: &'a Gated,
    script: Vec<Line>,
    now: i64,
    disk: Option<String>,
    written: Vec<WritePoint>,
    crashed: bool,
    records: u8,
    tokens: Option<u64>,
    model_calls: usize,
    tool_calls: usize,
    caps: Vec<u64>,
    timeouts: Vec<u64>,
    keys: Vec<String>,
    attempts: Vec<(u64, u64)>,
    traces: Vec<GateTrace>,
    message: Option<Reopening>,
    used: Option<Checkpoint>,
}

enum End {
    Open,
    Is(Effect),
    Refused(GateFailure),
}

fn bounds(bounds: &Bounds) -> GateLimits {
    let most = GateLimits::MOST;
    GateLimits {
        max_cycles: bounds.cycles.unwrap_or(most.max_cycles),
        max_duration_ms: bounds.duration_ms.unwrap_or(most.max_duration_ms),
        max_tokens: bounds.tokens.unwrap_or(most.max_tokens),
    }
}

fn point(word: &str) -> WritePoint {
    match word {
        "in_flight" => WritePoint::InFlight,
        "landed" => WritePoint::Landed,
        "validating" => WritePoint::Validating,
        "judged" => WritePoint::Judged,
        "continuing" => WritePoint::Continuing,
        "reopened" => WritePoint::Reopened,
        "accepted" => WritePoint::Accepted,
        "failed" => WritePoint::Failed,
        "suspended" => WritePoint::Suspended,
        other => panic!("{other}"),
    }
}

fn candidate(value: &Value) -> Candidate {
    match whole(value) {
        Value::String(text) => Candidate::Text(text),
        value => {
            let text = value.to_string();
            let value = canon::parse(text.as_bytes(), canon::Limits::DOOR).expect("a value");
            Candidate::Json { value, text }
        }
    }
}

fn subject(agent: Option<&str>) -> Subject {
    let agent = agent.unwrap_or("coder").to_owned();
    Subject { invocation: "run_1".to_owned(), step_invocation: None, agent }
}

impl<'a> World<'a> {
    fn new(case: &'a Gated) -> Self {
        let mut script = case.script.clone();
        script.reverse();
        Self {
            case,
            script,
            now: 1_000_000,
            disk: None,
            written: Vec::new(),
            crashed: false,
            records: 0,
            tokens: None,
            model_calls: 0,
            tool_calls: 0,
            caps: Vec::new(),
            timeouts: Vec::new(),
            keys: Vec::new(),
            attempts: Vec::new(),
            traces: Vec::new(),
            message: None,
            used: None,
        }
    }

    fn at(&self) -> Timestamp {
        Timestamp::from_millis(self.now)
    }

    fn setup(&self, gates: &[Bounds]) -> Option<Setup> {
        let validator = |at: usize| Validator {
            hook: HookName { pack: "quality".to_owned(), hook: format!("gate-{at}") },
            timeout_ms: self.case.timeout_ms,
        };
        Some(Setup {
            subject: subject(None),
            packs: BTreeMap::new(),
            validators: (1..=gates.len()).map(validator).collect(),
            limits: Limits::of(gates.iter().map(bounds), self.case.max_turns)?,
            structured: self.case.structured,
        })
    }

    /// Takes the next line, once time that goes by before it has gone by.
    fn line(&mut self) -> Option<Line> {
        loop {
            match self.script.pop()? {
                Line::MovesMs(millis) => self.now += millis,
                line => return Some(line),
            }
        }
    }

    fn drive(&mut self, id: &str) -> End {
        let setup = self.setup(&self.case.gates).expect("a gate");
        let mut gate = Gate::begin(setup, self.at()).expect("a gate");
        let mut effect = Effect::GoOn;
        loop {
            let event = match self.perform(id, &gate, &effect) {
                Ok(event) => event,
                Err(Turn::Over(end)) => return end,
                Err(Turn::Dies) => match self.revive() {
                    Ok((revived, Step { effect: next, traces })) => {
                        self.traces.extend(traces);
                        self.used = Some(revived.checkpoint().clone());
                        (gate, effect) = (revived, next.expect(id));
                        continue;
                    }
                    Err(failure) => return End::Refused(failure),
                },
            };
            let (next, done) = step(gate, self.at(), event.clone());
            self.traces.extend(done.traces);
            self.used = Some(next.checkpoint().clone());
            effect = done.effect.unwrap_or_else(|| panic!("{id}: {event:?} is not waited for"));
            gate = next;
        }
    }

    /// Does what is to be done.
    fn perform(&mut self, id: &str, gate: &Gate, effect: &Effect) -> Result<Event, Turn> {
        match effect {
            Effect::Write { point, append } => self.write(gate, *point, append.as_deref()),
            Effect::GoOn | Effect::Format => self.work(id, effect),
            Effect::CallModel { cap } => {
                self.model_calls += 1;
                self.caps.push(*cap);
                Ok(Event::ModelEnded { tokens: self.tokens })
            }
            Effect::CallTool => {
                self.tool_calls += 1;
                Ok(Event::ToolEnded)
            }
            Effect::Validate(asking) => {
                let Some(line) = self.line() else { return Err(Turn::Over(End::Open)) };
                let Line::Validator(ends) = line else { panic!("{id}: a validator is asked") };
                self.timeouts.push(asking.timeout_ms);
                self.keys.push(asking.key.to_string());
                self.attempts.push((asking.attempt.attempt, asking.attempt.cycle));
                let outcome: Outcome = ends.outcome(Site::Gate);
                Ok(Event::Validated(outcome))
            }
            Effect::Deliver { .. } | Effect::Fail(_) | Effect::Cancel | Effect::Suspend => {
                assert!(self.script.is_empty(), "{id}: it ends before {:?}", self.script);
                Err(Turn::Over(End::Is(effect.clone())))
            }
        }
    }

    fn work(&mut self, id: &str, effect: &Effect) -> Result<Event, Turn> {
        let Some(line) = self.line() else { return Err(Turn::Over(End::Open)) };
        let name = format!("call_{}", self.script.len());
        let model = |purpose| Event::Model { id: name.clone(), purpose, cap: 4096 };
        let formats = *effect == Effect::Format;
        assert_eq!(formats, matches!(line, Line::Formats(_)), "{id}: {effect:?} and {line:?}");
        Ok(match line {
            Line::Model(tokens) => {
                self.tokens = tokens;
                model(Purpose::Work)
            }
            Line::Formats(tokens) => {
                self.tokens = tokens;
                model(Purpose::Formatting)
            }
            Line::Compacts(tokens) => {
                self.tokens = tokens;
                model(Purpose::Compaction)
            }
            Line::Recovers(tokens) => {
                self.tokens = tokens;
                model(Purpose::Recovery)
            }
            Line::Tool(tool) => Event::Tool { id: name, name: tool },
            Line::Answer(value) => Event::Answered(candidate(&value)),
            Line::Validator(_) | Line::MovesMs(_) => panic!("{id}: no validator is asked"),
        })
    }

    fn write(
        &mut self,
        gate: &Gate,
        point: WritePoint,
        append: Option<&Reopening>,
    ) -> Result<Event, Turn> {
        if let Some(fault) =
            self.case.fault.as_ref().filter(|fault| self::point(&fault.at) == point)
        {
            let too_large = fault.too_large;
            return Ok(Event::NotWritten(if too_large {
                WriteFault::TooLarge
            } else {
                WriteFault::Failed
            }));
        }
        let mut appended = Vec::new();
        if let Some(reopening) = append {
            self.message = Some(reopening.clone());
            // The answer that was not accepted, and what the model is told to that.
            for _ in 0..2 {
                self.records += 1;
                appended.push(Appended { id: RecordId::from_bytes([self.records; 32]), bytes: 50 });
            }
        }
        let kept = gate.checkpoint_with(&appended);
        let stored = kept.to_object().expect("it is small");
        self.disk = Some(canon::Value::from(stored).to_string());
        self.written.push(point);
        let times = self.written.iter().filter(|one| **one == point).count();
        let dies = |crash: &Crash| self::point(&crash.after) == point && crash.nth == times;
        if !self.crashed && self.case.crash.as_ref().is_some_and(dies) {
            self.crashed = true;
            return Err(Turn::Dies);
        }
        Ok(Event::Written(appended))
    }

    /// Another process goes on from what is on disk.
    fn revive(&mut self) -> Result<(Gate, Step), GateFailure> {
        let mut disk = self.disk.clone().expect("something was written");
        let crash = self.case.crash.as_ref().filter(|_| self.crashed);
        self.now += crash.map_or(0, |crash| crash.down_ms);
        if crash.is_some_and(|crash| crash.garbled) {
            disk = disk.replacen("run_1", "run_2", 1);
        }
        let gates = match crash {
            Some(crash) => crash.gates.clone(),
            None => Some(self.case.gates.clone()),
        };
        let finder = subject(crash.and_then(|crash| crash.agent.as_deref()));
        let setup = gates.and_then(|gates| self.setup(&gates));
        resume(Checkpoint::parse(disk.as_bytes())?, &finder, setup, self.at())
    }

    fn check(&self, id: &str, end: &End) {
        let want = &self.case.expect;
        assert!(self.script.is_empty(), "{id}: not reached: {:?}", self.script);
        let (word, failure) = match end {
            End::Open => ("open", None),
            End::Refused(failure) | End::Is(Effect::Fail(failure)) => ("failed", Some(*failure)),
            End::Is(Effect::Deliver { .. }) => ("delivered", None),
            End::Is(other) => panic!("{id}: {other:?}"),
        };
        assert_eq!(word, want.end, "{id}: {failure:?}");
        if let End::Is(Effect::Deliver { answer, replayed }) = end {
            assert_eq!(Some(answer), want.answer.as_ref().map(candidate).as_ref(), "{id}");
            assert_eq!(*replayed, want.replayed.unwrap_or(false), "{id}");
        } else {
            assert_eq!(want.answer, None, "{id}");
        }
        let code = failure.map(|failure| failure.code.as_str().to_owned());
        assert_eq!(code, want.code, "{id}");
        let cause = failure.and_then(|failure| failure.cause).map(|it| it.as_str().to_owned());
        assert_eq!(cause, want.cause, "{id}");
        said(id, want.status.as_ref(), &failure.map_or(0, |failure| failure.code.status()));
        said(id, want.validator_runs.as_ref(), &self.keys.len());
        said(id, want.model_calls.as_ref(), &self.model_calls);
        said(id, want.tool_calls.as_ref(), &self.tool_calls);
        said(id, want.caps.as_ref(), &self.caps);
        said(id, want.timeouts_ms.as_ref(), &self.timeouts);
        said(id, want.attempts.as_ref(), &self.attempts);
        let writes = want.writes.as_ref().map(|words| words.iter().map(|it| point(it)).collect());
        said(id, writes.as_ref(), &self.written);
        self.check_traces(id, want);
        self.check_rest(id, want);
    }

    fn check_traces(&self, id: &str, want: &Expect) {
        let state = |trace: &GateTrace| {
            format!("{}{}", trace.stage.as_str(), if trace.replayed { "*" } else { "" })
        };
        said(id, want.states.as_ref(), &self.traces.iter().map(state).collect());
        let mut executions: Vec<_> = self.traces.iter().flat_map(|it| &it.executions).collect();
        executions.sort();
        executions.dedup();
        said(id, want.executions.as_ref(), &executions.len());
        for trace in self.traces.iter().filter(|trace| trace.attempt > 0) {
            assert_eq!(trace.executions.len(), self.case.gates.len(), "{id}: each has its ids");
        }
    }

    fn check_rest(&self, id: &str, want: &Expect) {
        let kept = self.used.as_ref().expect(id);
        for (name, number) in want.used.iter().flatten() {
            let found = match name.as_str() {
                "cycles" => kept.used.cycles,
                "turns" => kept.used.turns,
                "tokens" => kept.used.tokens,
                "attempts" => kept.used.attempts,
                "recoveries" => kept.used.recoveries,
                "max_cycles" => kept.limits.gate.max_cycles,
                "max_tokens" => kept.limits.gate.max_tokens,
                other => panic!("{id}: {other}"),
            };
            assert_eq!(found, *number, "{id}: {name}");
        }
        if let Some(members) = &want.message {
            let reopening = self.message.as_ref().expect(id);
            let text = canon::Value::from(reopening.message.clone()).to_string();
            let message: Value = serde_json::from_str(&text).expect(id);
            for (pointer, value) in members {
                assert_eq!(message.pointer(pointer), Some(&whole(value)), "{id}: {pointer}");
            }
        }
        if want.same_key == Some(true) {
            assert!(self.keys.windows(2).any(|two| two[0] == two[1]), "{id}: {:?}", self.keys);
        }
    }
}

enum Turn {
    Over(End),
    Dies,
}

fn said<T: PartialEq + std::fmt::Debug>(id: &str, want: Option<&T>, found: &T) {
    if let Some(want) = want {
        assert_eq!(want, found, "{id}");
    }
}
