//! Random operations on two engines over one file, beside a model that is too simple to be wrong.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use spl::canon::Object;
use spl::code::{Code, Coded as _};
use spl::engine::{Caller, Engine, EngineOptions, Home, Ingested};
use spl::object;
use spl::record::{Act, ActorId, Clock, Draft, Namespace, RecordId, ThreadId};
use spl::store::ThreadRange;

/// What somebody does next.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Writes a record at this clock, which may be taken.
    Write { thread: usize, actor: usize, clock: i64, text: u8 },
    /// Writes a record at the next clock, as the engine does.
    WriteNext { thread: usize, actor: usize, text: u8 },
    /// Sends an envelope of a record once more.
    Repeat(prop::sample::Index),
    /// Sends another envelope at the clock of a record.
    Rival(prop::sample::Index),
    /// Claims a fire of a hook in a run.
    Claim { run: usize, name: usize, cap: u32 },
    /// Writes a hook, enabled or not.
    Hook { name: usize, enabled: bool },
    /// Writes a hook that the door refuses.
    BadHook { name: usize },
    /// Takes back a record, unless that takes back others.
    Erase(prop::sample::Index),
    /// Closes both engines and opens them again.
    Reopen,
}

const THREADS: [&str; 2] = ["th_a", "music.library/2 #?"];
const ACTORS: [&str; 2] = ["did:sync:user:vera", "did:sync:agent:clerk"];
const HOOKS: [&str; 3] = ["lesson", "advice", "warning"];

fn arb_step() -> impl Strategy<Value = Step> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        4 => (0..2_usize, 0..2_usize, 0..6_i64, 0..3_u8)
            .prop_map(|(thread, actor, clock, text)| Step::Write { thread, actor, clock, text }),
        3 => (0..2_usize, 0..2_usize, 0..3_u8)
            .prop_map(|(thread, actor, text)| Step::WriteNext { thread, actor, text }),
        2 => index().prop_map(Step::Repeat),
        2 => index().prop_map(Step::Rival),
        2 => (0..2_usize, 0..2_usize, 1..4_u32)
            .prop_map(|(run, name, cap)| Step::Claim { run, name, cap }),
        4 => (0..3_usize, prop::bool::weighted(0.7))
            .prop_map(|(name, enabled)| Step::Hook { name, enabled }),
        1 => (0..3_usize).prop_map(|name| Step::BadHook { name }),
        2 => index().prop_map(Step::Erase),
        1 => Just(Step::Reopen),
    ]
}

/// What was accepted, in order.
#[derive(Default)]
struct Model {
    log: Vec<(RecordId, Draft)>,
    fires: BTreeMap<(usize, usize), u32>,
}

impl Model {
    fn of_thread<'a>(&'a self, thread: &'a str) -> impl Iterator<Item = &'a (RecordId, Draft)> {
        self.log.iter().filter(move |(_, draft)| draft.thread.as_str() == thread)
    }

    /// Returns the clocks that an actor has used on a thread.
    fn clocks<'a>(&'a self, draft: &'a Draft) -> impl Iterator<Item = i64> + 'a {
        self.of_thread(draft.thread.as_str())
            .filter(|(_, other)| other.actor == draft.actor)
            .map(|(_, other)| other.clock.get())
    }

    fn next_clock(&self, draft: &Draft) -> Clock {
        let next = self.clocks(draft).max().map_or(0, |last| last + 1);
        Clock::new(next).expect("a clock")
    }

    /// Returns the name and the record of every hook in force: of each name the newest that nobody
    /// took back, if it is enabled.
    fn live(&self) -> BTreeSet<(String, RecordId)> {
        let erased: BTreeSet<RecordId> = self
            .of_thread("th_engine_config")
            .flat_map(|(_, draft)| draft.names("erases"))
            .collect();
        let mut newest = BTreeMap::new();
        for (id, draft) in &self.log {
            if let Some(name) = draft.body.get("name").and_then(|name| name.as_str())
                && !erased.contains(id)
            {
                newest.insert(name, (*id, draft));
            }
        }
        let enabled = |draft: &Draft| draft.body.get("enabled").and_then(|it| it.as_bool());
        newest
            .into_iter()
            .filter(|(_, (_, draft))| enabled(draft) == Some(true))
            .map(|(name, (id, _))| (name.to_owned(), id))
            .collect()
    }
}

