//! Sessions of other harnesses: their events are recorded, and the hooks have their say.

use proptest::prelude::*;
use spl::canon::{Object, Value, hash_of};
use spl::engine::Engine;
use spl::hook::{CONTENT_CHARS, History, HookSet, ReturnedCall, RunFacts};
use spl::identity::{KeyPair, Keyring};
use spl::object;
use spl::predicate::SystemFacts;
use spl::record::{ActorId, Clock, Namespace, Origin, ThreadId};
use spl::session::{Agent, Event, Harness, Moment, Received, Status, ToolCall, receive};
use spl::store::{StoreOptions, Stored, ThreadRange};
use spl::time::{TimeSource, Timestamp};
use spl::trust::Standing;

use crate::lab::{Lab, teach};
use crate::support::register;

fn event(name: &str, moment: Moment) -> Event {
    Event {
        harness: Harness::Claude,
        session_id: "s1".into(),
        agent: None,
        name: name.into(),
        digest: hash_of(&[name.as_bytes(), format!("{moment:?}").as_bytes()]),
        moment,
        turn: None,
        cwd: Some("/home/dev/shop".into()),
        model: None,
        transcript_path: None,
        rest: Object::new(),
        deaf: false,
        decided: None,
    }
}

/// A shell command that failed.
fn failed(id: &str) -> Event {
    let call = ToolCall {
        call_id: id.into(),
        tool: "Bash".into(),
        canonical: "bash".into(),
        args: object! { "command": format!("make {id}") },
        status: Status::Error,
        content: "Exit code 2".into(),
    };
    event("PostToolUseFailure", Moment::Returned(call))
}

fn call_of(event: &mut Event) -> &mut ToolCall {
    match &mut event.moment {
        Moment::Returned(call) => call,
        _ => panic!("no call"),
    }
}

fn started(source: &str) -> Event {
    event("SessionStart", Moment::Started { source: Some(source.into()) })
}

/// The same event of Gemini, which hands on nothing that is said of a failing tool.
fn deaf(id: &str) -> Event {
    Event { deaf: true, ..hearing(id) }
}

fn hearing(id: &str) -> Event {
    Event { harness: Harness::Gemini, name: "AfterTool".into(), ..failed(id) }
}

fn tell(engine: &Engine, event: &Event) -> Option<String> {
    told(engine, event, "one").text
}

fn told(engine: &Engine, event: &Event, attempt: &str) -> Received {
    receive(engine, event, None, attempt).expect("received")
}

/// A lesson about a failed command, in whatever harness.
const FAILED: &str = r#""name":"failed","text":"read stderr first.",
    "when":"resource == \"tool:bash\" && record.body.status == \"error\"""#;

fn records(engine: &Engine, thread: &ThreadId) -> Vec<Stored> {
    let range = ThreadRange::default();
    engine.store().read(|reader| reader.thread(thread, range, usize::MAX)).expect("read")
}

fn kinds(records: &[Stored]) -> Vec<&str> {
    records.iter().map(short).collect()
}

/// The last word of a record's kind.
fn short(stored: &Stored) -> &str {
    let kind = stored.record.kind().expect("a kind").trim_end_matches(".v1");
    kind.rsplit('.').next().unwrap_or_default()
}

fn fields<'a>(records: &'a [Stored], kind: &str, field: &str) -> Vec<&'a Value> {
    let of_kind = records.iter().filter(|it| it.record.kind() == Some(kind));
    of_kind.map(|it| &it.record.body[field]).collect()
}

const OBSERVATION: &str = "core.work.observation.v1";
const TOOL: &str = "core.session.tool.v1";

#[test]
fn the_first_event_opens_the_session_and_a_failed_call_is_spoken_about() {
    let lab = Lab::new();
    teach(&lab.engine, 0, FAILED);
    assert_eq!(tell(&lab.engine, &started("startup")), None);
    let heard = told(&lab.engine, &failed("c1"), "one");
    assert_eq!(heard.text.as_deref(), Some("failed: read stderr first."));
    let stored = records(&lab.engine, &heard.thread);
    assert_eq!(kinds(&stored), ["charter", "start", "tool", "observation"]);
    assert!(stored.iter().all(|it| it.origin == Origin::Engine));
    let actors: Vec<&str> = stored.iter().map(|it| it.record.actor.as_str()).collect();
    let (engine, agent) = ("did:sync:system:engine", "did:sync:agent:claude");
    assert_eq!(actors, [engine, agent, agent, engine]);
    let charter = stored[0].record.id();
    assert_eq!(stored[0].record.body["missed_start"], Value::from(false));
    assert_eq!(stored[0].record.body["cwd"], Value::from("/home/dev/shop"));
    assert_eq!(
        (&stored[1].record.parents, &stored[2].record.parents),
        (&vec![charter], &vec![charter])
    );
    assert_eq!(stored[3].record.parents, [stored[2].record.id()]);
    assert_eq!(stored[3].record.body["delivery"], Value::from("offered"));
    assert_eq!(stored[2].record.body["canonical"], Value::from("bash"));
    assert!(lab.engine.store().verify(|_, _| {}).expect("verified").fault.is_none());
}

