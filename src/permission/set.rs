//! Every rule in force, and what they say together.

use std::sync::Arc;

use rpds::RedBlackTreeMapSync;

use super::definition::Place;
use super::{Action, PermissionRule, RuleKey, Ruling};
use crate::predicate::{Facts, Failure, Ruling as Truth};
use crate::record::Namespace;

/// The rules of one namespace, in the order in which they are asked.
type Space = RedBlackTreeMapSync<Place, Arc<PermissionRule>>;

/// The rules in force. A copy is another handle on the same rules, until either is changed.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    spaces: RedBlackTreeMapSync<Box<str>, Space>,
    len: usize,
}

impl RuleSet {
    /// Puts a rule in force; one that is not enabled does nothing. What this takes does not depend
    /// on how many rules there are.
    ///
    /// A namesake of another place is not replaced: whoever keeps the versions of a rule
    /// [removes](Self::remove) the one before.
    pub fn insert(&mut self, rule: Arc<PermissionRule>) {
        if !rule.enabled() {
            return;
        }
        let path = rule.key.namespace.as_str();
        let mut space = self.spaces.get(path).cloned().unwrap_or_default();
        let before = space.size();
        let path = path.into();
        space.insert_mut(rule.place(), rule);
        self.len += space.size() - before;
        self.spaces.insert_mut(path, space);
    }

    /// Takes a rule out of force.
    pub fn remove(&mut self, rule: &PermissionRule) {
        let path = rule.key.namespace.as_str();
        let Some(mut space) = self.spaces.get(path).cloned() else { return };
        if !space.remove_mut(&rule.place()) {
            return;
        }
        self.len -= 1;
        if space.is_empty() {
            self.spaces.remove_mut(path);
        } else {
            self.spaces.insert_mut(path.into(), space);
        }
    }

    /// Returns how many rules there are.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there is none, so that nothing is allowed.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the rules that speak in `namespace`, from the root down, in the order in which those
    /// of one namespace are asked.
    pub fn speaking_in<'a>(
        &'a self,
        namespace: &'a Namespace,
    ) -> impl Iterator<Item = &'a PermissionRule> {
        self.lineage(namespace).flat_map(|space| space.values().map(|rule| &**rule))
    }

    fn lineage<'a>(&'a self, namespace: &'a Namespace) -> impl Iterator<Item = &'a Space> {
        namespace.lineage().filter_map(|path| self.spaces.get(path))
    }
}

/// A ruling, and the rules that could not be asked on the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruled {
    /// What the rules say.
    pub ruling: Ruling,
    /// The rules that failed. They neither allowed nor denied.
    pub skipped: Vec<(RuleKey, Failure)>,
}

/// Says what `rules`, which are in force, say about `facts` in `namespace`.
///
/// No rule is asked twice, and none that could not change the ruling.
pub fn rule(rules: &RuleSet, namespace: &Namespace, facts: &Facts<'_>) -> Ruled {
    let mut first: Option<(&Place, &PermissionRule)> = None;
    let mut skipped = Vec::new();
    for space in rules.lineage(namespace) {
        // Of the rules down to here, the first that is true; what stands behind it decides nothing.
        for (place, rule) in space {
            if first.is_some_and(|(first, _)| first <= place) {
                break;
            }
            match rule.expression.holds(facts) {
                Truth::Holds => {
                    first = Some((place, rule));
                    break;
                }
                Truth::DoesNotHold => {}
                Truth::Failed(failure) => skipped.push((rule.key.clone(), failure)),
            }
        }
        // What is denied here is denied below, whatever the priority of those who would allow it.
        if first.is_some_and(|(_, rule)| rule.action == Action::Deny) {
            break;
        }
    }
    let name = |rule: &PermissionRule| rule.key.name.to_string();
    let ruling = match first {
        Some((_, rule)) if rule.action == Action::Allow => Ruling::Allow { rule: name(rule) },
        first => Ruling::Deny { rule: first.map(|(_, rule)| name(rule)) },
    };
    Ruled { ruling, skipped }
}
