//! A folder that commands do not see, from behind the curtain: real commands that look for it.

use std::fs;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use spl::object;
use spl::sandbox::{Hiding, HidingWay};
use spl::tool::{BashTool, Cancel, Surroundings, Tool as _, Workspace};
use tempfile::TempDir;

use crate::stand::{SECRET, stager};

/// Somebody who is not root, if these tests are.
const NOBODY: u32 = 54_321;

/// A user's folder with a home of the instance, a project and something beside them.
struct House {
    dir: TempDir,
}

impl House {
    fn new() -> Self {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"));
        let dir = dir.or_else(|_| tempfile::tempdir_in("/var/tmp")).expect("a folder");
        let house = Self { dir };
        for folder in ["vera/.syncro/keys", "vera/project"] {
            fs::create_dir_all(house.path(folder)).expect("made");
        }
        for file in ["vera/.syncro/token", "vera/.syncro/keys/primary"] {
            fs::write(house.path(file), SECRET).expect("written");
        }
        fs::write(house.path("vera/notes"), "a note").expect("written");
        let link = house.path("vera/project/link");
        std::os::unix::fs::symlink(house.path("vera/.syncro"), link).expect("linked");
        house
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn find(&self, way: HidingWay) -> Option<Hiding> {
        let (home, project) = (self.path("vera/.syncro"), self.path("vera/project"));
        Hiding::find_by(stager(), &home, &project, &[way])
            .inspect_err(|error| eprintln!("no {way} here: {error}"))
            .ok()
    }
}

/// Each finds the secret where nothing is hidden. `$H` is the hidden folder, `$E` a process that
/// has it open.
const ATTACKS: &[&str] = &[
    "cat $H/token",
    "cat $H/keys/primary",
    "cat link/token",
    "cat ../.syncro/token",
    "cd $H && cat token",
    "cat /proc/self/root$H/token",
    "cat /proc/$E/root$H/token",
    "cat /proc/$E/cwd/token",
    "cp -r $H copy && cat copy/token",
    "grep -rh hunter2 $H/..",
    "exec 3<$H/token; cat <&3",
    "tar -cf - -C $H . | tr -d '\\0'",
    "umount $H 2>/dev/null; cat $H/token",
    "unshare -Ur cat $H/token || cat $H/token",
    "unshare -Urm sh -c \"umount $H; cat $H/token\" || cat $H/token",
    "mv $H moved && cat moved/token; mv moved $H; cat $H/token",
    "ln $H/token hard && cat hard",
];

/// Each works as if nothing were hidden.
const WORK: &[(&str, &str)] = &[
    ("pwd", "vera/project"),
    ("cat ../notes", "a note"),
    (
        "echo a >new && cat new && mkdir d && echo b >d/e && mv d/e f && cat f && rm -r d f new",
        "a\nb",
    ),
    ("ls -a .. | grep -c notes", "1"),
    ("cd / && ls / | grep -c usr", "1"),
    ("echo x >/dev/null && test -e /proc/self/status && echo well", "well"),
    ("t=$(mktemp -p /dev/shm) && echo y >$t && cat $t && rm $t", "y"),
    ("sleep 0.01 & wait && echo waited", "waited"),
    ("git --version >/dev/null 2>&1; echo $?", "0"),
];

fn text(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Runs a command of the project behind `words`, as whoever `uid` says.
fn run(house: &House, words: &[std::ffi::OsString], script: &str, uid: Option<u32>) -> String {
    let shell = ["/bin/sh", "-c", script].map(std::ffi::OsString::from);
    let mut words = words.iter().chain(&shell);
    let mut command = Command::new(words.next().expect("a program"));
    command.args(words).current_dir(house.path("vera/project"));
    command.env("H", house.path("vera/.syncro")).env("E", std::process::id().to_string());
    if let Some(uid) = uid {
        command.uid(uid).gid(uid);
    }
    text(&command.output().expect("run"))
}

fn holds(house: &House, words: &[std::ffi::OsString], uid: Option<u32>, about: &str) {
    for attack in ATTACKS {
        let said = run(house, words, attack, uid);
        assert!(!said.contains(SECRET), "{about}: {attack}: {said}");
    }
    assert_eq!(fs::read_to_string(house.path("vera/.syncro/token")).expect("there"), SECRET);
}

fn works(house: &House, words: &[std::ffi::OsString], uid: Option<u32>, about: &str) {
    for (command, wanted) in WORK {
        let said = run(house, words, command, uid);
        if !command.starts_with("git") {
            assert!(said.contains(wanted), "{about}: {command}: {said}");
        }
    }
}

#[test]
fn what_is_hidden_is_out_of_reach_and_the_rest_is_not() {
    let house = House::new();
    // Whoever looks from the outside finds it: an attack that cannot succeed shows nothing.
    let open = ATTACKS.iter().filter(|attack| run(&house, &[], attack, None).contains(SECRET));
    assert!(open.count() >= 9);
    let _ = fs::remove_dir_all(house.path("vera/project/copy"));
    let _ = fs::remove_file(house.path("vera/project/hard"));
    for way in HidingWay::ALL {
        let Some(hiding) = house.find(*way) else { continue };
        holds(&house, &hiding.words(), None, way.as_str());
        works(&house, &hiding.words(), None, way.as_str());
    }
}

/// The usual case is a user like any other.
#[test]
fn it_takes_no_privilege() {
    if !rustix::process::geteuid().is_root() {
        return; // The test above was this one.
    }
    let house = House::new();
    let own = |path: &Path| std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY));
    let program = house.path("spl");
    fs::copy(stager(), &program).expect("copied");
    let files = [
        "",
        "spl",
        "vera",
        "vera/.syncro",
        "vera/.syncro/keys",
        "vera/project",
        "vera/.syncro/token",
        "vera/.syncro/keys/primary",
        "vera/notes",
    ];
    for path in files {
        own(&house.path(path)).expect("owned");
    }
    let reached = run(&house, &[], "cat $H/token", Some(NOBODY));
    if reached != SECRET {
        eprintln!("somebody else cannot get here: {reached}");
        return;
    }
    for way in HidingWay::ALL {
        let Some(hiding) = house.find(*way) else { continue };
        let mut words = hiding.words();
        words[0] = program.clone().into();
        let said = run(&house, &words, "echo well", Some(NOBODY));
        if said != "well\n" {
            eprintln!("no {way} for who is not root: {said}");
            assert!(said.contains("spl worker:"), "{said}");
            continue;
        }
        holds(&house, &words, Some(NOBODY), way.as_str());
        works(&house, &words, Some(NOBODY), way.as_str());
    }
}

