//! Envelopes, ids and hash levels.

use proptest::prelude::*;
use spl::canon::{Value, hex};
use spl::record::{Act, ActorId, Clock, DataType, Draft, HashLevels, Record, RecordId, ThreadId};

use crate::support::{body, json, note};

fn draft(text: &str) -> Draft {
    Draft::from_envelope(json(text)).expect("an envelope")
}

/// Every file of `fixtures/record/refused` names the field and the reason of its refusal.
#[test]
fn malformed_envelopes_are_refused_by_name() {
    let cases = json(include_str!("../../fixtures/record/refused.json"));
    for case in cases.as_array().expect("a list") {
        let about = case.get("about").and_then(Value::as_str).expect("about");
        let error = Draft::from_envelope(case.get("envelope").expect("an envelope").clone())
            .and_then(|draft| draft.namespace())
            .expect_err(about);
        assert_eq!(
            Some(error.field.as_str()),
            case.get("field").and_then(Value::as_str),
            "{about}"
        );
        assert_eq!(
            Some(error.reason.as_str()),
            case.get("reason").and_then(Value::as_str),
            "{about}"
        );
    }
}

#[test]
fn an_unknown_field_is_refused_with_the_fields_there_are() {
    let envelope = json(r#"{"act":"KNOW","actor":"a","thread":"t","colour":1}"#);
    let error = Draft::from_envelope(envelope).expect_err("refused");
    insta::assert_snapshot!(error, @"`colour` is not a field of a record; the fields are act, actor, body, clock, data_type, judged_by, parents, sig, thread");
}

#[test]
fn a_field_with_an_endless_name_is_named_in_short() {
    let envelope = format!(r#"{{"act":"KNOW","actor":"a","thread":"t","{}":1}}"#, "é".repeat(9999));
    let error = Draft::from_envelope(json(&envelope)).expect_err("refused");
    assert_eq!(error.field.chars().count(), 128);
    assert!(error.message.len() < 400, "{}", error.message.len());
}

#[test]
fn what_is_omitted_has_its_default() {
    let short = draft(r#"{"act":"KNOW","actor":"a","thread":"t"}"#);
    let full = draft(
        r#"{"act":"KNOW","actor":"a","thread":"t","body":{},"clock":0,"data_type":"SCALAR",
            "parents":[],"judged_by":null}"#,
    );
    assert_eq!(short, full);
}

#[test]
fn parents_are_sorted_and_not_deduplicated() {
    let (a, b) = ("a".repeat(64), "b".repeat(64));
    let text =
        format!(r#"{{"act":"KNOW","actor":"a","thread":"t","parents":["{b}","{a}","{b}"]}}"#);
    let record = Record::seal(draft(&text)).expect("sealed");
    let parents: Vec<String> = record.parents.iter().map(ToString::to_string).collect();
    assert_eq!(parents, [a, b.clone(), b]);
}

#[test]
fn hash_levels_are_those_of_the_published_client() {
    let fields = body(
        r#"{"domain":"db","operation":"db.scan","input_shape":"ONE","output_shape":"MANY",
            "table":"crates","limit":7}"#,
    );
    let thread = ThreadId::parse("t").expect("a thread");
    let actor = ActorId::parse("a").expect("an actor");
    let levels = HashLevels::of(&Draft::new(thread, actor, Act::Get, fields));
    insta::assert_snapshot!(
        [levels.exact, levels.structural, levels.flow, levels.intent].map(|l| hex(&l)).join("\n"),
        @r"
    d1ced9482d95da9aabbd2099a3769d567bb69787eecb83bd92e7cdb2346c0e58
    f6fbd9ee38aaabae988b1cea2dbacc5cc42bbeae8d3485fef1d2fa7bec2e4159
    84754e08fcf3b064a2ec21ab101d862c8430b20d1f03ca50b29d1602abe07dd0
    79dfd1971fcf0ba43a2a3cf499a86afa15872c8bad21c3009c8dc135042769de
    "
    );
}

#[test]
fn a_record_reads_back_from_its_canonical_text() {
    let record = Record::seal(note("t", 3, "é\u{2028}\u{1f600}")).expect("sealed");
    let again = Record::from_canonical(record.canonical().as_str(), None).expect("read");
    assert_eq!(again, record);
}

/// One change to one field.
#[derive(Debug, Clone)]
enum Change {
    Act,
    Actor,
    Body,
    Clock,
    DataType,
    Parents,
    Thread,
    JudgedBy,
}

proptest! {
    /// The id changes exactly when a hashed field does; `judged_by` is not hashed.
    #[test]
    fn the_id_names_the_seven_hashed_fields(
        clock in 0i64..1_000_000,
        text in any::<String>(),
        change in prop::sample::select(vec![
            Change::Act, Change::Actor, Change::Body, Change::Clock, Change::DataType,
            Change::Parents, Change::Thread, Change::JudgedBy,
        ]),
    ) {
        let before = note("th_law", clock, &text);
        let mut after = before.clone();
        match change {
            Change::Act => after.act = Act::Do,
            Change::Actor => after.actor = ActorId::parse("did:sync:user:ada").expect("an actor"),
            Change::Body => { after.body.insert("more".into(), true.into()); }
            Change::Clock => after.clock = Clock::new(clock + 1).expect("a clock"),
            Change::DataType => after.data_type = DataType::Void,
            Change::Parents => after.parents.push(RecordId::from_bytes([9; 32])),
            Change::Thread => after.thread = ThreadId::parse("th_other").expect("a thread"),
            Change::JudgedBy => after.judged_by = Some("f".repeat(64)),
        }
        let (before, after) = (Record::seal(before).expect("sealed"), Record::seal(after).expect("sealed"));
        prop_assert_eq!(before.id() == after.id(), matches!(change, Change::JudgedBy));
    }
}
