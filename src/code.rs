//! The table of error codes: the contract with programs (contract §2.2).
//!
//! A [`Code`] is what a client matches on; its [`Class`] is what the caller can do about it. Faces
//! map a class to a status and nothing finer. Codes are only ever added.

use std::fmt;

/// What a caller can do about an error. `http` maps it to a status, the command to an exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// The request is wrong as written.
    Invalid,
    /// The caller is not known.
    Unauthenticated,
    /// The caller is known and may not.
    Refused,
    /// There is no such thing.
    Missing,
    /// What is there already does not allow it.
    Conflict,
    /// The request reads well and its content violates a rule.
    Unprocessable,
    /// The request is larger than what is taken.
    TooLarge,
    /// The request is of a media type that is not taken.
    MediaType,
    /// The request took longer than it may.
    Timeout,
    /// Too many such requests for now.
    TooMany,
    /// Something failed here.
    Internal,
    /// Not now, or not on this instance.
    Unavailable,
}

macro_rules! codes {
    ($( $(#[$doc:meta])* $name:ident = $text:literal, $class:ident; )*) => {
        /// A stable error code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code { $( $(#[$doc])* $name, )* }

        impl Code {
            /// Every code there is.
            pub const ALL: &[Self] = &[ $( Self::$name, )* ];

            /// Returns the code as clients see it.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$name => $text, )* }
            }

            /// Returns what a caller can do about it.
            pub const fn class(self) -> Class {
                match self { $( Self::$name => Class::$class, )* }
            }
        }
    };
}

codes! {
    /// The record was refused at ingest; the message carries the sub-reason.
    IngestFailed = "INGEST_FAILED", Invalid;
    /// The filter of a query is not one.
    InvalidQuery = "INVALID_QUERY", Invalid;
    /// The text to search for is blank.
    EmptyQuery = "EMPTY_QUERY", Invalid;
    /// The request is not one this door understands.
    InvalidRequest = "INVALID_REQUEST", Invalid;
    /// No bearer, or one that is not known, expired or revoked.
    AuthRequired = "AUTH_REQUIRED", Unauthenticated;
    /// The bearer lacks the scope.
    ScopeForbidden = "SCOPE_FORBIDDEN", Refused;
    /// The caller may not speak as this actor.
    DidClaimDenied = "DID_CLAIM_DENIED", Refused;
    /// A key is rotated by whoever holds it, or by the operator.
    RotateNotSelf = "ROTATE_NOT_SELF", Refused;
    /// The caller may not write this kind of configuration.
    ConfigWriteDenied = "CONFIG_WRITE_DENIED", Refused;
    /// The request came from a web page, or names a host this server does not serve.
    OriginForbidden = "ORIGIN_FORBIDDEN", Refused;
    /// The folder is none in which this server lets a run work.
    WorkspaceForbidden = "WORKSPACE_FORBIDDEN", Refused;
    /// The permission rules do not allow it.
    PermissionDenied = "PERMISSION_DENIED", Refused;
    /// The namespace, or one above it, is not registered or not active.
    NamespaceRejected = "NAMESPACE_REJECTED", Refused;
    /// Too many requests of this kind; `retry-after` says when.
    RateLimited = "RATE_LIMITED", TooMany;
    /// Nobody has an account on this instance yet.
    BootstrapRequired = "BOOTSTRAP_REQUIRED", Unavailable;
    /// There is an account already.
    BootstrapClosed = "BOOTSTRAP_CLOSED", Conflict;
    /// The rules, once in force, would lock the operator out.
    PermissionsLockout = "PERMISSIONS_LOCKOUT", Conflict;
    /// A server is running, and this is for when none is.
    ServerRunning = "SERVER_RUNNING", Conflict;
    /// A line of an import is not one.
    ImportFailed = "IMPORT_FAILED", Invalid;
    /// The blueprint is not one, or holds what must not be installed.
    BlueprintRefused = "BLUEPRINT_REFUSED", Unprocessable;
    /// What would be installed is not what was agreed to.
    PlanMismatch = "PLAN_MISMATCH", Conflict;
    /// There is no such record, thread or path.
    NotFound = "NOT_FOUND", Missing;
    /// The path exists and does not take this method.
    MethodNotAllowed = "METHOD_NOT_ALLOWED", Invalid;
    /// The envelope or the body violates the contract of its kind; `field` and `reason` say where.
    InvalidBody = "INVALID_BODY", Unprocessable;
    /// More bytes than a door takes, as sent or in canonical form.
    BodyTooLarge = "BODY_TOO_LARGE", TooLarge;
    /// The body of a POST is not declared `application/json`.
    UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE", MediaType;
    /// The request did not finish in time.
    RequestTimeout = "REQUEST_TIMEOUT", Timeout;
    /// The store could not be read or written.
    Internal = "INTERNAL", Internal;
    /// This instance has no embedder.
    SemanticSearchDisabled = "SEMANTIC_SEARCH_DISABLED", Unavailable;
    /// The store failed a write and takes no more until it is opened again.
    StorePoisoned = "STORE_POISONED", Unavailable;
    /// The disk or the file is full; nothing was written.
    StoreFull = "STORE_FULL", Unavailable;
    /// The server is going away.
    ShuttingDown = "SHUTTING_DOWN", Unavailable;
    /// The run is over.
    RunFinished = "RUN_FINISHED", Conflict;
    /// The run is driven by another process.
    RunDriven = "RUN_DRIVEN", Conflict;
    /// The run waits for a decision that nobody has made.
    DecisionPending = "DECISION_PENDING", Conflict;
    /// The run is not over.
    WorkNotOver = "WORK_NOT_OVER", Conflict;
    /// The question has been answered; the message names the answer.
    DecisionAnswered = "DECISION_ANSWERED", Conflict;
    /// The run is one of this instance's own and not somebody else's loop.
    RunNotExternal = "RUN_NOT_EXTERNAL", Conflict;
    /// No provider can play this model.
    WorkNoProvider = "WORK_NO_PROVIDER", Unprocessable;
    /// The model has no price, so that no budget in money can be kept.
    ModelUnpriced = "MODEL_UNPRICED", Unprocessable;
    /// As many runs as may go on at once.
    AdmissionCeiling = "ADMISSION_CEILING", Unavailable;
    /// The actor has begun as many runs today as its tier allows.
    WorkDailyCountExceeded = "WORK_DAILY_COUNT_EXCEEDED", Refused;
    /// The actor's runs have cost as much today as its tier allows.
    WorkDailyCapExceeded = "WORK_DAILY_CAP_EXCEEDED", Refused;
    /// The run does not go on now.
    RunNotLive = "RUN_NOT_LIVE", Conflict;
    /// A policy hook does not let these words open a turn.
    PromptBlocked = "PROMPT_BLOCKED", Refused;
    /// The provider of a model refused the turn.
    ModelRefused = "MODEL_REFUSED", Unprocessable;
    /// The provider of a model cannot be reached, or sends what is not a reply.
    ModelUnavailable = "MODEL_UNAVAILABLE", Unavailable;
    /// This instance has no home to keep the transcript of a session in.
    SessionNotKept = "SESSION_NOT_KEPT", Unavailable;
    /// This machine confines no process; nothing was started.
    SandboxUnavailable = "SANDBOX_UNAVAILABLE", Unavailable;
    /// Settings or packs of policy hooks are not taken; the message says which, and why.
    PolicyRefused = "POLICY_REFUSED", Unprocessable;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An error that knows its [`Code`].
pub trait Coded: std::error::Error {
    /// Returns the stable code of this error.
    fn code(&self) -> Code;

    /// Returns the field that is wrong, if it is one field.
    fn field(&self) -> Option<&str> {
        None
    }

    /// Returns the stable word for what is wrong with the field.
    fn reason(&self) -> Option<&'static str> {
        None
    }

    /// Returns where in the field, counted in characters from 0.
    fn column(&self) -> Option<usize> {
        None
    }

    /// Returns one sentence on what to do next, if there is one.
    fn hint(&self) -> Option<String> {
        None
    }
}
