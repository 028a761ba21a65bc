//! Transcripts: kept masked, and forgotten.

use std::fs;

use spl::canon::{hash_of, hex};
use spl::code::Coded as _;
use spl::record::ThreadId;
use spl::session::{Harness, account_of, forget, retain};

use crate::support::{Told, at_home, follows_its_schema, in_memory};

#[test]
fn a_transcript_is_kept_masked_and_forgotten_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = at_home(&folder);
    let told = Told::of(&engine, Harness::Claude, "s1");
    told.asks("hello");
    let thread = told.thread();
    let line = "{\"password\":\"open sesame\"}\n{\"role\":\"user\"}\n";
    let kept = retain(&engine, &thread, line.as_bytes()).expect("kept");
    let text = fs::read_to_string(&kept.path).expect("a file");
    assert_eq!(text, "{\"password\":\"[masked:assignment]\"}\n{\"role\":\"user\"}\n");
    assert_eq!(kept.kept.sha256, hex(&hash_of(&[text.as_bytes()])));
    assert_eq!((kept.kept.bytes, kept.masked), (text.len() as u64, 1));
    let account = || account_of(&engine, &thread).expect("read").0;
    assert_eq!(account().transcript, Some(kept.kept.clone()));
    // Keeping one is no event of the session.
    let (before, again) = (account().through, retain(&engine, &thread, b"other").expect("kept"));
    assert_eq!((account().through, again.path.clone()), (before, kept.path.clone()));
    let gone = forget(&engine, &thread).expect("forgotten");
    assert!(!kept.path.exists());
    assert_eq!(gone.kept, Some(again.kept));
    assert_eq!(gone.source.as_deref(), Some("/home/dev/.claude/projects/p/s.jsonl"));
    assert_eq!(account().transcript, None);
    for record in [again.record, gone.record.expect("a record")] {
        let stored = engine.store().read(|reader| reader.record(record)).expect("read");
        follows_its_schema(&stored.expect("there").record.body);
    }
    let nothing = forget(&engine, &thread).expect("asked");
    assert_eq!((nothing.record, nothing.kept), (None, None));
    assert_eq!(nothing.records, gone.records);
}

#[test]
fn only_the_transcript_of_a_session_is_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = at_home(&folder);
    for thread in ["th_engine_config", "th_../../x", &format!("th_{}", "0".repeat(64))] {
        let thread = ThreadId::parse(thread).expect("a thread");
        let refused = retain(&engine, &thread, b"x").expect_err("refused");
        assert_eq!(refused.code().as_str(), "NOT_FOUND", "{thread}");
        let refused = forget(&engine, &thread).expect_err("refused");
        assert_eq!(refused.code().as_str(), "NOT_FOUND", "{thread}");
    }
    assert!(!folder.path().join("home/sessions").exists());
    let engine = in_memory();
    let told = Told::of(&engine, Harness::Claude, "s1");
    told.asks("hello");
    let refused = retain(&engine, &told.thread(), b"x").expect_err("refused");
    assert_eq!(refused.code().as_str(), "SESSION_NOT_KEPT");
}
