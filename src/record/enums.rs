//! The two closed enums of an envelope (contract §1.2).

use std::fmt;

macro_rules! word_enum {
    ($(#[$doc:meta])* $name:ident { $( $(#[$variant_doc:meta])* $variant:ident = $word:literal, )* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $( $(#[$variant_doc])* $variant, )* }

        impl $name {
            /// Every value there is.
            pub const ALL: &[Self] = &[ $( Self::$variant, )* ];

            /// Returns the word on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $word, )* }
            }

            /// Reads the word on the wire.
            pub fn parse(word: &str) -> Option<Self> {
                match word { $( $word => Some(Self::$variant), )* _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

word_enum! {
    /// What kind of statement a record is.
    Act {
        /// Opens a thread or states a goal.
        Intend = "INTEND",
        /// An action.
        Do = "DO",
        /// An observation, a verdict or a closure.
        Know = "KNOW",
        /// An insight or a change of configuration.
        Learn = "LEARN",
        /// An effect: something was read.
        Get = "GET",
        /// An effect: something was written.
        Put = "PUT",
        /// An effect: something was called.
        Call = "CALL",
        /// An effect: something was transformed.
        Map = "MAP",
    }
}

word_enum! {
    /// How the body is to be read.
    DataType {
        /// A value.
        Scalar = "SCALAR",
        /// A formula.
        Formula = "FORMULA",
        /// A distribution.
        Distribution = "DISTRIBUTION",
        /// A reference.
        Reference = "REFERENCE",
        /// A morphism.
        Morphism = "MORPHISM",
        /// Nothing.
        Void = "VOID",
    }
}
