//! Scopes: what a bearer may do, and where (contract §2.1).
//!
//! A scope is a word of a closed list. A *grain* says where: `thread:<id>:read`, `namespace:<ns>:write`.
//! Both stand in one list, `records:read,thread:th_a:write`. Reading and writing are told apart: where
//! a list has grains for one of them, that one reaches what they name and nothing else, whatever
//! other word would open the rest. Only `admin` is not held to grains.

use std::collections::BTreeSet;
use std::fmt;

use crate::record::{Namespace, ThreadId};
use crate::store::Sight;

/// The most words in one list of scopes.
pub const MAX_SCOPES: usize = 64;

/// What a bearer may do (contract §2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Read records and threads.
    RecordsRead,
    /// Write records.
    RecordsWrite,
    /// Change threads as a whole. No door of this instance takes it yet.
    ThreadsWrite,
    /// Manage federation, which this instance does not have.
    FederationManage,
    /// Read configuration and health.
    ConfigRead,
    /// Write configuration that is not gated.
    ConfigWrite,
    /// Everything, gated configuration included.
    Admin,
}

impl Scope {
    /// Every scope there is.
    pub const ALL: &[Self] = &[
        Self::RecordsRead,
        Self::RecordsWrite,
        Self::ThreadsWrite,
        Self::FederationManage,
        Self::ConfigRead,
        Self::ConfigWrite,
        Self::Admin,
    ];

    /// Returns the word of the scope.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RecordsRead => "records:read",
            Self::RecordsWrite => "records:write",
            Self::ThreadsWrite => "threads:write",
            Self::FederationManage => "federation:manage",
            Self::ConfigRead => "config:read",
            Self::ConfigWrite => "config:write",
            Self::Admin => "admin",
        }
    }

    /// Reads the word of a scope.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|scope| scope.as_str() == word)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The two things that a grain is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// Reading.
    Read,
    /// Writing.
    Write,
}

/// Where something may be read or written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// On one thread.
    Thread(ThreadId),
    /// In a namespace, and below it.
    Namespace(Namespace),
}

/// A word that says where: `thread:<id>:read`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Grain {
    place: Place,
    way: Way,
}

impl Grain {
    fn parse(word: &str) -> Option<Self> {
        let (place, way) = word.rsplit_once(':')?;
        let way = match way {
            "read" => Way::Read,
            "write" => Way::Write,
            _ => return None,
        };
        let place = match place.split_once(':')? {
            ("thread", thread) => Place::Thread(ThreadId::parse(thread).ok()?),
            ("namespace", path) => Place::Namespace(Namespace::parse(path).ok()?),
            _ => return None,
        };
        Some(Self { place, way })
    }
}

impl fmt::Display for Grain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Thread(thread) => write!(f, "thread:{thread}")?,
            Place::Namespace(path) => write!(f, "namespace:{path}")?,
        }
        f.write_str(match self.way {
            Way::Read => ":read",
            Way::Write => ":write",
        })
    }
}

/// A set of scopes and grains.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scopes {
    plain: BTreeSet<Scope>,
    grains: BTreeSet<Grain>,
}

/// A list that is not one of scopes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownScope {
    /// A word that is none.
    #[error(
        "`{word}` is not a scope; scopes are records:read, records:write, threads:write, \
         federation:manage, config:read, config:write, admin, thread:<id>:read|write, \
         namespace:<ns>:read|write; or one of the sets reader, contributor, admin"
    )]
    Word {
        /// The word.
        word: String,
    },
    /// More words than are taken.
    #[error("a list of scopes has at most {MAX_SCOPES} words")]
    TooMany,
}

