//! The second wall: Landlock, as much of it as the kernel has.

use std::fmt;

/// How much of the second wall stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Landlock {
    /// All that is asked for.
    Full,
    /// What this version of the interface has of it.
    Partial(u32),
    /// Nothing: the kernel is without.
    None,
}

/// `Landlock`, `Landlock 4`, `no Landlock`.
impl fmt::Display for Landlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("Landlock"),
            Self::Partial(version) => write!(f, "Landlock {version}"),
            Self::None => f.write_str("no Landlock"),
        }
    }
}

#[cfg(target_os = "linux")]
pub(super) use linux::restrict;

#[cfg(target_os = "linux")]
mod linux {
    use std::path::Path;

    use landlock::{
        ABI, Access as _, AccessFs, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset,
        RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
    };

    use super::super::Refusal;
    use super::super::layout::SCRATCH;
    use super::super::plan::Plan;
    use super::Landlock;

    /// The newest interface whose rules were looked at.
    const VERSION: ABI = ABI::V9;

    /// Restricts this process and what it starts: files to what the place shows, and signals,
    /// abstract sockets and, where the kernel has that, sockets in the workspace to the processes
    /// of the place.
    pub(in super::super) fn restrict(plan: &Plan) -> Result<Landlock, Refusal> {
        let refusal = |error: RulesetError| Refusal::new("Landlock", error.to_string());
        let status = rules(plan).map_err(refusal)?;
        Ok(match (status.ruleset, status.landlock) {
            (RulesetStatus::FullyEnforced, _) => Landlock::Full,
            (RulesetStatus::PartiallyEnforced, LandlockStatus::Available { effective_abi, .. }) => {
                Landlock::Partial(effective_abi as u32)
            }
            _ => Landlock::None,
        })
    }

    fn rules(plan: &Plan) -> Result<landlock::RestrictionStatus, RulesetError> {
        let connect: BitFlags<AccessFs> = AccessFs::ResolveUnix.into();
        let all = AccessFs::from_all(VERSION) & !connect;
        let read = AccessFs::from_read(VERSION);
        let device = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
        let mut rules = Ruleset::default()
            .handle_access(AccessFs::from_all(VERSION))?
            .scope(Scope::from_all(VERSION))?
            .create()?;
        let own = SCRATCH.iter().map(Path::new);
        let granted = own.chain(plan.workspace.as_deref()).map(|path| (path, all));
        let shown = [(Path::new("/"), read), (Path::new("/dev"), read | device)];
        for (path, access) in shown.into_iter().chain(granted) {
            // What cannot be opened is not granted.
            if let Ok(path) = PathFd::new(path) {
                rules = rules.add_rule(PathBeneath::new(path, access))?;
            }
        }
        rules.restrict_self()
    }
}
