//! What a hook adds to a tool call of an agent: whole processes, from their start to their end,
//! beside those that a person could have instead, and beside the least that could keep a record.

mod contender;
mod server;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use spl::canon::Object;
use spl::engine::{Engine, EngineOptions, Home};
use spl::object;

use crate::hooks;
use crate::records::quantile;
use contender::Contender;
use server::Server;

/// How often each is started.
const TIMES: usize = 300;

/// The lessons that are loaded. One of them speaks of each call that has failed.
const LESSONS: usize = 1_000;

const LONG: usize = 100 * 1024;
const VERY_LONG: usize = 3 * 1024 * 1024;

pub fn run() {
    println!("\n## A hook of a session, whole processes ({LESSONS} lessons; {TIMES} times each)\n");
    let spl = built();
    let folder = tempfile::tempdir_in(".").expect("a folder");
    let path = folder.path().canonicalize().expect("a path");
    let home = hooks::home(&path, LESSONS - 1, hooks::plain);
    teach(&home);
    let shell = || {
        Contender::new("a shell: `cat >/dev/null`", &["/bin/sh", "-c", "cat >/dev/null"]).fed(LONG)
    };
    let hook = |name: &str, bytes| Contender::new(name, &hook_line(&spl, &path)).fed(bytes);

    let server = Server::start(&spl, &path);
    let with_server = || hook("spl, with a server, 100 KB", LONG);
    print(&measure(vec![bare(), shell(), with_server()]));
    if Command::new("node").arg("--version").output().is_ok() {
        let script = "process.stdin.on('data', () => {})";
        let node = Contender::new("Node: reads it", &["node", "-e", script]).fed(LONG);
        println!("\nThe same with Node in between, which leaves no cache warm:\n");
        print(&measure(vec![bare(), shell(), node, with_server()]));
    }
    let very_long = measure(vec![bare(), hook("spl, with a server, 3 MB", VERY_LONG)]);
    drop(server);

    let size = longest(&home);
    println!("\nWithout a server; the record has {size} bytes:\n");
    let [floor, keeping] = contender::floor(&home.store_path(), size);
    print(&measure(vec![bare(), floor, keeping, hook("spl, without a server, 100 KB", LONG)]));

    println!("\nA payload of 3 MB, with and without one:\n");
    print(&very_long);
    println!();
    print(&measure(vec![bare(), hook("spl, without a server, 3 MB", VERY_LONG)]));
}

/// What every process costs.
fn bare() -> Contender {
    Contender::new("/bin/true", &["/bin/true"])
}

/// Builds the command, and returns where it is.
fn built() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    let status = build.args(["build", "--release", "--quiet"]).current_dir(root).status();
    assert!(status.expect("cargo").success());
    root.join("target/release/spl")
}

fn hook_line<'a>(spl: &'a Path, home: &Path) -> Vec<String> {
    let home = format!("SYNCROPEL_HOME={}", home.display());
    ["session", "hook", "--harness", "claude", "--env", &home].iter().fold(
        vec![spl.display().to_string()],
        |mut line, word| {
            line.push((*word).to_owned());
            line
        },
    )
}

/// Writes the lesson that speaks.
fn teach(home: &Home) {
    let body: Object = object! {
        "kind": "core.hook.v1",
        "topic": "hook",
        "name": "it-failed",
        "when": r#"resource == "tool:bash" && record.body.status == "error""#,
        "text": "${tool} ended with ${status}: read what it says before you call it again.",
        "max_fires_per_run": 100,
    };
    let engine = Engine::open(home, EngineOptions::default()).expect("an engine");
    let record = object! {
        "act": "LEARN",
        "actor": "did:sync:user:vera",
        "thread": "th_engine_config",
        "body": body,
        "clock": LESSONS,
    };
    let record = spl::canon::Value::from(record).to_string();
    engine.ingest(&spl::engine::Caller::operator(), record.as_bytes()).expect("a lesson");
}

/// Returns the bytes of the longest record of a call.
fn longest(home: &Home) -> usize {
    let store = rusqlite::Connection::open(home.store_path()).expect("a store");
    let sql = "SELECT max(length(canonical)) FROM records WHERE kind = 'core.session.tool.v1'";
    store.query_row(sql, [], |row| row.get(0)).expect("a record")
}

/// Starts each of them, one after another, again and again.
fn measure(contenders: Vec<Contender>) -> Vec<(String, Vec<Duration>)> {
    let mut times: Vec<(String, Vec<Duration>)> =
        contenders.iter().map(|it| (it.name.clone(), Vec::new())).collect();
    for number in 0..TIMES + 10 {
        for (contender, (_, times)) in contenders.iter().zip(&mut times) {
            let took = contender.start(number);
            // The first ones find nothing in the caches.
            if number >= 10 {
                times.push(took);
            }
        }
    }
    times
}

/// Prints each beside the first and, where there is one, beside the floor.
fn print(measured: &[(String, Vec<Duration>)]) {
    let p50 = |name: &str| {
        let (_, times) = measured.iter().find(|(found, _)| found == name)?;
        Some(quantile(&mut times.clone(), 0.5).as_secs_f64())
    };
    let least = p50("/bin/true").expect("the first");
    let floor = p50(contender::FLOOR);
    println!(
        "| | p50 | p99 | more than `true` | × `true` | × floor |\n|---|---:|---:|---:|---:|---:|"
    );
    for (name, times) in measured {
        let mut times = times.clone();
        let (half, most) = (quantile(&mut times, 0.5), quantile(&mut times, 0.99));
        let (half, most) = (half.as_secs_f64(), most.as_secs_f64());
        let beside = floor.map_or_else(String::new, |floor| format!("{:.2}", half / floor));
        println!(
            "| {name} | {:.2} ms | {:.2} ms | {:.2} ms | {:.2} | {beside} |",
            half * 1e3,
            most * 1e3,
            (half - least) * 1e3,
            half / least,
        );
    }
}
