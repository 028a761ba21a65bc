//! Trust: the published table, fixtures of verdicts, and the laws of the fold.

#[path = "fold/log.rs"]
mod log;

use log::{DAY_MILLIS, Log, fixtures, value};
use proptest::prelude::*;
use spl::canon::Value;
use spl::object;
use spl::record::{Act, ActorId, Clock, Draft, Origin, Record, ThreadId};
use spl::time::Timestamp;
use spl::trust::{KnownAuthors, TrustFold, wilson_lower_bound};

fn fold(log: &Log) -> TrustFold {
    let authors = authors(log);
    let mut trust = TrustFold::default();
    log.since(0).for_each(|received| trust.evolve(&received, &authors));
    trust
}

fn authors(log: &Log) -> KnownAuthors {
    let mut authors = KnownAuthors::default();
    log.since(0).for_each(|received| authors.learn(&received));
    authors
}

fn four_digits(score: f64) -> String {
    format!("{score:.4}")
}

#[test]
fn the_bound_is_that_of_the_contract() {
    let table = std::fs::read_to_string("fixtures/trust/wilson.json").expect("the table");
    let table = value(&table);
    let rows = table.as_array().expect("rows");
    assert_eq!(rows.len(), 6);
    for row in rows {
        let number = |field: &str| {
            let int = row.get(field).and_then(Value::as_i64).expect("an integer");
            f64::from(i32::try_from(int).expect("a small one"))
        };
        let bound = wilson_lower_bound(number("accepted"), number("count"));
        assert_eq!(
            Some(four_digits(bound).as_str()),
            row.get("want").and_then(Value::as_str),
            "{row}"
        );
    }
}

#[test]
fn standings_are_as_the_fixtures_say() {
    for path in fixtures("trust/cases", ".jsonl") {
        let want =
            std::fs::read_to_string(path.with_extension("want.json")).expect("what it wants");
        let want = value(&want);
        let day = want.get("at_day").and_then(Value::as_i64).expect("a day");
        let trust = fold(&Log::read(&path));
        let standings: Vec<Value> = trust
            .standings(Timestamp::from_millis(day * DAY_MILLIS))
            .map(|(actor, domain, standing)| {
                Value::Object(object! {
                    "actor": actor,
                    "domain": domain,
                    "score": four_digits(standing.score),
                    "count": standing.count,
                })
            })
            .collect();
        assert_eq!(
            Some(standings.as_slice()),
            want.get("standings").and_then(Value::as_array),
            "{}",
            path.display()
        );
    }
}

fn actor(n: usize) -> ActorId {
    ActorId::parse(&format!("did:sync:user:{n}")).expect("an actor")
}

/// A log of work and of verdicts on it, some of them on work that is yet to come.
fn arb_log() -> impl Strategy<Value = Log> {
    let step = (0..3_usize, 0..3_usize, any::<u8>(), 0..400_i64, any::<bool>(), 0..6_u8);
    prop::collection::vec(step, 0..30).prop_map(|steps| {
        let mut log = Log::default();
        for (who, whom, of, day, accepts, shape) in steps {
            let mut body = object! { "n": log.len() };
            if shape > 0 {
                body.insert("verdict".into(), if accepts { "accept" } else { "reject" }.into());
            }
            match shape {
                1 => drop(body.insert("judged_by".into(), (&actor(whom)).into())),
                2.. if log.len() > 0 => {
                    let key = if shape < 4 { "reviews" } else { "fulfills" };
                    body.insert(key.into(), log.id(usize::from(of) % log.len()).into());
                }
                _ => {}
            }
            let thread = ThreadId::parse("th_work").expect("a thread");
            let origin = Origin::ALL[usize::from(of) % 3];
            let draft = Draft::new(thread, actor(who), Act::Know, body)
                .with_clock(Clock::new(day).expect("a clock"));
            log.push_from(draft, Timestamp::from_millis(day * DAY_MILLIS), origin);
        }
        log
    })
}

