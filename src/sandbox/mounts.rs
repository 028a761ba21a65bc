//! The file system of a place that we make ourselves.
//!
//! The first process inside works in a tmpfs with two folders: `/old`, which is the file system of
//! the machine, and `/new`, which becomes that of the place. In the end `/new` is the root and the
//! other one is let go.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use rustix::process::{chdir, pivot_root};

use super::Refusal;
use super::error::Step;
use super::layout::{self, SCRATCH, Shown, TMP_BYTES};
use super::plan::{INSIDE, Plan};

const OLD: &str = "/old";
const NEW: &str = "/new";

/// Devices that have nothing to do with the machine.
const NODES: &[&str] = &["null", "zero", "full", "random", "urandom"];

/// Makes the file system of the place the root of this process. `/proc` is ready, and its knobs
/// are not yet locked.
pub(super) fn make(plan: &Plan) -> Result<(), Refusal> {
    let (shown, covers) = (layout::shown(), layout::covers());
    stand_between()?;
    tmpfs(Path::new(NEW), "mode=755,size=1m", MsFlags::MS_NODEV)?;
    for shown in shown {
        match shown {
            Shown::Folder(path) => bind_folder(&path)?,
            Shown::Link(path, target) => {
                let link = inside(&path);
                make_folders_above(&link)?;
                symlink(target, link).step(format!("link {}", path.display()))?;
            }
        }
    }
    cover(&covers)?;
    make_devices()?;
    for scratch in SCRATCH {
        let at = inside(Path::new(scratch));
        make_folders(&at)?;
        tmpfs(&at, &format!("mode=1777,size={TMP_BYTES}"), MsFlags::MS_NODEV)?;
    }
    for folder in plan.readable.iter().chain(&plan.workspace) {
        bind_folder(folder)?;
    }
    let stager = inside(Path::new(INSIDE));
    File::create(&stager).step("make room for the executable")?;
    bind(&outside(&plan.stager), &stager)?;
    mount_proc()?;
    restrict_mounts(plan)?;
    let folder = plan.workspace.as_deref().unwrap_or(Path::new("/tmp"));
    let_go()?;
    chdir(folder).step("enter the workspace")
}

/// Makes read-only what in `/proc` is not about processes.
pub(super) fn lock_knobs() -> Result<(), Refusal> {
    for path in layout::knobs() {
        bind(&path, &path)?;
        let flags = flags_of_read_only() | MsFlags::MS_NOEXEC;
        remount(&path, flags).step(format!("lock {}", path.display()))?;
    }
    Ok(())
}

/// Puts this process between the file system of the machine and that of the place.
fn stand_between() -> Result<(), Refusal> {
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(NOTHING, "/", NOTHING, private, NOTHING).step("keep mounts to ourselves")?;
    let base = Path::new("/tmp");
    tmpfs(base, "mode=755,size=1m", MsFlags::MS_NODEV)?;
    let old = base.join("old");
    fs::create_dir(&old).step("make room")?;
    fs::create_dir(base.join("new")).step("make room")?;
    pivot_root(base, &old).step("change the root")?;
    chdir("/").step("change the root")
}

fn let_go() -> Result<(), Refusal> {
    chdir(NEW).step("change the root")?;
    // The new root is mounted over the old one, which is then let go.
    pivot_root(".", ".").step("change the root")?;
    umount2(".", MntFlags::MNT_DETACH).step("let the machine's file system go")?;
    chdir("/").step("change the root")
}

fn make_devices() -> Result<(), Refusal> {
    let dev = inside(Path::new("/dev"));
    make_folders(&dev)?;
    // Its nodes are mounts of their own.
    tmpfs(&dev, "mode=755,size=64k", MsFlags::empty())?;
    for node in NODES {
        let at = dev.join(node);
        File::create(&at).step(format!("make room for /dev/{node}"))?;
        bind(&Path::new(OLD).join("dev").join(node), &at)?;
    }
    let links = [("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")];
    for (name, number) in links {
        let target = format!("/proc/self/fd{number}");
        symlink(target, dev.join(name)).step(format!("link /dev/{name}"))?;
    }
    make_folders(&dev.join("pts"))?;
    let options = "newinstance,ptmxmode=0666,mode=620";
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
    // A kernel may be built without; then there are no terminals in here.
    if mount(Some("devpts"), &dev.join("pts"), Some("devpts"), flags, Some(options)).is_ok() {
        symlink("pts/ptmx", dev.join("ptmx")).step("link /dev/ptmx")?;
    }
    Ok(())
}

fn cover(covers: &[layout::Cover]) -> Result<(), Refusal> {
    let (file, folder) = (Path::new("/nothing"), Path::new("/nothing.d"));
    let closed = || fs::Permissions::from_mode(0o000);
    File::create(file).and_then(|file| file.set_permissions(closed())).step("make a cover")?;
    fs::create_dir(folder)
        .and_then(|()| fs::set_permissions(folder, closed()))
        .step("make a cover")?;
    for cover in covers {
        bind(if cover.is_folder { folder } else { file }, &inside(&cover.path))?;
    }
    Ok(())
}

/// A new `/proc` shows the processes of this namespace alone.
fn mount_proc() -> Result<(), Refusal> {
    let proc = inside(Path::new("/proc"));
    make_folders(&proc)?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), &proc, Some("proc"), flags, NOTHING).step("mount /proc")
}

