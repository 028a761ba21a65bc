//! A corpus of packs, good and bad, and the schema that is held against the reader.

use std::collections::BTreeSet;
use std::fs;

use serde::Deserialize;
use serde_json::Value;
use spl::policy::polpo::{PackCode, PackName, read_pack, read_pack_value};

use crate::cases::{fixtures, text_of};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    about: String,
    /// The value of a pack, or its text.
    pack: Value,
    #[serde(default)]
    provider_native: Vec<String>,
    /// Code and path of each.
    #[serde(default)]
    errors: Vec<(String, String)>,
    #[serde(default)]
    warnings: Vec<(String, String)>,
}

/// What takes more than a schema to see.
const BEYOND_A_SCHEMA: &[PackCode] = &[
    PackCode::InvalidJson,
    PackCode::TooLarge,
    PackCode::DuplicateId,
    PackCode::InlineCredential,
    PackCode::PrivateHost,
    PackCode::ProviderNativeUnsupported,
];

/// Places at which the schema takes more than the reader, and why.
const LOOSER: &[(&str, &str)] = &[
    // Which patterns are the same, case and space aside, no schema can tell.
    ("two patterns that differ in case and space", "$.hooks[0].match.tools[1]"),
    // Nor what is a URL.
    ("a URL without a host", "$.hooks[0].handler.url"),
    ("two headers that differ in case", "$.hooks[0].handler.headers[\"x-a\"]"),
    // Nor how deep a value nests, or how many there are.
    ("an input that nests too deep", "$"),
    ("an input of too many values", "$"),
];

fn corpus() -> Vec<Entry> {
    let text = fs::read_to_string(fixtures().join("packs.json")).expect("the corpus");
    serde_json::from_str(&text).expect("a corpus")
}

fn name() -> PackName {
    PackName::parse("quality").expect("a name")
}

#[test]
fn each_pack_is_read_as_the_corpus_has_it() {
    let corpus = corpus();
    let mut abouts = BTreeSet::new();
    for Entry { about, pack, provider_native, errors, warnings } in &corpus {
        assert!(abouts.insert(about), "twice: {about}");
        let text = text_of(pack);
        let reading = read_pack(&name(), text.as_bytes(), provider_native);
        let found = |is_error: bool| -> BTreeSet<(String, String)> {
            let of = reading.findings.iter().filter(|it| it.is_error() == is_error);
            of.map(|it| (it.code.as_str().to_owned(), it.path.clone())).collect()
        };
        assert_eq!(found(true), errors.iter().cloned().collect(), "{about}");
        assert_eq!(found(false), warnings.iter().cloned().collect(), "{about}");
        assert_eq!(reading.pack.is_some(), errors.is_empty(), "{about}");
        // Read from its value, a pack is the same.
        if let Some(pack) = reading.pack {
            let value = spl::canon::Value::from(pack.written.clone());
            assert_eq!(
                read_pack_value(&name(), &value, provider_native).pack,
                Some(pack),
                "{about}"
            );
        }
    }
}

#[test]
fn every_code_of_a_pack_is_in_the_corpus() {
    // What is about names of files and about agents is in the cases.
    let elsewhere = [PackCode::InvalidName, PackCode::UnknownPack, PackCode::DuplicatePack];
    let corpus = corpus();
    let seen: BTreeSet<&str> = corpus
        .iter()
        .flat_map(|entry| entry.errors.iter().chain(&entry.warnings))
        .map(|(code, _)| code.as_str())
        .collect();
    for code in PackCode::ALL.iter().filter(|code| !elsewhere.contains(code)) {
        assert!(seen.contains(code.as_str()), "{code}");
    }
}

/// A finding is shown in logs and terminals.
#[test]
fn no_finding_repeats_a_secret() {
    for Entry { about, pack, provider_native, errors, .. } in corpus() {
        if !errors.iter().any(|(code, _)| code == PackCode::InlineCredential.as_str()) {
            continue;
        }
        let reading = read_pack(&name(), text_of(&pack).as_bytes(), &provider_native);
        let said = format!("{:?}", reading.findings);
        for secret in ["p_aB3dE5", "hunter2", "s3cret", "Basic abc", "AKIAIOSFODNN7"] {
            assert!(!said.contains(secret), "{about}: {said}");
        }
    }
}

#[test]
fn the_schema_takes_what_the_reader_takes() {
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/polpo-pack.json");
    let schema: Value =
        serde_json::from_str(&fs::read_to_string(schema).expect("the schema")).expect("JSON");
    jsonschema::meta::validate(&schema).expect("a schema");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    for Entry { about, pack, errors, .. } in corpus() {
        let text = text_of(&pack);
        if errors.iter().any(|(code, _)| code == PackCode::InvalidJson.as_str()) {
            continue;
        }
        let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).expect(&about);
        let is_beyond = |code: &str| BEYOND_A_SCHEMA.iter().any(|it| it.as_str() == code);
        let is_looser = |path: &str| LOOSER.contains(&(about.as_str(), path));
        let refused = errors.iter().any(|(code, path)| !is_beyond(code) && !is_looser(path));
        let said: Vec<String> = schema
            .iter_errors(&value)
            .map(|error| error.to_string().chars().take(200).collect())
            .collect();
        assert_eq!(said.is_empty(), !refused, "{about}: {said:?}");
    }
}

#[test]
fn what_the_corpus_is_looser_in_is_in_the_corpus() {
    let corpus = corpus();
    for (about, path) in LOOSER {
        let entry = corpus.iter().find(|entry| entry.about == *about).expect(about);
        assert!(entry.errors.iter().any(|(_, at)| at == path), "{about}");
    }
}

/// What is deployed is known by what it says.
#[test]
fn packs_that_say_the_same_have_one_hash() {
    let read = |text: &str| {
        let reading = read_pack(&name(), text.as_bytes(), &[]);
        spl::canon::hex(&reading.pack.expect("a pack").sha256)
    };
    let one = r#"{"version":1,"hooks":[{"id":"a","event":"turn:stop","handler":{"type":"command","command":"x"}}]}"#;
    let spaced = "\u{feff}{ \"hooks\": [ { \"handler\": {\"command\":\"x\", \"type\":\"comm\\u0061nd\"},\n\
                  \"event\": \"turn:stop\", \"id\": \"a\" } ], \"version\": 1.0 }";
    assert_eq!(read(one), read(spaced));
    assert_ne!(read(one), read(&one.replace("\"x\"", "\"y\"")));
}
