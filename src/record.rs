//! Records: immutable, content-addressed statements by an actor (contract §1).
//!
//! Comes in: an envelope, as a client sent it or as the engine builds it: a [`Draft`]. Goes out: a
//! [`Record`], which has its canonical bytes and its id and can no longer change. Checked here is
//! only shape; who may write what is a door's business.
//!
//! **Invariant:** a [`Record`] has no `&mut` methods, and a [`RecordId`] comes only from hashing or
//! from reading one back.

mod draft;
mod enums;
pub(crate) mod field;
mod id;
mod kind;
mod levels;
mod name;
mod namespace_entry;
mod receipt;
mod reserved;
mod sealed;
mod shape;

pub use draft::{Draft, ENVELOPE_FIELDS, Envelope};
pub use enums::{Act, DataType};
pub use id::RecordId;
pub use kind::{Kind, KindError};
pub use levels::HashLevels;
pub use name::{ActorId, Clock, NameError, Namespace, Sequence, ThreadId};
pub use namespace_entry::{NAMESPACE_THREAD, NAMESPACE_TOPIC, NamespaceEntry, NamespaceStatus};
pub use receipt::{Origin, Received};
pub use reserved::{RESERVED_PREFIXES, RESERVED_THREADS};
pub use sealed::{MAX_CANONICAL_BYTES, Record, SealError};
pub use shape::{Reason, ShapeError};

/// The thread whose records configure the engine.
pub const CONFIG_THREAD: &str = "th_engine_config";

/// The kind of a record that erases others.
pub const ERASURE_KIND: &str = "core.erasure";

/// The thread whose records name the keys of actors.
pub const ACTOR_THREAD: &str = "th_actor_registry";

/// The actor that the engine itself writes as. Its key is the key of the instance.
pub const ENGINE_ACTOR: &str = "did:sync:system:engine";

/// The actor that says who was refused what.
pub const GOVERNANCE_ACTOR: &str = "did:sync:system:governance";

/// The thread on which denials are.
pub const SECURITY_THREAD: &str = "th_audit_security";
