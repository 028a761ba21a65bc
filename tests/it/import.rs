//! Import: what is taken, what is refused by its number, and that nothing foreign configures.

use spl::canon::{Object, Value};
use spl::code::{Code, Coded as _};
use spl::engine::{Caller, Engine, ImportLine, Imported, MAX_IMPORT_LINES, Scopes};
use spl::identity::KeyPair;
use spl::object;
use spl::record::{Act, ActorId, Clock, Draft, Origin, Record, RecordId, Sequence, ThreadId};
use spl::store::{ExportRange, Stored};

use crate::lab::{Lab, SHELL_FAILED, bash, teach, turns};
use crate::support::json;

fn engine() -> Engine {
    Engine::in_memory().expect("an engine")
}

fn state(engine: &Engine, on: &str, clock: i64, body: Object) -> RecordId {
    let thread = ThreadId::parse(on).expect("a thread");
    let actor = ActorId::parse("did:sync:user:vera").expect("an actor");
    let clock = Clock::new(clock).expect("a clock");
    let draft = Draft::new(thread, actor, Act::Know, body).with_clock(clock);
    engine.ingest_draft(&Caller::operator(), draft).expect("stored").record.id()
}

/// Everything there is, as the lines of an export.
fn exported(engine: &Engine) -> Vec<String> {
    let through = engine.store().read(|it| it.last()).expect("read");
    let mut range = ExportRange { through, ..ExportRange::default() };
    let mut lines = Vec::new();
    loop {
        let page = engine.store().read(|it| it.export_page(&range)).expect("read");
        let Some(last) = page.last() else { return lines };
        range.after = last.sequence;
        lines.extend(page.iter().map(|stored| Value::from(stored.to_export()).to_string()));
    }
}

fn import(engine: &Engine, lines: &[String], strict: bool) -> Imported {
    let text = lines.join("\n");
    engine.import(&Caller::operator(), text.as_bytes(), strict).expect("imported")
}

fn stored(engine: &Engine, id: RecordId) -> Stored {
    engine.store().read(|it| it.record(id)).expect("read").expect("there")
}

#[test]
fn what_was_exported_is_there_once_with_its_signatures() {
    let (ours, theirs) = (engine(), engine());
    for clock in 0..30 {
        state(&theirs, "th_a", clock, object! { "n": clock, "text": "grün \u{2028} \"" });
    }
    let lines = exported(&theirs);
    let all = Imported { new: 30, ..Imported::default() };
    assert_eq!(import(&ours, &lines, false), all);
    let again = Imported { known: 30, ..Imported::default() };
    assert_eq!(import(&ours, &lines, false), again);
    for line in exported(&theirs) {
        let line = json(&line);
        let id = line.get("id").and_then(Value::as_str).and_then(RecordId::parse).expect("an id");
        let (here, there) = (stored(&ours, id), stored(&theirs, id));
        assert_eq!(here.record, there.record);
        assert_eq!((here.origin, there.origin), (Origin::Import, Origin::Door));
        assert_eq!((here.signer, here.signature), (there.signer, there.signature));
    }
    assert_eq!(ours.store().verify(|_, _| {}).expect("verified").fault, None);
}

#[test]
fn an_envelope_alone_is_signed_by_the_instance() {
    let ours = engine();
    let line = r#"{"act":"KNOW","actor":"did:sync:user:eve","body":{"n":1},"thread":"th_a"}"#;
    assert_eq!(import(&ours, &[line.to_owned()], false).new, 1);
    let id = ImportLine::parse(line.as_bytes()).expect("a line").record().id();
    assert_eq!(stored(&ours, id).signer, ours.store().keyring().instance().did());
}

/// A signature that an envelope brings is its actor's, as at the records door.
#[test]
fn the_signature_of_an_actor_is_checked_and_kept() {
    let key = KeyPair::from_seed(&[9; 32]);
    let line = |actor: &str, n: i64, wrong: bool| {
        let thread = ThreadId::parse("th_a").expect("a thread");
        let actor = ActorId::parse(actor).expect("an actor");
        let draft = Draft::new(thread, actor, Act::Know, object! { "n": n });
        let record = Record::seal(draft).expect("sealed");
        let signed: &[u8] = if wrong { b"other bytes" } else { record.canonical().as_bytes() };
        let mut envelope = record.to_object();
        envelope.remove("object");
        envelope.insert("sig".into(), key.sign(signed).to_string().into());
        (Value::from(envelope).to_string(), record.id())
    };
    let ours = engine();
    let (good, known) = line(key.did(), 1, false);
    let (wrong, _) = line(key.did(), 2, true);
    let (unknown, nobodys) = line("did:sync:user:eve", 3, false);
    let imported = import(&ours, &[good, wrong, unknown], false);
    assert_eq!((imported.new, imported.refused.len()), (2, 1));
    let refused = imported.refused.first().expect("one");
    assert_eq!((refused.line, refused.error.field.as_deref()), (2, Some("sig")));
    assert_eq!(stored(&ours, known).signer, key.did());
    let there = stored(&ours, nobodys);
    assert_eq!(there.signer, ours.store().keyring().instance().did());
    assert!(there.unproven.is_some());
    // It goes along, so that whoever knows the key can check it still.
    let theirs = engine();
    let imported = import(&theirs, &exported(&ours), false);
    assert_eq!((imported.new, imported.refused), (2, vec![]));
    assert_eq!(stored(&theirs, nobodys).unproven, there.unproven);
    assert_eq!(stored(&theirs, known).signer, key.did());
    assert_eq!(theirs.store().verify(|_, _| {}).expect("verified").fault, None);
    // Also as an answer shows it, with who signed it for whom.
    let shown = theirs.store().shown(&stored(&theirs, nobodys)).expect("shown");
    let third = engine();
    assert_eq!(import(&third, &[Value::from(shown).to_string()], false).new, 1);
    assert_eq!(stored(&third, nobodys).unproven, there.unproven);
}

