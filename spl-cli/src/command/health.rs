//! `spl health`: show how the engine is.

use spl::canon::{Object, Value};

use crate::client::Target;
use crate::failure::Failure;
use crate::output::GOOD;
use crate::session::Session;

/// Shows how the engine is.
pub(crate) fn health(session: &mut Session) -> Result<(), Failure> {
    let health = session.reader()?.get(&Target::of(&["v1", "engine", "health"]))?;
    let (hooks, builtin, records) = counts(&health);
    session.out.answer(&health, |out| {
        writeln!(out, "{GOOD}✓{GOOD:#} ok")?;
        writeln!(out, "hooks_loaded {hooks} (and {builtin} built in), records {records}")
    })
}

/// Returns the hooks loaded, the hooks built in, and the records that a health tells of.
pub(super) fn counts(health: &Object) -> (u64, u64, u64) {
    let number = |section: &str, key: &str| {
        health.get(section).and_then(|section| section.get(key)).and_then(Value::as_u64)
    };
    (
        number("work_loop", "hooks_loaded").unwrap_or_default(),
        number("work_loop", "hooks_builtin").unwrap_or_default(),
        number("store", "records_total").unwrap_or_default(),
    )
}
