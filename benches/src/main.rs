//! Figures for the README, each with what it is to be compared with beside it.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml` runs them all; a name as argument runs
//! one: `append`, `cpu`, `processes`, `open`, `visible`, `turns`, `loaded`, `predicates`,
//! `session`, `policy`, `scripts`.

mod allocations;
mod append;
mod cpu;
mod hooks;
mod loaded;
mod open;
mod plain;
mod policy;
mod predicates;
mod processes;
mod records;
mod scripts;
mod session;
mod turns;
mod visible;

fn main() {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        None => {
            append::run();
            cpu::run();
            processes::run();
            open::run();
            visible::run();
            turns::run();
            loaded::run();
            predicates::run();
            session::run();
            policy::run();
            scripts::run();
        }
        Some("append") => append::run(),
        Some("cpu") => cpu::run(),
        Some("processes") => processes::run(),
        Some("processes-child") => {
            let path = arguments.next().expect("the path of a store");
            let number = arguments.next().expect("a number");
            processes::child(std::path::Path::new(&path), &number);
        }
        Some("open") => open::run(),
        Some("visible") => visible::run(),
        Some("turns") => turns::run(),
        Some("loaded") => loaded::run(),
        Some("loaded-child") => {
            let path = arguments.next().expect("the path of a home");
            let what = arguments.next().expect("what to do");
            loaded::child(std::path::Path::new(&path), &what);
        }
        Some("predicates") => predicates::run(),
        Some("session") => session::run(),
        Some("policy") => policy::run(),
        Some("scripts") => scripts::run(),
        Some(other) => eprintln!("there is no bench `{other}`"),
    }
}
