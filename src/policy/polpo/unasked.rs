//! Packs where a run is to take place.
//!
//! Packs are read, validated and deployed, and what their hooks decide is known (`combine`, `gate`).
//! Runs do not ask them yet. Until they do, no run begins where packs are set up: whoever has set up a
//! policy must not find out later that it was left out.

use std::path::Path;

use super::files::{self, HOOKS};
use super::{Runtime, validate};
use crate::engine::Rollout;
use crate::policy::SettingsError;

/// Refuses a run in the folder `root` if packs are set up there, unless the switches of the host leave
/// them out. Even then a gate, or a file that does not read and may hold one, refuses it.
pub fn refuse_unasked(root: &Path, runtime: &Runtime) -> Result<(), SettingsError> {
    let refused = |message: String| SettingsError {
        path: root.join(HOOKS),
        field: String::new(),
        reason: SettingsError::NOT_ASKED,
        message,
    };
    let found = files::read(root).map_err(|error| refused(format!("cannot be read: {error}")))?;
    if found.packs.is_empty() {
        return Ok(());
    }
    if runtime.ordinary() != Rollout::Off {
        return Err(refused(
            "holds packs of policy hooks, which runs do not ask yet: none begins as if they were \
             not there"
                .into(),
        ));
    }
    let gated = validate(&found, &runtime.provider_native).packs.iter().any(|report| {
        report.pack.as_ref().is_none_or(|pack| pack.hooks.iter().any(|hook| hook.gate.is_some()))
    });
    if gated {
        let message =
            "holds a termination gate, or a file that may be one: no switch leaves that out";
        return Err(refused(message.into()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Coded as _;
    use crate::engine::RuntimeSettings;

    const HOOK: &str = r#"{"version":1,"hooks":[{"id":"a","event":"tool:before",
        "handler":{"type":"command","command":"true"}}]}"#;
    const GATE: &str = r#"{"version":1,"hooks":[{"id":"a","event":"turn:stop",
        "handler":{"type":"command","command":"true"},
        "terminationGate":{"maxCycles":1,"maxDurationMs":1000,"maxTokens":1000}}]}"#;

    fn begins(pack: Option<&str>, switch: Option<&str>) -> bool {
        let root = tempfile::tempdir().expect("a folder");
        if let Some(pack) = pack {
            std::fs::create_dir_all(root.path().join(HOOKS)).expect("a folder");
            std::fs::write(root.path().join(HOOKS).join("p.json"), pack).expect("written");
        }
        let runtime = Runtime::new(&RuntimeSettings::default(), switch);
        let refused = refuse_unasked(root.path(), &runtime);
        if let Err(error) = &refused {
            assert_eq!(error.reason(), Some(SettingsError::NOT_ASKED));
        }
        refused.is_ok()
    }

    #[test]
    fn no_run_begins_beside_packs_that_it_does_not_ask() {
        assert!(begins(None, None));
        assert!(begins(None, Some("off")));
        assert!(!begins(Some(HOOK), None));
        assert!(!begins(Some("{"), None));
    }

    #[test]
    fn the_switch_leaves_out_all_but_gates() {
        assert!(begins(Some(HOOK), Some("off")));
        assert!(!begins(Some(GATE), Some("off")));
        assert!(!begins(Some("{"), Some("off")), "it may hold one");
    }
}
