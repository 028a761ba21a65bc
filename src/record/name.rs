//! The names and numbers of an envelope, checked once and then carried as types.

use std::fmt;
use std::sync::Arc;

/// The most bytes in the name of a thread or an actor: room for any DID, not for a payload.
const MAX_NAME_BYTES: usize = 1024;

/// Why a text is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// No characters at all.
    #[error("must not be empty")]
    Empty,
    /// A control character.
    #[error("must not hold control characters")]
    Control,
    /// Too many bytes.
    #[error("must be at most {limit} bytes")]
    TooLong {
        /// The most that are taken.
        limit: usize,
    },
    /// Not a path of 1 to 4 segments.
    #[error(
        "must be 1 to 4 segments of at most 63 lower-case letters, digits, `-` and `_`, with `/` between them"
    )]
    NotANamespace,
}

fn check_name(text: &str) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::Empty);
    }
    if text.len() > MAX_NAME_BYTES {
        return Err(NameError::TooLong { limit: MAX_NAME_BYTES });
    }
    if text.chars().any(char::is_control) {
        return Err(NameError::Control);
    }
    Ok(())
}

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks and takes a name.
            pub fn parse(text: &str) -> Result<Self, NameError> {
                check_name(text)?;
                Ok(Self(text.into()))
            }

            /// Returns the name.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl From<&$name> for $crate::canon::Value {
            fn from(name: &$name) -> Self {
                name.as_str().into()
            }
        }
    };
}

name_type! {
    /// The thread that a record stands on: any text without control characters (contract §1.9).
    ThreadId
}

name_type! {
    /// Who states a record: a DID, or any text without control characters (contract §1.1).
    ActorId
}

impl ThreadId {
    /// Returns the thread whose records configure the engine.
    pub fn config() -> Self {
        Self(super::CONFIG_THREAD.into())
    }

    /// Returns the thread whose records name the keys of actors.
    pub fn actors() -> Self {
        Self(super::ACTOR_THREAD.into())
    }

    /// Returns the thread on which denials are.
    pub fn security() -> Self {
        Self(super::SECURITY_THREAD.into())
    }

    /// Returns whether this is the thread whose records configure the engine.
    pub fn is_config(&self) -> bool {
        &*self.0 == super::CONFIG_THREAD
    }

    /// Returns the thread whose records say which namespaces there are.
    pub fn namespace_registry() -> Self {
        Self(super::NAMESPACE_THREAD.into())
    }

    /// Returns whether this is the thread whose records say which namespaces there are.
    pub fn is_namespace_registry(&self) -> bool {
        &*self.0 == super::NAMESPACE_THREAD
    }
}

impl ActorId {
    /// Returns the actor that the engine itself writes as.
    pub fn engine() -> Self {
        Self(super::ENGINE_ACTOR.into())
    }

    /// Returns the actor of a caller of whom no actor is known. No rule should name it.
    pub(crate) fn nobody() -> Self {
        Self("did:sync:agent:nobody".into())
    }

    /// Returns the actor that says who was refused what.
    pub fn governance() -> Self {
        Self(super::GOVERNANCE_ACTOR.into())
    }

    /// Returns the actor that a service account is.
    pub(crate) fn of_account(id: &str) -> Self {
        Self(format!("did:sync:system:{id}").into())
    }

    /// Returns whether this names a part of the instance itself.
    pub fn is_system(&self) -> bool {
        self.0.starts_with("did:sync:system:")
    }
}

/// A path that settings inherit along (contract §1.11): `default`, `acme`, `acme/site/prod`.
///
/// `default` is the root: every namespace descends from it (decision 10).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace(Arc<str>);

impl Namespace {
    /// Returns the root.
    pub fn root() -> Self {
        Self("default".into())
    }