proptest! {
    /// Folding in two steps equals folding in one, and what is handed in twice counts once.
    #[test]
    fn a_fold_is_incremental(log in arb_log(), cut in any::<prop::sample::Index>()) {
        let cut = cut.index(log.len() + 1);
        let authors = authors(&log);
        let mut trust = TrustFold::default();
        log.since(0).take(cut).for_each(|received| trust.evolve(&received, &authors));
        log.since(cut / 2).for_each(|received| trust.evolve(&received, &authors));
        prop_assert_eq!(trust, fold(&log));
    }

    /// A later record never changes what an earlier verdict counted for.
    #[test]
    fn what_a_verdict_counts_for_is_settled_when_it_arrives(
        log in arb_log(),
        cut in any::<prop::sample::Index>(),
    ) {
        let cut = cut.index(log.len() + 1);
        let (mut knowing_all, mut knowing_then) = (TrustFold::default(), TrustFold::default());
        let all = authors(&log);
        let mut then = KnownAuthors::default();
        for received in log.since(0).take(cut) {
            knowing_all.evolve(&received, &all);
            knowing_then.evolve(&received, &then);
            then.learn(&received);
        }
        prop_assert_eq!(knowing_all, knowing_then);
    }

    /// Handing in verdicts alone gives the same standings as handing in everything.
    #[test]
    fn what_is_no_verdict_changes_no_standing(log in arb_log()) {
        let authors = authors(&log);
        let mut trust = TrustFold::default();
        log.since(0)
            .filter(|received| received.record.body.contains_key("verdict"))
            .for_each(|received| trust.evolve(&received, &authors));
        let at = Timestamp::from_millis(500 * DAY_MILLIS);
        let all = fold(&log);
        let standings =
            |trust: &'_ TrustFold| format!("{:?}", trust.standings(at).collect::<Vec<_>>());
        prop_assert_eq!(standings(&trust), standings(&all));
    }

    /// Nobody judges himself, a score is a share, and time only takes trust away.
    #[test]
    fn scores_are_shares_and_fade(log in arb_log(), later in 0..2000_i64) {
        let trust = fold(&log);
        let (at, then) = (400, 400 + later);
        for (actor, domain, now) in trust.standings(Timestamp::from_millis(at * DAY_MILLIS)) {
            let verdicts = trust.verdicts(actor, domain);
            prop_assert!(verdicts.iter().all(|verdict| verdict.evaluator != *actor));
            let faded = trust.standing(actor, domain, Timestamp::from_millis(then * DAY_MILLIS));
            prop_assert!((0.0..=1.0).contains(&now.score));
            prop_assert!(faded.score <= now.score + 1e-12);
            prop_assert_eq!(faded.count, now.count);
        }
    }
}

#[test]
fn who_was_never_judged_has_no_trust() {
    let mut log = Log::default();
    let thread = ThreadId::parse("th_work").expect("a thread");
    log.push(Draft::new(thread, actor(0), Act::Do, object! { "domain": "code" }));
    let trust = fold(&log);
    assert_eq!(trust.standing(&actor(0), "code", Timestamp::default()).count, 0);
    assert!(trust.score(&actor(0), "code", Timestamp::default()).abs() < f64::EPSILON);
}

/// A verdict is settled when it arrives: what it judges must be there.
#[test]
fn a_verdict_on_what_is_yet_to_come_counts_for_nobody() {
    let thread = || ThreadId::parse("th_work").expect("a thread");
    let work = Draft::new(thread(), actor(0), Act::Do, object! { "did": "it" });
    let id = Record::seal(work.clone()).expect("a small record").id();
    let verdict = |n: i64| {
        let body = object! { "verdict": "accept", "reviews": id, "n": n };
        Draft::new(thread(), actor(1), Act::Know, body)
    };
    let mut log = Log::default();
    log.push(verdict(0));
    log.push(work);
    log.push(verdict(1));
    assert_eq!(fold(&log).standing(&actor(0), "general", Timestamp::default()).count, 1);
}
