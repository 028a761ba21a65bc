//! What goes wrong, and what comes of it.

use std::sync::mpsc;
use std::time::Duration;

use mock_provider::{Fault, MockProvider, Script, Turn};
use serde_json::json;
use spl::cancel::Cancel;
use spl::code::{Code, Coded as _};
use spl::model::{ModelError, Pace};

use crate::support::{FORMATS, Stage, hello, pace, providers};

fn calling() -> Turn {
    Turn::call("bash", json!({"command": "echo a rather long line of words"}))
}

/// Takes one turn that goes wrong each time. Returns the error, and how often it was asked for.
fn failing(model: &str, turn: Turn) -> (ModelError, usize) {
    let mut stage = Stage::new(model, Script::new([turn]));
    let error = stage.turn(&hello()).expect_err(model);
    (error, stage.provider.requests().len())
}

#[test]
fn what_passes_is_tried_again() {
    for model in FORMATS {
        for status in [429, 500, 502, 503, 529] {
            let turn = Turn::text("at last").with_fault(Fault::status(status), 2);
            let mut stage = Stage::new(model, Script::new([turn]));
            let (reply, heard) = stage.heard(&hello());
            assert_eq!(reply.expect(model).text, "at last", "{model} {status}");
            assert_eq!(heard.concat(), "at last", "{model} {status}");
            assert_eq!(stage.provider.requests().len(), 3, "{model} {status}");
        }
    }
}

#[test]
fn what_does_not_pass_ends_after_the_attempts() {
    for model in FORMATS {
        let (error, asked) = failing(model, Turn::text("x").always(Fault::status(503)));
        assert_eq!(asked, 3, "{model}");
        assert_eq!(
            error.to_string(),
            format!("the provider of `{model}` is not available: HTTP 503: scripted fault")
        );
        assert_eq!(error.code(), Code::ModelUnavailable);
    }
}

#[test]
fn a_request_that_is_to_blame_is_made_once() {
    for model in FORMATS {
        for status in [400, 401, 403, 404, 422, 307] {
            let (error, asked) = failing(model, Turn::text("x").always(Fault::status(status)));
            assert_eq!(asked, 1, "{model} {status}");
            let ModelError::Refused { status: told, message, .. } = &error else {
                panic!("{model} {status}: {error}")
            };
            assert_eq!((*told, message.as_str()), (Some(status), "scripted fault"), "{model}");
        }
        let (error, _) = failing(model, Turn::text("x").always(Fault::status(401)));
        assert!(error.hint().expect("a hint").contains("spl model list"), "{model}");
    }
}

#[test]
fn a_provider_that_says_when_is_heeded() {
    for model in FORMATS {
        let later = |retry_after| Fault::Status { status: 429, retry_after, message: None };
        // Without `Retry-After` this test would wait for an hour.
        let patient = Pace {
            first_wait: Duration::from_hours(1),
            longest_wait: Duration::from_hours(1),
            ..pace()
        };
        let turn = Turn::text("ok").with_fault(later(Some(0)), 2);
        let mut stage = Stage::paced(model, Script::new([turn]), patient);
        assert_eq!(stage.turn(&hello()).expect(model).text, "ok");
        // What is longer than anyone would wait is not waited for.
        let turn = Turn::text("ok").always(later(Some(86_400)));
        let mut stage = Stage::paced(model, Script::new([turn]), patient);
        let error = stage.turn(&hello()).expect_err(model);
        assert!(error.to_string().ends_with("(to be asked again in 86400 s)"), "{error}");
        assert_eq!(stage.provider.requests().len(), 1, "{model}");
    }
}

#[test]
fn a_connection_that_is_lost_before_a_word_is_made_again() {
    for model in FORMATS {
        for fault in [Fault::CutAfter(0), Fault::CutAfter(1)] {
            let mut stage = Stage::new(model, Script::new([calling().with_fault(fault, 1)]));
            let reply = stage.turn(&hello()).expect(model);
            assert_eq!(reply.calls.len(), 1, "{model}");
            assert_eq!(stage.provider.requests().len(), 2, "{model}");
        }
    }
}

/// Half a call is no call, whether the connection is lost or closed in order.
#[test]
fn a_stream_that_is_cut_in_a_call_gives_no_call() {
    for model in FORMATS {
        // Of Gemini a call comes in one event, and its last event is missing.
        let events = if model.starts_with("gemini") { 1 } else { 4 };
        for fault in [Fault::CutAfter(events), Fault::EndAfter(events)] {
            let (error, asked) = failing(model, calling().always(fault.clone()));
            assert!(matches!(error, ModelError::Unavailable { .. }), "{model} {fault:?}: {error}");
            assert_eq!(asked, 3, "{model} {fault:?}");
        }
    }
}

#[test]
fn what_was_said_is_not_said_again() {
    for model in FORMATS {
        let words = "a rather long line of words that does not come to its end, ";
        let turn = Turn::text(words.repeat(3));
        for fault in [Fault::CutAfter(5), Fault::EndAfter(5), Fault::ErrorAfter(5)] {
            let turn = turn.clone().always(fault.clone());
            let mut stage = Stage::new(model, Script::new([turn]));
            let (reply, heard) = stage.heard(&hello());
            let error = reply.expect_err(model);
            assert!(matches!(error, ModelError::Unavailable { .. }), "{model} {fault:?}: {error}");
            assert!(heard.concat().starts_with("a rather"), "{model} {fault:?}");
            assert_eq!(stage.provider.requests().len(), 1, "{model} {fault:?}");
        }
    }
}

