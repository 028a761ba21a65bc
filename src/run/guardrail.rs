//! The guardrail: it acts, which hooks never do.
//!
//! A call that fails the same way again and again (same tool, same arguments, same shape of error)
//! is not executed a third time: the actor is told so in its place, and at the fifth time the run
//! ends. A success of the same call, or another error, starts the count again.

use std::collections::HashMap;

use crate::canon::{Canonical, Digest, Object, hash_of};

/// The identical failure that is not executed any more.
pub const BLOCK_AT: u32 = 3;

/// The identical failure that ends the run.
pub const HALT_AT: u32 = 5;

/// Counts identical failures.
#[derive(Debug, Default)]
pub(super) struct Guardrail(HashMap<Digest, Failures>);

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
        let failures = self.0.get(&signature(tool, args));
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
                self.0.remove(&signature);
            }
            Ending::Failed(answer) => {
                let shape = shape_of(answer);
                let failures = self.0.entry(signature).or_insert(Failures { shape, count: 0 });
                if failures.shape != shape {
                    *failures = Failures { shape, count: 0 };
                }
                failures.count += 1;
            }
            Ending::Blocked => {
                if let Some(failures) = self.0.get_mut(&signature) {
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
}
