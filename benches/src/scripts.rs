//! How long scripts take that mean harm, beside the time they are given.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use spl::tool::{Cancel, Script, ScriptEnd};

use crate::records::quantile;

/// How long a script may take.
const TIMEOUT: Duration = Duration::from_millis(500);
const ROUNDS: usize = 10;

pub fn run() {
    println!("\n## Scripts that mean harm, given {TIMEOUT:?} ({ROUNDS} of each)\n");
    println!("| what it does | ends as | after: p50 | at most |\n|---|---|---:|---:|");
    for (name, command) in [
        ("a fork bomb (pipes)", cell("b() { b | b; }; b")),
        ("a fork bomb (background)", cell("b() { b & b; }; b")),
        ("ignores SIGTERM", "trap '' TERM; while :; do sleep 60; done".to_owned()),
        ("answers too late", "sleep 2; exit 2".to_owned()),
        ("stops itself", "kill -STOP $$".to_owned()),
        ("holds stdout from a group of its own", "setsid sleep 3 & sleep 60".to_owned()),
        ("leaves a child that holds stdout", "sleep 2 & exit 2".to_owned()),
        ("1 GB to stdout", "head -c 1000000000 /dev/zero; sleep 60".to_owned()),
        ("1 GB to stderr", "head -c 1000000000 /dev/zero >&2; sleep 60".to_owned()),
        ("bytes that are no text", r"printf '\xff\xfe\x80'; exit 1".to_owned()),
        ("`exit 258`", "exit 258".to_owned()),
        ("deletes where it runs", "cd \"$(mktemp -d)\" && rm -rf \"$PWD\"; exit 0".to_owned()),
        ("reads nothing", "exit 0".to_owned()),
        ("dies", "kill -SEGV $$".to_owned()),
    ] {
        let ends: Vec<ScriptEnd> = (0..ROUNDS).map(|_| ask(&command)).collect();
        let mut took: Vec<Duration> = ends.iter().map(|end| end.took).collect();
        println!(
            "| {name} | {:?} | {:.1?} | {:.1?} |",
            ends[0].ending,
            quantile(&mut took, 0.5),
            quantile(&mut took, 1.0),
        );
        assert!(ends.iter().all(|end| end.ending == ends[0].ending), "{name}: {ends:?}");
    }
}

/// A command as a user of its own who may have few processes, in a namespace of processes.
fn cell(command: &str) -> String {
    format!(
        "exec unshare --pid --fork --kill-child --mount-proc setpriv --reuid 61234 --regid 61234 \
         --clear-groups prlimit --nproc=100 bash -c '{command}' 2>/dev/null"
    )
}

fn ask(command: &str) -> ScriptEnd {
    let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let arguments = ["-c".as_ref(), OsStr::new(command)];
    let script = Script {
        program: Path::new("/bin/bash"),
        arguments: &arguments,
        dir: Path::new("."),
        environment: &environment,
        input: br#"{"event":"preToolUse","toolName":"bash","toolInput":{"command":"ls"}}"#,
        timeout: TIMEOUT,
        most_bytes: 64_000,
    };
    script.run(&Cancel::new())
}
