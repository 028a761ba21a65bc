//! What comes back, as it is played.

use mock_provider::{Fault, Script, Stop, Turn};
use serde_json::json;
use spl::canon::Object;
use spl::model::{CallRequest, ModelError, StopReason, Usage};
use spl::object;

use crate::support::{FORMATS, Stage, hello, whole};

const WORDS: &str = "I look at the folder first, and count what is in it: äöü 😀.";

fn call(id: &str, name: &str, args: Object) -> CallRequest {
    CallRequest { id: id.into(), name: name.into(), args, malformed: None }
}

#[test]
fn words_are_heard_as_they_come_and_are_the_text_of_the_reply() {
    for model in FORMATS {
        let mut stage = Stage::new(model, Script::new([Turn::text(WORDS).with_usage(31, 17)]));
        let (reply, heard) = stage.heard(&hello());
        let reply = reply.expect(model);
        assert_eq!((reply.text.as_str(), reply.stop), (WORDS, StopReason::EndTurn), "{model}");
        assert!(heard.len() > 2, "{model}: {heard:?}");
        assert_eq!(heard.concat(), WORDS, "{model}");
        let usage = Usage { input_tokens: 31, output_tokens: 17, estimated: false };
        assert_eq!(reply.usage, usage, "{model}");
    }
}

#[test]
fn calls_come_whole_and_in_order() {
    let turn = Turn::text("Both.")
        .and_raw_call("c1", "bash", r#"{"command": "echo \"äö\"", "n": 12345678901234567}"#)
        .and_raw_call("c2", "list_dir", "{}");
    for model in FORMATS {
        let mut stage = Stage::new(model, Script::new([turn.clone()]));
        let reply = stage.turn(&whole()).expect(model);
        let args = object! { "command": "echo \"äö\"", "n": 12_345_678_901_234_567_i64 };
        let wanted = [call("c1", "bash", args), call("c2", "list_dir", Object::new())];
        assert_eq!(reply.calls, wanted, "{model}");
        assert_eq!((reply.text.as_str(), reply.stop), ("Both.", StopReason::ToolUse), "{model}");
    }
}

#[test]
fn two_calls_with_one_id_are_passed_on_as_they_are() {
    let turn = Turn::text("").and_raw_call("c1", "a", "{}").and_raw_call("c1", "b", "{}");
    for model in FORMATS {
        let mut stage = Stage::new(model, Script::new([turn.clone()]));
        let reply = stage.turn(&hello()).expect(model);
        let calls = [call("c1", "a", Object::new()), call("c1", "b", Object::new())];
        assert_eq!(reply.calls, calls, "{model}");
    }
}

#[test]
fn a_reply_that_was_cut_at_the_limit_says_so() {
    for model in FORMATS {
        let turn = Turn::text("I").and_call("bash", json!({"command": "ls"}));
        let script = Script::new([turn.with_stop(Stop::OutputLimit)]);
        let reply = Stage::new(model, script).turn(&hello()).expect(model);
        assert_eq!((reply.stop, reply.calls.len()), (StopReason::OutputLimit, 1), "{model}");
    }
}

#[test]
fn arguments_that_do_not_read_are_said_to_be_so() {
    for model in FORMATS {
        let turn = Turn::text("I try.").and_raw_call("c1", "bash", r#"{"command": "ls"#);
        let reply = Stage::new(model, Script::new([turn])).turn(&hello()).expect(model);
        let [call] = reply.calls.as_slice() else { panic!("{model}: {reply:?}") };
        assert_eq!((call.id.as_str(), call.args.len()), ("c1", 0), "{model}");
        let why = call.malformed.as_deref().expect(model);
        assert!(why.starts_with("the arguments "), "{model}: {why}");
    }
}

#[test]
fn what_nobody_counts_is_estimated_and_said_to_be() {
    for model in FORMATS {
        for turn in [Turn::text(WORDS).without_usage(), Turn::text(WORDS).with_usage(0, 0)] {
            let mut stage = Stage::new(model, Script::new([turn]));
            let usage = stage.turn(&whole()).expect(model).usage;
            assert!(usage.estimated, "{model}");
            assert!((50..200).contains(&usage.input_tokens), "{model}: {usage:?}");
            assert!((10..30).contains(&usage.output_tokens), "{model}: {usage:?}");
        }
    }
}

#[test]
fn a_server_that_does_not_stream_is_heard_all_the_same() {
    for model in FORMATS {
        let turn = Turn::text(WORDS).with_usage(5, 3).and_raw_call("c1", "bash", r#"{"a":1}"#);
        let script = Script::new([turn.always(Fault::Plain)]);
        let mut stage = Stage::new(model, script);
        let (reply, heard) = stage.heard(&hello());
        let reply = reply.expect(model);
        assert_eq!((heard.concat().as_str(), reply.text.as_str()), (WORDS, WORDS), "{model}");
        assert_eq!(reply.calls, [call("c1", "bash", object! { "a": 1 })], "{model}");
        assert_eq!((reply.usage.input_tokens, reply.usage.estimated), (5, false), "{model}");
        assert_eq!(stage.provider.requests().len(), 2, "{model}");
    }
}

#[test]
fn what_was_filtered_is_no_reply() {
    for model in FORMATS {
        let script = Script::new([Turn::text("I").with_stop(Stop::Filtered)]);
        let error = Stage::new(model, script).turn(&hello()).expect_err(model);
        assert!(matches!(error, ModelError::Refused { status: None, .. }), "{model}: {error}");
    }
}

#[test]
fn a_reply_without_end_is_refused_at_its_limit() {
    let text = "0123456789abcdef".repeat(640 * 1024);
    for model in FORMATS {
        for fault in [None, Some(Fault::Plain)] {
            let turn = Turn::text(text.clone());
            let turn = fault.into_iter().fold(turn, Turn::always);
            let mut stage = Stage::new(model, Script::new([turn]));
            let error = stage.turn(&hello()).expect_err(model);
            assert!(matches!(error, ModelError::TooLarge { .. }), "{model}: {error}");
        }
    }
}

#[test]
fn arguments_without_end_are_refused_at_their_limit() {
    let args = format!(r#"{{"a":"{}"}}"#, "x".repeat(6 * 1024 * 1024));
    for model in FORMATS {
        let turn = Turn::text("").and_raw_call("c1", "bash", &args);
        let error = Stage::new(model, Script::new([turn])).turn(&hello()).expect_err(model);
        assert!(matches!(error, ModelError::TooLarge { .. }), "{model}: {error}");
    }
}