#[test]
fn a_bad_line_refuses_itself_by_its_number() {
    let theirs = engine();
    for clock in 0..5 {
        state(&theirs, "th_a", clock, object! { "n": clock });
    }
    let good = exported(&theirs);
    let forged = good[1].replace("\"n\":1", "\"n\":9");
    let other_sig = {
        let sig = |line: &str| json(line).get("sig").expect("a sig").to_string();
        good[2].replace(&sig(&good[2]), &sig(&good[3]))
    };
    let lines = [
        good[0].clone(),
        forged,
        String::new(),
        other_sig,
        "{".to_owned(),
        good[4].clone(),
        good[3].replace("\"sequence\"", "\"seqence\""),
    ];
    let ours = engine();
    // Another record stands at the clock of the last good one.
    state(&ours, "th_a", 4, object! { "n": "ours" });
    let imported = import(&ours, &lines, false);
    assert_eq!((imported.new, imported.known), (1, 0));
    let told: Vec<(usize, Option<&str>)> =
        imported.refused.iter().map(|it| (it.line, it.error.field.as_deref())).collect();
    let wanted =
        [(2, Some("id")), (4, Some("sig")), (5, None), (6, Some("clock")), (7, Some("seqence"))];
    assert_eq!(told, wanted);
    assert!(imported.refused.iter().all(|it| it.error.code() == Code::ImportFailed));

    let strict = engine();
    let before = strict.store().read(|it| it.last()).expect("read").get();
    let imported = import(&strict, &lines, true);
    assert_eq!((imported.new, imported.refused.len()), (1, 1));
    assert_eq!(strict.store().read(|it| it.last()).expect("read").get(), before + 1);
}

#[test]
fn only_the_operator_imports_and_never_too_much_at_once() {
    let ours = engine();
    let bearer = Caller::bearer(Scopes::parse("records:write,config:write").expect("scopes"));
    let refused = ours.import(&bearer, b"", false).expect_err("refused");
    assert_eq!(refused.code(), Code::ScopeForbidden);
    let lines = "{}\n".repeat(MAX_IMPORT_LINES + 1);
    assert!(ours.import(&Caller::operator(), lines.as_bytes(), false).is_err());
    let id = RecordId::from_bytes([7; 32]);
    let refused = ours.adopt(&bearer, id, &ActorId::engine()).expect_err("refused");
    assert_eq!(refused.code(), Code::ScopeForbidden);
    assert!(ours.adopt(&Caller::operator(), id, &ActorId::engine()).expect("asked").is_none());
}

#[test]
fn a_foreign_hook_is_kept_and_not_loaded_until_it_is_adopted() {
    let theirs = Lab::new();
    teach(&theirs.engine, 0, SHELL_FAILED);
    let foreign = theirs.row("shell-failed");
    let foreign = foreign.get("record_id").and_then(Value::as_str).and_then(RecordId::parse);
    let foreign = foreign.expect("a record");
    let ours = Lab::new();
    let operator = ActorId::parse("did:sync:user:vera").expect("an actor");
    assert_eq!(ours.engine.live().expect("live").config.hooks_loaded(), 0);
    import(&ours.engine, &exported(&theirs.engine), false);
    assert_eq!(ours.engine.live().expect("live").config.hooks_loaded(), 0);
    let played = ours.play(&turns(&[bash("false")]));
    assert!(!played.told.iter().any(|it| format!("{it:?}").contains("read stderr first")));
    let refused = ours.row("shell-failed").get("refused").cloned().expect("a reason");
    assert_eq!(refused.get("reason").and_then(Value::as_str), Some("imported"));
    let hint = format!("To let it hold here: `spl import --adopt {foreign}`.");
    assert_eq!(refused.get("hint").and_then(Value::as_str), Some(hint.as_str()));

    let adopted = ours.engine.adopt(&Caller::operator(), foreign, &operator).expect("adopted");
    let adopted = adopted.expect("there").record;
    assert_eq!(adopted.parents, [foreign]);
    assert_eq!(adopted.body, stored(&ours.engine, foreign).record.body);
    assert_eq!(ours.engine.live().expect("live").config.hooks_loaded(), 1);
    assert_eq!(ours.another().live().expect("live").config.hooks_loaded(), 1);
    let row = ours.row("shell-failed");
    assert_eq!(row.get("refused"), Some(&Value::Null));
    assert_eq!(row.get("record_id"), Some(&adopted.id().into()));

    // What is no configuration, or was not imported, is not adopted.
    let refuse = |id| ours.engine.adopt(&Caller::operator(), id, &operator).expect_err("refused");
    let note = state(&ours.engine, "th_a", 0, object! { "n": 1 });
    for id in [adopted.id(), note] {
        assert_eq!(refuse(id).field(), Some("id"));
    }
}

