//! A process that reaches nothing but what it was given.
//!
//! Comes in: a [`Place`], which is one workspace and a few variables, and a program. Goes out: a
//! [`Worker`], the program behind one end of an unnamed socket pair. It has no network, sees the
//! folders of the system read-only and of the rest nothing: no home, no store, no socket, no other
//! process. What it can write is the workspace and a `/tmp` of its own, and neither it nor anything
//! that it has started outlives its [`Worker`], be that dropped or killed.
//!
//! How it fits. There are two [`Way`]s to such a place: bubblewrap, where it is installed, and
//! namespaces by ourselves. Both are a chain of processes of one executable, the *stager*, since
//! namespaces are entered by a process on its own behalf and the code between a fork and an exec
//! is not for safe Rust:
//!
//! ```text
//! engine ── keeper (enter) ── bwrap ─────────────── hold ── program
//!        ── keeper (enter) ── place (first inside) ═ hold ── program
//! ```
//!
//! The *keeper* stands outside. It sees the engine go by a pipe, kills the inside and ends when
//! nothing of it is left. *Place* mounts what is to be seen. *Hold* is the first process inside: it
//! verifies what it finds, restricts itself by Landlock where the kernel has that, says so on the
//! socket, starts the program and reaps what the program leaves. Whoever calls [`start`] has an
//! executable that hands the arguments it is started with to [`stage()`].
//!
//! Less than a place is a [`Hiding`]: one folder that a command does not see, which otherwise
//! reaches what its user reaches. It too is a stage, which becomes the command.
//!
//! **Invariant:** what is shown is listed; what is not listed is not there. A step that fails ends
//! the start with its name: there is no place with less walls than promised. Landlock alone is the
//! second wall, and [`Enforced`] tells how much of it stands.

mod error;
mod frame;
mod hiding;
mod place;
mod plan;

#[cfg(target_os = "linux")]
mod beside;
#[cfg(target_os = "linux")]
mod bubblewrap;
#[cfg(target_os = "linux")]
mod hide;
#[cfg(target_os = "linux")]
mod hold;
#[cfg(target_os = "linux")]
mod keeper;
#[cfg(target_os = "linux")]
mod layout;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod namespaces;
mod probe;
mod rules;
mod stage;
mod worker;

pub use error::{Refusal, SandboxError, Tried};
pub use frame::{FrameError, FrameReader, MAX_FRAME_BYTES, write_frame};
pub use hiding::{Hiding, HidingWay, NotHidden};
pub use place::{Hidden, Place, PlaceError};
pub use plan::{INSIDE, Way};
pub use probe::Probe;
pub use rules::Landlock;
pub use stage::{engine_end, stage};
pub use worker::{Enforced, Worker, start};
