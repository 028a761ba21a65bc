//! What almost is a permission rule, or the switch.

use strsim::osa_distance;

use super::{
    PERMISSION_RULE_KIND, PERMISSION_RULE_TOPIC, PERMISSIONS_ENABLED_TOPIC, is_permission_rule,
    is_permission_switch,
};
use crate::record::Draft;

/// How many letters a slip takes at most.
const SLIPS: usize = 2;

/// What a record was probably meant to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NearMiss {
    /// A permission rule.
    Rule,
    /// The switch that puts all rules in force.
    Switch,
}

/// Returns what a record was probably meant to be that is neither a rule nor the switch: what, the
/// field that is wrong, and a sentence about it.
///
/// Such a record is stored like any other and does nothing. Whoever wrote it believes that
/// something is refused, so the list of rules should show it.
pub fn looks_like_permissions(draft: &Draft) -> Option<(NearMiss, &'static str, String)> {
    if !draft.thread.is_config() || is_permission_rule(draft) || is_permission_switch(draft) {
        return None;
    }
    let never = |field: &str, got: &str, wanted: &str| {
        let got: String = got.chars().take(64).collect();
        format!("the `{field}` is `{wanted}`, not `{got}`, so this does nothing")
    };
    if let Some(kind) = draft.kind().filter(|kind| resembles(kind, PERMISSION_RULE_KIND)) {
        return Some((NearMiss::Rule, "kind", never("kind", kind, PERMISSION_RULE_KIND)));
    }
    let topic = draft.topic()?;
    let wanted = |wanted: &str| never("topic", topic, wanted);
    if resembles(topic, PERMISSION_RULE_TOPIC) {
        return Some((NearMiss::Rule, "topic", wanted(PERMISSION_RULE_TOPIC)));
    }
    let is_switch = resembles(topic, PERMISSIONS_ENABLED_TOPIC);
    is_switch.then(|| (NearMiss::Switch, "topic", wanted(PERMISSIONS_ENABLED_TOPIC)))
}

fn resembles(word: &str, wanted: &str) -> bool {
    let word: String = word.trim().chars().take(64).collect();
    let word = word.to_lowercase().replace(['-', ' '], "_");
    osa_distance(&word, wanted) <= SLIPS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object;
    use crate::record::{Act, ActorId, ThreadId};

    #[test]
    fn slips_are_seen_and_neighbours_are_left_alone() {
        let near = |body: crate::canon::Object| {
            let draft = Draft::new(ThreadId::config(), ActorId::engine(), Act::Learn, body);
            looks_like_permissions(&draft).map(|(what, field, _)| (what, field))
        };
        for slip in ["permission_rules", "Permission-Rule", "permision_rule", " permission_rule"] {
            assert_eq!(near(object! { "topic": slip }), Some((NearMiss::Rule, "topic")), "{slip}");
        }
        for slip in ["permission_enabled", "permissions-enabled", "permissions_enable"] {
            let seen = near(object! { "topic": slip });
            assert_eq!(seen, Some((NearMiss::Switch, "topic")), "{slip}");
        }
        for slip in ["core.permission_rule.v2", "core.permission_rules.v1"] {
            assert_eq!(near(object! { "kind": slip }), Some((NearMiss::Rule, "kind")), "{slip}");
        }
        for other in
            ["routing_rule", "fold_rule", "permission_rule", "permissions", "auth_required"]
        {
            assert_eq!(near(object! { "topic": other }), None, "{other}");
        }
    }
}
