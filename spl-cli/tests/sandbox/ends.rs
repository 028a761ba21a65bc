//! Nothing of a place is left when its worker ends, however that comes about.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use spl::sandbox::Way;

use crate::stand::{Stand, ways};

/// How often something is looked for before it is said not to come: a minute, all in all.
const LOOKS: u32 = 6000;

/// Returns how many processes of this machine run `sleep` for that long.
fn sleepers(length: &str) -> usize {
    let processes = fs::read_dir("/proc").expect("a folder").flatten();
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines
        .filter(|line| {
            line.strip_suffix(b"\0").is_some_and(|line| line.ends_with(length.as_bytes()))
        })
        .count()
}

fn wait_until(what: impl Fn() -> bool) {
    assert!((0..LOOKS).any(|_| what() || {
        thread::sleep(Duration::from_millis(10));
        false
    }));
}

fn length_of(stand: &Stand) -> String {
    format!("777{}", stand.target("BYSTANDER"))
}

fn multiplied(stand: &Stand) {
    let sign = stand.path("home/project/multiplied");
    wait_until(|| sign.exists());
    assert!(sleepers(&length_of(stand)) > 50, "they run");
    fs::remove_file(sign).expect("removed");
}

#[test]
fn when_a_worker_is_ended_nothing_of_it_is_left() {
    let stand = Stand::new();
    for way in ways() {
        let mut worker = stand.attack("multiplies", way);
        multiplied(&stand);
        worker.end();
        assert_eq!(sleepers(&length_of(&stand)), 0, "{way}");
    }
}

#[test]
fn when_the_keeper_is_killed_nothing_is_left() {
    let stand = Stand::new();
    for way in ways() {
        let worker = stand.attack("multiplies", way);
        multiplied(&stand);
        kill(worker.keeper());
        wait_until(|| sleepers(&length_of(&stand)) == 0);
    }
}

#[test]
fn when_the_engine_is_killed_nothing_is_left() {
    for way in ways() {
        let engine = std::env::current_exe().expect("this program");
        let mut engine = Command::new(engine)
            .args([
                "--exact",
                "ends::holds_a_worker_until_it_is_killed",
                "--ignored",
                "--nocapture",
            ])
            .env("WAY", way.as_str())
            .stdout(Stdio::piped())
            .spawn()
            .expect("an engine");
        let mut lines = BufReader::new(engine.stdout.take().expect("a pipe")).lines();
        let line = lines.find_map(|line| Some(line.ok()?.split_once("sleep for ")?.1.to_owned()));
        let length = line.expect("what to look for");
        assert!(sleepers(&length) > 50, "they run");
        engine.kill().expect("killed");
        engine.wait().expect("it was there");
        wait_until(|| sleepers(&length) == 0);
    }
}

#[test]
#[ignore = "is killed by another test"]
fn holds_a_worker_until_it_is_killed() {
    let way = std::env::var("WAY").expect("a way");
    let way = Way::ALL.iter().find(|known| known.as_str() == way).expect("a way");
    let stand = Stand::new();
    let _worker = stand.attack("multiplies", *way);
    multiplied(&stand);
    println!("sleep for {}", length_of(&stand));
    thread::sleep(Duration::from_mins(10));
}

fn kill(process: u32) {
    let done = Command::new("kill").args(["-9", &process.to_string()]).status().expect("kill");
    assert!(done.success());
    wait_until(|| !Path::new("/proc").join(process.to_string()).join("exe").exists());
}
