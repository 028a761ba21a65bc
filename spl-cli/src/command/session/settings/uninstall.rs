//! Our hooks are taken out of a settings file.

use jsonc_parser::ast::{Array, ObjectProp, Value};
use jsonc_parser::common::Ranged as _;

use super::entries::{handlers, our_command};
use super::splice::{Container, Edits};
use super::{Document, Fault};

/// Returns the text without those of our hooks that go, by their event and their command, or `None`
/// if there are none.
///
/// A group, an event and `hooks` itself go with the last thing in them, unless they were in the
/// file `before` we came, or hold a comment.
pub(crate) fn uninstall(
    document: &Document<'_>,
    before: Option<&Document<'_>>,
    goes: &dyn Fn(&str, &str) -> bool,
) -> Result<Option<String>, Fault> {
    let (Some(root), Some(hooks)) = (&document.root, document.hooks()?) else { return Ok(None) };
    let text = document.text;
    let stood = |path: &[&str]| before.is_some_and(|before| before.at(path).is_some());
    let mut edits = Edits::default();
    let mut gone = Vec::with_capacity(hooks.properties.len());
    for event in &hooks.properties {
        let Some(groups) = event.value.as_array() else {
            gone.push(false);
            continue;
        };
        let ours = |_: &Value<'_>, handler: &Value<'_>| {
            our_command(handler).is_some_and(|command| goes(event.name.as_str(), &command.value))
        };
        let emptied = emptied(text, groups, ours, &mut edits);
        let empty = emptied.contains(&true)
            && Container::from(groups).is_bare_without(text, &emptied)
            && is_bare(text, event)
            && !stood(&["hooks", event.name.as_str()]);
        if !empty && emptied.contains(&true) {
            Container::from(groups).remove(text, &emptied, &mut edits);
        }
        gone.push(empty);
    }
    let bare = gone.contains(&true)
        && Container::from(hooks).is_bare_without(text, &gone)
        && root.get("hooks").is_some_and(|hooks| is_bare(text, hooks));
    if bare && !stood(&["hooks"]) {
        let removed = root.properties.iter().map(|property| property.name.as_str() == "hooks");
        Container::from(root).remove(text, &removed.collect::<Vec<_>>(), &mut edits);
    } else if gone.contains(&true) {
        Container::from(hooks).remove(text, &gone, &mut edits);
    }
    Ok((!edits.is_empty()).then(|| format!("{}{}", document.mark, edits.apply(text))))
}

/// Returns whether there is no comment between a key and its value.
fn is_bare(text: &str, member: &ObjectProp<'_>) -> bool {
    let between = text.get(member.name.range().end..member.value.range().start);
    between.is_some_and(|between| between.chars().all(|c| c.is_whitespace() || c == ':'))
}

/// Takes hooks out of groups that have others as well. Returns which groups have no others, one
/// for each: those go as a whole.
pub(super) fn emptied(
    text: &str,
    groups: &Array<'_>,
    mut goes: impl FnMut(&Value<'_>, &Value<'_>) -> bool,
    edits: &mut Edits,
) -> Vec<bool> {
    let mut emptied = Vec::with_capacity(groups.elements.len());
    for group in &groups.elements {
        let gone: Vec<bool> = handlers(group).iter().map(|handler| goes(group, handler)).collect();
        emptied.push(!gone.is_empty() && gone.iter().all(|gone| *gone));
        if gone.contains(&true)
            && gone.contains(&false)
            && let Some(hooks) = group.as_object().and_then(|group| group.get_array("hooks"))
        {
            Container::from(hooks).remove(text, &gone, edits);
        }
    }
    emptied
}