#[test]
fn a_session_whose_start_was_missed_is_opened_by_what_comes_first() {
    let lab = Lab::new();
    let heard = told(&lab.engine, &failed("c1"), "one");
    let stored = records(&lab.engine, &heard.thread);
    assert_eq!(kinds(&stored), ["charter", "tool"]);
    assert_eq!(stored[0].record.body["missed_start"], Value::from(true));
}

#[test]
fn an_event_told_twice_is_recorded_once_and_answered_to_the_same_attempt_alone() {
    let lab = Lab::new();
    teach(&lab.engine, 0, FAILED);
    let first = told(&lab.engine, &failed("c1"), "one");
    let count = records(&lab.engine, &first.thread).len();
    for engine in [&lab.engine, &lab.another()] {
        assert_eq!(told(engine, &failed("c1"), "one"), first);
        assert_eq!(told(engine, &failed("c1"), "two").text, None);
    }
    assert_eq!(tell(&lab.engine, &started("startup")), None);
    assert_eq!(tell(&lab.engine, &started("startup")), None);
    assert_eq!(records(&lab.engine, &first.thread).len(), count + 1);
}

/// A harness that sends the same bytes at each start and end of a session was heard once.
#[test]
fn the_same_bytes_after_something_else_are_another_event() {
    let lab = Lab::new();
    let prompts = |words: &[&str]| {
        for (attempt, text) in words.iter().enumerate() {
            told(&lab.engine, &event_of_prompt(text), &format!("{} {attempt}", words.len()));
        }
        let thread = told(&lab.engine, &started("compact"), "x").thread;
        fields(&records(&lab.engine, &thread), "core.session.prompt.v1", "text").len()
    };
    assert_eq!(prompts(&["go on", "go on"]), 1);
    assert_eq!(prompts(&["stop", "go on", "stop"]), 4);
}

