//! A run whose calls hooks are asked about.

use spl::canon::Object;
use spl::hook::{Asked, Fires, History, HookSet, Observed, ReturnedCall, RunFacts, Trace};
use spl::predicate::SystemFacts;
use spl::record::{ActorId, Clock, Namespace, ThreadId};
use spl::time::{Stopwatch, Timestamp};
use spl::trust::Standing;

/// One call, as it returned.
#[derive(Debug, Clone, Default)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) args: Object,
    pub(crate) status: String,
    pub(crate) content: String,
    /// What the rules know the tool by; `tool:` and its name if this is empty.
    pub(crate) resource: String,
}

impl Call {
    pub(crate) fn of(tool: &str) -> Self {
        Self { tool: tool.into(), status: "ok".into(), ..Self::default() }
    }
}

/// A run of `did:sync:agent:clerk`, trusted half in `ops` by four verdicts.
pub(crate) struct Run {
    thread: ThreadId,
    actor: ActorId,
    namespace: Namespace,
    history: History,
    fires: Fires,
}

impl Run {
    pub(crate) fn new(namespace: &str) -> Self {
        Self {
            thread: ThreadId::parse("th_run").expect("a thread"),
            actor: ActorId::parse("did:sync:agent:clerk").expect("an actor"),
            namespace: Namespace::parse(namespace).expect("a namespace"),
            history: History::default(),
            fires: Fires::default(),
        }
    }

    /// Goes on in another namespace.
    pub(crate) fn go_to(&mut self, namespace: &str) {
        self.namespace = Namespace::parse(namespace).expect("a namespace");
    }

    /// Notes a call and asks the hooks about it.
    pub(crate) fn ask(&mut self, hooks: &HookSet, call: &Call) -> Asked {
        self.note(call);
        with_resource(call, |call| hooks.ask(call, &self.facts(), &self.history))
    }

    /// The same, timed.
    pub(crate) fn ask_timed(&mut self, hooks: &HookSet, call: &Call) -> Asked {
        self.note(call);
        let watch = Stopwatch::start();
        with_resource(call, |call| hooks.ask_timed(call, &self.facts(), &self.history, &watch))
    }

    /// Notes a call and lets the hooks speak.
    pub(crate) fn observe(&mut self, hooks: &HookSet, call: &Call) -> Observed {
        self.note(call);
        let mut fires = std::mem::take(&mut self.fires);
        let observed = with_resource(call, |call| {
            hooks.observe(call, &self.facts(), &self.history, &mut fires)
        });
        self.fires = fires;
        observed
    }

    fn note(&mut self, call: &Call) {
        let trace = Trace::of(&call.tool, &call.args, &call.status, &call.content);
        self.history.note(&trace);
    }

    fn facts(&self) -> RunFacts<'_> {
        RunFacts {
            thread: &self.thread,
            actor: &self.actor,
            namespace: &self.namespace,
            domain: "ops",
            trust: &Standing { score: 0.5, count: 4 },
            now: Timestamp::from_millis(0),
            system: &SystemFacts::NONE,
        }
    }
}

fn with_resource<T>(call: &Call, ask: impl FnOnce(&ReturnedCall<'_>) -> T) -> T {
    let default = format!("tool:{}", call.tool);
    ask(&ReturnedCall {
        tool: &call.tool,
        args: &call.args,
        status: &call.status,
        content: &call.content,
        resource: if call.resource.is_empty() { &default } else { &call.resource },
        call: None,
        clock: Clock::default(),
    })
}
