//! The fold of the configuration: stories, and the laws it keeps.

#[path = "config/laws.rs"]
mod laws;
#[path = "fold/log.rs"]
#[expect(dead_code, reason = "the part that reads fixtures is for others")]
mod log;
#[path = "config/rules.rs"]
mod rules;
#[path = "hook/run.rs"]
#[expect(dead_code, reason = "the part that counts fires is for others")]
mod run;
#[path = "config/stories.rs"]
mod stories;
#[path = "config/tiers.rs"]
mod tiers;
#[path = "config/written.rs"]
mod written;
