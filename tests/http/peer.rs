//! The socket is for one user, whatever its mode says.

#![cfg(target_os = "linux")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::client::Server;

/// Nobody.
const OTHER: u32 = 65_534;

/// Asks over a socket, and prints what comes back.
const ASK: &str = "
import socket, sys
wire = socket.socket(socket.AF_UNIX)
wire.connect(sys.argv[1])
answer = b''
try:
    wire.sendall(b'GET /v1/threads HTTP/1.1\\r\\nhost: x\\r\\nconnection: close\\r\\n\\r\\n')
    while chunk := wire.recv(4096):
        answer += chunk
except (BrokenPipeError, ConnectionResetError):
    pass
print(answer.decode())
";

fn asked(server: &Server, user: Option<u32>) -> String {
    let mut command = Command::new("python3");
    command.args(["-c", ASK]).arg(&server.socket).current_dir("/");
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    let output = command.output().expect("python3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Takes another user, whom only root can be. Otherwise what is shown is that the same one gets in.
#[test]
fn another_user_is_told_nothing() {
    let server = Server::start();
    let folder = server.socket.parent().expect("a folder");
    fs::set_permissions(folder, Permissions::from_mode(0o755)).expect("opened");
    fs::set_permissions(&server.socket, Permissions::from_mode(0o666)).expect("opened");
    assert!(asked(&server, None).starts_with("HTTP/1.1 200"));
    if rustix::process::geteuid().is_root() {
        assert_eq!(asked(&server, Some(OTHER)).trim(), "");
    }
    assert_eq!(server.get("/v1/threads").status, 200);
}
