//! Landlock that allows everything but one folder.
//!
//! Landlock knows only what is allowed, with all that lies below it. So on each step of the way from
//! the root to the folder everything is allowed that is not the next step. The folders on the way
//! themselves may be listed and no more: what may be made in them might be made in the hidden one.

use std::fs;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, PathBeneath, PathFd, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus,
};

use super::Refusal;
use super::error::Step;

/// The newest interface whose rules were looked at.
const VERSION: ABI = ABI::V9;

/// The most entries of a folder on the way. Each takes a rule, each time a command is started.
const MOST_ENTRIES: usize = 20_000;

/// Restricts this process and what it starts to what is not in `folder`, a path without links.
pub(super) fn restrict(folder: &Path) -> Result<(), Refusal> {
    let refusal = |error: RulesetError| Refusal::new("Landlock", error.to_string());
    let mut allowed = Vec::new();
    let way: Vec<&Path> = folder.ancestors().collect();
    for step in way.windows(2).rev() {
        if let [next, here] = step {
            beside(next, here, &mut allowed)?;
        }
    }
    let status = rules(&way, &allowed).map_err(refusal)?;
    match status.ruleset {
        RulesetStatus::NotEnforced => Err(Refusal::new("Landlock", "the kernel is without")),
        _ => Ok(()),
    }
}

/// Adds what stands in `here` and is not `next`. A link stands for what it leads to, which is
/// allowed or not where it is.
fn beside(next: &Path, here: &Path, allowed: &mut Vec<PathBuf>) -> Result<(), Refusal> {
    let step = || format!("list {}", here.display());
    let entries = fs::read_dir(here).step(step())?;
    for (number, entry) in entries.enumerate() {
        if number == MOST_ENTRIES {
            return Err(Refusal::new(step(), format!("it has more than {MOST_ENTRIES} entries")));
        }
        let entry = entry.step(step())?;
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if !is_link && entry.path() != next {
            allowed.push(entry.path());
        }
    }
    Ok(())
}

fn rules(way: &[&Path], allowed: &[PathBuf]) -> Result<landlock::RestrictionStatus, RulesetError> {
    let all = AccessFs::from_all(VERSION);
    let of_file = AccessFs::from_file(VERSION);
    let mut rules = Ruleset::default().handle_access(all)?.create()?;
    for path in allowed {
        let access = if path.is_dir() { all } else { of_file };
        // What cannot be opened is not granted.
        if let Ok(path) = PathFd::new(path) {
            rules = rules.add_rule(PathBeneath::new(path, access))?;
        }
    }
    for here in way.iter().skip(1) {
        if let Ok(path) = PathFd::new(here) {
            rules = rules.add_rule(PathBeneath::new(path, AccessFs::ReadDir))?;
        }
    }
    rules.restrict_self()
}
