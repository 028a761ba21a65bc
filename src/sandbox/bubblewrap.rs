//! The way by `bwrap`.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{getegid, geteuid};

use super::Refusal;
use super::error::Step;
use super::layout::{self, SCRATCH, Shown, TMP_BYTES};
use super::plan::{INSIDE, Plan};

/// Where it is installed. It is not looked for in `PATH`, which is for the user's own programs.
const PLACES: &[&str] =
    &["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

/// Who root is inside. A process that is not root there loses its capabilities when it starts a
/// program.
pub(super) const NOT_ROOT: u32 = 1000;

/// Returns where `bwrap` is.
pub(super) fn installed() -> Option<&'static Path> {
    PLACES.iter().map(Path::new).find(|path| path.exists())
}

/// Returns the command that enters, up to the first process inside. It says that process's id on
/// its standard output.
pub(super) fn command(plan: &Plan) -> Result<Command, Refusal> {
    let path = installed().ok_or_else(|| Refusal::new("bwrap", "it is not installed"))?;
    let help = Command::new(path).arg("--help").stdin(Stdio::null()).output().step("bwrap")?;
    // Older ones have fewer options; what these are for is a wall behind another.
    let knows = |option: &str| String::from_utf8_lossy(&help.stdout).contains(option);
    let mut args = Args::default();
    args.words("--unshare-all --unshare-user --die-with-parent --new-session --as-pid-1");
    args.words("--cap-drop ALL --info-fd 1");
    if knows("--disable-userns") {
        args.words("--disable-userns");
    }
    if geteuid().is_root() {
        args.words(&format!("--uid {NOT_ROOT}"));
    }
    if getegid().is_root() {
        args.words(&format!("--gid {NOT_ROOT}"));
    }
    for shown in layout::shown() {
        match shown {
            Shown::Folder(path) => args.add(["--ro-bind", "{}", "{}"], &[&path, &path]),
            Shown::Link(path, target) => args.add(["--symlink", "{}", "{}"], &[&target, &path]),
        }
    }
    for cover in layout::covers() {
        if cover.is_folder {
            args.words("--perms 0000");
            args.add(["--tmpfs", "{}", "--remount-ro", "{}"], &[&cover.path, &cover.path]);
        } else {
            args.add(["--ro-bind", "/dev/null", "{}"], &[&cover.path]);
        }
    }
    let sized = if knows("--size") { format!("--size {TMP_BYTES} ") } else { String::new() };
    args.words("--proc /proc --dev /dev --remount-ro /dev");
    // It locks some itself, and not where root is confined.
    for knob in layout::knobs() {
        args.add(["--ro-bind", "{}", "{}"], &[&knob, &knob]);
    }
    for scratch in SCRATCH {
        args.words(&format!("{sized}--tmpfs {scratch}"));
    }
    for folder in &plan.readable {
        args.add(["--ro-bind", "{}", "{}"], &[folder, folder]);
    }
    if let Some(workspace) = &plan.workspace {
        args.add(["--bind", "{}", "{}"], &[workspace, workspace]);
    }
    args.add(["--ro-bind", "{}", INSIDE], &[&plan.stager]);
    args.words("--remount-ro /");
    let folder = plan.workspace.as_deref().unwrap_or(Path::new("/tmp"));
    args.add(["--chdir", "{}"], &[folder]);
    args.words(&format!("-- {INSIDE} worker hold"));
    args.0.extend(plan.to_args());
    let mut command = Command::new(path);
    command.args(args.0);
    Ok(command)
}

#[derive(Default)]
struct Args(Vec<OsString>);

impl Args {
    fn words(&mut self, words: &str) {
        self.0.extend(words.split(' ').map(OsString::from));
    }

    /// Adds `words`, in which each `{}` stands for the next of `paths`.
    fn add<const N: usize>(&mut self, words: [&str; N], paths: &[&Path]) {
        let mut paths = paths.iter();
        for word in words {
            let path = if word == "{}" { paths.next() } else { None };
            self.0.push(path.map_or_else(|| word.into(), |path| path.as_os_str().to_owned()));
        }
    }
}
