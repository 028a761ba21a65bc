//! The first process inside.

use std::fs;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus, Stdio};

use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, getpid, set_parent_process_death_signal, setrlimit,
    setsid, wait,
};

use super::error::Step;
use super::plan::{INSIDE, Plan};
use super::{Landlock, Refusal, Way, mounts, namespaces, rules, write_frame};
use crate::canon::Value;
use crate::object;

/// How many processes there may be inside.
const MOST_PROCESSES: u64 = 4096;

/// The exit status of a program that could not be started.
const NOT_STARTED: u8 = 127;

/// The exit status of a program that was killed.
pub(super) const KILLED: u8 = 137;

/// Makes the place around this process and goes on as [`hold`] in it. Returns if that fails.
pub(super) fn place(plan: &Plan) -> Refusal {
    if let Err(refusal) = make(plan) {
        return refusal;
    }
    let error = Command::new(INSIDE).args(["worker", "hold"]).args(plan.to_args()).exec();
    Refusal::new("start the first process", error.to_string())
}

fn make(plan: &Plan) -> Result<(), Refusal> {
    die_with_the_keeper()?;
    let outside = namespaces::Outside::look()?;
    mounts::make(plan)?;
    namespaces::bound();
    mounts::lock_knobs()?;
    namespaces::become_nobody(&outside)?;
    setsid().step("a new session")?;
    nix::sys::prctl::set_no_new_privs().step("no new privileges")
}

/// Verifies the place, takes the last rights away, says that it is ready and starts the program.
/// Returns its exit status, when it has ended; whatever else is left ends with this process.
pub(super) fn hold(plan: &Plan) -> Result<u8, Refusal> {
    if plan.way == Way::Namespaces {
        die_with_the_keeper()?;
    }
    verify()?;
    let limit = |most| Rlimit { current: Some(most), maximum: Some(most) };
    setrlimit(Resource::Core, limit(0)).step("no core files")?;
    // A lower bound that is there already stays.
    let _ = setrlimit(Resource::Nproc, limit(MOST_PROCESSES));
    // If memory runs out, it is not the engine that has to go.
    let _ = fs::write("/proc/self/oom_score_adj", "500");
    let landlock = rules::restrict(plan)?;
    let ready = object! { "landlock": in_number(landlock), "object": "ready" };
    say(&Value::Object(ready)).step("say that it is ready")?;
    let Some((program, args)) = plan.program.split_first() else { return Ok(0) };
    let started = Command::new(program).args(args).stdout(Stdio::null()).spawn();
    match started {
        Ok(child) => Ok(reap_until(Pid::from_child(&child))),
        Err(_) => Ok(NOT_STARTED),
    }
}

/// Says what went wrong to whoever holds the other end of the socket.
pub(super) fn tell(refusal: &Refusal) {
    let refused = object! {
        "object": "refused",
        "step": refusal.step.as_str(),
        "why": refusal.why.as_str(),
    };
    // Where nobody listens, there is nobody to tell.
    let _ = say(&Value::Object(refused));
}

fn say(value: &Value) -> io::Result<()> {
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    write_frame(&mut socket, value).map_err(io::Error::other)
}

fn in_number(landlock: Landlock) -> Option<i64> {
    match landlock {
        Landlock::Full => Some(-1),
        Landlock::Partial(version) => Some(version.into()),
        Landlock::None => None,
    }
}

/// A keeper that went before this has taken the socket's end along, so the program sees its end.
fn die_with_the_keeper() -> Result<(), Refusal> {
    set_parent_process_death_signal(Some(Signal::KILL)).step("die with the keeper")
}

/// Looks at what this process can be sure of itself, whichever way it came here.
fn verify() -> Result<(), Refusal> {
    let wrong = |what: &str| Err(Refusal::new("verify the place", what));
    let status = fs::read_to_string("/proc/self/status").step("verify the place")?;
    let field = |name: &str| {
        let lines = status.lines().filter_map(|line| line.split_once(':'));
        lines.into_iter().find(|(field, _)| *field == name).map(|(_, value)| value.trim())
    };
    if getpid() != Pid::INIT || field("NSpid") != Some("1") {
        return wrong("there are other processes");
    }
    if ["CapEff", "CapPrm", "CapInh", "CapAmb"].iter().any(|set| !is_zero(field(set))) {
        return wrong("there are capabilities left");
    }
    if field("NoNewPrivs") != Some("1") {
        return wrong("privileges can be gained");
    }
    let devices = fs::read_to_string("/proc/net/dev").step("verify the place")?;
    let names = devices.lines().filter_map(|line| line.split_once(':'));
    if names.into_iter().any(|(name, _)| name.trim() != "lo") {
        return wrong("there is a network");
    }
    for path in ["/", "/proc/sys", "/dev"] {
        let flags = statvfs(path).step("verify the place")?.f_flag;
        if !flags.contains(StatVfsMountFlags::RDONLY) {
            return wrong("more can be written than the workspace");
        }
    }
    Ok(())
}

fn is_zero(set: Option<&str>) -> bool {
    set.is_some_and(|set| set.bytes().all(|digit| digit == b'0'))
}

/// Reaps whatever ends until the program has.
fn reap_until(program: Pid) -> u8 {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((id, status))) if id == program => {
                let status = ExitStatus::from_raw(status.as_raw());
                return status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(KILLED);
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return KILLED,
        }
    }
}