/// Two engines on one file, the model, and whose turn it is.
struct World {
    home: Home,
    engines: Vec<Engine>,
    model: Model,
    turn: usize,
    _dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let home = Home::at(dir.path());
        home.initialise("vera").expect("a home");
        let mut world =
            Self { home, engines: Vec::new(), model: Model::default(), turn: 0, _dir: dir };
        world.open();
        world
    }

    fn open(&mut self) {
        self.engines.clear();
        for _ in 0..2 {
            let engine = Engine::open(&self.home, EngineOptions::default()).expect("an engine");
            self.engines.push(engine);
        }
    }

    fn engine(&self) -> &Engine {
        &self.engines[self.turn]
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Write { thread, actor, clock, text } => {
                let clock = Clock::new(clock).expect("a clock");
                self.write(note(thread, actor, text).with_clock(clock));
            }
            Step::WriteNext { thread, actor, text } => {
                let mut draft = note(thread, actor, text);
                draft.clock = self.model.next_clock(&draft);
                let asked = draft.clone().with_clock(Clock::default());
                let record = self.engine().author(move |author| author.write(asked));
                let record = record.expect("there is a next clock");
                assert_eq!(record.draft(), &draft);
                self.model.log.push((record.id(), draft));
            }
            Step::Repeat(index) => {
                if let Some((_, draft)) = self.pick(index) {
                    self.write(draft);
                }
            }
            Step::Rival(index) => {
                if let Some((_, mut draft)) = self.pick(index) {
                    draft.body.insert("rival".into(), true.into());
                    self.write(draft);
                }
            }
            Step::Claim { run, name, cap } => self.claim(run, name, cap),
            Step::Hook { name, enabled } => {
                self.write_config(Act::Learn, hook(name, "true", enabled));
            }
            Step::BadHook { name } => self.write_config(Act::Learn, hook(name, "((", true)),
            Step::Erase(index) => {
                let picked = self.pick(index);
                // An erasure stands.
                if let Some((id, _)) = picked.filter(|(_, draft)| !draft.is_erasure()) {
                    let erases = vec![spl::canon::Value::from(id)];
                    let body = object! { "kind": "core.erasure", "erases": erases };
                    self.write_config(Act::Put, body);
                }
            }
            Step::Reopen => self.open(),
        }
    }

    fn pick(&self, index: prop::sample::Index) -> Option<(RecordId, Draft)> {
        (!self.model.log.is_empty()).then(|| index.get(&self.model.log).clone())
    }

    fn write_config(&mut self, act: Act, body: Object) {
        let mut draft = Draft::new(ThreadId::config(), actor(0), act, body);
        draft.clock = self.model.next_clock(&draft);
        self.write(draft);
    }

    /// Writes through the door, and says what must come of it.
    fn write(&mut self, draft: Draft) {
        let ingested = self.engine().ingest_draft(&Caller::operator(), draft.clone());
        let is_hook = draft.kind() == Some("core.hook.v1");
        let there = self.model.log.iter().position(|(_, other)| *other == draft);
        if is_hook
            && (draft.body.contains_key("rival") || draft.body["when"].as_str() != Some("true"))
        {
            let error = ingested.expect_err("no hook");
            assert_eq!(error.code(), Code::InvalidBody);
        } else if let Some(place) = there {
            let Ingested { record, appended, .. } = ingested.expect("a repeat");
            assert_eq!((record.id(), appended.fresh), (self.model.log[place].0, false));
            assert_eq!(appended.sequence.get(), sequence_of(place));
        } else if self.model.clocks(&draft).any(|clock| clock == draft.clock.get()) {
            let error = ingested.expect_err("the clock is taken");
            assert!(error.to_string().contains("DuplicateClock"), "{error}");
        } else {
            let Ingested { record, appended, .. } = ingested.expect("written");
            assert!(appended.fresh);
            assert_eq!(appended.sequence.get(), sequence_of(self.model.log.len()));
            self.model.log.push((record.id(), draft));
        }
    }

    fn claim(&mut self, run: usize, name: usize, cap: u32) {
        let thread = ThreadId::parse(THREADS[run]).expect("a thread");
        let claimed = self
            .engine()
            .store()
            .write(move |tx| tx.claim_fire(&thread, 0, &Namespace::root(), HOOKS[name], cap));
        let spoken = self.model.fires.entry((run, name)).or_default();
        let wanted = (*spoken < cap).then(|| {
            *spoken += 1;
            *spoken
        });
        assert_eq!(claimed.expect("claimed"), wanted);
    }

    /// Both engines see what the model has.
    fn compare(&self) {
        for engine in &self.engines {
            for thread in THREADS.iter().chain(&["th_engine_config"]) {
                self.compare_thread(engine, thread);
            }
            let live = engine.live().expect("live");
            let root = Namespace::root();
            let found: BTreeSet<(String, RecordId)> = HOOKS
                .iter()
                .filter_map(|name| Some((*name, live.config.hook(&root, name)?)))
                .filter(|(_, current)| current.hook.enabled())
                .map(|(name, current)| (name.to_owned(), current.record_id.expect("written")))
                .collect();
            assert_eq!(found, self.model.live());
            assert_eq!(live.hooks.len(), found.len());
        }
        let verification = self.engine().store().verify(|_, _| {}).expect("verified");
        let records = u64::try_from(self.model.log.len()).expect("a short log");
        assert_eq!((verification.fault, verification.records), (None, records));
    }

    fn compare_thread(&self, engine: &Engine, name: &str) {
        let thread = ThreadId::parse(name).expect("a thread");
        let (stored, clocks) = engine
            .store()
            .read(|reader| {
                let all = reader.thread(&thread, ThreadRange::default(), usize::MAX)?;
                Ok((all, reader.clocks(&thread)?))
            })
            .expect("read");
        let stored: Vec<(RecordId, Draft)> =
            stored.iter().map(|it| (it.record.id(), it.record.draft().clone())).collect();
        let wanted: Vec<(RecordId, Draft)> = self.model.of_thread(name).cloned().collect();
        assert_eq!(stored, wanted, "{name}");
        let mut of_actors: BTreeMap<String, i64> = BTreeMap::new();
        for (_, draft) in &wanted {
            let highest = of_actors.entry(draft.actor.to_string()).or_default();
            *highest = (*highest).max(draft.clock.get());
        }
        assert_eq!(clocks.last_clock, of_actors.values().copied().max().unwrap_or(0));
        assert_eq!(clocks.actor_clocks, of_actors);
        assert_eq!(usize::try_from(clocks.record_count), Ok(wanted.len()));
        assert_eq!(clocks.head, wanted.last().map(|(id, _)| *id));
    }
}

fn sequence_of(place: usize) -> i64 {
    i64::try_from(place).expect("a short log") + 1
}

fn actor(number: usize) -> ActorId {
    ActorId::parse(ACTORS[number]).expect("an actor")
}

fn note(thread: usize, who: usize, text: u8) -> Draft {
    let thread = ThreadId::parse(THREADS[thread]).expect("a thread");
    Draft::new(thread, actor(who), Act::Know, object! { "text": text.to_string() })
}

fn hook(name: usize, when: &str, enabled: bool) -> Object {
    object! {
        "kind": "core.hook.v1",
        "topic": "hook",
        "name": HOOKS[name],
        "when": when,
        "text": "t",
        "enabled": enabled,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whoever of the two writes, both hold what the model holds after every step.
    #[test]
    fn two_engines_on_one_file_are_one_log(
        steps in prop::collection::vec((arb_step(), 0..2_usize), 1..30),
    ) {
        let mut world = World::new();
        for (step, turn) in steps {
            world.turn = turn;
            world.step(step);
            world.compare();
        }
    }
}
