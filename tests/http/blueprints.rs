//! Blueprints on the wire.

use spl::canon::{Limits, Object, Value, parse};
use spl::object;

use crate::client::{Reply, Server};

fn request(blueprint: &str, more: &[(&str, Value)]) -> String {
    let blueprint = parse(blueprint.as_bytes(), Limits::DOOR).expect("JSON");
    let mut request = object! { "blueprint": blueprint };
    request.extend(more.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    Value::from(request).to_string()
}

/// A blueprint of content, which nobody has to vouch for.
const CONTENT: &str = r#"{"object":"blueprint","format":1,"name":"orchard","version":"1.0.0",
    "author":"did:web:orchard.example","description":"How we count pears.","seeds":[
    {"act":"KNOW","thread":"th_notes","body":{"kind":"x.note.text","text":"Pears."}},
    {"act":"PUT","actor":"did:sync:agent:clerk","thread":"th_notes","body":{"n":1.0}}]}"#;

/// The same with a hook, which somebody has to.
fn with_a_hook() -> String {
    let hook = r#"{"act":"LEARN","thread":"th_engine_config","body":{"kind":"core.hook.v1",
        "topic":"hook","name":"tests-first","when":"true","text":"Run the tests first."}},"#;
    CONTENT.replacen("\"seeds\":[", &format!("\"seeds\":[{hook}"), 1)
}

fn plan(server: &Server, request: &str) -> Reply {
    server.post("/v1/blueprints/plan", request)
}

fn materialize(server: &Server, request: &str) -> Reply {
    server.post("/v1/blueprints/materialize", request)
}

fn loaded(server: &Server) -> usize {
    server.engine.live().expect("live").config.hooks_loaded()
}

fn records(server: &Server) -> i64 {
    server.engine.store().read(|reader| reader.last()).expect("read").get()
}

#[test]
fn a_blueprint_is_planned_installed_and_listed() {
    let server = Server::start();
    let actor = ("actor", Value::from("did:sync:user:vera"));
    let planned = plan(&server, &request(CONTENT, std::slice::from_ref(&actor)));
    assert_eq!((planned.status, records(&server)), (200, 0), "{}", planned.text());
    let accepted = ("accept_plan", Value::from(planned.string("plan")));
    let request = request(CONTENT, &[actor, accepted]);
    let first = materialize(&server, &request);
    assert_eq!((first.status, records(&server)), (201, 3), "{}", first.text());
    let second = materialize(&server, &request);
    assert_eq!((second.status, records(&server)), (200, 3), "{}", second.text());
    let listed = server.get("/v1/blueprints");
    let said = [planned.shown(), first.shown(), second.shown(), listed.shown()].join("\n\n");
    insta::assert_snapshot!(said);
}

#[test]
fn the_answers_are_what_the_description_says() {
    let server = Server::start();
    let planned = plan(&server, &request(CONTENT, &[]));
    crate::schema::check("/v1/blueprints/plan", "post", &planned);
    let accepted = ("accept_plan", Value::from(planned.string("plan")));
    for _ in 0..2 {
        let done = materialize(&server, &request(CONTENT, std::slice::from_ref(&accepted)));
        crate::schema::check("/v1/blueprints/materialize", "post", &done);
    }
    crate::schema::check("/v1/blueprints", "get", &server.get("/v1/blueprints"));
    let refused = plan(&server, &request(&with_a_hook(), &[]));
    crate::schema::check("/v1/blueprints/plan", "post", &refused);
}

