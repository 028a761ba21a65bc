//! The one validator, case by case.

use spl::canon::{Object, Value};
use spl::code::{Code, Coded};
use spl::hook::Hook;
use spl::record::{Act, ActorId, Draft, ThreadId};

use crate::log::{fixtures, value};

/// One case: a body, and what becomes of it.
struct Case {
    draft: Draft,
    want: Value,
}

fn read(text: &str) -> Case {
    let Value::Object(mut case) = value(text) else { panic!("a case is an object") };
    let mut take = |field: &str| case.remove(field);
    let about = take("about");
    assert!(about.is_some_and(|it| it.as_str().is_some_and(|it| !it.is_empty())), "about what?");
    let act =
        take("act").map_or(Act::Learn, |act| act.as_str().and_then(Act::parse).expect("an act"));
    let thread = take("thread").map_or_else(ThreadId::config, |thread| {
        ThreadId::parse(thread.as_str().expect("a thread")).expect("a thread")
    });
    let Some(Value::Object(body)) = take("body") else { panic!("a case has a body") };
    let want = take("want").expect("what it wants");
    assert_eq!(case, Object::new(), "fields that no case has");
    Case { draft: Draft::new(thread, ActorId::engine(), act, body), want }
}

#[test]
fn the_validator_is_as_the_fixtures_say() {
    for path in fixtures("hook/door", ".json") {
        let name = path.display();
        let case = read(&std::fs::read_to_string(&path).expect("a fixture"));
        let checked = Hook::check(&case.draft);
        let Value::Object(want) = &case.want else {
            assert_eq!(case.want.as_str(), Some("accepted"), "{name}");
            assert!(checked.is_ok(), "{name}: {checked:?}");
            continue;
        };
        let refused = checked.map(|_| ()).expect_err(&name.to_string());
        let got = |field: &str| -> Value {
            match field {
                "field" => refused.field().into(),
                "reason" => refused.reason().into(),
                "column" => refused.column().into(),
                other => panic!("{name}: no refusal has `{other}`"),
            }
        };
        for (field, wanted) in want {
            assert_eq!(&got(field), wanted, "{name}: {field} of {refused:?}");
        }
        assert_eq!(refused.code(), Code::InvalidBody, "{name}");
        assert!(!refused.message.contains('\n'), "{name}: {}", refused.message);
        assert!(
            refused.message.contains(&refused.field) || refused.field == "when",
            "{name}: {}",
            refused.message
        );
    }
}

#[track_caller]
fn hint_of(body: Object) -> Option<String> {
    let draft = Draft::new(ThreadId::config(), ActorId::engine(), Act::Learn, body);
    Hook::check(&draft).expect_err("a refusal").hint
}

#[test]
fn a_misspelt_field_is_told_its_name() {
    let with = |field: &str| hint_of(Object::from([(field.to_owned(), Value::from(1))]));
    for (written, meant) in [
        ("When", "when"),
        ("wen", "when"),
        ("condition", "when"),
        ("texts", "text"),
        ("message", "text"),
        ("max_fires", "max_fires_per_run"),
        ("max-fires-per-run", "max_fires_per_run"),
        ("enable", "enabled"),
        ("name_space", "namespace"),
    ] {
        assert_eq!(with(written), Some(format!("Did you mean `{meant}`?")), "{written}");
    }
    assert_eq!(with("colour"), None);
}
