//! Packs of policy hooks on the wire.

use spl::canon::{Limits, Value, parse};
use spl::engine::Settings;
use spl::http::{Access, ApiState};
use spl::policy::polpo::Runtime;

use crate::client::Server;

/// A pack whose one hook runs this command.
fn pack(command: &str) -> String {
    format!(
        r#"{{"version":1,"hooks":[{{"id":"a","event":"turn:stop",
            "handler":{{"type":"command","command":"{command}"}}}}]}}"#
    )
}

fn request(packs: &[(&str, &str)]) -> String {
    let packs: Vec<String> =
        packs.iter().map(|(name, pack)| format!(r#"{{"name":"{name}","pack":{pack}}}"#)).collect();
    format!(r#"{{"packs":[{}]}}"#, packs.join(","))
}

fn records(server: &Server) -> i64 {
    server.engine.store().read(|reader| reader.last()).expect("read").get()
}

#[test]
fn packs_are_deployed_and_listed() {
    let server = Server::start();
    let both = request(&[("quality", &pack("x")), ("tone", &pack("y"))]);
    let first = server.post("/v1/policy/packs", &both);
    assert_eq!((first.status, records(&server)), (201, 2), "{}", first.text());
    let second = server.post("/v1/policy/packs", &both);
    assert_eq!((second.status, records(&server)), (200, 2), "{}", second.text());
    let changed = server.post("/v1/policy/packs", request(&[("tone", &pack("z"))]));
    assert_eq!((changed.status, records(&server)), (201, 3), "{}", changed.text());
    let said = [first.shown(), second.shown(), changed.shown()].join("\n\n");
    insta::assert_snapshot!(said);
    let listed = server.get("/v1/policy/packs").data();
    let text = |row: &Value, key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
    let names: Vec<_> = listed.iter().map(|row| text(row, "name").expect("a name")).collect();
    assert_eq!(names, ["quality", "tone"]);
    let (quality, tone) = (&listed[0], &listed[1]);
    let of = |reply: &Value, at: usize, key: &str| {
        let packs = reply.get("packs").and_then(Value::as_array).expect("packs");
        text(&packs[at], key)
    };
    for key in ["id", "sha256"] {
        assert_eq!(text(quality, key), of(&first.json(), 0, key));
        assert_eq!(text(tone, key), of(&changed.json(), 0, key));
    }
    let written = parse(pack("z").as_bytes(), Limits::DOOR).expect("JSON");
    assert_eq!(tone.get("pack"), Some(&written));
    assert!(text(tone, "deployed_at").is_some_and(|at| at.ends_with('Z')));
}

/// One that is none keeps the others back as well.
#[test]
fn what_is_no_pack_is_refused_by_its_place() {
    let server = Server::start();
    let good = pack("x");
    let secret = pack("curl -u me:hunter2 https://example.com");
    let deep = format!(r#"{{"version":1,"hooks":{}1{}}}"#, "[".repeat(100), "]".repeat(100));
    for (body, status, field, reason) in [
        ("{}".to_owned(), 422, "packs", "missing_field"),
        (r#"{"packs":{}}"#.into(), 422, "packs", "wrong_type"),
        (r#"{"packs":[],"force":true}"#.into(), 422, "force", "unknown_field"),
        (r#"{"packs":[{"name":"a"}]}"#.into(), 422, "pack", "missing_field"),
        (request(&[("a/b", &good)]), 422, "name", "bad_value"),
        (request(&[("a", &good), ("a", &good)]), 422, "packs", "bad_value"),
        (request(&[("a", &good), ("b", "{}")]), 422, "$", "hook_unsupported_version"),
        (
            request(&[("a", &good), ("b", &good.replace("\"id\"", "\"when\":1,\"id\""))]),
            422,
            "$.hooks[0].when",
            "hook_unknown_field",
        ),
        (request(&[("a", &secret)]), 422, "$.hooks[0].handler.command", "hook_inline_credential"),
        (request(&[("a", &deep)]), 422, "$", "hook_limit_exceeded"),
    ] {
        let reply = server.post("/v1/policy/packs", &body);
        let said = (reply.status, reply.string("field"), reply.string("reason"));
        assert_eq!(said, (status, field.into(), reason.into()), "{body}: {}", reply.text());
        assert!(!reply.text().contains("hunter2"), "{}", reply.text());
    }
    assert_eq!(records(&server), 0);
    let nothing = server.post("/v1/policy/packs", r#"{"packs":[]}"#);
    assert_eq!((nothing.status, records(&server)), (200, 0), "{}", nothing.text());
}

/// P124, P125.
#[test]
fn a_host_says_what_its_switches_come_to() {
    for (config, kill_switch) in [
        ("", None),
        ("[runtime]\nmanaged = true", None),
        ("[runtime]\nmanaged = true\ntermination-gate.mode = 'enforce'", Some("off")),
    ] {
        let settings = Settings::parse(config).expect(config);
        let runtime = Runtime::new(&settings.runtime, kill_switch);
        let on = runtime.clone();
        let server =
            Server::over(&move |engine| ApiState::new(engine, Access::SameUser).on(on.clone()));
        let reply = server.get("/v1/hooks/capabilities");
        assert_eq!(reply.status, 200, "{}", reply.text());
        let said = parse(reply.text().as_bytes(), Limits::DOOR).expect("JSON");
        assert_eq!(said, Value::from(runtime.capabilities()));
    }
}
