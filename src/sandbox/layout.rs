//! What is seen of the system, by whichever way.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The folders of the system: programs, libraries, settings. The first level of a file system is
/// not shown as it is, since people keep their own things there too.
const SHOWN: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/run/current-system",
];

/// Folders of `/proc` that only say things.
const QUIET: &[&str] = &["driver", "pressure", "sysvipc", "tty"];

/// Folders of the place's own, which go with it.
pub(super) const SCRATCH: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];

/// The most bytes of each of them.
pub(super) const TMP_BYTES: u64 = 1024 * 1024 * 1024;

/// How deep `/etc` is looked through.
const ETC_LEVELS: usize = 4;

/// Something of the system that is seen.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// A folder, read-only.
    Folder(PathBuf),
    /// A symbolic link and its target.
    Link(PathBuf, PathBuf),
}

/// Returns what there is to show.
pub(super) fn shown() -> Vec<Shown> {
    let look = |path: &&str| {
        let path = PathBuf::from(path);
        let kind = fs::symlink_metadata(&path).ok()?.file_type();
        if kind.is_symlink() {
            let target = fs::read_link(&path).ok()?;
            return Some(Shown::Link(path, target));
        }
        kind.is_dir().then_some(Shown::Folder(path))
    };
    SHOWN.iter().filter_map(look).collect()
}

/// Returns what in `/proc` the kernel can be told things by: folders, and files that can be written.
///
/// To the kernel, root of the machine is root in a place as well, and some of these ask for no
/// more. With `core_pattern` alone a process could have the kernel start another one outside.
pub(super) fn knobs() -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let mut found: Vec<PathBuf> =
        entries.flatten().filter(is_knob).map(|entry| entry.path()).collect();
    found.sort();
    found
}

fn is_knob(entry: &fs::DirEntry) -> bool {
    let name = entry.file_name();
    let is_process = name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
    let Ok(metadata) = entry.metadata() else { return false };
    if is_process || metadata.is_symlink() || QUIET.iter().any(|quiet| name == *quiet) {
        return false;
    }
    metadata.is_dir() || metadata.permissions().mode() & 0o222 != 0
}

/// Something that is seen and cannot be opened.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cover {
    pub(super) path: PathBuf,
    pub(super) is_folder: bool,
}

/// Returns what of the settings is to be covered: what others than their owner may not read. That
/// matters where the owner is who runs this, which for `/etc` is root.
pub(super) fn covers() -> Vec<Cover> {
    let mut found = Vec::new();
    if rustix::process::geteuid().is_root() {
        look_through(Path::new("/etc"), ETC_LEVELS, &mut found);
    }
    found
}

fn look_through(folder: &Path, levels: usize, found: &mut Vec<Cover>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Ok(metadata) = entry.metadata() else { continue };
        let (path, mode) = (entry.path(), metadata.permissions().mode());
        if metadata.is_symlink() {
            continue;
        }
        let is_folder = metadata.is_dir();
        let open = if is_folder { mode & 0o005 == 0o005 } else { mode & 0o004 != 0 };
        // What is too deep to look through is covered whole.
        if !open || (is_folder && levels == 0) {
            found.push(Cover { path, is_folder });
        } else if is_folder {
            look_through(&path, levels - 1, found);
        }
    }
}
