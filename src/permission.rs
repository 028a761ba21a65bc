//! Permission rules to a ruling (contract §3.3).
//!
//! Comes in: a record that means to be a rule, which [`PermissionRule::check`] turns into a
//! [`PermissionRule`] or refuses by name; later the facts of something that somebody is about to
//! do. Goes out: a [`Ruling`].
//!
//! A rule speaks in its namespace and below. The rules of one call are asked in descending
//! priority; of equal ones those that deny before those that allow, then by name, then from the root
//! down. The first that is true decides, and where none is, the answer is no.
//!
//! What a namespace denies stays denied in those below it: the ruling of the namespace above is
//! found first, from its own rules and those above it, and a rule of it that denies is the last word.
//! A namespace below can only add refusals, or allow what nobody above has an opinion on.
//!
//! **Invariant:** ruling is pure and total. A rule that cannot be asked neither allows nor denies,
//! and it is reported beside the ruling.

mod check;
mod definition;
mod near;
mod set;

pub use check::{MAX_RULE_NAME_CHARS, check_switch, is_permission_rule, is_permission_switch};
pub use definition::{Action, PermissionRule, RuleKey};
pub use near::{NearMiss, looks_like_permissions};
pub use set::{RuleSet, Ruled, rule};

/// The kind of a permission rule.
pub const PERMISSION_RULE_KIND: &str = "core.permission_rule.v1";

/// The topic of a permission rule.
pub const PERMISSION_RULE_TOPIC: &str = "permission_rule";

/// The topic of the switch that puts all rules in force.
pub const PERMISSIONS_ENABLED_TOPIC: &str = "permissions_enabled";

/// What the permission rules say about something that is about to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// Rules are not in force: nobody was asked.
    Off,
    /// It may be done.
    Allow {
        /// The name of the rule that decided.
        rule: String,
    },
    /// It may not be done.
    Deny {
        /// The name of the rule that decided; `None` if none was true, which is a no as well.
        rule: Option<String>,
    },
}

impl Ruling {
    /// Returns whether it may be done.
    pub const fn allows(&self) -> bool {
        !matches!(self, Self::Deny { .. })
    }
}
