//! Trust, verdicts, and what is configured about rules and tiers.

use spl::canon::Value;
use spl::object;
use spl::record::{Act, ActorId, Draft, ThreadId};

use crate::client::{Reply, Server, percent};

/// Writes a run that is over, as the engine does.
pub(crate) fn finished_run(server: &Server, thread: &str, outcome: &str) {
    let thread = ThreadId::parse(thread).expect("a thread");
    let clerk = ActorId::parse("did:sync:agent:clerk").expect("an actor");
    let opening = object! { "domain": "code", "goal": "g", "kind": "core.work.loop.v1" };
    let closing = object! { "kind": "core.work.loop_outcome.v1", "outcome": outcome };
    let opening = Draft::new(thread.clone(), clerk, Act::Intend, opening);
    let closing = Draft::new(thread, ActorId::engine(), Act::Know, closing);
    let write = server.engine.author(move |author| {
        author.write(opening)?;
        author.write(closing)
    });
    write.expect("written");
}

fn review(server: &Server, thread: &str, body: &str) -> Reply {
    server.post(&format!("/v1/work/loop/{thread}/review"), body)
}

#[test]
fn a_run_is_judged_and_trust_is_listed() {
    let server = Server::start();
    assert!(server.get("/v1/trust").data().is_empty());
    finished_run(&server, "th_run", "completed");
    let body = r#"{"verdict":"accept","actor":"did:sync:user:vera","notes":"fine"}"#;
    let reply = review(&server, "th_run", body);
    assert_eq!(reply.status, 201, "{}", reply.text());
    let json = reply.json();
    assert_eq!(json.get("counted"), Some(&true.into()));
    assert_eq!(json.get("domain"), Some(&"code".into()));
    assert_eq!(json.get("score").map(ToString::to_string).as_deref(), Some("0.206543"));
    for path in ["/v1/trust", "/v1/governance/trust", "/v1/trust?actor=did:sync:agent:clerk"] {
        let [row] = server.get(path).data().try_into().expect("one row");
        assert_eq!(row.get("actor"), Some(&"did:sync:agent:clerk".into()), "{path}");
        assert_eq!(row.get("samples").and_then(Value::as_u64), Some(1), "{path}");
    }
    assert!(server.get("/v1/trust?domain=ops").data().is_empty());
    let one = |actor: &str, domain: &str| {
        server.get(&format!("/v1/governance/trust/{}/{domain}", percent(actor))).json()
    };
    let found = one("did:sync:agent:clerk", "code");
    let history = found.get("history").and_then(Value::as_array).expect("a history");
    assert_eq!(history.len(), 1);
    assert_eq!(history[0].get("verdict"), Some(&"accept".into()));
    assert_eq!(history[0].get("record_id"), json.get("record_id"));
    let nobody = one("did:sync:agent:else", "a%2Fb");
    assert_eq!(nobody.get("domain"), Some(&"a/b".into()));
    assert_eq!(nobody.get("score").map(ToString::to_string).as_deref(), Some("0"));
}

#[test]
fn a_review_that_is_none_is_refused() {
    let server = Server::start();
    finished_run(&server, "th_run", "completed");
    finished_run(&server, "th_waits", "awaiting_actor");
    let vera = r#""actor":"did:sync:user:vera""#;
    let mut said = String::new();
    for (thread, body) in [
        ("th_none", format!(r#"{{"verdict":"accept",{vera}}}"#)),
        ("th_waits", format!(r#"{{"verdict":"accept",{vera}}}"#)),
        ("th_run", r#"{"verdict":"accept"}"#.to_owned()),
        ("th_run", format!("{{{vera}}}")),
        ("th_run", format!(r#"{{"verdict":"maybe",{vera}}}"#)),
        ("th_run", format!(r#"{{"verdict":true,{vera}}}"#)),
        ("th_run", format!(r#"{{"verdict":"accept","domain":"",{vera}}}"#)),
        ("th_run", format!(r#"{{"verdict":"accept","score":1,{vera}}}"#)),
        ("th_run", r#"{"verdict":"accept","actor":""}"#.to_owned()),
        ("th_run", format!(r#"{{"verdict":"accept","notes":"{}",{vera}}}"#, "n".repeat(4097))),
    ] {
        let reply = review(&server, thread, &body);
        let cut: String = body.chars().take(80).collect();
        said.push_str(&format!("{thread} {cut}\n  {} {}\n", reply.status, reply.text()));
    }
    insta::assert_snapshot!(said);
    assert!(server.get("/v1/trust").data().is_empty());
}

#[test]
fn rules_and_tiers_are_listed_with_what_was_refused() {
    let server = Server::start();
    let mut clock = 0;
    let mut learn = |body: &str| {
        let record = format!(
            r#"{{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config","clock":{clock},"body":{body}}}"#
        );
        clock += 1;
        let reply = server.post("/v1/records", record);
        assert_eq!(reply.status, 201, "{}", reply.text());
    };
    let rule = |name: &str, expression: &str| {
        format!(
            r#"{{"topic":"permission_rule","name":"{name}","action":"deny","expression":"{expression}"}}"#
        )
    };
    learn(&rule("good", "resource == 'tool:bash'"));
    learn(&rule("bad", "resource ="));
    learn(
        r#"{"topic":"permission_rule","name":"rest","action":"allow","priority":-1,"expression":"true"}"#,
    );
    learn(r#"{"topic":"permissions_enabled","enabled":true}"#);
    learn(r#"{"kind":"core.engine.tier.v1","tier":"trial","default_budget_usd":0.125}"#);
    learn(r#"{"kind":"core.engine.tier.v1","tier":"paid","max_turns":"many"}"#);
    learn(r#"{"topic":"actor_tier","actor":"did:sync:user:vera","tier":"team"}"#);
    learn(r#"{"topic":"work_loop_transport","transport":"sandboxed"}"#);
    let shown: Vec<String> =
        ["/v1/config/permission-rules", "/v1/config/tiers", "/v1/engine/health"]
            .map(|path| server.get(path).json().to_string())
            .into();
    assert!(shown[2].contains(r#""transport":"sandboxed"#), "{}", shown[2]);
    // A record's id is its content, so it is the same in every run.
    insta::assert_snapshot!(shown[..2].join("\n").replace("},{", "},\n {"));
}
