//! Hooks: what the validator takes, what a set says about the calls of a run, and its laws.

#[path = "hook/door.rs"]
mod door;
#[path = "hook/laws.rs"]
mod laws;
#[path = "fold/log.rs"]
#[expect(dead_code, reason = "the part that reads whole logs is for others")]
mod log;
#[path = "hook/run.rs"]
mod run;
#[path = "hook/said.rs"]
mod said;
