//! Canonical JSON against the published vectors, and its laws.

use proptest::prelude::*;
use spl::canon::{Canonical, Limits, Number, Object, Value, hex, parse, parse_leniently};

use crate::support::json;

/// `fixtures/record/vectors.json`: the ten vectors of contract §1.6.
fn vectors() -> Vec<Value> {
    let text = include_str!("../../fixtures/record/vectors.json");
    json(text).as_array().expect("a list").to_vec()
}

#[test]
fn all_ten_vectors_are_reproduced_byte_for_byte() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 10);
    for vector in vectors {
        let name = vector.get("name").and_then(Value::as_str).expect("a name");
        let input = vector.get("input").expect("an input");
        let canonical = Canonical::of(input);
        assert_eq!(
            Some(canonical.as_str()),
            vector.get("canonical").and_then(Value::as_str),
            "{name}"
        );
        let bytes = vector.get("canonical_utf8_bytes").and_then(Value::as_u64);
        assert_eq!(Some(canonical.as_bytes().len() as u64), bytes, "{name}");
        assert_eq!(
            Some(hex(&canonical.sha256()).as_str()),
            vector.get("id7").and_then(Value::as_str),
            "{name}"
        );
        let six: Object = input
            .as_object()
            .expect("an envelope")
            .iter()
            .filter(|(key, _)| *key != "data_type")
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        assert_eq!(
            Some(hex(&Canonical::of_object(&six).sha256()).as_str()),
            vector.get("id6").and_then(Value::as_str),
            "{name}"
        );
    }
}

#[test]
fn a_number_that_asks_for_hundreds_of_bytes_is_stopped_early() {
    let count = 3_900_000 / "1e308,".len();
    let text = format!("[{}1e308]", "1e308,".repeat(count));
    let value = parse(text.as_bytes(), Limits::DOOR).expect("JSON");
    let object = spl::object! { "numbers": value };
    assert!(Canonical::of_object_within(&object, 4 * 1024 * 1024).is_err());
}

pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<i64>().prop_map(Number::from),
        any::<u64>().prop_map(Number::from),
        any::<f64>().prop_filter_map("finite", Number::from_f64),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number.prop_map(Value::Number),
        any::<String>().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
            prop::collection::btree_map(any::<String>(), inner, 0..8).prop_map(Value::Object),
        ]
    })
}

/// A piece of a string of JSON, as somebody may write it.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[a-z é😀/]{1,4}",
        4 => prop::sample::select(vec![
            r"\n", r"\t", r"\r", r"\b", r"\f", r"\/", r"\\", r#"\""#, r"\u0041", r"\u00E9", r"\u0000",
            r"\ud83d\uDE00",
        ])
        .prop_map(str::to_owned),
    ]
}

proptest! {
    /// Reading what was written gives the same value, and writing that gives the same bytes.
    #[test]
    fn canonical_form_is_idempotent(value in any_value()) {
        let once = Canonical::of(&value);
        let again = parse(once.as_bytes(), Limits::STORED).expect("canonical JSON reads back");
        prop_assert_eq!(&again, &value);
        prop_assert_eq!(Canonical::of(&again), once);
    }

    /// No bytes make the reader panic, and what it reads can be canonical.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        if let Ok(value) = parse(&bytes, Limits::DOOR) {
            let once = Canonical::of(&value);
            prop_assert_eq!(parse(once.as_bytes(), Limits::STORED), Ok(value));
        }
    }

    /// What needs no repair is read alike in both ways, long strings in every spelling included.
    #[test]
    fn leniency_changes_nothing_that_is_well(
        pieces in prop::collection::vec(piece(), 0..400),
        around in prop_oneof![Just("~"), Just("[1, ~ ,~]"), Just("{ \"a\" :~,\"b\":[~]}")],
    ) {
        let text = around.replace('~', &format!("\"{}\"", pieces.concat()));
        let strict = parse(text.as_bytes(), Limits::DOOR).expect("JSON");
        prop_assert_eq!(parse_leniently(text.as_bytes(), Limits::DOOR), Ok(strict));
    }

    /// Two values have one canonical form exactly when they are equal.
    #[test]
    fn canonical_form_is_faithful(a in any_value(), b in any_value()) {
        prop_assert_eq!(a == b, Canonical::of(&a) == Canonical::of(&b));
    }
}
