//! The termination gate: a final answer is given when its validators accept it (contract-polpo §11, §12).
//!
//! Comes in: the gates that match an invocation, and one after another what happens in it: the model is
//! wanted, has answered, a tool has returned, a validator has decided, a checkpoint is durable. Goes
//! out: what to do next, as data.
//!
//! How it fits: [`precondition()`] says before anything else whether the invocation may begin at all.
//! [`step()`] is the one transition; a [`Checkpoint`] is all of a [`Gate`] that outlives its process, and
//! [`resume()`] goes on from one. [`verdict`](verdict()) reads what a validator answered.
//!
//! **Invariant:** what is to be done is written first. A model or a tool that a checkpoint has in
//! flight is never called again; a validator whose answer is written is never asked again.
//!
//! **Invariant:** what is used only grows and what is allowed only shrinks, over any number of crashes.
//!
//! **Invariant:** only [`Effect::Deliver`] holds an answer for the client, and only an accepted one.

mod checkpoint;
mod code;
mod diagnostics;
mod event;
mod limits;
mod precondition;
mod resume;
mod step;
mod verdict;

pub use checkpoint::{Checkpoint, Flight, FlightKind, Judged, Phase, TooLarge, Validation};
pub use code::{GateCause, GateCode, GateFailure};
pub use diagnostics::{Reopening, diagnostics};
pub use event::{Appended, Asking, Effect, Event, Purpose, WriteFault, WritePoint};
pub use limits::{Limits, Used};
pub use precondition::{Configured, Handling, Standing, precondition};
pub use resume::resume;
pub use step::{Gate, Setup, Step, Subject, Validator, step};
pub use verdict::{Verdict, verdict};

#[cfg(test)]
mod tests;