impl Scopes {
    /// Reads words with commas between them. `reader` stands for `records:read`, `contributor` for
    /// `records:read,records:write`.
    pub fn parse(csv: &str) -> Result<Self, UnknownScope> {
        let mut scopes = Self::default();
        for word in csv.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            if let Some(scope) = Scope::parse(word) {
                scopes.plain.insert(scope);
            } else if let Some(grain) = Grain::parse(word) {
                scopes.grains.insert(grain);
            } else {
                match word {
                    "reader" => scopes.plain.extend([Scope::RecordsRead]),
                    "contributor" => {
                        scopes.plain.extend([Scope::RecordsRead, Scope::RecordsWrite]);
                    }
                    _ => {
                        return Err(UnknownScope::Word { word: word.chars().take(64).collect() });
                    }
                }
            }
            if scopes.plain.len() + scopes.grains.len() > MAX_SCOPES {
                return Err(UnknownScope::TooMany);
            }
        }
        Ok(scopes)
    }

    /// Returns whether there is no word at all.
    pub fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.grains.is_empty()
    }

    /// Returns whether these scopes allow what `scope` does, somewhere: a grain for reading lets read
    /// records. `admin` allows everything.
    pub fn allow(&self, scope: Scope) -> bool {
        let somewhere = |way| self.grains.iter().any(|grain| grain.way == way);
        self.plain.contains(&scope)
            || self.is_admin()
            || match scope {
                Scope::RecordsRead => somewhere(Way::Read),
                Scope::RecordsWrite => somewhere(Way::Write),
                _ => false,
            }
    }

    /// Returns whether `admin` is among them.
    pub fn is_admin(&self) -> bool {
        self.plain.contains(&Scope::Admin)
    }

    /// Returns those of them that concern records, with the places that they are bound to.
    #[must_use]
    pub(super) fn lowered(mut self) -> Self {
        const RECORDS: [Scope; 2] = [Scope::RecordsRead, Scope::RecordsWrite];
        if self.is_admin() {
            // What bounds others does not bound whoever owns the instance.
            return Self { plain: RECORDS.into(), grains: BTreeSet::new() };
        }
        self.plain.retain(|scope| RECORDS.contains(scope));
        self
    }

    /// Returns where one may read, or write: everywhere unless a grain says where. Whether one may
    /// at all is another question.
    pub fn bounds(&self, way: Way) -> Sight {
        let places = || self.grains.iter().filter(|grain| grain.way == way).map(|it| &it.place);
        if self.is_admin() || places().next().is_none() {
            return Sight::everything();
        }
        let mut sight = Sight::nothing();
        for place in places() {
            match place {
                Place::Thread(thread) => sight.add_thread(thread),
                Place::Namespace(path) => sight.add_namespace(path),
            }
        }
        sight
    }

    /// Returns whether these scopes allow nothing that `others` do not.
    pub fn within(&self, others: &Self) -> bool {
        others.is_admin()
            || self.plain.iter().all(|scope| others.allow(*scope))
                && [(Way::Read, Scope::RecordsRead), (Way::Write, Scope::RecordsWrite)]
                    .into_iter()
                    .all(|(way, scope)| {
                        let bounds = others.bounds(way);
                        !self.allow(scope)
                            || (others.allow(scope) && bounds.holds(&self.bounds(way)))
                    })
    }

    /// Returns the words, sorted.
    pub fn words(&self) -> Vec<String> {
        let plain = self.plain.iter().map(ToString::to_string);
        plain.chain(self.grains.iter().map(ToString::to_string)).collect()
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(csv: &str) -> Scopes {
        Scopes::parse(csv).expect("scopes")
    }

    #[test]
    fn a_list_is_read_and_written() {
        let csv = "records:read,admin,thread:a:b:read,namespace:acme/site:write";
        let written = scopes(&format!(" {csv} ,records:read,")).to_string();
        assert_eq!(written, "records:read,admin,thread:a:b:read,namespace:acme/site:write");
        assert_eq!(scopes(&written), scopes(csv));
        assert_eq!(scopes("reader"), scopes("records:read"));
        assert_eq!(scopes("contributor"), scopes("records:read,records:write"));
        for bad in ["root", "records", "thread:a", "thread::read", "namespace:NO:read", "a:b:read"]
        {
            assert!(Scopes::parse(bad).is_err(), "{bad}");
        }
        let many: Vec<String> = (0..=MAX_SCOPES).map(|n| format!("thread:{n}:read")).collect();
        assert_eq!(Scopes::parse(&many.join(",")), Err(UnknownScope::TooMany));
    }

    #[test]
    fn grains_bound_what_they_are_about() {
        let thread = |name: &str| ThreadId::parse(name).expect("a name");
        let ns = |path: &str| Namespace::parse(path).expect("a path");
        let some = scopes("records:read,records:write,thread:a:read,namespace:acme:read");
        let (reads, writes) = (some.bounds(Way::Read), some.bounds(Way::Write));
        assert!(reads.shows(&thread("a"), &ns("other")));
        assert!(reads.shows(&thread("b"), &ns("acme/site")));
        assert!(!reads.shows(&thread("b"), &ns("acmeister")));
        assert!(!reads.shows(&thread("b"), &ns("default")));
        assert!(writes.shows(&thread("b"), &ns("default")));
        let root = scopes("namespace:default:read").bounds(Way::Read);
        assert!(root.shows(&thread("b"), &ns("acme")));
        let admin = scopes("admin,thread:a:read").bounds(Way::Read);
        assert!(admin.shows(&thread("b"), &ns("default")));
        assert!(scopes("thread:a:read").allow(Scope::RecordsRead));
        assert!(!scopes("thread:a:read").allow(Scope::RecordsWrite));
    }

    #[test]
    fn what_is_within_allows_no_more() {
        let within = |some: &str, others: &str| scopes(some).within(&scopes(others));
        for (some, others) in [
            ("records:read", "reader"),
            ("thread:a:read", "records:read"),
            ("thread:a:read", "thread:a:read,thread:b:read"),
            ("namespace:acme/site:write", "namespace:acme:write"),
            ("records:read,thread:a:read", "thread:a:read"),
            ("records:read", "admin"),
            ("admin", "admin"),
            ("", "reader"),
        ] {
            assert!(within(some, others), "{some} within {others}");
        }
        for (some, others) in [
            ("records:write", "reader"),
            ("records:read", "records:read,thread:a:read"),
            ("thread:b:read", "thread:a:read"),
            ("thread:a:write", "thread:a:read"),
            ("namespace:acme:read", "namespace:acme/site:read"),
            ("thread:a:read", "namespace:acme:read"),
            ("admin", "records:read,records:write,config:read,config:write"),
        ] {
            assert!(!within(some, others), "{some} not within {others}");
        }
    }
}
