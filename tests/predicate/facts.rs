//! Facts that own what they are made of.

use spl::canon::Object;
use spl::predicate::{BodyFacts, Facts, RecordFacts, SystemFacts, Trust};
use spl::record::RecordId;

/// Facts, and everything they borrow.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) act: String,
    pub(crate) parents: Vec<RecordId>,
    pub(crate) clock: i64,
    pub(crate) body: Body,
    pub(crate) resource: String,
    pub(crate) actor: String,
    pub(crate) namespace: String,
    pub(crate) now: i64,
    pub(crate) trusted: Trusted,
}

#[derive(Debug, Clone)]
pub(crate) enum Body {
    Call { tool: String, args: Object, status: String, content: String },
    Any(Object),
}

/// Trust in one actor and one domain.
#[derive(Debug, Clone)]
pub(crate) struct Trusted {
    pub(crate) actor: String,
    pub(crate) domain: String,
    pub(crate) score: f64,
    pub(crate) count: i64,
}

impl Trust for Trusted {
    fn score(&self, actor: &str, domain: &str) -> f64 {
        if actor == self.actor && domain == self.domain { self.score } else { 0.0 }
    }

    fn count(&self, actor: &str, domain: &str) -> i64 {
        if actor == self.actor && domain == self.domain { self.count } else { 0 }
    }
}

impl World {
    /// A call of `bash` that failed.
    pub(crate) fn of_call(args: Object) -> Self {
        Self {
            act: "CALL".into(),
            parents: vec![RecordId::from_bytes([0xab; 32])],
            clock: 11,
            body: Body::Call {
                tool: "bash".into(),
                args,
                status: "error".into(),
                content: "make: *** No rule to make target `all`. Stop.".into(),
            },
            resource: "tool:bash".into(),
            actor: "did:sync:agent:clerk".into(),
            namespace: "default".into(),
            now: 1_796_045_823,
            trusted: Trusted {
                actor: "did:sync:agent:clerk".into(),
                domain: "ops".into(),
                score: 0.25,
                count: 4,
            },
        }
    }

    pub(crate) fn facts(&self) -> Facts<'_> {
        Facts {
            record: RecordFacts {
                act: &self.act,
                actor: &self.actor,
                thread: "th_run",
                data_type: "SCALAR",
                clock: self.clock,
                parents: &self.parents,
                body: match &self.body {
                    Body::Call { tool, args, status, content } => {
                        BodyFacts::Call { tool, args, status, content }
                    }
                    Body::Any(members) => BodyFacts::Any(members),
                },
            },
            resource: &self.resource,
            actor: &self.actor,
            namespace: &self.namespace,
            trust: &self.trusted,
            now_secs: self.now,
            system: &SystemFacts {
                uptime_secs: 60,
                records_total: 3,
                threads_total: 2,
                daemon_version: "0.1.0",
            },
        }
    }
}