/// A hook that would not pass the door here does not pass it by adoption either.
#[test]
fn what_is_adopted_passes_the_same_door() {
    let ours = Lab::new();
    let line = r#"{"act":"LEARN","actor":"did:sync:user:eve","thread":"th_engine_config","body":{
        "kind":"core.hook.v1","topic":"hook","name":"n","when":"true","text":"t","action":"block"}}"#;
    let line = line.replace('\n', " ");
    let id = ImportLine::parse(line.as_bytes()).expect("a line").record().id();
    assert_eq!(import(&ours.engine, &[line], false).new, 1);
    let operator = ActorId::parse("did:sync:user:vera").expect("an actor");
    let refused = ours.engine.adopt(&Caller::operator(), id, &operator).expect_err("refused");
    assert_eq!((refused.code(), refused.field()), (Code::InvalidBody, Some("action")));
    assert_eq!(ours.engine.live().expect("live").config.hooks_loaded(), 0);
}

#[test]
fn nothing_foreign_erases_judges_in_full_or_passes_for_work_of_ours() {
    let (ours, theirs) = (Lab::new(), Lab::new());
    theirs.play(&turns(&[bash("true")]));
    teach(&ours.engine, 0, SHELL_FAILED);
    let hook = ours.row("shell-failed");
    let hook = hook.get("record_id").and_then(Value::as_str).expect("a record").to_owned();
    let mut lines = exported(&theirs.engine);
    lines.push(
        format!(
            r#"{{"act":"PUT","actor":"did:sync:user:eve","thread":"th_engine_config",
            "body":{{"kind":"core.erasure","erases":["{hook}"]}}}}"#
        )
        .replace('\n', " "),
    );
    lines.push(
        r#"{"act":"KNOW","actor":"did:sync:user:eve","thread":"th_a",
            "body":{"verdict":"accept","judged_by":"did:sync:agent:one"}}"#
            .replace('\n', " "),
    );
    let imported = import(&ours.engine, &lines, false);
    assert_eq!((imported.new, imported.refused.len()), (lines.len(), 0));
    assert_eq!(ours.engine.live().expect("live").config.hooks_loaded(), 1);
    assert_eq!(ours.engine.store().read(|it| it.erasures()).expect("read"), 0);
    let range = spl::store::RunRange::default();
    assert!(spl::run::rows(&ours.engine, &range, None, 10).expect("rows").0.is_empty());
    let actor = ActorId::parse("did:sync:agent:one").expect("an actor");
    let trust = ours.engine.trust_in(&actor, "general").expect("a standing");
    let verdict = trust.get("history").and_then(Value::as_array).and_then(|it| it.first());
    let verdict = verdict.expect("a verdict");
    assert_eq!(verdict.get("imported"), Some(&true.into()));
    let weight = verdict.get("weight").expect("a weight").to_string();
    assert!(weight == "0.5" || weight.starts_with("0.49"), "{weight}");
}

#[test]
fn an_export_leaves_out_what_was_erased_and_keeps_to_its_threads() {
    let engine = engine();
    let mut ids = Vec::new();
    for clock in 0..6 {
        ids.push(state(
            &engine,
            if clock % 2 == 0 { "th_a" } else { "th_b" },
            clock,
            Object::new(),
        ));
    }
    let request = spl::engine::ErasureRequest {
        erases: vec![ids[0], ids[1]],
        reason: "r".into(),
        authorized_by: None,
        actor: ActorId::engine(),
        purge: true,
    };
    engine.erase(&Caller::operator(), &request).expect("erased");
    let page = |threads: &[&str], after: i64| {
        let range = ExportRange {
            threads: threads.iter().map(|it| (*it).to_owned()).collect(),
            after: Sequence::new(after),
            through: Sequence::new(6),
        };
        let read = engine.store().read(|it| {
            let erased = it.erased_count(&range.names(), range.after)?;
            Ok((it.export_page(&range)?, erased))
        });
        let (page, erased) = read.expect("read");
        (page.iter().map(|it| it.sequence.get()).collect::<Vec<_>>(), erased)
    };
    assert_eq!(page(&[], 0), (vec![3, 4, 5, 6], 2));
    assert_eq!(page(&["th_a"], 0), (vec![3, 5], 1));
    assert_eq!(page(&["th_b", "th_a"], 3), (vec![4, 5, 6], 0));
    assert_eq!(page(&["th_none"], 0), (vec![], 0));
}
