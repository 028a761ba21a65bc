//! The properties of `fuzz/`, over its seeds, with the compiler that everything else is built with.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../fuzz/src/lib.rs"]
pub mod properties;

use properties::{
    bearer, blueprint, body, canon, envelope, evaluators, hook_record, import_line, policy_pack,
    policy_settings, predicate, query, secret, session_payload, url_path,
};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds")
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let name = |entry: fs::DirEntry| entry.file_name().into_string().expect("a name");
    let mut names: Vec<String> = entries.map(|entry| name(entry.expect("an entry"))).collect();
    names.sort();
    names
}

/// Every seed of `target` has the property; some get past the reading at the front, some do not.
#[track_caller]
fn hold(target: &str, check: fn(&[u8]) -> bool) {
    let folder = folder().join(target);
    let (taken, refused): (Vec<String>, Vec<String>) =
        names_in(&folder).into_iter().partition(|name| {
            println!("{target}/{name}");
            check(&fs::read(folder.join(name)).expect("a seed"))
        });
    assert!(taken.len() >= 3, "{target} takes only {taken:?}");
    assert!(refused.len() >= 3, "{target} refuses only {refused:?}");
}

#[test]
fn every_seed_of_a_bearer() {
    hold("bearer", bearer::check);
}

#[test]
fn every_seed_of_a_blueprint() {
    hold("blueprint", blueprint::check);
}

#[test]
fn every_seed_of_a_body() {
    hold("body", body::check);
}

#[test]
fn every_seed_of_canonical_json() {
    hold("canon", canon::check);
}

#[test]
fn every_seed_of_an_envelope() {
    hold("envelope", envelope::check);
}

#[test]
fn every_seed_of_two_evaluators() {
    hold("evaluators", evaluators::check);
}

#[test]
fn every_seed_of_a_hook() {
    hold("hook_record", hook_record::check);
}

#[test]
fn every_seed_of_a_line_of_an_import() {
    hold("import_line", import_line::check);
}

#[test]
fn every_seed_of_a_pack() {
    hold("policy_pack", policy_pack::check);
}

#[test]
fn every_seed_of_settings_of_policy_hooks() {
    hold("policy_settings", policy_settings::check);
}

#[test]
fn every_seed_of_a_predicate() {
    hold("predicate", predicate::check);
}

#[test]
fn every_seed_of_a_query() {
    hold("query", query::check);
}

#[test]
fn every_seed_of_a_text_with_secrets() {
    hold("secret", secret::check);
}

#[test]
fn every_seed_of_a_payload() {
    hold("session_payload", session_payload::check);
}

#[test]
fn every_seed_of_a_path() {
    hold("url_path", url_path::check);
}

/// A target is the file that feeds it, its entry for the build, its folder of seeds and its test
/// here: one that lacks any of them is not fuzzed, or not held between two fuzzings.
#[test]
fn every_target_has_seeds_and_a_test_here() {
    let root = folder().join("..");
    let files = names_in(&root.join("fuzz_targets"));
    let targets: Vec<&str> = files.iter().filter_map(|file| file.strip_suffix(".rs")).collect();
    assert_eq!(targets.len(), files.len(), "{files:?}");
    assert_eq!(names_in(&folder()), targets, "the folders of seeds");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).expect("a manifest");
    let here = include_str!("seeds.rs");
    for target in targets {
        assert!(!names_in(&folder().join(target)).is_empty(), "{target} has no seed");
        assert!(manifest.contains(&format!("name = \"{target}\"\n")), "{target} is not built");
        let property = format!("hold(\"{target}\", {target}::check)");
        assert!(here.contains(&property), "{target} has no test here: `{property}`");
    }
}
