//! What a blueprint may bring that nobody vouches for: content, and nothing that configures, judges,
//! answers or speaks as the instance.

use super::{Placed, Sort};
use crate::record::{Act, ShapeError};

/// Kinds that mean something to the engine, or to others like it.
const RESERVED_SCOPES: [&str; 2] = ["core", "syncropel"];

/// Fields of a body that mean something to the engine, whatever the kind.
const RESERVED_FIELDS: [&str; 5] = ["topic", "verdict", "fulfills", "cancels", "judged_by"];

/// Refuses a seed that is more than content. `because` says why nobody vouches for it.
pub(super) fn check(placed: &Placed, because: &str) -> Result<(), ShapeError> {
    let Placed { place, seed } = placed;
    let refused = |field: &str, what: String| {
        let message = format!("{what}, and {because}");
        let hint = "Trust its author with `spl blueprint trust-author`, or look it through and sign \
                    it yourself with `spl blueprint sign`.";
        Err(place.refuse(field, message).with_hint(hint))
    };
    let what = seed.in_words();
    if seed.sort() != Sort::Content {
        return refused("act", format!("the {what} is more than content"));
    }
    if !matches!(seed.act, Act::Know | Act::Put) {
        return refused("act", format!("the {what} has the act {}", seed.act));
    }
    if seed.thread.is_reserved() {
        return refused("thread", format!("the {what} stands on a reserved thread"));
    }
    let scope = seed.text("kind").map(|kind| kind.split('.').next().unwrap_or_default());
    if let Some(scope) = scope.filter(|scope| RESERVED_SCOPES.contains(scope)) {
        return refused("body.kind", format!("the {what} has a kind of the scope `{scope}`"));
    }
    let field = RESERVED_FIELDS.iter().find(|field| seed.body.contains_key(**field));
    if let Some(field) = field {
        return refused(&format!("body.{field}"), format!("the {what} has a `{field}`"));
    }
    if seed.actor.as_ref().is_some_and(|actor| actor.is_system()) {
        return refused("actor", format!("the {what} speaks as a part of the instance"));
    }
    Ok(())
}
