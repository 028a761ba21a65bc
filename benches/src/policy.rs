//! What a question to policy hooks costs: where none is concerned, and where one is, beside the same
//! script run by itself.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use spl::cancel::Cancel;
use spl::canon::{Object, Value};
use spl::object;
use spl::policy::polyglot::{Files, Project, Texts, load_texts, payload};
use spl::policy::{Policy, Question};

use crate::records::quantile;

/// Questions of which one is told the time.
const BATCH: u32 = 1000;
const BATCHES: usize = 1000;

/// How often a script is run, each way.
const RUNS: usize = 500;

/// Reads what it is given, and has nothing against it.
const SCRIPT: &str = r#"read -r payload; [[ $payload != *'rm -rf'* ]] || exit 2"#;

const PATH: &str = "/usr/bin:/bin";

pub fn run() {
    println!(
        "\n## A question to policy hooks that concerns none ({BATCH} questions a measurement)\n"
    );
    println!("| hooks | patterns | a question: p50, p99 |");
    println!("|---:|---|---:|");
    for (count, patterns) in [
        (0, &[][..]),
        (1, &["bash"]),
        (1, &["web_*"]),
        (10, &["bash", "web_*", "mcp__*", "*_file", "{task,agent_*}"]),
        (10, &["!(read|list)_*", "@(bash|grep)", "+([a-c])", "m*_*_*", "?ash"]),
    ] {
        let hook = |_| object! { "command": "exit 2", "tools": patterns.to_vec() };
        let policy = policy(Path::new("."), (0..count).map(hook).collect());
        let mut times = asked(&policy);
        let nanos = |duration: Duration| duration.as_secs_f64() * 1e9 / f64::from(BATCH);
        let (half, most) = (quantile(&mut times, 0.5), quantile(&mut times, 0.99));
        println!(
            "| {count} | `{}` | {:.0} ns, {:.0} ns |",
            patterns.join(" "),
            nanos(half),
            nanos(most)
        );
    }

    println!(
        "\n## A question to one shell hook, and the same script by itself ({RUNS} runs of each)\n"
    );
    println!("| by itself: p50, p99 | asked: p50, p99 | added: p50 |");
    println!("|---:|---:|---:|");
    let folder = tempfile::tempdir().expect("a folder");
    let (mut bare, mut ours) = beside(folder.path());
    let millis = |duration: Duration| duration.as_secs_f64() * 1e3;
    let (plain, half) = (quantile(&mut bare, 0.5), quantile(&mut ours, 0.5));
    println!(
        "| {:.2} ms, {:.2} ms | {:.2} ms, {:.2} ms | {:+.1} % |",
        millis(plain),
        millis(quantile(&mut bare, 0.99)),
        millis(half),
        millis(quantile(&mut ours, 0.99)),
        (half.as_secs_f64() / plain.as_secs_f64() - 1.0) * 100.0,
    );
}

/// A policy of these hooks, which stand before calls.
fn policy(folder: &Path, hooks: Vec<Object>) -> Policy {
    let settings = Value::from(object! { "hooks": object! { "preToolUse": hooks } });
    let texts = Texts { global: Some(settings.to_string().into_bytes()), project: None };
    let files = Files { home: Some(folder), workspace: folder, project: Project::Asked };
    load_texts(&texts, &files, &|_| None)
        .expect("settings")
        .at(folder.to_owned(), vec![("PATH".into(), PATH.into())])
}

fn asked(policy: &Policy) -> Vec<Duration> {
    let (input, cancel) = (object! { "path": "src/main.rs" }, Cancel::new());
    let question = Question::Before { tool: "list_dir", input: &input };
    assert!(policy.ask(&question, &cancel).ran.is_empty(), "a hook is concerned");
    let batch = |_| {
        let begun = Instant::now();
        for _ in 0..BATCH {
            std::hint::black_box(policy.ask(std::hint::black_box(&question), &cancel));
        }
        begun.elapsed()
    };
    (0..BATCHES).map(batch).collect()
}

/// Runs the script by itself and as a hook, in turns.
fn beside(folder: &Path) -> (Vec<Duration>, Vec<Duration>) {
    let policy = policy(folder, vec![object! { "command": SCRIPT }]);
    let (input, cancel) = (object! { "command": "cargo test" }, Cancel::new());
    let question = Question::Before { tool: "bash", input: &input };
    let read = payload(&question, folder);
    let bare = || {
        let begun = Instant::now();
        let mut child = Command::new("/bin/bash")
            .args(["-c", SCRIPT])
            .current_dir(folder)
            .env_clear()
            .env("PATH", PATH)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("bash");
        let mut stdin = child.stdin.take().expect("its input");
        stdin.write_all(read.as_bytes()).expect("written");
        drop(stdin);
        assert!(child.wait_with_output().expect("its end").status.success());
        begun.elapsed()
    };
    let ours = || {
        let begun = Instant::now();
        let verdict = policy.ask(&question, &cancel);
        let took = begun.elapsed();
        assert_eq!((verdict.ran.len(), verdict.block()), (1, None));
        took
    };
    (0..RUNS).map(|_| (bare(), ours())).unzip()
}
