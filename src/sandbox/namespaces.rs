//! The way by ourselves: new namespaces, entered one after the other.
//!
//! There are two user namespaces. The outer one owns the mounts and the network; we are root in it,
//! to set them up. The inner one owns nothing, and whoever is in it is nobody in the outer one: what
//! is mounted cannot be unmounted, and what is read-only stays so.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::sched::{CloneFlags, unshare};
use rustix::process::{getegid, geteuid};

use super::Refusal;
use super::bubblewrap::NOT_ROOT;
use super::error::Step;
use super::plan::Plan;

/// The programs that can bring the loopback device up.
const IP: &[&str] = &["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip"];

/// Leaves the namespaces of the engine, and returns the command whose process is the first one
/// inside.
pub(super) fn command(plan: &Plan) -> Result<Command, Refusal> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let new = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS
        | CloneFlags::CLONE_NEWCGROUP;
    unshare(new).step("new user, mount and network namespaces")?;
    map_ids((0, user), (0, group))?;
    bring_loopback_up();
    // The next process that is started is the first one in this.
    unshare(CloneFlags::CLONE_NEWPID).step("a new process namespace")?;
    let mut command = Command::new(&plan.stager);
    command.args(["worker", "place"]).args(plan.to_args()).stdout(Stdio::null());
    Ok(command)
}

/// Who this process is to the namespace around its own.
pub(super) struct Outside {
    user: u32,
    group: u32,
}

impl Outside {
    pub(super) fn look() -> Result<Self, Refusal> {
        Ok(Self { user: mapped("uid_map")?, group: mapped("gid_map")? })
    }
}

/// Reads the one line `inside outside count`.
fn mapped(file: &str) -> Result<u32, Refusal> {
    let step = || format!("read /proc/self/{file}");
    let text = fs::read_to_string(Path::new("/proc/self").join(file)).step(step())?;
    let outside = text.split_whitespace().nth(1).and_then(|number| number.parse().ok());
    outside.ok_or_else(|| Refusal::new(step(), "it names nobody"))
}

/// Lets there be one namespace of users below this one. Where the kernel has no such bound, what
/// is mounted is out of reach of another one all the same.
pub(super) fn bound() {
    let _ = fs::write("/proc/sys/user/max_user_namespaces", "1");
}

/// Goes into a user namespace that owns nothing, from one in which this process is root.
///
/// Inside the user is who it is outside. Where that is root, it is nobody special: only who is not
/// root loses its capabilities by starting a program.
pub(super) fn become_nobody(outside: &Outside) -> Result<(), Refusal> {
    unshare(CloneFlags::CLONE_NEWUSER).step("a second user namespace")?;
    let inside = |id| if id == 0 { NOT_ROOT } else { id };
    map_ids((inside(outside.user), 0), (inside(outside.group), 0))
}

/// Maps this process's user and group, each as who it is inside and outside.
pub(super) fn map_ids(user: (u32, u32), group: (u32, u32)) -> Result<(), Refusal> {
    let proc = Path::new("/proc/self");
    let write = |file: &str, text: String| {
        fs::write(proc.join(file), text).step(format!("write /proc/self/{file}"))
    };
    write("uid_map", format!("{} {} 1", user.0, user.1))?;
    write("setgroups", "deny".to_owned())?;
    write("gid_map", format!("{} {} 1", group.0, group.1))
}

/// The loopback device of a new network is down. Without it a test that talks to itself fails,
/// which is a pity and no danger, so this is as good as the machine allows.
fn bring_loopback_up() {
    let Some(ip) = IP.iter().find(|path| Path::new(path).exists()) else { return };
    let quiet = || Stdio::null();
    let mut command = Command::new(ip);
    command.args(["link", "set", "lo", "up"]).env_clear();
    let _ = command.stdin(quiet()).stdout(quiet()).stderr(quiet()).status();
}
