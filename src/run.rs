//! The work loop: a goal goes in, turns and tool calls follow, an outcome comes out, and every step
//! of it is a record (contract §5.1).
//!
//! How it fits: [`step()`] is a pure function from a state and an event to the next state and the
//! effects it wants. [`drive()`] performs the effects with a real model, real tools and a real
//! store, and feeds what came of them back. It decides nothing.
//!
//! Each turn's calls run one after another. When one returns, its result is stored and the hooks
//! are asked, in one commit; what they say stands right behind that result in what the model reads
//! on its next turn.
//!
//! **Invariant:** what is done is durable first: a turn before its calls, a call and its ruling
//! before it is executed, a result and its observations before the model sees them.
//!
//! **Invariant:** hooks are asked in one place, by the effect [`Effect::Observe`]. What comes back
//! is words.

mod approver;
mod audited;
mod body;
mod budget;
mod decider;
mod drive;
mod error;
mod event;
mod guardrail;
mod host;
mod house;
mod inbox;
mod moment;
mod outcome;
mod perform;
mod prompt;
mod prompting;
mod repair;
mod replay;
mod row;
mod ruling;
mod spec;
mod state;
mod step;
mod task;
pub mod worker;

pub use crate::config::Transport;
pub use approver::{Approval, Approver, Auto};
pub use budget::{BudgetKind, Limits, Spent};
pub use decider::{Decider, Decision, Nobody};
pub use drive::{Hands, drive, drive_confined, recorded_spec, records_of, resume, resume_confined};
pub use error::RunError;
pub use event::{Asking, Blocked, Effect, Ended, Event, Execution, Returned, Ruled, Turn};
pub use guardrail::{BLOCK_AT, HALT_AT};
pub use host::{
    Admission, Ask, Chosen, Host, HostError, Outfit, Preview, Started, Unfit, mark_orphans,
};
pub use house::{REPORT_BLOCKED, REQUEST_DECISION, TASK};
pub use inbox::{steer, stop};
pub use moment::{Moment, Report};
pub use outcome::{Outcome, Verb};
pub use prompting::ask_prompt;
pub use replay::{ReplayError, Replayed, replay};
pub use row::{RowState, RunRow, row_of, rows};
pub use spec::{LOOP_KIND, RunSpec, TrackRecord};
pub use state::RunState;
pub use step::step;