/// A server's socket would make whoever connects the operator.
#[test]
fn a_socket_behind_a_mount_cannot_be_connected_to() {
    let house = House::new();
    let socket = house.path("vera/.syncro/sock");
    let _listener = UnixListener::bind(&socket).expect("bound");
    let Some(hiding) = house.find(HidingWay::Mount) else { return };
    let look = "test -S $H/sock && echo there || echo gone";
    assert_eq!(run(&house, &[], look, None), "there\n");
    assert_eq!(run(&house, &hiding.words(), look, None), "gone\n");
}

/// The tool itself: its answers are as they are without a curtain, and a command can be ended.
#[test]
fn bash_works_behind_it() {
    let house = House::new();
    let workspace = Workspace::open(house.path("vera/project")).expect("a workspace");
    for way in HidingWay::ALL {
        let Some(hiding) = house.find(*way) else { continue };
        let path = vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())];
        let surroundings = Surroundings::of(path).through(hiding.words());
        let bash = BashTool::new(workspace.clone(), surroundings);
        let call = |command: &str, secs: u32| {
            let args = object! { "command": command, "timeout_secs": secs };
            bash.call(&args, &Cancel::new()).shown
        };
        let read = format!("cat {}/token", house.path("vera/.syncro").display());
        assert!(!call(&read, 10).contains(SECRET), "{way}");
        assert_eq!(call("echo out; echo err >&2; exit 3", 10), "out\nerr\n[exit status 3]");
        assert_eq!(call("kill -9 $$", 10), "[killed by signal 9]");
        assert_eq!(call("echo a; sleep 60", 1), "a\n[killed after 1 s]");
    }
}

#[test]
fn a_workspace_inside_is_told_apart() {
    let house = House::new();
    let (home, keys) = (house.path("vera/.syncro"), house.path("vera/.syncro/keys"));
    let error = Hiding::find(stager(), &home, &keys).expect_err("refused");
    assert_eq!(error.to_string(), "the workspace lies in it");
    // Where nothing new can be made beside the home, nobody can work beside it.
    let above = Hiding::find_by(stager(), &home, &house.path("vera"), &[HidingWay::Landlock]);
    assert!(above.expect_err("refused").to_string().contains("the workspace holds it"));
}
