//! What means to be a hook, and what almost is one.

use strsim::osa_distance;

use super::{HOOK_KIND, HOOK_TOPIC};
use crate::record::Draft;

/// Returns whether a record means to be a hook: by its kind or by its topic.
///
/// Such a record is either a whole hook or refused; there is nothing in between.
pub fn is_hook(draft: &Draft) -> bool {
    draft.kind() == Some(HOOK_KIND) || draft.topic() == Some(HOOK_TOPIC)
}

/// Returns what is wrong with a record that is no hook and was probably meant as one: the field,
/// and a sentence about it.
///
/// Such a record is stored like any other and will never load, so that a list of hooks should show
/// it. The caller knows that it stands on the thread of the configuration.
pub fn looks_like_a_hook(draft: &Draft) -> Option<(&'static str, String)> {
    if is_hook(draft) {
        return None;
    }
    if let Some(kind) = draft.kind().filter(|kind| resembles(kind, HOOK_KIND)) {
        return Some(("kind", never_loads("kind", kind, HOOK_KIND)));
    }
    let has = |field: &str| draft.body.contains_key(field);
    if let Some(topic) = draft.topic().filter(|topic| resembles(topic, HOOK_TOPIC)) {
        let speaks = has("when") || has("text");
        return speaks.then(|| ("topic", never_loads("topic", topic, HOOK_TOPIC)));
    }
    let bare = has("when") && has("text") && !has("kind") && !has("topic");
    bare.then(|| {
        let message = format!(
            "`kind` is missing: a record with `when` and `text` is a hook only with `kind` \
             `{HOOK_KIND}` and `topic` `{HOOK_TOPIC}`, so this one never loads"
        );
        ("kind", message)
    })
}

fn never_loads(field: &str, got: &str, wanted: &str) -> String {
    let got: String = got.chars().take(64).collect();
    format!("the `{field}` of a hook is `{wanted}`, not `{got}`, so it never loads")
}

/// Whether `word` is `wanted` with a slip in it, or the kind of a hook in another version.
fn resembles(word: &str, wanted: &str) -> bool {
    let word: String = word.trim().chars().take(64).collect();
    let word = word.to_lowercase();
    let version = word.strip_prefix("core.hook").map(|rest| rest.trim_start_matches('s'));
    version.is_some_and(|version| version.is_empty() || version.starts_with(".v"))
        || osa_distance(&word, wanted) <= 1
}

/// What other systems call the fields of a hook.
const OTHER_NAMES: [(&str, &str); 12] = [
    ("condition", "when"),
    ("expression", "when"),
    ("predicate", "when"),
    ("match", "when"),
    ("if", "when"),
    ("message", "text"),
    ("lesson", "text"),
    ("say", "text"),
    ("rule", "name"),
    ("id", "name"),
    ("max_fires", "max_fires_per_run"),
    ("disabled", "enabled"),
];

/// Returns the field that an unknown one was probably meant to be.
pub(super) fn nearest(unknown: &str, fields: &[&'static str]) -> Option<&'static str> {
    // No field is nearly as long as what is left of a longer word.
    let word: String = unknown.trim().chars().take(64).collect();
    let word = word.to_lowercase().replace('-', "_");
    if let Some((_, field)) = OTHER_NAMES.iter().find(|(other, _)| *other == word) {
        return Some(field);
    }
    fields
        .iter()
        .map(|field| (osa_distance(&word, field), *field))
        .filter(|(distance, field)| *distance <= field.len().div_ceil(3))
        .min()
        .map(|(_, field)| field)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object;
    use crate::record::{Act, ActorId, ThreadId};

    fn near(body: crate::canon::Object) -> Option<&'static str> {
        let draft = Draft::new(ThreadId::config(), ActorId::engine(), Act::Learn, body);
        looks_like_a_hook(&draft).map(|(field, _)| field)
    }

    #[test]
    fn slips_are_seen_and_neighbours_are_left_alone() {
        let topic = |topic: &str| near(object! { "topic": topic, "text": "t" });
        for slip in ["hooks", "Hook", " hook", "hok", "core.hook.v1"] {
            assert_eq!(topic(slip), Some("topic"), "{slip}");
        }
        for slip in ["core.hook.v2", "core.hooks.v1", "Core.Hook.V1", "core.hok.v1", "core.hook"] {
            assert_eq!(near(object! { "kind": slip, "topic": "x" }), Some("kind"), "{slip}");
        }
        assert_eq!(near(object! { "when": "true", "text": "t" }), Some("kind"));
        assert_eq!(near(object! { "text": "a note" }), None);
        for topic in ["routing_rule", "event_trigger", "log_retention", "run_code", "note", ""] {
            assert_eq!(near(object! { "topic": topic, "text": "t" }), None, "{topic}");
        }
        for kind in [
            "core.trigger.v1",
            "core.tool.v1",
            "core.hook_stats.v1",
            "core.hook.fire.v1",
            "x.hook.v1.x",
        ] {
            assert_eq!(near(object! { "kind": kind }), None, "{kind}");
        }
        assert_eq!(near(object! { "topic": "hooks" }), None);
        assert_eq!(near(object! { "kind": HOOK_KIND }), None);
        assert_eq!(near(object! { "topic": HOOK_TOPIC }), None);
    }
}
