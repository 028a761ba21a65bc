//! What goes over the wire, to the byte of its JSON.

use mock_provider::{MockProvider, Request, Script, Turn};
use spl::cancel::Cancel;
use spl::model::{Message, TurnRequest};

use crate::support::{FORMATS, KEY, Stage, hello, providers, whole};

fn asked(model: &str, request: &TurnRequest) -> Request {
    let mut stage = Stage::new(model, Script::new([Turn::text("ok")]));
    stage.turn(request).expect("a reply");
    stage.provider.requests_whole().remove(0)
}

fn pretty(request: &Request) -> String {
    let body = serde_json::to_string_pretty(&request.body).expect("JSON");
    format!("POST {}\n{body}", request.path)
}

#[test]
fn the_request_in_the_format_of_anthropic() {
    insta::assert_snapshot!(pretty(&asked(FORMATS[0], &whole())));
}

#[test]
fn the_request_in_the_format_of_openai() {
    insta::assert_snapshot!(pretty(&asked(FORMATS[1], &whole())));
}

#[test]
fn the_request_in_the_format_of_gemini() {
    insta::assert_snapshot!(pretty(&asked(FORMATS[2], &whole())));
}

/// Whatever a snapshot says: what the model must read is there, whole and once.
#[test]
fn nothing_that_was_said_is_lost_in_any_format() {
    let said = [
        "You work towards one goal.",
        "count the files",
        "I look.",
        "a\nb\n",
        "x: not found\n[exit 127]",
        "count-twice: Count again.\nThen answer.",
        "shell-failed: bash ended with error; read stderr first.",
        "3 turns are left.",
        "Runs a command.",
    ];
    for model in FORMATS {
        let body = asked(model, &whole()).body.to_string();
        for words in said {
            let words = serde_json::to_string(words).expect("JSON");
            let words = words.trim_matches('"');
            assert_eq!(body.matches(words).count(), 1, "{model}: {words} in {body}");
        }
    }
}

#[test]
fn a_key_is_in_one_header_and_nowhere_else() {
    for (model, header) in FORMATS.into_iter().zip(["x-api-key", "authorization", "x-goog-api-key"])
    {
        let Request { path, headers, body } = asked(model, &hello());
        let holders: Vec<&String> =
            headers.iter().filter(|(_, value)| value.contains(KEY)).map(|(name, _)| name).collect();
        assert_eq!(holders, [header], "{model}");
        assert!(!path.contains(KEY) && !body.to_string().contains(KEY), "{model}");
    }
}

/// Before there is a result: a notice at the start, and a message from whoever steers.
#[test]
fn words_without_a_result_are_messages_of_their_own() {
    let request = TurnRequest {
        messages: vec![
            Message::User { text: "goal".into() },
            Message::Notice { text: "2 turns are left.".into() },
            Message::Assistant { text: String::new(), calls: Vec::new() },
            Message::User { text: "also this".into() },
        ],
        ..TurnRequest::default()
    };
    for (model, list) in FORMATS.into_iter().zip(["messages", "messages", "contents"]) {
        let body = asked(model, &request).body;
        let messages = body[list].as_array().expect("messages");
        assert_eq!(messages.len(), 3, "{model}: {body}");
        assert!(messages.iter().all(|message| message["role"] == "user"), "{model}: {body}");
    }
}

#[test]
fn a_model_of_ones_own_server_keeps_its_name_and_needs_no_key() {
    let provider = MockProvider::start(Script::new([Turn::text("ok")]).in_order());
    let mut model = providers(&provider.url()).model("local/acme/phi-3-medium").expect("a model");
    model.turn(&hello(), &Cancel::new(), &mut |_| {}).expect("a reply");
    let request = provider.requests_whole().remove(0);
    assert_eq!(request.path, "/v1/chat/completions");
    assert_eq!(request.body["model"], "acme/phi-3-medium");
    assert_eq!(request.body.get("reasoning_effort"), None);
    assert!(!format!("{:?}", request.headers).contains(KEY));
    assert_eq!(model.name(), "local/acme/phi-3-medium");
}