#[test]
fn a_cap_is_exact_among_processes_that_ask_at_once() {
    let lab = Lab::new();
    teach(&lab.engine, 0, &format!(r#"{FAILED},"max_fires_per_run":2"#));
    let engines = [lab.engine.clone(), lab.another(), lab.another()];
    let heard: usize = std::thread::scope(|scope| {
        let tellers: Vec<_> = (0..24)
            .map(|n| {
                let engine = &engines[n % engines.len()];
                scope.spawn(move || usize::from(tell(engine, &failed(&format!("c{n}"))).is_some()))
            })
            .collect();
        tellers.into_iter().map(|it| it.join().expect("told")).sum()
    });
    assert_eq!(heard, 2);
    let stored = records(&lab.engine, &told(&lab.engine, &started("startup"), "x").thread);
    assert_eq!(fields(&stored, TOOL, "call_id").len(), 24);
    assert_eq!(fields(&stored, OBSERVATION, "fire").len(), 2);
    let charters = fields(&stored, "core.session.charter.v1", "harness");
    assert_eq!(charters.len(), 1);
}

#[test]
fn words_that_an_event_cannot_deliver_go_with_the_next_that_can() {
    let lab = Lab::new();
    teach(&lab.engine, 0, FAILED);
    assert_eq!(tell(&lab.engine, &deaf("c1")), None);
    let said = "failed: read stderr first.";
    let both = format!("{said}\n\n{said}");
    let heard = told(&lab.engine, &hearing("c2"), "one");
    assert_eq!(heard.text.as_deref(), Some(&*both));
    let stored = records(&lab.engine, &heard.thread);
    let how = fields(&stored, OBSERVATION, "delivery");
    assert_eq!(how, [&Value::from("carried"), &Value::from("offered")]);
    let carried = stored.iter().find(|it| it.record.kind() == Some(OBSERVATION)).expect("one");
    let tools: Vec<&Stored> = stored.iter().filter(|it| it.record.kind() == Some(TOOL)).collect();
    assert_eq!(tools[0].record.body.get("delivers"), None);
    let delivers: Value = vec![Value::from(carried.record.id())].into();
    assert_eq!(tools[1].record.body["delivers"], delivers);
    // Nothing is sent twice; the third and last fire stands alone.
    assert_eq!(tell(&lab.engine, &hearing("c3")).as_deref(), Some(said));
    assert_eq!(tell(&lab.engine, &hearing("c4")), None);
}

#[test]
fn who_is_resumed_is_told_again_and_who_is_compacted_is_not() {
    let lab = Lab::new();
    teach(&lab.engine, 0, &format!(r#"{FAILED},"max_fires_per_run":1"#));
    let spoke = |id: &str| tell(&lab.engine, &failed(id)).is_some();
    tell(&lab.engine, &started("startup"));
    assert!(spoke("c1") && !spoke("c2"));
    tell(&lab.engine, &started("compact"));
    assert!(!spoke("c3"));
    for (n, source) in ["resume", "fork", "clear"].into_iter().enumerate() {
        assert_eq!(tell(&lab.engine, &started(source)), None);
        assert!(spoke(&format!("d{n}")) && !spoke(&format!("e{n}")), "{source}");
    }
}

#[test]
fn a_session_that_is_resumed_each_morning_starts_anew_each_time() {
    let keys = Keyring::new(KeyPair::from_seed(&[7; 32]));
    let time = TimeSource::stepped(Timestamp::from_millis(1_000_000), 10_000);
    let engine = Engine::in_memory_with(StoreOptions::new(keys, time)).expect("an engine");
    let mut thread = None;
    for attempt in ["one", "two", "three"] {
        thread = Some(told(&engine, &started("resume"), attempt).thread);
    }
    let stored = records(&engine, &thread.expect("a thread"));
    let lives = fields(&stored, "core.session.start.v1", "life");
    assert_eq!(lives, [&Value::from(1), &Value::from(2), &Value::from(3)]);
}

#[test]
fn a_subagent_is_a_run_of_its_own_below_its_session() {
    let lab = Lab::new();
    teach(&lab.engine, 0, &format!(r#"{FAILED},"max_fires_per_run":1"#));
    let inside = |id: &str| Event {
        agent: Some(Agent { id: "a1".into(), kind: Some("Explore".into()) }),
        ..failed(id)
    };
    assert!(tell(&lab.engine, &failed("c1")).is_some());
    let heard = told(&lab.engine, &inside("c2"), "one");
    assert!(heard.text.is_some());
    assert_eq!(tell(&lab.engine, &inside("c3")), None);
    let session = told(&lab.engine, &failed("c4"), "one").thread;
    let (above, below) = (records(&lab.engine, &session), records(&lab.engine, &heard.thread));
    assert_eq!(kinds(&above), ["charter", "tool", "observation", "agent", "tool"]);
    assert_eq!(kinds(&below), ["charter", "tool", "observation", "tool"]);
    assert_eq!(below[0].record.parents, [above[0].record.id()]);
    assert_eq!(below[0].record.body["parent_thread"], Value::from(&session));
    assert_eq!(below[0].record.body["agent_type"], Value::from("Explore"));
    assert_eq!(above[3].record.body["thread"], Value::from(&heard.thread));
}

#[test]
fn the_built_in_guards_speak_too() {
    let lab = Lab::new();
    let again = |id: &str| {
        let mut event = failed(id);
        call_of(&mut event).args = object! { "command": "make" };
        tell(&lab.engine, &event).unwrap_or_default()
    };
    assert_eq!(again("c1"), "");
    assert!(again("c2").starts_with("repeat-guard: this Bash call was made before"));
}

#[test]
fn what_looks_like_a_secret_is_not_recorded() {
    let lab = Lab::new();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let mut event = failed("c1");
    let call = call_of(&mut event);
    call.args = object! { "command": format!("curl -H 'Authorization: Bearer {token}'"), "password": "hunter2hunter2" };
    // Across the edge of what is kept.
    call.content = format!("{} {token} and on", "x".repeat(CONTENT_CHARS - 10));
    let thread = told(&lab.engine, &event, "one").thread;
    let mut prompt = event_of_prompt(&format!("use {token}"));
    prompt.rest = object! { "note": token.as_str() };
    tell(&lab.engine, &prompt);
    for stored in records(&lab.engine, &thread) {
        let text = stored.record.canonical().as_str().to_owned();
        assert!(!text.contains("ghp_") && !text.contains("hunter2"), "{text}");
    }
}

fn event_of_prompt(text: &str) -> Event {
    event("UserPromptSubmit", Moment::Prompted { text: text.into() })
}

/// Predicates of every shape that the index knows, and of some that it does not.
const WHENS: [&str; 12] = [
    "true",
    "false",
    "record.body.tool == 'Bash'",
    "resource == 'tool:bash' && record.body.status != 'ok'",
    "record.body.status == 'error' && record.body.content.contains('x')",
    "record.body.tool.startsWith('mcp__') && record.body.content.contains('y')",
    "resource.startsWith('tool:mcp__')",
    "record.body.tool in ['Bash', 'Read']",
    "record.body.tool == 'Read' || record.body.content.contains('y')",
    "record.body.args.nope == 1",
    "record.body.tool == 'Bash' && record.body.args.nope == 1",
    "record.clock >= 0 && record.actor == 'did:sync:agent:claude'",
];
const TOOLS: [(&str, &str); 4] =
    [("Bash", "bash"), ("Read", "read_file"), ("mcp__a__b", "mcp__a__b"), ("Odd", "Odd")];
const SPACES: [&str; 4] = ["default", "acme", "acme/site", "other"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// What a process that knows only the index asks, says what all the hooks together do.
    #[test]
    fn the_hooks_about_a_call_say_what_all_of_them_say(
        hooks in prop::collection::vec((0..WHENS.len(), 0..SPACES.len()), 0..14),
        calls in prop::collection::vec((0..TOOLS.len(), 0..SPACES.len(), any::<bool>(), 0..4_usize), 1..6),
        late in 0..WHENS.len(),
    ) {
        let lab = Lab::new();
        register(&lab.engine, "acme/site");
        register(&lab.engine, "other");
        let hook = |n: usize, when: &str, space: &str| {
            let body = format!(
                r#""name":"h{n}","text":"w","namespace":"{space}","when":"{when}""#
            );
            teach(&lab.engine, i64::try_from(n).expect("few"), &body);
        };
        for (n, (when, space)) in hooks.iter().enumerate() {
            hook(n, WHENS[*when], SPACES[*space]);
        }
        // The first call writes the index, the rest read it; a hook that is written makes it anew.
        for (at, (tool, space, ok, content)) in calls.iter().enumerate() {
            if at == 2 {
                hook(hooks.len(), WHENS[late], "default");
            }
            let (tool, canonical) = TOOLS[*tool];
            let args = object! { "command": "make" };
            let resource = format!("tool:{canonical}");
            let call = ReturnedCall {
                tool,
                args: &args,
                status: if *ok { "ok" } else { "error" },
                content: ["", "x", "y", "xy"][*content],
                resource: &resource,
                call: None,
                clock: Clock::default(),
            };
            let namespace = Namespace::parse(SPACES[*space]).expect("a namespace");
            let few = lab.another().hooks_about(&call, &namespace).expect("hooks").hooks;
            let all = lab.engine.live().expect("live").hooks.clone();
            prop_assert_eq!(said_by(&few, &call, &namespace), said_by(&all, &call, &namespace));
        }
    }

    /// Adding a hook takes no word away from another, over all that a session is told (decision 8).
    #[test]
    fn another_lesson_takes_no_word_away(
        texts in prop::collection::vec((0..5_usize, 1..4_usize), 1..6),
        added in (0..5_usize, 1..4_usize),
        calls in prop::collection::vec(any::<bool>(), 1..8),
    ) {
        let words = |lessons: &[(usize, usize)]| -> Vec<String> {
            let engine = Engine::in_memory().expect("an engine");
            for (n, (size, cap)) in lessons.iter().enumerate() {
                let text = format!("{n}-{}", "w".repeat([1, 700, 2_000, 3_500, 4_000][*size]));
                let body = format!(
                    r#""name":"l{n}","when":"true","text":"{text}","max_fires_per_run":{cap}"#
                );
                teach(&engine, i64::try_from(n).expect("few"), &body);
            }
            let mut heard = Vec::new();
            for (n, hears) in calls.iter().enumerate() {
                let id = format!("c{n}");
                heard.extend(tell(&engine, &if *hears { hearing(&id) } else { deaf(&id) }));
            }
            // Prompts deliver what still waits, and nothing new.
            for n in 0..64 {
                let prompt = Event { harness: Harness::Gemini, name: "BeforeAgent".into(), ..event_of_prompt(&n.to_string()) };
                heard.extend(tell(&engine, &prompt));
            }
            let mut words: Vec<String> =
                heard.iter().flat_map(|text| text.split("\n\n")).map(str::to_owned).collect();
            words.sort();
            words
        };
        let without = words(&texts);
        let mut more = texts.clone();
        more.push(added);
        let with = words(&more);
        let name = format!("l{}: ", texts.len());
        let kept: Vec<String> = with.into_iter().filter(|it| !it.starts_with(&name)).collect();
        prop_assert_eq!(kept, without);
    }
}

/// What a set says of a call, and which of its hooks fail on it.
fn said_by(
    set: &HookSet,
    call: &ReturnedCall<'_>,
    namespace: &Namespace,
) -> (Vec<String>, Vec<String>) {
    let run = RunFacts {
        thread: &ThreadId::parse("th_run").expect("a thread"),
        actor: &ActorId::parse("did:sync:agent:claude").expect("an actor"),
        namespace,
        domain: "general",
        trust: &Standing::default(),
        now: Timestamp::from_millis(0),
        system: &SystemFacts::default(),
    };
    let asked = set.ask(call, &run, &History::default());
    let words = asked.spoken.iter().map(|it| it.shown()).collect();
    (words, asked.skipped.iter().map(|(key, _)| key.to_string()).collect())
}
