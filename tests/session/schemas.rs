//! What is recorded of any event is what the schemas promise.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use spl::engine::Engine;
use spl::session::{Event, Harness, Payload, receive, report};
use spl::store::{Stored, ThreadRange};

use crate::support::{in_memory, teaches};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "json"));
    paths.sort();
    paths
}

/// The schema of each kind of record.
fn schemas() -> BTreeMap<String, Validator> {
    let schema = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("a schema");
        let schema: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let kind = path.file_stem().expect("a name").to_string_lossy().into_owned();
        (kind, jsonschema::draft202012::new(&schema).expect("a schema"))
    };
    json_files(&root().join("schema/session")).iter().map(schema).collect()
}

fn records(engine: &Engine) -> Vec<Stored> {
    let read = engine.store().read(|reader| {
        let mut records = Vec::new();
        for thread in reader.threads("", 10_000)? {
            records.extend(reader.thread(&thread.id, ThreadRange::default(), usize::MAX)?);
        }
        Ok(records)
    });
    read.expect("read")
}

#[test]
fn every_record_of_every_event_is_what_its_schema_says() {
    let engine = in_memory();
    teaches(&engine, "always", "true", "${tool} ended with ${status}.");
    let mut threads = BTreeSet::new();
    for harness in Harness::ALL {
        for path in json_files(&root().join("fixtures/session").join(harness.name())) {
            let payload = Payload::read(&fs::read(&path).expect("a sample")).expect("a payload");
            let event = Event::read(&payload, Some(harness)).expect("an event");
            let attempt = path.display().to_string();
            threads.insert(receive(&engine, &event, None, &attempt).expect("received").thread);
        }
    }
    let reported = threads.iter().filter(|it| report(&engine, it).expect("a report").is_some());
    assert!(reported.count() > 3);
    let schemas = schemas();
    let mut seen = BTreeSet::new();
    for stored in records(&engine) {
        let kind = stored.record.kind().expect("a kind").to_owned();
        let Some(schema) = schemas.get(&kind) else { continue };
        let body = spl::canon::Value::Object(stored.record.body.clone()).to_string();
        let body: serde_json::Value = serde_json::from_str(&body).expect("JSON");
        let faults: Vec<String> =
            schema.iter_errors(&body).map(|it| format!("{}: {it}", it.instance_path())).collect();
        assert!(faults.is_empty(), "{kind}: {faults:?} in {body}");
        seen.insert(kind);
    }
    let of_events = |kind: &&String| !kind.starts_with("agent.") && !is_of_a_transcript(kind);
    let wanted: BTreeSet<String> = schemas.keys().filter(of_events).cloned().collect();
    assert_eq!(seen, wanted);
}

fn is_of_a_transcript(kind: &str) -> bool {
    kind.contains("transcript") || kind.contains("forgotten")
}
