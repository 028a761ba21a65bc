//! The records of what a loop has told.

use super::ObservedCall;
use crate::canon::{Object, Value};
use crate::engine::RunSeat;
use crate::object;
use crate::record::{Act, Clock, Draft, RecordId};
use crate::secret::{mask, mask_value};

/// The kind of the record that opens a run.
pub(super) const LOOP_KIND: &str = "core.work.loop.v1";

/// The kind of the record of a call.
pub(super) const CALL_KIND: &str = "core.work.tool_call.v1";

/// The kind of the record of a result.
pub(super) const RESULT_KIND: &str = "core.work.tool_result.v1";

/// Where the tools of such a run work.
pub(super) const EXTERNAL: &str = "external";

/// What a loop has told of one call.
pub(super) struct Facts<'a> {
    pub(super) seat: &'a RunSeat,
    pub(super) call: &'a ObservedCall,
}

impl Facts<'_> {
    /// The record that opens the run. The engine's own: it is what tells the run from others.
    pub(super) fn opening(&self, clock: Clock) -> Draft {
        let none: Vec<Value> = Vec::new();
        let body = object! {
            "domain": self.seat.domain.as_str(),
            "forbidden_tools": none.clone(),
            "goal": "what a loop elsewhere pursues",
            "kind": LOOP_KIND,
            "model": EXTERNAL,
            "tier": EXTERNAL,
            "tools": none,
            "transport": EXTERNAL,
        };
        self.draft(Act::Intend, body, clock)
    }

    /// The record of the call.
    pub(super) fn call(&self, clock: Clock, opening: Option<RecordId>) -> Draft {
        let body = object! {
            "args": mask_value(&Value::Object(self.call.args.clone())),
            "call_id": self.call.call_id.as_str(),
            "kind": CALL_KIND,
            "life": self.seat.life,
            "tool": self.call.tool.as_str(),
        };
        self.draft(Act::Call, body, clock).with_parents(opening.into_iter().collect())
    }

    /// The record of the result.
    pub(super) fn result(&self, clock: Clock, call: RecordId) -> Draft {
        let body = object! {
            "call_id": self.call.call_id.as_str(),
            "content": &*mask(&self.call.content),
            "fulfills": call,
            "kind": RESULT_KIND,
            "life": self.seat.life,
            "status": self.call.status.as_str(),
            "tool": self.call.tool.as_str(),
        };
        self.draft(Act::Know, body, clock).with_parents(vec![call])
    }

    fn draft(&self, act: Act, mut body: Object, clock: Clock) -> Draft {
        body.insert("namespace".into(), (&self.seat.namespace).into());
        Draft::new(self.seat.thread.clone(), self.seat.actor.clone(), act, body).with_clock(clock)
    }
}

/// The clocks from the next free one on.
pub(super) struct Clocks(Clock);

/// Returns the clocks from `clock` on.
pub(super) const fn clocks_from(clock: Clock) -> Clocks {
    Clocks(clock)
}

impl Clocks {
    /// Returns the next clock.
    pub(super) fn next(&mut self) -> Clock {
        let next = self.0;
        self.0 = Clock::new(next.get().saturating_add(1)).unwrap_or(next);
        next
    }
}
