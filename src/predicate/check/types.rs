//! The types that are known before an expression is evaluated.

/// The type of an expression, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::predicate) enum Type {
    /// Known only when it is evaluated.
    Dyn,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    List,
    Map,
    /// A map whose keys are known.
    Shape(&'static Shape),
    /// A type, as a value.
    Meta,
    Timestamp,
    Duration,
}

/// A map whose keys are known.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::predicate) struct Shape {
    /// How expressions reach it.
    pub(in crate::predicate) name: &'static str,
    /// Whether other keys may be there too.
    pub(in crate::predicate) open: bool,
    pub(in crate::predicate) fields: &'static [(&'static str, Type)],
}

impl Shape {
    pub(in crate::predicate) fn field(&self, name: &str) -> Option<Type> {
        let known = self.fields.iter().find(|(field, _)| *field == name).map(|(_, ty)| *ty);
        known.or(self.open.then_some(Type::Dyn))
    }
}

impl Type {
    /// Returns the name of the type in CEL.
    pub(in crate::predicate) const fn name(self) -> &'static str {
        match self {
            Self::Dyn => "dyn",
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::Text => "string",
            Self::Bytes => "bytes",
            Self::List => "list",
            Self::Map | Self::Shape(_) => "map",
            Self::Meta => "type",
            Self::Timestamp => "timestamp",
            Self::Duration => "duration",
        }
    }

    /// Tells whether a value of this type may be one of type `wanted`.
    pub(in crate::predicate) fn may_be(self, wanted: Self) -> bool {
        self == Self::Dyn || wanted == Self::Dyn || self.plain() == wanted.plain()
    }

    /// Tells whether values of the two types may be equal. Numbers of all types compare.
    pub(in crate::predicate) fn may_equal(self, other: Self) -> bool {
        self.may_be(other) || (self.is_number() && other.is_number())
    }

    pub(in crate::predicate) const fn is_number(self) -> bool {
        matches!(self, Self::Int | Self::Uint | Self::Double)
    }

    /// Tells whether values of the type have an order.
    pub(in crate::predicate) const fn is_ordered(self) -> bool {
        !matches!(self, Self::Null | Self::List | Self::Map | Self::Shape(_) | Self::Meta)
    }

    /// Tells whether handling a value of this type is known to be little work.
    pub(in crate::predicate) const fn is_light(self) -> bool {
        !matches!(
            self,
            Self::Dyn | Self::Text | Self::Bytes | Self::List | Self::Map | Self::Shape(_)
        )
    }

    /// Returns the type of what is one or the other.
    pub(in crate::predicate) fn or(self, other: Self) -> Self {
        if self.plain() == other.plain() { self.plain() } else { Self::Dyn }
    }

    const fn plain(self) -> Self {
        if let Self::Shape(_) = self { Self::Map } else { self }
    }
}
