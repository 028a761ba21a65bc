//! Names of one's own: what an expression over declared names may use.

use std::collections::BTreeMap;
use std::fmt;

use super::check::types;

/// The names that an expression may use instead of those of a [`Context`](super::Context).
///
/// A variable may have a name of several parts, `account.owner`. An expression finds the longest
/// one that is declared, and finds those of its container without writing it: in the container
/// `a.b`, `x` is `a.b.x`, else `a.x`, else `x`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Environment {
    container: String,
    variables: BTreeMap<String, Type>,
    unchecked: bool,
}

/// The type that a variable is declared with. What is in a list or a map is not said: it is known
/// when it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Any of them.
    Dyn,
    /// `null_type`
    Null,
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `uint`
    Uint,
    /// `double`
    Double,
    /// `string`
    String,
    /// `bytes`
    Bytes,
    /// `list`
    List,
    /// `map`
    Map,
    /// `type`: the name of a type.
    Type,
    /// `google.protobuf.Timestamp`
    Timestamp,
    /// `google.protobuf.Duration`
    Duration,
}

impl Environment {
    /// Returns an environment without names: an expression has what CEL itself gives.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares a variable. The later of two declarations of a name counts.
    #[must_use]
    pub fn declare(mut self, name: impl Into<String>, ty: Type) -> Self {
        self.variables.insert(name.into(), ty);
        self
    }

    /// Sets the container.
    #[must_use]
    pub fn within(mut self, container: impl Into<String>) -> Self {
        self.container = container.into();
        self
    }

    /// Lets pass what the checker refuses: names that nothing has, and types that clash, fail when
    /// they are evaluated, unless something absorbs the failure, as in `true || nothing`. The
    /// guards and the budget hold all the same.
    ///
    /// For expressions whose errors are wanted at run time. What a person writes is better refused
    /// where it is wrong.
    #[must_use]
    pub fn unchecked(mut self) -> Self {
        self.unchecked = true;
        self
    }

    pub(super) const fn is_unchecked(&self) -> bool {
        self.unchecked
    }

    /// Returns the variables, in the order of their names.
    pub(super) fn variables(&self) -> impl Iterator<Item = (&str, Type)> {
        self.variables.iter().map(|(name, ty)| (name.as_str(), *ty))
    }

    pub(super) fn variable(&self, name: &str) -> Option<Type> {
        self.variables.get(name).copied()
    }

    /// Returns the full names that `name` may stand for, the likeliest first. A dot in front says
    /// that it is one.
    pub(super) fn candidates(&self, name: &str) -> Vec<String> {
        if let Some(full) = name.strip_prefix('.') {
            return vec![full.to_owned()];
        }
        let mut containers = Some(self.container.as_str()).filter(|whole| !whole.is_empty());
        let within = std::iter::from_fn(|| {
            let container = containers?;
            containers = container.rfind('.').and_then(|dot| container.get(..dot));
            Some(format!("{container}.{name}"))
        });
        within.chain([name.to_owned()]).collect()
    }
}

/// The name of the type in CEL.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(types::Type::from(*self).name())
    }
}

impl From<Type> for types::Type {
    fn from(ty: Type) -> Self {
        match ty {
            Type::Dyn => Self::Dyn,
            Type::Null => Self::Null,
            Type::Bool => Self::Bool,
            Type::Int => Self::Int,
            Type::Uint => Self::Uint,
            Type::Double => Self::Double,
            Type::String => Self::Text,
            Type::Bytes => Self::Bytes,
            Type::List => Self::List,
            Type::Map => Self::Map,
            Type::Type => Self::Meta,
            Type::Timestamp => Self::Timestamp,
            Type::Duration => Self::Duration,
        }
    }
}
