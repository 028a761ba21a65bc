//! What predicates are asked about, apart from what a property is about.

use spl::predicate::{BodyFacts, Facts, RecordFacts, SystemFacts, Trust};
use spl::record::RecordId;

/// Returns the facts of a record with this body.
pub fn facts<'a>(parents: &'a [RecordId], body: BodyFacts<'a>) -> Facts<'a> {
    Facts {
        record: RecordFacts {
            act: "KNOW",
            actor: "did:sync:agent:clerk",
            thread: "th_run",
            data_type: "SCALAR",
            clock: 11,
            parents,
            body,
        },
        resource: "tool:bash",
        actor: "did:sync:agent:clerk",
        namespace: "acme/site",
        trust: &Little,
        now_secs: 1_796_045_823,
        system: &SystemFacts::NONE,
    }
}

/// Everybody is trusted a little.
struct Little;

impl Trust for Little {
    fn score(&self, _: &str, _: &str) -> f64 {
        0.25
    }

    fn count(&self, _: &str, _: &str) -> i64 {
        4
    }
}
