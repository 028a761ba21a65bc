//! From the answers of the controlling hooks at one event to one effect (contract-polpo §5.4, §6, §13).
//!
//! Comes in: what is about to happen, the hooks in their order, and what came of asking each, one
//! after another. Goes out: an effect as data, and for each hook what became of its answer.
//!
//! How it fits: a [`Walk`] goes from hook to hook and knows what ends it; a [`Seat`] knows what the
//! words mean at one event: [`Before`], [`After`], [`Stop`].
//!
//! **Invariant:** `deny` and `stop` end a walk at once, so no hook behind can weaken them. `allow` and
//! `defer` do nothing at all.
//!
//! **Invariant:** a [`Control`] cannot be made of a hook that only observes.

mod after;
mod before;
mod refusal;
mod stop;
mod walk;

pub use after::{After, AfterEffect};
pub use before::{Before, BeforeEffect, Want};
pub use refusal::Refusal;
pub use stop::{Stop, StopEffect};
pub use walk::{Changed, Control, Done, Heard, Seat, Walk};

#[cfg(test)]
mod tests;
