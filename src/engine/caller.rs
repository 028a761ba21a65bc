//! Who is authenticated on a request; not the same as the actor of a record.

use std::fmt;

/// What a bearer may do (contract §2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Read records and threads.
    RecordsRead,
    /// Write records.
    RecordsWrite,
    /// Read configuration and health.
    ConfigRead,
    /// Write configuration that is not gated.
    ConfigWrite,
    /// Everything, gated configuration included.
    Admin,
}

impl Scope {
    /// Every scope there is.
    pub const ALL: &[Self] =
        &[Self::RecordsRead, Self::RecordsWrite, Self::ConfigRead, Self::ConfigWrite, Self::Admin];

    /// Returns the word of the scope.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RecordsRead => "records:read",
            Self::RecordsWrite => "records:write",
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

/// A set of scopes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scopes(Vec<Scope>);

/// A word that is not a scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{word}` is not a scope; scopes are records:read, records:write, config:read, config:write, admin"
)]
pub struct UnknownScope {
    /// The word.
    pub word: String,
}

impl Scopes {
    /// Reads words with commas between them.
    pub fn parse(csv: &str) -> Result<Self, UnknownScope> {
        let read = |word: &str| {
            Scope::parse(word).ok_or_else(|| UnknownScope { word: word.chars().take(64).collect() })
        };
        let mut scopes: Vec<Scope> = csv
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .map(read)
            .collect::<Result<_, _>>()?;
        scopes.sort_unstable();
        scopes.dedup();
        Ok(Self(scopes))
    }

    /// Returns whether these scopes allow what `scope` does. `admin` allows everything.
    pub fn allow(&self, scope: Scope) -> bool {
        self.0.contains(&scope) || self.0.contains(&Scope::Admin)
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.0.iter().map(|scope| scope.as_str()).collect();
        f.write_str(&words.join(","))
    }
}

/// What may be done in the shell of an agent.
const AGENT_SCOPES: [Scope; 3] = [Scope::RecordsRead, Scope::RecordsWrite, Scope::ConfigRead];

/// Who is authenticated on a request.
///
/// *Operator-class* (contract §3.4) is whoever owns the instance: a process of the same user that
/// opened the store or reached the socket, and a bearer with `admin`. It is decided on the
/// authenticated caller, never on the actor that a record names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller(Class);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Class {
    Operator,
    Bearer(Scopes),
}

impl Caller {
    /// Returns the owner of the instance.
    pub const fn operator() -> Self {
        Self(Class::Operator)
    }

    /// Returns the holder of a token with these scopes.
    pub const fn bearer(scopes: Scopes) -> Self {
        Self(Class::Bearer(scopes))
    }

    /// Returns a process of this machine in the shell of an agent: of the same user as the operator,
    /// and not the operator. It reads and writes records, and reads the configuration.
    pub fn agent() -> Self {
        Self::bearer(Scopes(AGENT_SCOPES.to_vec()))
    }

    /// Returns what is left of this caller in the shell of an agent. Nobody may more than before.
    #[must_use]
    pub fn lowered(self) -> Self {
        let left = AGENT_SCOPES.iter().copied().filter(|scope| self.may(*scope)).collect();
        Self::bearer(Scopes(left))
    }

    /// Returns whether this caller may write gated configuration.
    pub fn is_operator(&self) -> bool {
        match &self.0 {
            Class::Operator => true,
            Class::Bearer(scopes) => scopes.allow(Scope::Admin),
        }
    }

    /// Returns whether this caller may do what `scope` allows.
    pub fn may(&self, scope: Scope) -> bool {
        match &self.0 {
            Class::Operator => true,
            Class::Bearer(scopes) => scopes.allow(scope),
        }
    }
}
