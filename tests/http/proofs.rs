//! Signatures on the wire, and proofs.

use spl::canon::{Limits, Value, parse};
use spl::identity::KeyPair;
use spl::record::{Draft, Record};
use spl::store::Proof;

use crate::client::{Server, note};

/// A note of an actor, as a client that has a key sends it.
fn signed(actor: &str, clock: i64, key: &KeyPair) -> String {
    let envelope = spl::object! {
        "act": "KNOW",
        "actor": actor,
        "body": spl::object! { "text": "signed" },
        "clock": clock,
        "thread": "th_a",
    };
    let draft = Draft::from_envelope(envelope.clone().into()).expect("a draft");
    let record = Record::seal(draft).expect("a record");
    let mut envelope = envelope;
    envelope.insert("sig".into(), key.sign(record.canonical().as_bytes()).to_string().into());
    Value::from(envelope).to_string()
}

fn member<'a>(record: &'a Value, key: &str) -> Option<&'a str> {
    record.get(key).and_then(Value::as_str)
}

#[test]
fn every_answer_says_who_signed() {
    let server = Server::start();
    let writer = server.token("records:read,records:write");
    let key = KeyPair::from_seed(&[5; 32]);
    let post = |body: String| server.tcp("POST", "/v1/records").bearer(&writer).json(body).send();
    let own = post(signed(key.did(), 0, &key));
    assert_eq!(
        (own.status, own.string("signed_by"), own.string("signer")),
        (201, "actor".into(), key.did().into())
    );
    let custody = post(note("th_a", 1, "unsigned"));
    assert_eq!((custody.status, custody.string("signed_by")), (201, "custodian".into()));
    let far = post(signed("did:web:example.org", 0, &key));
    assert_eq!((far.status, far.string("signed_by")), (201, "custodian".into()));
    let unproven = far.json().get("unproven").cloned().expect("kept");
    assert_eq!(member(&unproven, "reason"), Some("unknown_method"));
    assert!(member(&unproven, "sig").is_some_and(|sig| sig != far.string("sig")));
    // The same wherever it is read.
    let written = [own.json(), custody.json(), far.json()];
    assert_eq!(server.get("/v1/threads/th_a/records").data(), written);
    assert_eq!(server.get("/v1/records?thread=th_a").data(), written);
    assert_eq!(server.post("/v1/records/query", r#"{"filter":{"thread":"th_a"}}"#).data(), written);
    for record in &written {
        let id = member(record, "id").expect("an id");
        assert_eq!(&server.get(&format!("/v1/records/{id}")).json(), record);
    }
    let mut watch = server.request("GET", "/v1/threads/th_a/watch?since_clock=0").open();
    assert_eq!(watch.reply_head().0, 200);
    for record in &written {
        let frame = watch.next("record.created");
        let data = parse(frame.data.as_bytes(), Limits::STORED).expect("JSON");
        assert_eq!(data.get("record"), Some(record));
    }
    let wrong = post(signed(key.did(), 7, &KeyPair::from_seed(&[6; 32])));
    assert_eq!(
        (wrong.status, wrong.code(), wrong.string("field")),
        (422, "INVALID_BODY".into(), "sig".into())
    );
}

#[test]
fn a_proof_is_the_text_that_is_checked() {
    let server = Server::start();
    let id = server.note("th_a", 0, "a thing that matters");
    server.note("th_a", 1, "another");
    let reply = server.get(&format!("/v1/records/{id}/proof"));
    assert_eq!(reply.status, 200, "{}", reply.text());
    let proof = Proof::parse(&reply.body).expect("a proof");
    let instance = server.engine.store().keyring().instance().did().to_owned();
    proof.check(Some(&instance)).expect("it holds");
    assert_eq!(proof.record().id().to_string(), id);
    // Nothing of other records is in it.
    assert!(!reply.text().contains("another"));
    let none = server.get(&format!("/v1/records/{}/proof", "0".repeat(64)));
    assert_eq!((none.status, none.code()), (404, "NOT_FOUND".into()));
    assert_eq!(server.get("/v1/records/no-id/proof").status, 404);
    let blind = server.token("records:write");
    let path = format!("/v1/records/{id}/proof");
    assert_eq!(server.tcp("GET", &path).bearer(&blind).send().status, 403);
    assert_eq!(server.tcp("GET", &path).send().status, 401);
}
