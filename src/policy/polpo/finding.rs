//! What is wrong with a pack, and where.

use std::fmt;

use crate::canon::Object;
use crate::object;

macro_rules! codes {
    ($( $(#[$doc:meta])* $name:ident = $text:literal, $severity:ident; )*) => {
        /// What is wrong, in a stable word (contract §16).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum PackCode { $( $(#[$doc])* $name, )* }

        impl PackCode {
            /// Every code there is.
            pub const ALL: &[Self] = &[ $( Self::$name, )* ];

            /// Returns the code as programs see it.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$name => $text, )* }
            }

            /// Returns whether the pack is refused for it.
            pub const fn severity(self) -> Severity {
                match self { $( Self::$name => Severity::$severity, )* }
            }
        }
    };
}

codes! {
    /// The file cannot be read, or is not JSON.
    InvalidJson = "hook_pack_invalid_json", Error;
    /// The file has too many bytes.
    TooLarge = "hook_pack_too_large", Error;
    /// The file has no name that a pack may have.
    InvalidName = "hook_pack_invalid_name", Error;
    /// The version is not one that is known here.
    UnsupportedVersion = "hook_unsupported_version", Error;
    /// There is no such key.
    UnknownField = "hook_unknown_field", Error;
    /// A value is not what its key takes.
    InvalidField = "hook_invalid_field", Error;
    /// Two hooks of a pack have one name.
    DuplicateId = "hook_duplicate_id", Error;
    /// There is no such event.
    UnknownEvent = "hook_unknown_event", Error;
    /// A matcher matches nothing, or is not one.
    InvalidMatcher = "hook_invalid_matcher", Error;
    /// A handler is not one.
    InvalidHandler = "hook_invalid_handler", Error;
    /// A URL is not of https.
    InsecureUrl = "hook_insecure_url", Error;
    /// A URL names a host that is not public.
    PrivateHost = "hook_private_host", Error;
    /// A credential stands in the pack, or has its place there.
    InlineCredential = "hook_inline_credential", Error;
    /// A time that no handler may take.
    TimeoutOutOfRange = "hook_timeout_out_of_range", Error;
    /// A gate on another event than `turn:stop`.
    GateEvent = "hook_gate_event", Error;
    /// A gate whose handler is no deterministic one.
    GateHandler = "hook_gate_handler", Error;
    /// A gate on a hook that decides nothing.
    GateMode = "hook_gate_mode", Error;
    /// The limits of a gate are missing or out of range.
    GateLimits = "hook_gate_limits", Error;
    /// A tool that the provider runs, and that no hook can stop.
    ProviderNativeUnsupported = "hook_provider_native_unsupported", Error;
    /// An agent names a pack that is not there.
    UnknownPack = "hook_unknown_pack", Error;
    /// An agent names a pack twice.
    DuplicatePack = "hook_duplicate_pack", Error;
    /// More of something than is taken.
    LimitExceeded = "hook_limit_exceeded", Error;
    /// `onFailure` of a gate, which fails closed in any case.
    GateOnFailureIgnored = "hook_gate_on_failure_ignored", Warning;
    /// A pattern that also names a tool that the provider runs, to which the hook is not applied.
    WildcardProviderNative = "hook_wildcard_provider_native", Warning;
    /// A gate that is not enabled: what it matches is blocked.
    DisabledGate = "hook_disabled_gate", Warning;
}

impl fmt::Display for PackCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether a pack is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It is.
    Error,
    /// It is not.
    Warning,
}

/// Something that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub code: PackCode,
    /// Where, as a JSON path: `$.hooks[0].handler.url`. `$` is the file as a whole.
    pub path: String,
    /// One sentence, without any value of the file.
    pub message: String,
}

impl Finding {
    /// Returns whether the pack is refused for it.
    pub const fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// Returns whether the pack is refused for it.
    pub fn is_error(&self) -> bool {
        self.severity() == Severity::Error
    }

    /// Returns the finding as an answer shows it.
    pub fn to_object(&self) -> Object {
        object! {
            "code": self.code.as_str(),
            "message": self.message.as_str(),
            "path": self.path.as_str(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.code, self.path, self.message)
    }
}
