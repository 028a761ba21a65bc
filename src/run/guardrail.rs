//! The guardrail: it acts, which hooks never do.
//!
//! A call that fails the same way again and again (same tool, same arguments, same shape of error)
//! is not executed a third time: the actor is told so in its place, and at the fifth time the run
//! ends. Another error starts the count again. So does the success of a call that has not succeeded
//! before in this run: something may have changed, and a build that failed before an edit may be
//! tried after it.

use std::collections::{HashMap, HashSet};

use crate::canon::{Canonical, Digest, Object, hash_of};

/// The identical failure that is not executed any more.
pub const BLOCK_AT: u32 = 3;

/// The identical failure that ends the run.
pub const HALT_AT: u32 = 5;

/// Counts identical failures.
#[derive(Debug, Default)]
pub(super) struct Guardrail {
    failures: HashMap<Digest, Failures>,
    succeeded: HashSet<Digest>,
}

#[derive(Debug)]
struct Failures {
    shape: Digest,
    count: u32,
}

/// What the guardrail has to say about a call before it is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stance {
    /// Go on.
    Pass,
    /// Do not execute it; this would be failure number `count`.
    Block { count: u32 },
    /// Do not execute it, and end the run.
    Halt { count: u32 },
}

impl Guardrail {
    /// Returns what to do with a call.
    pub(super) fn stance(&self, tool: &str, args: &Object) -> Stance {
        let failures = self.failures.get(&signature(tool, args));
        match failures.map_or(1, |failures| failures.count + 1) {
            count if count < BLOCK_AT => Stance::Pass,
            count if count < HALT_AT => Stance::Block { count },
            count => Stance::Halt { count },
        }
    }

    /// Notes how a call went. One that was not executed has failed once more, in the same way.
    pub(super) fn note(&mut self, tool: &str, args: &Object, ending: Ending<'_>) {
        let signature = signature(tool, args);
        match ending {
            Ending::Ok => {
                self.failures.remove(&signature);
                if self.succeeded.insert(signature) {
                    self.failures.clear();
                }
            }
            Ending::Failed(answer) => {
                let shape = shape_of(answer);
                let failures =
                    self.failures.entry(signature).or_insert(Failures { shape, count: 0 });
                if failures.shape != shape {
                    *failures = Failures { shape, count: 0 };
                }
                failures.count += 1;
            }
            Ending::Blocked => {
                if let Some(failures) = self.failures.get_mut(&signature) {
                    failures.count += 1;
                }
            }
        }
    }
}

/// How a call went.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ending<'a> {
    /// It did what it was to do.
    Ok,
    /// It failed, and said this.
    Failed(&'a str),
    /// This guardrail answered in its place.
    Blocked,
}

/// Names a call by its tool and arguments.
fn signature(tool: &str, args: &Object) -> Digest {
    hash_of(&[tool.as_bytes(), b"\0", &args_hash(args)])
}

/// Returns the hash of a call's arguments.
pub(super) fn args_hash(args: &Object) -> Digest {
    Canonical::of_object(args).sha256()
}

/// An error keeps its shape when only numbers in it change: times, addresses, process ids.
fn shape_of(answer: &str) -> Digest {
    let mut shape = String::new();
    for char in answer.chars().take(1024) {
        match char {
            '0'..='9' if shape.ends_with('#') => {}
            '0'..='9' => shape.push('#'),
            other => shape.push(other),
        }
    }
    hash_of(&[shape.as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object;

    #[test]
    fn the_third_identical_failure_is_blocked_and_the_fifth_halts() {
        let mut guardrail = Guardrail::default();
        let args = object! { "command": "false" };
        for (round, want) in [
            (1, Stance::Pass),
            (2, Stance::Pass),
            (3, Stance::Block { count: 3 }),
            (4, Stance::Block { count: 4 }),
            (5, Stance::Halt { count: 5 }),
        ] {
            assert_eq!(guardrail.stance("bash", &args), want, "round {round}");
            let answer = format!("failed after {round} ms");
            let failed = want == Stance::Pass;
            let ending = if failed { Ending::Failed(&answer) } else { Ending::Blocked };
            guardrail.note("bash", &args, ending);
        }
    }

    #[test]
    fn a_success_or_another_error_starts_again() {
        let mut guardrail = Guardrail::default();
        let args = object! { "command": "make" };
        guardrail.note("bash", &args, Ending::Failed("no rule"));
        guardrail.note("bash", &args, Ending::Failed("another error"));
        assert_eq!(guardrail.stance("bash", &args), Stance::Pass);
        guardrail.note("bash", &args, Ending::Failed("another error"));
        guardrail.note("bash", &args, Ending::Ok);
        assert_eq!(guardrail.stance("bash", &args), Stance::Pass);
        assert_eq!(guardrail.stance("bash", &object! { "command": "ls" }), Stance::Pass);
    }

    /// Build, edit, build, edit: each edit is something new, and each build may be the good one. To
    /// do again what was done before is nothing new.
    #[test]
    fn what_changes_something_lets_a_failure_be_tried_again() {
        let mut guardrail = Guardrail::default();
        let build = object! { "command": "make" };
        for round in 0..5 {
            assert_eq!(guardrail.stance("bash", &build), Stance::Pass, "round {round}");
            guardrail.note("bash", &build, Ending::Failed("no rule"));
            let edit = object! { "path": "Makefile", "content": round };
            guardrail.note("write_file", &edit, Ending::Ok);
        }
        let look = object! { "path": "Makefile" };
        guardrail.note("read_file", &look, Ending::Ok);
        for _ in 0..2 {
            guardrail.note("bash", &build, Ending::Failed("no rule"));
            guardrail.note("read_file", &look, Ending::Ok);
        }
        assert_eq!(guardrail.stance("bash", &build), Stance::Block { count: 3 });
    }
}
