//! The process that keeps a folder from itself, and then becomes the command.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use rustix::process::{getegid, geteuid};
use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};

use super::error::Step;
use super::namespaces::map_ids;
use super::{HidingWay, Refusal, beside};

/// With these root could look behind what is mounted: unmount it, enter the namespace of another
/// process or its memory, open a file by its number, or read the disk.
const REVEALING: &[CapabilitySet] = &[
    CapabilitySet::SYS_ADMIN,
    CapabilitySet::SYS_PTRACE,
    CapabilitySet::DAC_READ_SEARCH,
    CapabilitySet::MKNOD,
    CapabilitySet::SYS_RAWIO,
    CapabilitySet::SYS_MODULE,
];

/// Hides the folder that `args` name and becomes the command behind it. Without a command it only
/// says whether that works.
pub(super) fn hide(args: &[OsString]) -> Result<u8, Refusal> {
    let misfit = || Refusal::new("arguments", "this is for the engine to start");
    let [way, folder, command @ ..] = args else { return Err(misfit()) };
    let folder = Path::new(folder);
    match HidingWay::ALL.iter().find(|known| way == OsStr::new(known.as_str())) {
        Some(HidingWay::Mount) => cover(folder)?,
        Some(HidingWay::Landlock) => beside::restrict(folder)?,
        None => return Err(misfit()),
    }
    verify(folder)?;
    let Some((program, args)) = command.split_first() else { return Ok(0) };
    Err(Refusal::new("start the command", Command::new(program).args(args).exec().to_string()))
}

/// Mounts nothing over the folder, for this process and what it starts.
fn cover(folder: &Path) -> Result<(), Refusal> {
    // Root stays who it is where it may: elsewhere it could not work on the files of others.
    if geteuid().is_root() && unshare(CloneFlags::CLONE_NEWNS).is_ok() {
        mount_nothing(folder)?;
        return REVEALING.iter().try_for_each(|capability| {
            remove_capability_from_bounding_set(*capability).step("give up capabilities")
        });
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let own = || map_ids((user, user), (group, group));
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)
        .step("new user and mount namespaces")?;
    own()?;
    mount_nothing(folder)?;
    // Whoever is in the second one owns no mount, so nobody there can take it away.
    unshare(CloneFlags::CLONE_NEWUSER).step("a second user namespace")?;
    own()
}

fn mount_nothing(folder: &Path) -> Result<(), Refusal> {
    const NOTHING: Option<&str> = None;
    // What is mounted here stays here; what is mounted elsewhere later is seen here too.
    mount(NOTHING, "/", NOTHING, MsFlags::MS_REC | MsFlags::MS_SLAVE, NOTHING)
        .step("keep mounts to ourselves")?;
    let flags = MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("tmpfs"), folder, Some("tmpfs"), flags, Some("mode=000,size=4k"))
        .step("mount nothing over the folder")
}

/// Looks whether there is something left to read.
fn verify(folder: &Path) -> Result<(), Refusal> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
        Err(error) => return Err(Refusal::new("verify", error.to_string())),
    };
    for entry in entries.flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && File::open(entry.path()).is_ok() {
            return Err(Refusal::new("verify", "what is hidden can be read"));
        }
    }
    Ok(())
}
