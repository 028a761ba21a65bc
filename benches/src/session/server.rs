//! A server of a home, for as long as it is wanted.

use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Server {
    spl: PathBuf,
    home: PathBuf,
}

impl Server {
    pub fn start(spl: &Path, home: &Path) -> Self {
        let server = Self { spl: spl.into(), home: home.into() };
        server.serve(&["--daemon", "--port", "0"]);
        server
    }

    fn serve(&self, arguments: &[&str]) {
        let mut command = Command::new(&self.spl);
        command.arg("serve").args(arguments).env("SYNCROPEL_HOME", &self.home);
        assert!(command.output().expect("spl").status.success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serve(&["--stop"]);
    }
}
