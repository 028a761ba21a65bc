//! What predicates are asked about: borrowed, and read only where a predicate looks.

use crate::canon;
use crate::record::RecordId;

/// Everything that one evaluation may look at.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// The record, or the returned call in the shape of one.
    pub record: RecordFacts<'a>,
    /// What is being acted on: `tool:bash`, `record_write`. Never derived from the record.
    pub resource: &'a str,
    /// Who acts.
    pub actor: &'a str,
    /// Where the evaluation takes place.
    pub namespace: &'a str,
    /// What is known about actors.
    pub trust: &'a dyn Trust,
    /// The time, in seconds since 1970.
    pub now_secs: i64,
    /// The instance.
    pub system: &'a dyn System,
}

impl Facts<'_> {
    /// What there is where there are no facts.
    pub(super) const NONE: Facts<'static> = Facts {
        record: RecordFacts {
            act: "",
            actor: "",
            thread: "",
            data_type: "",
            clock: 0,
            parents: &[],
            body: BodyFacts::Call {
                tool: "",
                args: &canon::Object::new(),
                status: "",
                content: "",
            },
        },
        resource: "",
        actor: "",
        namespace: "",
        trust: &Nobody,
        now_secs: 0,
        system: &SystemFacts::NONE,
    };
}

/// The fields of `record`.
#[derive(Clone, Copy)]
pub struct RecordFacts<'a> {
    /// `record.act`
    pub act: &'a str,
    /// `record.actor`
    pub actor: &'a str,
    /// `record.thread`
    pub thread: &'a str,
    /// `record.data_type`
    pub data_type: &'a str,
    /// `record.clock`
    pub clock: i64,
    /// `record.parents`
    pub parents: &'a [RecordId],
    /// `record.body`
    pub body: BodyFacts<'a>,
}

/// The fields of `record.body`.
#[derive(Clone, Copy)]
pub enum BodyFacts<'a> {
    /// A tool call that returned.
    Call {
        /// `record.body.tool`
        tool: &'a str,
        /// `record.body.args`
        args: &'a canon::Object,
        /// `record.body.status`
        status: &'a str,
        /// `record.body.content`
        content: &'a str,
    },
    /// The body of any record.
    Any(&'a canon::Object),
}

/// The fields of `system` that are known.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemFacts<'a> {
    /// `system.uptime_secs`
    pub uptime_secs: i64,
    /// `system.records_total`
    pub records_total: i64,
    /// `system.threads_total`
    pub threads_total: i64,
    /// `system.daemon_version`
    pub daemon_version: &'a str,
}

/// What is known about the instance. It is read when a predicate looks, and by a set of predicates
/// only once.
pub trait System: Sync {
    /// Returns what is known.
    fn read(&self) -> SystemFacts<'_>;
}

impl SystemFacts<'static> {
    /// An instance of which nothing is known.
    pub const NONE: Self =
        Self { uptime_secs: 0, records_total: 0, threads_total: 0, daemon_version: "" };
}

impl System for SystemFacts<'_> {
    fn read(&self) -> SystemFacts<'_> {
        *self
    }
}

/// What is known about actors. Who may know what is for the implementation to say. It is asked when
/// a predicate asks.
pub trait Trust: Sync {
    /// Returns how far `actor` is trusted in `domain`, from 0 to 1.
    fn score(&self, actor: &str, domain: &str) -> f64;

    /// Returns how many verdicts that rests on.
    fn count(&self, actor: &str, domain: &str) -> i64;
}

/// Nobody is trusted.
pub(super) struct Nobody;

impl Trust for Nobody {
    fn score(&self, _: &str, _: &str) -> f64 {
        0.0
    }

    fn count(&self, _: &str, _: &str) -> i64 {
        0
    }
}
