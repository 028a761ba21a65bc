//! `spl blueprint list`: what was installed.

use spl::canon::Value;

use crate::client::Target;
use crate::failure::Failure;
use crate::output::{Table, cut, short};
use crate::session::Session;

/// Lists what was installed.
pub(super) fn list(session: &mut Session) -> Result<(), Failure> {
    let list = session.reader()?.get(&Target::of(&["v1", "blueprints"]))?;
    session.out.list(&list, |out, rows| {
        let mut table =
            Table::new(["NAME", "VERSION", "RECORDS", "VOUCHED BY", "PLAN", "INSTALLED"]);
        for row in rows {
            let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
            let records = row.get("records").and_then(Value::as_u64).unwrap_or_default();
            table.row([
                cut(text("name"), 40),
                cut(text("version"), 20),
                records.to_string(),
                text("vouched_by").to_owned(),
                short(text("plan")),
                text("installed_at").to_owned(),
            ]);
        }
        table.print(out)
    })
}
