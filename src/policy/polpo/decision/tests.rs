//! What an answer is, and what is none.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::object;

fn said(text: &str, site: Site) -> Answer {
    match read_decision(text.as_bytes(), site) {
        Outcome::Answered(answer) => answer,
        Outcome::Failed(failure) => panic!("{text}: {failure}"),
    }
}

fn failed(text: &str, site: Site) -> Cause {
    match read_decision(text.as_bytes(), site) {
        Outcome::Answered(answer) => panic!("{text}: {answer:?}"),
        Outcome::Failed(failure) => failure.cause,
    }
}

/// The least that each word needs.
fn least(word: Word, site: Site) -> String {
    let more = match (word, site) {
        (Word::Modify, Site::Before) => r#","data":{"input":{}}"#,
        (Word::Modify, _) => r#","data":{"result":""}"#,
        (Word::Continue, _) | (Word::Stop, Site::Gate) => r#","feedback":"x""#,
        _ => "",
    };
    format!(r#"{{"decision":"{}"{more}}}"#, word.as_str())
}

#[test]
fn each_word_is_taken_where_the_table_has_it() {
    for site in Site::ALL {
        for word in Word::ALL {
            let text = least(word, site);
            if word.at(site) == Cell::Invalid {
                assert_eq!(failed(&text, site), Cause::InvalidDecision, "{text} at {site:?}");
            } else {
                assert_eq!(said(&text, site).decision.word(), word);
            }
        }
    }
}

#[test]
fn nothing_is_no_opinion_except_to_a_gate() {
    for text in ["", " \t\r\n", "\u{feff}", " \u{feff} \n"] {
        for site in [Site::Before, Site::After, Site::Stop] {
            assert_eq!(said(text, site), Answer::of(Decision::Defer));
        }
        assert_eq!(failed(text, Site::Gate), Cause::EmptyOutput);
    }
}

#[test]
fn an_answer_is_exactly_one_object() {
    assert_eq!(
        said("\n\u{feff} {\"decision\":\"allow\"}\n", Site::Before).decision,
        Decision::Allow
    );
    for text in [
        "[]",
        "\"allow\"",
        "null",
        "{\"decision\":\"allow\"}{\"decision\":\"allow\"}",
        "{\"decision\":\"allow\"} x",
        "log line\n{\"decision\":\"allow\"}",
        "{\"decision\":\"deny\",\"decision\":\"allow\"}",
        "{\"decision\":\"allow\"",
        "\u{feff}\u{feff}{}",
    ] {
        assert_eq!(failed(text, Site::Before), Cause::InvalidOutput, "{text}");
    }
    let text = b"{\"decision\":\"allow\",\"x\":\"\xff\"}";
    let Outcome::Failed(failure) = read_decision(text, Site::Before) else { panic!("not UTF-8") };
    assert_eq!(failure.cause, Cause::InvalidOutput);
}

#[test]
fn a_decision_has_to_be_there_and_be_one() {
    assert_eq!(failed("{}", Site::Before), Cause::MissingDecision);
    for decision in ["\"Allow\"", "\" allow\"", "\"yes\"", "null", "true", "[\"allow\"]"] {
        let text = format!(r#"{{"decision":{decision}}}"#);
        assert_eq!(failed(&text, Site::Gate), Cause::InvalidDecision, "{text}");
    }
}

#[test]
fn a_change_is_what_its_event_takes_and_nothing_else() {
    let at = |data: &str| format!(r#"{{"decision":"modify","data":{data}}}"#);
    let input = Decision::Modify(Change::Input(object! { "a": 1 }));
    assert_eq!(said(&at(r#"{"input":{"a":1}}"#), Site::Before).decision, input);
    for data in [
        "{}",
        "null",
        "5",
        r#"{"result":"x"}"#,
        r#"{"input":5}"#,
        r#"{"input":null}"#,
        r#"{"input":{},"result":"x"}"#,
        r#"{"input":{},"more":1}"#,
    ] {
        assert_eq!(failed(&at(data), Site::Before), Cause::InvalidDecision, "{data}");
    }
    assert_eq!(failed(r#"{"decision":"modify"}"#, Site::Before), Cause::InvalidDecision);
    for (data, text) in [("\"x\\r\\n\"", "x\r\n"), ("{\"b\":1,\"a\":[]}", r#"{"a":[],"b":1}"#)] {
        let said = said(&at(&format!(r#"{{"result":{data}}}"#)), Site::After);
        assert_eq!(said.decision, Decision::Modify(Change::Result(text.to_owned())));
    }
    for data in ["{}", r#"{"input":{}}"#, r#"{"result":"x","input":{}}"#] {
        assert_eq!(failed(&at(data), Site::After), Cause::InvalidDecision, "{data}");
    }
}

#[test]
fn feedback_is_what_its_decision_takes() {
    let at =
        |word: &str, feedback: &str| format!(r#"{{"decision":"{word}","feedback":{feedback}}}"#);
    for feedback in ["\"x\"", "{\"a\":1}", "[1]"] {
        assert_eq!(said(&at("continue", feedback), Site::Gate).decision.word(), Word::Continue);
    }
    for feedback in ["null", "\"\"", "\" \\n\"", "{}", "[]", "1", "true"] {
        assert_eq!(failed(&at("continue", feedback), Site::Gate), Cause::InvalidFeedback);
        assert_eq!(failed(&at("stop", feedback), Site::Gate), Cause::InvalidFeedback);
    }
    assert_eq!(failed(&at("stop", "{\"a\":1}"), Site::Gate), Cause::InvalidFeedback);
    assert_eq!(failed(r#"{"decision":"continue"}"#, Site::Gate), Cause::InvalidFeedback);
    assert_eq!(failed(r#"{"decision":"stop"}"#, Site::Gate), Cause::InvalidFeedback);
    for (feedback, kept) in [("\"x\"", Some("x")), ("null", None), ("\" \"", None)] {
        let said = said(&at("stop", feedback), Site::Stop);
        assert_eq!(said.decision, Decision::Stop(kept.map(str::to_owned)));
    }
    assert_eq!(failed(&at("stop", "[1]"), Site::Stop), Cause::InvalidFeedback);
}

#[test]
fn feedback_is_never_cut() {
    let at = |chars: usize| format!(r#"{{"decision":"stop","feedback":"{}"}}"#, "x".repeat(chars));
    assert!(matches!(said(&at(16_382), Site::Gate).decision, Decision::Stop(Some(_))));
    assert_eq!(failed(&at(16_383), Site::Gate), Cause::FeedbackTooLarge);
    assert_eq!(failed(&at(16_383), Site::Stop), Cause::FeedbackTooLarge);
}

#[test]
fn a_reason_is_cut_once_its_secrets_are_gone() {
    let token = ["gh", "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"].concat();
    let reason = format!("{} {token}", "é".repeat(500));
    let text = format!(r#"{{"decision":"deny","reason":"{reason}"}}"#);
    let kept = said(&text, Site::Before).reason.expect("a reason");
    assert_eq!(kept, format!("{} [REDACTED]", "é".repeat(500)));
    let text = format!(r#"{{"decision":"deny","reason":"{}"}}"#, "é".repeat(600));
    assert_eq!(said(&text, Site::Before).reason, Some("é".repeat(512)));
}

#[test]
fn what_is_not_known_is_told_and_changes_nothing() {
    let text = r#"{"decision":"deny","reason":5,"data":{},"why":"x"}"#;
    let said = said(text, Site::Before);
    assert_eq!(said.decision, Decision::Deny);
    assert_eq!((said.reason, said.ignored.join(" ")), (None, "data reason why".to_owned()));
}

#[test]
fn an_answer_is_bounded() {
    let padded = |bytes: usize| format!("{}{}", r#"{"decision":"allow"}"#, " ".repeat(bytes - 20));
    assert_eq!(said(&padded(65_536), Site::Before).decision, Decision::Allow);
    assert_eq!(failed(&padded(65_537), Site::Before), Cause::OutputTooLarge);
    let nested = |levels: usize| {
        format!(r#"{{"decision":"allow","x":{}{}}}"#, "[".repeat(levels), "]".repeat(levels))
    };
    assert_eq!(said(&nested(63), Site::Before).decision, Decision::Allow);
    assert_eq!(failed(&nested(64), Site::Before), Cause::InvalidOutput);
    let many =
        |values: usize| format!(r#"{{"decision":"allow","x":[{}1]}}"#, "1,".repeat(values - 4));
    assert_eq!(said(&many(10_000), Site::Before).decision, Decision::Allow);
    assert_eq!(failed(&many(10_001), Site::Before), Cause::InvalidOutput);
}

const PIECES: [&str; 24] = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "\\",
    "\"decision\"",
    "\"allow\"",
    "\"stop\"",
    "\"modify\"",
    "\"continue\"",
    "\"feedback\"",
    "\"data\"",
    "\"input\"",
    "null",
    "1e999",
    "\u{feff}",
    " ",
    "\u{0}",
    "\\ud800",
    "é",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Whatever a handler writes is an answer that is valid where it was asked, or a failure.
    #[test]
    fn whatever_is_written_is_read(pieces in vec(select(&PIECES[..]), 0..24), bytes: Vec<u8>) {
        for site in Site::ALL {
            for output in [pieces.concat().as_bytes(), &bytes] {
                if let Outcome::Answered(answer) = read_decision(output, site) {
                    prop_assert_ne!(answer.decision.word().at(site), Cell::Invalid);
                }
            }
        }
    }
}