    /// Checks and takes a path.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let well_formed = |segment: &str| {
            (1..=63).contains(&segment.len())
                && segment
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
        };
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if text.split('/').count() > 4 || !text.split('/').all(well_formed) {
            return Err(NameError::NotANamespace);
        }
        Ok(Self(text.into()))
    }

    /// Returns the path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns how far below the root this stands; the root has depth 0.
    pub fn depth(&self) -> usize {
        if self.is_root() { 0 } else { self.0.split('/').count() }
    }

    /// Returns whether this is the root.
    pub fn is_root(&self) -> bool {
        &*self.0 == "default"
    }

    /// Returns the paths whose settings hold here, from the root down: the root, then each path that
    /// this one begins with, then this one.
    pub fn lineage(&self) -> impl Iterator<Item = &str> {
        const ROOT: &str = "default";
        let path = self.as_str();
        let above = path.match_indices('/').filter_map(move |(end, _)| path.get(..end));
        // The root is above every path, also where it is written as its first segment.
        let below_root = above.chain([path]).filter(|path| *path != ROOT);
        [ROOT].into_iter().chain(below_root)
    }

    /// Returns the path above this one; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        Some(match self.0.rsplit_once('/') {
            Some((above, _)) => Self(above.into()),
            None => Self::root(),
        })
    }

    /// Returns the word for how far below the root this stands (contract §1.11).
    pub fn level(&self) -> &'static str {
        match self.depth() {
            0 => "default",
            1 => "org",
            2 => "project",
            3 => "env",
            _ => "job",
        }
    }

    /// Returns whether what is set here holds in `other`: this namespace or one below it.
    pub fn covers(&self, other: &Self) -> bool {
        self.is_root()
            || other
                .0
                .strip_prefix(&*self.0)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl From<&Namespace> for crate::canon::Value {
    fn from(namespace: &Namespace) -> Self {
        namespace.as_str().into()
    }
}

/// The logical number of a record among those of its thread and actor. Never a time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Clock(i64);

impl Clock {
    /// Takes a clock, unless it is negative.
    pub const fn new(clock: i64) -> Option<Self> {
        if clock < 0 { None } else { Some(Self(clock)) }
    }

    /// Returns the number.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The order of arrival in this store, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Sequence(i64);

impl Sequence {
    /// Returns the sequence with this number; 0 stands before every record.
    pub const fn new(sequence: i64) -> Self {
        Self(sequence)
    }

    /// Returns the number.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_cover_what_is_below_them() {
        let ns = |text: &str| Namespace::parse(text).expect("a namespace");
        assert!(ns("default").covers(&ns("acme/site")));
        assert!(ns("acme").covers(&ns("acme")));
        assert!(ns("acme").covers(&ns("acme/site")));
        assert!(!ns("acme").covers(&ns("acmeister")));
        assert!(!ns("acme").covers(&ns("default")));
        assert_eq!((ns("default").depth(), ns("acme").depth(), ns("a/b/c").depth()), (0, 1, 3));
    }

    #[test]
    fn settings_come_down_from_the_root() {
        let lineage = |text: &str| {
            let namespace = Namespace::parse(text).expect("a namespace");
            namespace.lineage().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(lineage("default"), "default");
        assert_eq!(lineage("acme"), "default acme");
        assert_eq!(lineage("acme/site/prod"), "default acme acme/site acme/site/prod");
        assert_eq!(lineage("default/x"), "default default/x");
    }

    #[test]
    fn a_namespace_stands_below_one_other() {
        let above = |text: &str| {
            let namespace = Namespace::parse(text).expect("a namespace");
            let parent = namespace.parent().map(|parent| parent.to_string());
            format!("{} {}", namespace.level(), parent.unwrap_or_default())
        };
        assert_eq!(above("default"), "default ");
        assert_eq!(above("acme"), "org default");
        assert_eq!(above("acme/site/prod"), "env acme/site");
        assert_eq!(above("default/x"), "project default");
        assert_eq!(above("a/b/c/d"), "job a/b/c");
    }

    #[test]
    fn namespaces_are_one_to_four_segments() {
        for bad in ["", "/", "a/", "/a", "a//b", "A", "a b", "a/b/c/d/e", &"a".repeat(64)] {
            assert!(Namespace::parse(bad).is_err(), "{bad}");
        }
    }
}
