//! What a hostile program tries. These run inside; outside they are ignored.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _};
use std::net::{TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::stand::SECRET;

/// Notes for each try whether it was held or is a breach.
struct Report(Vec<String>);

impl Report {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn attempt<T>(&mut self, what: &str, done: &io::Result<T>) {
        self.0.push(match done {
            Ok(_) => format!("breach: {what}"),
            Err(_) => format!("held: {what}"),
        });
    }

    fn hand_in(self, name: &str) {
        fs::write(format!("{name}.report"), self.0.join("\n")).expect("the workspace is writable");
    }
}

fn target(name: &str) -> String {
    env::var(name).expect("a target")
}

fn is_confined() -> bool {
    env::var_os("UNCONFINED").is_none()
}

fn failed() -> io::Error {
    io::Error::other("no")
}

#[test]
#[ignore = "runs inside of a place"]
fn connects() {
    let mut report = Report::new();
    let hears = |mut stream: UnixStream| stream.read_exact(&mut [0; 5]);
    report.attempt("tcp", &TcpStream::connect(target("TCP")));
    report.attempt("pathname", &UnixStream::connect(target("PATHNAME")).and_then(hears));
    let name = SocketAddr::from_abstract_name(target("ABSTRACT")).expect("a name");
    report.attempt("abstract", &UnixStream::connect_addr(&name).and_then(hears));
    report.attempt("udp", &{
        let asked = || {
            let socket = UdpSocket::bind("127.0.0.1:0")?;
            socket.set_read_timeout(Some(Duration::from_millis(500)))?;
            socket.send_to(b"hello", target("UDP"))?;
            socket.recv(&mut [0; 16])
        };
        asked()
    });
    let devices = fs::read_to_string("/proc/net/dev").expect("read");
    let others = devices.lines().skip(2).any(|line| !line.trim_start().starts_with("lo:"));
    report.attempt("another device", &if others { Ok(()) } else { Err(failed()) });
    report.hand_in("connects");
}

#[test]
#[ignore = "runs inside of a place"]
fn reads() {
    let mut report = Report::new();
    let (homes, outside) = (target("HOMES"), target("OUTSIDE"));
    report.attempt("the store", &fs::read(format!("{homes}/.syncro/hub.db")));
    report.attempt("a key", &fs::read(format!("{homes}/.ssh/id_ed25519")));
    report.attempt("a link to the store", &fs::read("store/hub.db"));
    report.attempt("what is outside", &fs::read(format!("{outside}/notes")));
    report.attempt("a link to what is outside", &fs::read("out/notes"));
    report.attempt("beside the workspace", &fs::read("../.syncro/hub.db"));
    for pid in [target("BYSTANDER"), target("ENGINE")] {
        let proc = Path::new("/proc").join(&pid);
        report.attempt("environ", &fs::read(proc.join("environ")));
        report.attempt("maps", &fs::read(proc.join("maps")));
        report.attempt("mem", &OpenOptions::new().write(true).open(proc.join("mem")));
        report.attempt("root", &fs::read_dir(proc.join("root")));
        report.attempt("fd", &fs::read_dir(proc.join("fd")));
        report.attempt("cwd", &fs::read_dir(proc.join("cwd")));
    }
    report.attempt("any process", &{
        let pids = fs::read_dir("/proc").expect("a folder").flatten();
        let mut environs = pids.filter_map(|pid| fs::read(pid.path().join("environ")).ok());
        let key = format!("BYSTANDER_KEY={SECRET}");
        let told = environs.any(|text| String::from_utf8_lossy(&text).contains(&key));
        if told { Ok(()) } else { Err(failed()) }
    });
    report.attempt("any descriptor", &{
        let leads_out = |path: &Path| fs::read(path.join("notes")).is_ok();
        let fds = fs::read_dir("/proc/self/fd").expect("a folder").flatten();
        let out =
            fds.map(|fd| fd.path()).any(|path| leads_out(&path) || leads_out(&path.join("..")));
        // Outside nobody hands one down.
        if out || !is_confined() { Ok(()) } else { Err(failed()) }
    });
    if rustix::process::geteuid().is_root() || is_confined() {
        report.attempt("passwords", &fs::read("/etc/shadow"));
    }
    report.hand_in("reads");
}

#[test]
#[ignore = "runs inside of a place"]
fn writes() {
    let mut report = Report::new();
    let outside = target("OUTSIDE");
    let write = |path: &str| fs::write(path, "x");
    report.attempt("outside", &write(&format!("{outside}/new")));
    report.attempt("what is outside", &write(&format!("{outside}/notes")));
    report.attempt("through a link", &write("out/through"));
    // This may work, in a folder of the place's own; whether it is there outside is looked at there.
    let _ = write("../beside");
    report.attempt("through a root", &write(&format!("/proc/self/root{outside}/root")));
    let _ = std::os::unix::fs::symlink(&outside, "made");
    report.attempt("through a new link", &write("made/new-link"));
    let _ = fs::remove_file("made");
    report.attempt("a hard link", &fs::hard_link(format!("{outside}/notes"), "hard"));
    if is_confined() {
        let open = |path: &str| OpenOptions::new().write(true).open(path);
        for folder in ["/", "/usr", "/etc", "/dev", "/.spl", "/proc/sys/kernel", "/var", "/opt"] {
            report.attempt(folder, &write(&format!("{folder}/spl-was-here")));
        }
        report.attempt("the executable", &open("/.spl"));
        report.attempt("a program", &open("/usr/bin/env"));
        for knob in ["sys/kernel/core_pattern", "sys/kernel/modprobe", "sysrq-trigger"] {
            report.attempt(knob, &open(&format!("/proc/{knob}")));
        }
        report.attempt("the disk", &fs::read("/dev/vda"));
        let lines = [
            "mkdir -p m && mount --bind / m",
            "mkdir -p m && mount -t tmpfs tmpfs m",
            "mount -o remount,rw /usr",
            "mount -o remount,bind,rw /usr",
            "mount -o remount,bind,rw /",
            "mount -o remount,bind,rw /proc/sys",
            "umount -l /usr",
            "umount -l /tmp",
            "umount -l /proc",
            "unshare -U true",
            "unshare -Urm true",
            "unshare -m true",
            "unshare -n true",
            "mknod disk b 254 0",
            "nsenter -t 1 -U true",
            "chroot / true",
            "hostname changed",
            "kill -9 1 && sleep 1 && ! kill -0 1",
            "pivot_root . .",
        ];
        for line in lines {
            report.attempt(line, &shell(line));
        }
    }
    report.hand_in("writes");
}

fn shell(line: &str) -> io::Result<()> {
    let quiet = || Stdio::null();
    let mut command = Command::new("/bin/bash");
    command.args(["-c", line]).env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    let status = command.stdin(quiet()).stdout(quiet()).stderr(quiet()).status()?;
    if status.success() { Ok(()) } else { Err(failed()) }
}

/// What a place is for.
#[test]
#[ignore = "runs inside of a place"]
fn works() {
    fs::write("made-inside", "x").expect("written");
    fs::create_dir_all("a/b").expect("made");
    fs::rename("made-inside", "a/b/moved").expect("moved");
    fs::write("/tmp/scratch", "x").expect("written");
    fs::write("/var/tmp/scratch", "x").expect("written");
    fs::write("/dev/shm/scratch", "x").expect("written");
    fs::write("/dev/null", "x").expect("written");
    shell("exec 3< <(echo a); read -u 3 word; [ $word = a ]").expect("process substitution");
    shell("cat /etc/passwd | grep -q root && ls / > listing && ps").expect("programs");
    shell("head -c 16 /dev/urandom > /dev/null; echo x > /dev/stderr").expect("devices");
    let talk = std::net::TcpListener::bind("127.0.0.1:0");
    let talked = talk.and_then(|listener| TcpStream::connect(listener.local_addr()?));
    talked.expect("a program can talk to itself");
    let names: Vec<String> = env::vars().map(|(name, _)| name).collect();
    let mut report = Report::new();
    let status = fs::read_to_string("/proc/self/status").expect("read");
    let is = |field: &&str| {
        ["CapEff", "CapPrm", "NoNewPrivs"].iter().any(|name| field.starts_with(name))
    };
    report.0.extend(status.lines().filter(is).map(|line| line.replace('\t', " ")));
    report.0.push(format!("env: {}", names.join(" ")));
    report.hand_in("works");
}

/// Leaves processes behind in every way there is, and waits.
#[test]
#[ignore = "runs inside of a place"]
fn multiplies() {
    let length = format!("777{}", target("BYSTANDER"));
    let line = format!(
        "sleep {length} & setsid sleep {length} & (setsid nohup sleep {length} &) & \
         (trap '' TERM INT HUP; sleep {length}) & \
         for i in $(seq 50); do (sleep {length} &) done; \
         setsid -f sleep {length}; echo > multiplied; exec sleep {length}"
    );
    let quiet = || Stdio::null();
    let mut command = Command::new("/bin/bash");
    command.args(["-c", &line]).env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command.stdin(quiet()).stdout(quiet()).stderr(quiet()).status().expect("ended");
}
