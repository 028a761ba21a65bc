//! What the stager does when it is started as one.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;

use super::Refusal;

/// Returns the engine's socket, in a program that was started in a place.
///
/// From here on no other process of the place can look into this one or take the socket from it.
pub fn engine_end() -> io::Result<UnixStream> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_dumpable(false)?;
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    // Whatever is no socket has no other end.
    socket.peer_addr()?;
    Ok(socket)
}

/// Does the part that `args` name, which are those that the stager was started with, and returns
/// the exit status of the process.
///
/// A process that is started for this does nothing else before: it has one thread, and it has
/// opened nothing.
#[cfg(target_os = "linux")]
pub fn stage(args: &[OsString]) -> Result<u8, Refusal> {
    use super::plan::Plan;
    use super::{hide, hold, keeper};

    // The standard input of this part is the command's own.
    if let Some((part, rest)) = args.split_first()
        && part == "hide"
    {
        return hide::hide(rest);
    }
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
