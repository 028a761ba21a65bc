//! What one stage tells the next, as the arguments of its process.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

use super::{Place, Refusal};

/// Where the stager stands inside.
pub const INSIDE: &str = "/.spl";

/// A way into a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// By `bwrap`.
    Bubblewrap,
    /// By namespaces that we enter ourselves.
    Namespaces,
}

impl Way {
    /// Every way, the best first.
    pub const ALL: &[Self] = &[Self::Bubblewrap, Self::Namespaces];

    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Namespaces => "namespaces",
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the stages are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) way: Way,
    /// The executable of the stages, as it is named outside.
    pub(super) stager: PathBuf,
    pub(super) workspace: Option<PathBuf>,
    pub(super) readable: Vec<PathBuf>,
    /// The program and its arguments, as they are named inside. Nothing is started if it is empty.
    pub(super) program: Vec<OsString>,
}

impl Plan {
    pub(super) fn of(way: Way, stager: PathBuf, place: &Place, program: &[OsString]) -> Self {
        Self {
            way,
            stager,
            workspace: place.workspace.clone(),
            readable: place.readable.clone(),
            program: program.to_vec(),
        }
    }

    /// Returns the arguments that [`Self::from_args`] reads.
    pub(super) fn to_args(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = vec![self.way.as_str().into(), self.stager.clone().into()];
        if let Some(workspace) = &self.workspace {
            args.extend(["--workspace".into(), workspace.clone().into()]);
        }
        for folder in &self.readable {
            args.extend(["--read".into(), folder.clone().into()]);
        }
        args.push("--".into());
        args.extend(self.program.iter().cloned());
        args
    }

    pub(super) fn from_args(args: &[OsString]) -> Result<Self, Refusal> {
        let misfit = || Refusal::new("arguments", "this is for the engine to start");
        let mut args = args.iter().map(OsString::as_os_str);
        let way = args.next().ok_or_else(misfit)?;
        let way = Way::ALL.iter().find(|known| way == known.as_str()).ok_or_else(misfit)?;
        let stager = args.next().ok_or_else(misfit)?.into();
        let (mut workspace, mut readable) = (None, Vec::new());
        loop {
            match args.next().and_then(OsStr::to_str).ok_or_else(misfit)? {
                "--" => break,
                "--workspace" => workspace = Some(args.next().ok_or_else(misfit)?.into()),
                "--read" => readable.push(args.next().ok_or_else(misfit)?.into()),
                _ => return Err(misfit()),
            }
        }
        let program = args.map(OsStr::to_owned).collect();
        Ok(Self { way: *way, stager, workspace, readable, program })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    #[test]
    fn a_plan_reads_back_whatever_its_paths_are() {
        let odd = OsString::from_vec(b"/w\xff \n--".to_vec());
        let place = Place {
            workspace: Some(odd.clone().into()),
            readable: vec!["--".into()],
            environment: Vec::new(),
        };
        let plan = Plan::of(Way::Namespaces, odd.into(), &place, &["sh".into(), "--".into()]);
        assert_eq!(Plan::from_args(&plan.to_args()), Ok(plan));
        assert!(Plan::from_args(&[]).is_err());
        assert!(Plan::from_args(&["namespaces".into(), "/spl".into(), "--x".into()]).is_err());
    }
}
