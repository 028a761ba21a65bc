//! What the stager does when it is started as one.

use std::ffi::OsString;

use super::Refusal;

/// Does the part that `args` name, which are those that the stager was started with, and returns
/// the exit status of the process.
///
/// A process that is started for this does nothing else before: it has one thread, and it has
/// opened nothing.
#[cfg(target_os = "linux")]
pub fn stage(args: &[OsString]) -> Result<u8, Refusal> {
    use super::plan::Plan;
    use super::{hold, keeper};

    let done = args.split_first().map(|(part, rest)| (part.to_str(), Plan::from_args(rest)));
    let done = match done {
        Some((Some("enter"), Ok(plan))) => keeper::keep(&plan),
        Some((Some("place"), Ok(plan))) => Err(hold::place(&plan)),
        Some((Some("hold"), Ok(plan))) => hold::hold(&plan),
        Some((_, Err(refusal))) => Err(refusal),
        _ => Err(Refusal::new("arguments", "this is for the engine to start")),
    };
    done.inspect_err(hold::tell)
}

/// Does nothing: a place needs Linux.
#[cfg(not(target_os = "linux"))]
pub fn stage(_: &[OsString]) -> Result<u8, Refusal> {
    Err(Refusal::new("a place", "it needs Linux"))
}
