//! Questions and answers on the wire.

use std::time::Duration;

use spl::engine::{DecisionRequest, Engine, Hooks, RunSeat};
use spl::http::ServerLimits;
use spl::object;
use spl::record::{ActorId, Namespace, RecordId, ThreadId};

use crate::client::Server;

fn ask(engine: &Engine, proposes: bool) -> RecordId {
    let seat = RunSeat {
        thread: ThreadId::parse("th_asking").expect("a thread"),
        life: 0,
        actor: ActorId::parse("did:sync:agent:clerk").expect("an actor"),
        domain: "ops".into(),
        namespace: Namespace::root(),
        hooks: Hooks::Live,
    };
    let mut args = object! { "question": "Shall I?", "options": vec!["red", "blue"] };
    if proposes {
        let lesson = object! { "name": "tests-first", "when": "true", "text": "Run the tests." };
        args.insert("lesson".into(), lesson.into());
    }
    let asked = DecisionRequest::read(&args).expect("a question");
    engine.request_decision(&seat, RecordId::from_bytes([7; 32]), &asked).expect("asked")
}

#[test]
fn a_question_is_listed_shown_and_answered_once() {
    let server = Server::start();
    let request = ask(&server.engine, true);
    let listed = server.get("/v1/decisions?state=pending");
    assert_eq!(listed.data().len(), 1);
    assert_eq!(listed.json(), server.get("/v1/governance/decisions?state=pending").json());
    let path = format!("/v1/decisions/{request}");
    assert_eq!(server.get(&path).json(), listed.data()[0]);
    let decide = format!("{path}/decide");
    let answer = r#"{"decision":"approve","becomes_policy":true,"expires":"30d","reason":"yes"}"#;
    let decided = server.post(&decide, answer);
    assert_eq!(decided.status, 200, "{}", decided.text());
    let answered = server.get("/v1/decisions?state=answered");
    let again = server.post(&decide, r#"{"decision":"reject"}"#);
    assert_eq!((again.status, again.code()), (409, "DECISION_ANSWERED".into()));
    assert!(again.string("message").contains(&decided.string("id")), "{}", again.text());
    let said = [listed.shown(), decided.shown(), answered.shown(), again.shown()].join("\n\n");
    insta::assert_snapshot!("a_question_and_its_answer", said);
    assert_eq!(server.get("/v1/decisions?state=pending").data(), []);
}

#[test]
fn an_answer_that_is_none_is_refused_where_it_is_wrong() {
    let server = Server::start();
    let plain = ask(&server.engine, false);
    let mut said = String::new();
    for body in [
        "{}",
        r#"{"decision":"maybe"}"#,
        r#"{"decision":"provide"}"#,
        r#"{"decision":"approve","becomes_policy":true}"#,
        r#"{"decision":"approve","becomes_policy":"yes"}"#,
        r#"{"decision":"approve","becomes_policy":true,"expires":"soon"}"#,
        r#"{"decision":"approve","expires":"30d"}"#,
        r#"{"decision":"approve","actor":""}"#,
        r#"{"decision":"approve","value":"x"}"#,
    ] {
        let reply = server.post(&format!("/v1/decisions/{plain}/decide"), body);
        said.push_str(&format!("{body}\n{}\n\n", reply.shown()));
    }
    for path in ["/v1/decisions?state=open", "/v1/decisions/none", "/v1/decisions?limit=x"] {
        said.push_str(&format!("{path}\n{}\n\n", server.get(path).shown()));
    }
    insta::assert_snapshot!("refused_answers", said);
    assert_eq!(server.get("/v1/decisions?state=pending").data().len(), 1);
}

/// The time of this server moves by a second each time it is asked; it sweeps by itself.
#[test]
fn a_server_puts_a_lesson_out_of_force_whose_time_is_over() {
    let sweep = Duration::from_millis(5);
    let server = Server::with_limits(ServerLimits { sweep, ..ServerLimits::default() });
    let request = ask(&server.engine, true);
    let answer = r#"{"decision":"approve","becomes_policy":true,"expires":"1m"}"#;
    let decided = server.post(&format!("/v1/decisions/{request}/decide"), answer);
    assert_eq!(decided.status, 200, "{}", decided.text());
    let path = "/v1/threads/th_engine_config/watch?since_clock=0";
    let mut watch = server.request("GET", path).open();
    let hook = watch.next_after_head("record.created");
    assert!(hook.data.contains(&decided.string("policy")), "{}", hook.data);
    let superseding = watch.next("record.created");
    assert!(superseding.data.contains(r#""enabled":false"#), "{}", superseding.data);
    assert_eq!(server.engine.live().expect("live").config.hooks_loaded(), 0);
    assert_eq!(server.post("/v1/engine/sweep", "{}").json().get("swept"), Some(&0.into()));
}
