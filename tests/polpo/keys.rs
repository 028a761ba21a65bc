//! The keys of executions.

use serde::Deserialize;
use spl::policy::polpo::{Event, HookName, IdempotencyKey, Identity, Occurrence};

use crate::cases::{cases, fixtures};

/// What an execution is of, and its key.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Vector {
    invocation: String,
    step_invocation: Option<String>,
    agent: String,
    pack: String,
    hook: String,
    event: String,
    /// `tool:<turn>:<call>`, `stop:<n>` or `gate:<n>`.
    occurrence: String,
    key: String,
    execution: String,
}

#[test]
fn the_vectors_of_the_contract() {
    let text = std::fs::read_to_string(fixtures().join("keys.json")).expect("the vectors");
    let vectors: Vec<Vector> = serde_json::from_str(&text).expect("the vectors");
    assert_eq!(vectors.len(), 3);
    vectors.iter().for_each(Vector::check);
    cases().flat_map(|case| case.keys).for_each(|vector| vector.check());
}

impl Vector {
    /// The same comes out however often it is derived. There is no clock to hand in.
    fn check(&self) {
        for _ in 0..2 {
            let hook = HookName { pack: self.pack.clone(), hook: self.hook.clone() };
            let identity = Identity {
                invocation: &self.invocation,
                step_invocation: self.step_invocation.as_deref(),
                agent: &self.agent,
                hook: &hook,
                event: Event::parse(&self.event).expect("an event"),
                occurrence: occurrence(&self.occurrence),
            };
            let key = identity.key();
            assert_eq!(key.to_string(), self.key);
            assert_eq!(key.execution_id().to_string(), self.execution);
            assert_eq!(IdempotencyKey::parse(&self.key), Some(key));
            let later = Identity { occurrence: Occurrence::Gate(99), ..identity };
            assert_ne!(later.key().to_string(), self.key);
        }
    }
}

fn occurrence(text: &str) -> Occurrence<'_> {
    let (kind, rest) = text.split_once(':').expect("a kind");
    let number = |text: &str| text.parse().expect("a number");
    match kind {
        "tool" => {
            let (turn, call_id) = rest.split_once(':').expect("a turn");
            Occurrence::Tool { turn: number(turn), call_id }
        }
        "stop" => Occurrence::Stop(number(rest)),
        "gate" => Occurrence::Gate(number(rest)),
        other => panic!("{other}"),
    }
}