/// Makes everything that was bound what it is to be: read-only, but for the workspace.
fn restrict_mounts(plan: &Plan) -> Result<(), Refusal> {
    let table = inside(Path::new("/proc/self/mountinfo"));
    let text = fs::read(table).step("read the mounts")?;
    for (path, flags) in mounts_of(&text) {
        let Ok(path_inside) = path.strip_prefix(NEW) else { continue };
        let path_inside = Path::new("/").join(path_inside);
        let Some(wanted) = wanted(&path_inside, plan) else { continue };
        match remount(&path, flags | wanted) {
            // Something else is mounted over it, so it is out of reach.
            Ok(()) | Err(Errno::EINVAL | Errno::ENOENT | Errno::EACCES) => {}
            failed => failed.step(format!("restrict {}", path_inside.display()))?,
        }
    }
    Ok(())
}

/// Returns what a mount is restricted to; `None` if it was made as it is to be.
fn wanted(path: &Path, plan: &Plan) -> Option<MsFlags> {
    if plan.workspace.as_ref().is_some_and(|workspace| path.starts_with(workspace)) {
        return Some(MsFlags::MS_NOSUID | MsFlags::MS_NODEV);
    }
    if SCRATCH.iter().any(|scratch| path == Path::new(scratch)) {
        return None;
    }
    if path == Path::new("/dev") {
        return Some(MsFlags::MS_RDONLY | MsFlags::MS_NOSUID);
    }
    if let Ok(node) = path.strip_prefix("/dev") {
        let is_node = NODES.iter().any(|known| node == Path::new(known));
        return is_node.then_some(MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC);
    }
    (!path.starts_with("/proc")).then(flags_of_read_only)
}

const fn flags_of_read_only() -> MsFlags {
    MsFlags::MS_RDONLY.union(MsFlags::MS_NOSUID).union(MsFlags::MS_NODEV)
}

/// Returns where each mount is and its flags; of several in one place, the one on top.
///
/// What is set on a mount when a user namespace takes it over is locked: asking for less is
/// refused.
fn mounts_of(table: &[u8]) -> BTreeMap<PathBuf, MsFlags> {
    let read = |line: &[u8]| {
        let mut fields = line.split(|byte| *byte == b' ').skip(4);
        let path = unescaped(fields.next()?);
        let flags = fields.next()?.split(|byte| *byte == b',').map(|option| match option {
            b"ro" => MsFlags::MS_RDONLY,
            b"nosuid" => MsFlags::MS_NOSUID,
            b"nodev" => MsFlags::MS_NODEV,
            b"noexec" => MsFlags::MS_NOEXEC,
            // Those about times are kept where none is named.
            _ => MsFlags::empty(),
        });
        Some((path, flags.collect()))
    };
    table.split(|byte| *byte == b'\n').filter_map(read).collect()
}

/// Undoes the octal escapes of spaces, tabs, line ends and backslashes.
fn unescaped(field: &[u8]) -> PathBuf {
    let (mut bytes, mut rest) = (Vec::new(), field);
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code.filter(|_| *first == b'\\') {
            Some(code) => (bytes.push(code), rest = after.get(3..).unwrap_or_default()).1,
            None => (bytes.push(*first), rest = after).1,
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

const NOTHING: Option<&str> = None;

fn tmpfs(at: &Path, options: &str, flags: MsFlags) -> Result<(), Refusal> {
    let flags = flags | MsFlags::MS_NOSUID;
    mount(Some("tmpfs"), at, Some("tmpfs"), flags, Some(options))
        .step(format!("mount a tmpfs at {}", at.display()))
}

/// Shows a folder of the machine where it is.
fn bind_folder(path: &Path) -> Result<(), Refusal> {
    let at = inside(path);
    make_folders(&at)?;
    bind(&outside(path), &at)
}

fn bind(from: &Path, to: &Path) -> Result<(), Refusal> {
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    mount(Some(from), to, NOTHING, flags, NOTHING).step(format!("show {}", to.display()))
}

fn remount(path: &Path, flags: MsFlags) -> nix::Result<()> {
    mount(NOTHING, path, NOTHING, MsFlags::MS_REMOUNT | MsFlags::MS_BIND | flags, NOTHING)
}

fn make_folders(path: &Path) -> Result<(), Refusal> {
    fs::create_dir_all(path).step(format!("make {}", path.display()))
}

fn make_folders_above(path: &Path) -> Result<(), Refusal> {
    path.parent().map_or(Ok(()), make_folders)
}

fn outside(path: &Path) -> PathBuf {
    Path::new(OLD).join(relative(path))
}

fn inside(path: &Path) -> PathBuf {
    Path::new(NEW).join(relative(path))
}

fn relative(path: &Path) -> PathBuf {
    path.components().filter(|part| matches!(part, Component::Normal(_))).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn a_table_of_mounts_is_read() {
        let table = b"24 1 0:22 / /proc rw,relatime - proc proc rw\n\
            25 1 8:1 / /new/my\\040work rw,nosuid,relatime shared:1 - ext4 /dev/vda rw\n\
            26 25 8:1 / /new/my\\040work ro,nodev,noexec - ext4 /dev/vda rw\n";
        let mounts = mounts_of(table);
        assert_eq!(mounts[Path::new("/proc")], MsFlags::empty());
        let top = MsFlags::MS_RDONLY | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        assert_eq!(mounts[Path::new("/new/my work")], top);
        assert_eq!(mounts.len(), 2);
        assert_eq!(unescaped(b"/a\\134b\\").as_os_str().as_bytes(), b"/a\\b\\");
    }
}
