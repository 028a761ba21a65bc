//! A permission rule, once it has passed its validator.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::predicate::Predicate;
use crate::record::Namespace;

/// What a rule does where it is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// It refuses. Of rules with one priority these go first.
    Deny,
    /// It lets pass.
    Allow,
}

impl Action {
    /// Returns the word in a record.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Allow => "allow",
        }
    }

    /// Reads the word in a record.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "deny" => Some(Self::Deny),
            "allow" => Some(Self::Allow),
            _ => None,
        }
    }
}

/// What tells rules apart: only a newer record of the same key replaces a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleKey {
    /// Where it speaks: here and below.
    pub namespace: Namespace,
    /// The name.
    pub name: Arc<str>,
}

impl fmt::Display for RuleKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.name, self.namespace)
    }
}

/// A permission rule that has passed its validator, [`PermissionRule::check`].
#[derive(Debug)]
pub struct PermissionRule {
    pub(super) key: RuleKey,
    pub(super) expression: Predicate,
    pub(super) action: Action,
    pub(super) priority: i64,
    pub(super) enabled: bool,
}

impl PermissionRule {
    /// Returns what tells this rule from others.
    pub const fn key(&self) -> &RuleKey {
        &self.key
    }

    /// Returns the predicate that says whether the rule speaks.
    pub const fn expression(&self) -> &Predicate {
        &self.expression
    }

    /// Returns what the rule does where its predicate is true.
    pub const fn action(&self) -> Action {
        self.action
    }

    /// Returns the priority; higher ones are asked first.
    pub const fn priority(&self) -> i64 {
        self.priority
    }

    /// Returns whether it is to be loaded.
    pub const fn enabled(&self) -> bool {
        self.enabled
    }

    /// Returns where the rule stands among others.
    pub(super) fn place(&self) -> Place {
        Place { priority: self.priority, action: self.action, name: Arc::clone(&self.key.name) }
    }
}

/// Where a rule stands among others: what is less is asked first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    priority: i64,
    action: Action,
    name: Arc<str>,
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        let first = other.priority.cmp(&self.priority);
        first.then(self.action.cmp(&other.action)).then_with(|| self.name.cmp(&other.name))
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
