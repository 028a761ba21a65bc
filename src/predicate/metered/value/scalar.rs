//! Values that are not containers.

use std::any::Any;
use std::sync::Arc;

use cel::common::traits::Comparer;
use cel::common::types::{CelBytes, CelString, Type};
use cel::common::value::{Builtin, BuiltinRef, StaticVal, Val};

/// A number that no type of CEL holds. It can be carried around and does nothing else.
#[derive(Debug, Clone, Copy)]
pub(in crate::predicate) struct Beyond;

static BEYOND: Type = Type::new_unspecified_type("number beyond 64 bits");

impl Val for Beyond {
    fn get_type(&self) -> &Type {
        &BEYOND
    }

    fn cel_type() -> &'static Type {
        &BEYOND
    }

    fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v> {
        Box::new(*self)
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

impl StaticVal for Beyond {}

/// Implements a value that an expression built, shared by its copies. To the evaluator it is one
/// of its own: that is what `as_builtin` says.
macro_rules! shared {
    ($(#[$doc:meta])* $name:ident, $builtin:ident, $variant:ident, $from:ty) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub(in crate::predicate) struct $name(Arc<$builtin<'static>>);

        impl From<$from> for $name {
            fn from(built: $from) -> Self {
                Self(Arc::new($builtin::from(built)))
            }
        }

        impl Val for $name {
            fn get_type(&self) -> &Type {
                self.0.get_type()
            }

            fn cel_type() -> &'static Type {
                <$builtin<'static> as Val>::cel_type()
            }

            fn as_comparer(&self) -> Option<&dyn Comparer> {
                self.0.as_comparer()
            }

            fn equals(&self, other: &dyn Val) -> bool {
                self.0.equals(other)
            }

            fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v> {
                Box::new(self.clone())
            }

            fn as_any(&self) -> Option<&dyn Any> {
                Some(self)
            }

            fn as_builtin<'b, 'v>(&'b self) -> BuiltinRef<'b, 'v>
            where
                Self: 'v,
            {
                BuiltinRef::$variant(&self.0)
            }

            fn into_builtin<'v>(self: Box<Self>) -> Option<Builtin<'v>>
            where
                Self: 'v,
            {
                Some(Builtin::$variant(Arc::unwrap_or_clone(self.0)))
            }
        }

        impl StaticVal for $name {}
    };
}

shared! {
    /// A text that an expression built.
    Text, CelString, String, String
}
shared! {
    /// Bytes that an expression built.
    Blob, CelBytes, Bytes, Vec<u8>
}
