//! Why a text cannot be a predicate.

use crate::code::{Code, Coded};

macro_rules! flaws {
    ($( $(#[$doc:meta])* $name:ident = $word:literal, )*) => {
        /// What is wrong with a text that should be a predicate.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Flaw { $( $(#[$doc])* $name, )* }

        impl Flaw {
            /// Every flaw there is.
            pub const ALL: &[Self] = &[ $( Self::$name, )* ];

            /// Returns the stable word for the flaw.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$name => $word, )* }
            }
        }
    };
}

flaws! {
    /// Nothing but white space.
    Empty = "empty",
    /// More bytes than are taken.
    TooLong = "too_long",
    /// Too many brackets inside each other.
    TooNested = "too_nested",
    /// Not CEL.
    Syntax = "syntax",
    /// CEL that is not served here: messages, optional values.
    Unsupported = "unsupported",
    /// Too many operations inside each other.
    TooDeep = "too_deep",
    /// Too many operations.
    TooManyNodes = "too_many_nodes",
    /// Too many loops inside each other.
    LoopsTooDeep = "loops_too_deep",
    /// Too many elements in one list or map.
    ListTooLong = "list_too_long",
    /// The pattern of `matches` is not a string literal.
    DynamicPattern = "dynamic_pattern",
    /// The pattern of `matches` is not a regular expression.
    BadPattern = "bad_pattern",
    /// The pattern of `matches` needs too much memory.
    PatternTooLarge = "pattern_too_large",
    /// A name that nothing has.
    UnknownName = "unknown_name",
    /// A function that does not exist.
    UnknownFunction = "unknown_function",
    /// A field that is never there.
    UnknownField = "unknown_field",
    /// A name that exists in other contexts only.
    WrongContext = "wrong_context",
    /// Too few or too many arguments, or a method that is not one.
    WrongArguments = "wrong_arguments",
    /// Values of types that do not go together.
    TypeClash = "type_clash",
    /// An expression whose result can never be true or false.
    NotBoolean = "not_boolean",
    /// The parser gave up without saying where.
    ParserFailed = "parser_failed",
}

/// A text that cannot be a predicate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PredicateError {
    /// What is wrong.
    pub flaw: Flaw,
    /// Where, counted in characters from 0.
    pub column: Option<usize>,
    /// One sentence for people.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl PredicateError {
    /// Returns the refusal of a text for `flaw`.
    pub(super) fn new(flaw: Flaw, message: impl Into<String>) -> Self {
        Self { flaw, column: None, message: message.into(), hint: None }
    }

    /// Adds where.
    pub(super) fn at(mut self, column: impl Into<Option<usize>>) -> Self {
        self.column = column.into();
        self
    }

    /// Adds what to do next.
    pub(super) fn hint(mut self, hint: impl Into<Option<String>>) -> Self {
        self.hint = hint.into();
        self
    }
}

impl Coded for PredicateError {
    fn code(&self) -> Code {
        Code::InvalidBody
    }

    fn reason(&self) -> Option<&'static str> {
        Some("bad_cel")
    }

    fn column(&self) -> Option<usize> {
        self.column
    }

    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}
