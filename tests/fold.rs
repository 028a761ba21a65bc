//! Folds: fixtures of thread states, and the law that a prefix and the rest add up to all.

#[path = "fold/log.rs"]
mod log;

use log::{Log, fixtures, value};
use proptest::prelude::*;
use spl::canon::{Object, Value};
use spl::fold::{Fold, Kept, ThreadState, ThreadStatus};
use spl::object;
use spl::record::{Act, ActorId, Clock, Draft, RecordId, ThreadId};

/// A state in the words of its fixtures. Ids are the lines of their records.
fn shown(state: &ThreadState, log: &Log) -> Value {
    let line = |id: &RecordId| (0..log.len()).find(|at| log.id(*at) == *id).map(|at| at + 1);
    let clocks: Object = state
        .actor_clocks
        .iter()
        .map(|(actor, clock)| (actor.to_string(), clock.get().into()))
        .collect();
    Value::Object(object! {
        "status": state.status().as_str(),
        "record_count": state.record_count,
        "last_clock": state.last_clock.get(),
        "actor_clocks": clocks,
        "participants": state.participants().map(ActorId::to_string).collect::<Vec<_>>(),
        "head": state.head.as_ref().and_then(line),
        "opening_intend": state.opening_intend.as_ref().and_then(line),
    })
}

#[test]
fn thread_states_are_as_the_fixtures_say() {
    for path in fixtures("fold/thread", ".jsonl") {
        let log = Log::read(&path);
        let want =
            std::fs::read_to_string(path.with_extension("want.json")).expect("what it wants");
        let state = ThreadState::default().fold(log.since(0));
        assert_eq!(shown(&state, &log), value(&want), "{}", path.display());
    }
}

#[test]
fn a_thread_that_nobody_wrote_to_is_all_zeros() {
    let state = ThreadState::default();
    assert_eq!(state.status(), ThreadStatus::Closed);
    assert_eq!((state.record_count, state.last_clock, state.head), (0, Clock::default(), None));
}

#[test]
fn a_record_that_is_handed_in_twice_counts_once() {
    let mut log = Log::default();
    log.push(draft(Act::Intend, 0, 0, Object::new()));
    log.push(draft(Act::Know, 1, 3, Object::new()));
    let mut kept = Kept::<ThreadState>::default();
    for received in log.since(0).chain(log.since(1)).chain(log.since(0)) {
        kept.take(&received);
    }
    assert_eq!(kept.state(), &ThreadState::default().fold(log.since(0)));
    assert_eq!(kept.watermark().sequence().get(), 2);
}

fn draft(act: Act, actor: usize, clock: i64, body: Object) -> Draft {
    let actor = ActorId::parse(&format!("did:sync:user:{actor}")).expect("an actor");
    let thread = ThreadId::parse("th_fold").expect("a thread");
    Draft::new(thread, actor, act, body).with_clock(Clock::new(clock).expect("a clock"))
}

/// A thread whose records answer each other, also ones that are yet to come.
fn arb_thread() -> impl Strategy<Value = Log> {
    let step = (0..Act::ALL.len(), 0..3_usize, 0..1000_i64, any::<bool>(), any::<u8>());
    prop::collection::vec(step, 0..24).prop_map(|steps| {
        let intends: Vec<Draft> =
            (0..4).map(|n| draft(Act::Intend, n, 5000, Object::new())).collect();
        let ids: Vec<RecordId> = intends
            .iter()
            .map(|it| spl::record::Record::seal(it.clone()).expect("a small record").id())
            .collect();
        let mut log = Log::default();
        for (act, actor, clock, fulfills, of) in steps {
            let target = usize::from(of) % intends.len();
            if clock % 4 == 0 && (0..log.len()).all(|at| log.id(at) != ids[target]) {
                log.push(intends[target].clone());
                continue;
            }
            let key = if fulfills { "fulfills" } else { "cancels" };
            let mut body = Object::new();
            body.insert(key.into(), ids[target].into());
            body.insert("n".into(), log.len().into());
            log.push(draft(Act::ALL[act], actor, clock, body));
        }
        log
    })
}

proptest! {
    /// Folding in two steps equals folding in one.
    #[test]
    fn a_fold_is_incremental(log in arb_thread(), cut in any::<prop::sample::Index>()) {
        let cut = cut.index(log.len() + 1);
        let at_once = ThreadState::default().fold(log.since(0));
        let head = ThreadState::default().fold(log.since(0).take(cut));
        prop_assert_eq!(&head.fold(log.since(cut)), &at_once);

        let mut kept = Kept::<ThreadState>::default();
        log.since(0).take(cut).for_each(|received| kept.take(&received));
        log.since(0).for_each(|received| kept.take(&received));
        prop_assert_eq!(kept.state(), &at_once);
    }

    /// A thread is open exactly if an INTEND on it was neither fulfilled nor cancelled, wherever
    /// the answer stands.
    #[test]
    fn a_thread_is_open_while_an_intend_waits(log in arb_thread()) {
        let state = ThreadState::default().fold(log.since(0));
        let answers = |id: RecordId| log.since(0).any(|it| {
            let key = match it.record.act {
                Act::Know => "fulfills",
                Act::Do => "cancels",
                _ => "",
            };
            it.record.names(key).any(|named| named == id)
        });
        let waiting: Vec<RecordId> = log
            .since(0)
            .filter(|it| it.record.act == Act::Intend && !answers(it.record.id()))
            .map(|it| it.record.id())
            .collect();
        prop_assert_eq!(state.open_intends().count(), waiting.len());
        prop_assert_eq!(state.status() == ThreadStatus::Open, !waiting.is_empty());
    }
}
