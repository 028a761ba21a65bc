//! Whether the rules would leave the operator anything to do, and the way back if they do not.

use super::{Engine, EngineError, Request};
use crate::canon::Object;
use crate::code::{Code, Coded};
use crate::object;
use crate::permission::{PERMISSIONS_ENABLED_TOPIC, RuleSet, Ruling};
use crate::record::{Act, ActorId, Draft, RecordId, ThreadId};

/// What the rules say, or would say once they are in force, about what the operator needs in order
/// to take them back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preflight {
    /// Who the operator is.
    pub actor: ActorId,
    /// For each resource the ruling, in the order of the contract.
    pub rulings: [(&'static str, Ruling); 3],
}

impl Preflight {
    /// Returns whether the operator is left with all of them.
    pub fn passes(&self) -> bool {
        self.rulings.iter().all(|(_, ruling)| ruling.allows())
    }

    /// Returns this as answers show it.
    pub(super) fn to_object(&self) -> Object {
        let rulings = self.rulings.iter().map(|(resource, ruling)| {
            let rule = match ruling {
                Ruling::Off => None,
                Ruling::Allow { rule } => Some(rule.as_str()),
                Ruling::Deny { rule } => rule.as_deref(),
            };
            object! { "allowed": ruling.allows(), "resource": *resource, "rule": rule }
        });
        object! {
            "actor": &self.actor,
            "passes": self.passes(),
            "rulings": rulings.collect::<Vec<_>>(),
        }
    }
}

/// The rules, once in force, would lock the operator out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the rules, once in force, would not allow `{actor}`: {}", .missing.join(", "))]
pub struct LockoutError {
    /// Who the operator is.
    pub actor: String,
    /// The resources that it would not be left.
    pub missing: Vec<String>,
    /// The command that has to come first.
    pub command: String,
}

impl Coded for LockoutError {
    fn code(&self) -> Code {
        Code::PermissionsLockout
    }

    fn hint(&self) -> Option<String> {
        Some(format!("Before that: {}", self.command))
    }
}

impl Engine {
    /// Asks the loaded rules, in force or not, whether the operator could still write the record that
    /// puts them out of force, read the thread it stands on, and read the configuration.
    pub fn preflight(&self) -> Result<Preflight, EngineError> {
        let live = self.live()?;
        self.preflight_of(live.config.loaded_rules())
    }

    pub(super) fn preflight_of(&self, rules: &RuleSet) -> Result<Preflight, EngineError> {
        let actor = self.operator()?;
        let (thread, body) = (ThreadId::config(), Object::new());
        let asked = |resource: &'static str, thread: Option<&ThreadId>| {
            let request = Request { resource, thread, body: &body };
            Ok::<_, EngineError>((resource, self.rule_on_request(rules, &actor, &request)?))
        };
        let way_back = self.rule_on_draft(rules, &actor, "record_write", &switched_off())?;
        let rulings = [
            ("record_write", way_back),
            asked("thread_read", Some(&thread))?,
            asked("config_read", None)?,
        ];
        Ok(Preflight { actor, rulings })
    }

    /// Puts the permission rules out of force without asking them: the way back for whoever owns
    /// the files of the instance, when the rules leave them no other.
    pub fn unlock_permissions(&self) -> Result<RecordId, EngineError> {
        let mut draft = switched_off();
        draft.body.insert("reason".into(), "permissions-unlock".into());
        let written = self.author(move |author| Ok(author.write(draft)?.id()))?;
        self.fold_config()?;
        tracing::warn!(record = %written, "permission rules were put out of force by an unlock");
        Ok(written)
    }
}

/// Returns the record that puts the rules out of force, as the command writes it.
fn switched_off() -> Draft {
    let body = object! { "enabled": false, "topic": PERMISSIONS_ENABLED_TOPIC };
    Draft::new(ThreadId::config(), ActorId::engine(), Act::Learn, body)
}