#[test]
fn what_may_not_be_installed_is_planned_and_refused() {
    let server = Server::start();
    let hook = with_a_hook();
    let planned = plan(&server, &request(&hook, &[]));
    assert_eq!(planned.status, 200);
    let shown = planned.json();
    assert_eq!(shown.get("may_install"), Some(&false.into()));
    let code = shown.get("refused").and_then(|it| it.get("code")).and_then(Value::as_str);
    assert_eq!(code, Some("BLUEPRINT_REFUSED"));
    let accepted = ("accept_plan", Value::from(planned.string("plan")));
    let refused = materialize(&server, &request(&hook, &[accepted]));
    assert_eq!((refused.status, refused.code()), (422, "BLUEPRINT_REFUSED".into()));
    let other = ("accept_plan", Value::from("ab".repeat(32)));
    let mismatch = materialize(&server, &request(CONTENT, &[other]));
    assert_eq!((mismatch.status, mismatch.code()), (409, "PLAN_MISMATCH".into()));
    for (body, field) in [
        ("{}".to_owned(), "accept_plan"),
        (r#"{"accept_plan":"x"}"#.to_owned(), "blueprint"),
        (r#"{"accept_plan":"x","blueprint":[]}"#.to_owned(), "blueprint"),
        (r#"{"accept_plan":"x","blueprint":{},"extends":{}}"#.to_owned(), "extends"),
        (r#"{"accept_plan":"x","blueprint":{},"actor":""}"#.to_owned(), "actor"),
        (r#"{"plan":"x"}"#.to_owned(), "plan"),
    ] {
        let refused = materialize(&server, &body);
        assert_eq!((refused.status, refused.string("field").as_str()), (422, field), "{body}");
    }
    assert_eq!((records(&server), loaded(&server)), (0, 0));
}

/// A bearer who is not the operator installs content in its own name, and no hook: of those it is not
/// even told what is there.
#[test]
fn a_bearer_installs_content_alone() {
    let server = Server::start();
    let bearer = server.token("records:read,records:write");
    let post = |path: &str, body: &str| server.tcp("POST", path).bearer(&bearer).json(body).send();
    let clerk = ("actor", Value::from("did:sync:agent:clerk"));
    // An account is somebody; an agent on this machine says who it is.
    let nameless = post("/v1/blueprints/plan", &request(CONTENT, &[]));
    assert_eq!(nameless.json().get("may_install"), Some(&true.into()), "{}", nameless.text());
    let agent = server.agent("POST", "/v1/blueprints/plan").json(request(CONTENT, &[])).send();
    assert_eq!((agent.status, agent.string("field").as_str()), (422, "actor"));
    let planned = post("/v1/blueprints/plan", &request(CONTENT, std::slice::from_ref(&clerk)));
    assert_eq!(planned.json().get("may_install"), Some(&true.into()), "{}", planned.text());
    let accepted = ("accept_plan", Value::from(planned.string("plan")));
    let done =
        post("/v1/blueprints/materialize", &request(CONTENT, &[clerk.clone(), accepted.clone()]));
    assert_eq!(done.status, 201, "{}", done.text());
    // A plan that is wrong as well is not spoken of.
    let hook = request(&with_a_hook(), &[clerk, accepted]);
    let denied = post("/v1/blueprints/materialize", &hook);
    assert_eq!((denied.status, denied.code()), (403, "CONFIG_WRITE_DENIED".into()));
    assert!(!denied.text().contains("tests-first"), "{}", denied.text());
    let hook = hook.replace("accept_plan", "x");
    let unknown = post("/v1/blueprints/plan", &hook);
    assert_eq!(unknown.string("field"), "x");
    let reader = server.token("records:read");
    let refused = server.tcp("POST", "/v1/blueprints/plan").bearer(&reader).json("{}").send();
    assert_eq!((refused.status, refused.code()), (403, "SCOPE_FORBIDDEN".into()));
    assert_eq!(loaded(&server), 0);
}

#[test]
fn a_bearer_is_not_told_what_hooks_there_are() {
    let server = Server::start();
    let hook = with_a_hook();
    let body = parse(hook.as_bytes(), Limits::DOOR).expect("JSON");
    let seed = body.get("seeds").and_then(Value::as_array).expect("seeds")[0].clone();
    let mut envelope: Object = seed.as_object().expect("a seed").clone();
    envelope.insert("actor".into(), "did:sync:user:vera".into());
    assert_eq!(server.post("/v1/records", Value::from(envelope).to_string()).status, 201);
    let bearer = server.token("records:read,records:write");
    let clerk = ("actor", Value::from("did:sync:agent:clerk"));
    let planned = server
        .tcp("POST", "/v1/blueprints/plan")
        .bearer(&bearer)
        .json(request(&hook, &[clerk]))
        .send();
    let json = planned.json();
    let hooks = json.get("hooks").and_then(Value::as_array).expect("hooks");
    assert_eq!(hooks[0].get("state"), Some(&Value::Null), "{}", planned.text());
    assert_eq!(hooks[0].get("record"), Some(&Value::Null));
    let own = plan(&server, &request(&hook, &[]));
    let own = own.json();
    let hooks = own.get("hooks").and_then(Value::as_array).expect("hooks");
    assert_eq!(hooks[0].get("state"), Some(&"there".into()));
}