#[test]
fn an_error_in_the_stream_before_a_word_is_tried_again() {
    for model in FORMATS {
        let turn = Turn::text("ok").with_fault(Fault::ErrorAfter(0), 1);
        let mut stage = Stage::new(model, Script::new([turn]));
        assert_eq!(stage.turn(&hello()).expect(model).text, "ok");
    }
}

#[test]
fn an_error_of_status_200_is_an_error() {
    for model in FORMATS {
        let (error, _) = failing(model, Turn::text("x").always(Fault::ErrorBody));
        let ModelError::Refused { status: None, message, .. } = &error else {
            panic!("{model}: {error}")
        };
        assert_eq!(message, "scripted fault", "{model}");
    }
}

#[test]
fn a_page_is_no_reply() {
    for model in FORMATS {
        let (error, _) = failing(model, Turn::text("x").always(Fault::Html));
        assert_eq!(
            error.to_string(),
            format!(
                "the provider of `{model}` sent what is not a reply: it answered with text/html: \
                 502 Bad Gateway"
            )
        );
    }
}

#[test]
fn an_answer_without_a_reply_in_it_is_none() {
    for model in FORMATS {
        let (error, asked) = failing(model, Turn::text("x").always(Fault::Empty));
        assert!(matches!(error, ModelError::Malformed { .. }), "{model}: {error}");
        assert!(error.to_string().ends_with("there is nothing in it"), "{model}: {error}");
        assert_eq!(asked, 1, "{model}");
    }
}

#[test]
fn an_event_that_is_not_json_is_no_reply() {
    for model in FORMATS {
        let (error, asked) = failing(model, Turn::text("x").always(Fault::NotJson));
        assert!(matches!(error, ModelError::Malformed { .. }), "{model}: {error}");
        assert_eq!(asked, 1, "{model}");
    }
}

#[test]
fn a_provider_that_hangs_is_given_up() {
    let silence = Duration::from_millis(150);
    for model in FORMATS {
        for fault in [Fault::Hang, Fault::HangAfter(0), Fault::HangAfter(3)] {
            let script = Script::new([Turn::text("some words ".repeat(9)).always(fault.clone())]);
            let mut stage = Stage::paced(model, script, Pace { silence, ..pace() });
            let error = stage.turn(&hello()).expect_err(model);
            let wanted = ModelError::TimedOut { model: model.into(), silent: silence };
            assert_eq!(error, wanted, "{model} {fault:?}");
            assert_eq!(error.code(), Code::RequestTimeout);
        }
    }
}

#[test]
fn a_turn_that_hangs_can_be_cancelled() {
    for model in FORMATS {
        for fault in [Fault::Hang, Fault::HangAfter(4)] {
            let script = Script::new([Turn::text("some words ".repeat(9)).always(fault)]);
            let mut stage = Stage::new(model, script);
            let cancel = Cancel::new();
            let (asked, asking) = mpsc::channel::<()>();
            std::thread::scope(|scope| {
                let turn = scope.spawn(|| {
                    let _ = asked.send(());
                    stage.model.turn(&hello(), &cancel, &mut |_| {})
                });
                asking.recv().expect("it is on its way");
                cancel.cancel();
                assert_eq!(turn.join().expect("a turn"), Err(ModelError::Cancelled), "{model}");
            });
        }
    }
}

#[test]
fn a_wait_between_attempts_can_be_cancelled() {
    let cancel = Cancel::new();
    let raised = cancel.clone();
    let script = Script::new([Turn::text("x").always(Fault::status(503))])
        .before(0, move || raised.cancel());
    let patient = Pace {
        first_wait: Duration::from_hours(1),
        longest_wait: Duration::from_hours(1),
        ..pace()
    };
    let mut stage = Stage::paced(FORMATS[0], script, patient);
    let turn = stage.model.turn(&hello(), &cancel, &mut |_| {});
    assert_eq!(turn, Err(ModelError::Cancelled));
}

#[test]
fn who_is_not_there_cannot_be_reached() {
    let url = MockProvider::start(Script::default()).url();
    for name in FORMATS {
        let mut model = providers(&url).with_pace(pace()).model(name).expect("a model");
        let error = model.turn(&hello(), &Cancel::new(), &mut |_| {}).expect_err("nobody");
        let text = error.to_string();
        assert!(text.contains("is not available: it cannot be reached: "), "{text}");
    }
}

/// A server drives runs on threads of its own runtime, where another may be neither entered nor
/// dropped.
#[tokio::test]
async fn a_model_may_be_made_asked_and_dropped_inside_a_runtime() {
    let mut stage = Stage::new(FORMATS[1], Script::new([Turn::text("ok")]));
    assert_eq!(stage.turn(&hello()).expect("a reply").text, "ok");
    drop(stage);
}
