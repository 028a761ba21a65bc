//! The command line that runs a hook.

use std::ffi::OsStr;
use std::path::Path;

/// What runs the commands of hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// Everywhere but on Windows.
    Bash,
    /// On Windows. A program's exit status is not its own: a command that is to block ends with
    /// `exit 2`, or with `exit $LASTEXITCODE` after a program.
    PowerShell,
}

impl Shell {
    /// Returns the one of this system.
    pub const fn here() -> Self {
        if cfg!(windows) { Self::PowerShell } else { Self::Bash }
    }

    /// Returns the program.
    pub fn program(self) -> &'static Path {
        Path::new(match self {
            Self::Bash => "/bin/bash",
            Self::PowerShell => "powershell.exe",
        })
    }

    /// Returns the arguments with which it runs a command.
    pub fn arguments(self, command: &str) -> [&OsStr; 2] {
        let flag = match self {
            Self::Bash => "-c",
            Self::PowerShell => "-Command",
        };
        [OsStr::new(flag), OsStr::new(command)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_one_argument_whatever_stands_in_it() {
        for command in ["./hook.sh", "echo \"a b\" 'c'; exit 2", "./h.ps1; exit $LASTEXITCODE"] {
            assert_eq!(Shell::Bash.program(), Path::new("/bin/bash"));
            assert_eq!(Shell::Bash.arguments(command), ["-c", command]);
            assert_eq!(Shell::PowerShell.program(), Path::new("powershell.exe"));
            assert_eq!(Shell::PowerShell.arguments(command), ["-Command", command]);
        }
    }
}
