//! A script that is asked something, beside the same shell started bare; and how long those take
//! that mean harm, beside the time they were given.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use spl::tool::{Cancel, Ending, Script, ScriptEnd};

use crate::records::quantile;

const SHELL: &str = "/bin/bash";
const ROUNDS: usize = 1_000;

/// How long a script may take that does not end by itself.
const TIMEOUT: Duration = Duration::from_millis(500);
const HARM_ROUNDS: usize = 10;

pub fn run() {
    cost();
    harm();
}

fn cost() {
    println!("\n## A script that is asked, beside a bare `bash -c` of it ({ROUNDS} of each, in turn)\n");
    println!("| script | bare: p50 | asked: p50 | asked: p99 | added |\n|---|---:|---:|---:|---:|");
    for (name, command) in [
        ("`exit 0`", "exit 0"),
        ("reads, `exit 2`", "input=$(cat); echo no >&2; exit 2"),
        ("`grep -q`", "if grep -q 'rm -rf'; then exit 2; fi"),
    ] {
        let (mut bare, mut asked) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            // Whoever comes second finds everything warm.
            for ours in [round % 2 == 0, round % 2 != 0] {
                let begun = Instant::now();
                if ours {
                    let end = ask(command, TIMEOUT * 20);
                    assert!(matches!(end.ending, Ending::Exited(_)), "{end:?}");
                    asked.push(begun.elapsed());
                } else {
                    let output = Command::new(SHELL).args(["-c", command]).output();
                    assert!(output.expect("its output").status.code().is_some());
                    bare.push(begun.elapsed());
                }
            }
        }
        let micros = |duration: Duration| duration.as_secs_f64() * 1e6;
        let (plain, ours) = (micros(quantile(&mut bare, 0.5)), micros(quantile(&mut asked, 0.5)));
        println!(
            "| {name} | {plain:.0} µs | {ours:.0} µs | {:.0} µs | {:.1} % |",
            micros(quantile(&mut asked, 0.99)),
            (ours / plain - 1.0) * 100.0,
        );
    }
}

fn harm() {
    println!("\n## Scripts that mean harm, given {TIMEOUT:?} ({HARM_ROUNDS} of each)\n");
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
        let ends: Vec<ScriptEnd> = (0..HARM_ROUNDS).map(|_| ask(&command, TIMEOUT)).collect();
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

fn ask(command: &str, timeout: Duration) -> ScriptEnd {
    let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let arguments = ["-c".as_ref(), OsStr::new(command)];
    let script = Script {
        program: Path::new(SHELL),
        arguments: &arguments,
        dir: Path::new("."),
        environment: &environment,
        input: br#"{"event":"preToolUse","toolName":"bash","toolInput":{"command":"ls"}}"#,
        timeout,
        most_bytes: 64_000,
    };
    script.run(&Cancel::new())
}
