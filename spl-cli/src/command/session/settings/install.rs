//! Our hooks are put into a settings file.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged as _;

use super::super::command_line::{CommandLines, decides};
use super::super::harness::Event;
use super::entries::{handlers, our_command};
use super::layout::{Json, Layout};
use super::splice::{Container, Edits};
use super::uninstall::emptied;
use super::{Document, Fault};

/// Returns the text in which each event starts its command, or `None` if it does already.
///
/// A hook of ours that is there, perhaps an older one, gets the command and keeps whatever else a
/// person has made of it; but one that decides from now on, or no longer, waits for another time.
/// A new one comes behind all others: Codex knows hooks by their place.
pub(crate) fn install(
    document: &Document<'_>,
    events: &[Event],
    commands: &CommandLines,
) -> Result<Option<String>, Fault> {
    let Document { text, mark, root } = document;
    let layout = Layout::of(text, root.as_ref());
    let groups = |missing: &[Event]| -> Vec<(&'static str, Json)> {
        let member =
            |event: &Event| (event.name, Json::Array(vec![group(commands.of(event), event)]));
        missing.iter().map(member).collect()
    };
    let Some(root) = root else {
        let all = Json::Object(vec![("hooks", Json::Object(groups(events)))]);
        let object = layout.write(&all, Some(""));
        let newline = layout.newline;
        let start = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
        return Ok(Some(format!("{mark}{text}{start}{object}{newline}")));
    };
    let mut edits = Edits::default();
    let outer = Container::from(root);
    // A file of one line stays one; an empty one is begun as people write them.
    let outer_over_lines = outer.is_over_lines(text, true);
    if let Some(hooks) = document.hooks()? {
        let container = Container::from(hooks);
        let over_lines = container.is_over_lines(text, outer_over_lines);
        let mut missing = Vec::new();
        for event in events {
            match document.member(hooks, event.name)? {
                None => missing.push(*event),
                Some(found) => {
                    let groups = document.groups(found)?;
                    if !groups.elements.iter().flat_map(handlers).any(|h| our_command(h).is_some())
                    {
                        let array = Container::from(groups);
                        let over_lines = array.is_over_lines(text, over_lines);
                        array.append(text, &layout, over_lines, &mut edits, |indentation| {
                            vec![layout.write(&group(commands.of(event), event), indentation)]
                        });
                    }
                }
            }
        }
        if !missing.is_empty() {
            container.append(text, &layout, over_lines, &mut edits, |indentation| {
                let members = groups(&missing).into_iter();
                members.map(|(key, value)| member(&layout, key, &value, indentation)).collect()
            });
        }
        for found in &hooks.properties {
            let event = events.iter().find(|event| event.name == found.name.as_str());
            let command = event.map_or(commands.recording.as_str(), |event| commands.of(event));
            let timeout = event.map(|event| event.timeout);
            update(text, &layout, found, Wanted { command, timeout }, &mut edits);
        }
    } else {
        outer.append(text, &layout, outer_over_lines, &mut edits, |indentation| {
            vec![member(&layout, "hooks", &Json::Object(groups(events)), indentation)]
        });
    }
    Ok((!edits.is_empty()).then(|| format!("{mark}{}", edits.apply(text))))
}

/// What the hooks of an event are to be.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    command: &'a str,
    /// How long the harness waits, if the event is one that we ask for.
    timeout: Option<u32>,
}

/// Gives the hooks of ours in an event the command. One that then says what another says before it,
/// of the same calls, goes: Codex would run both.
fn update(
    text: &str,
    layout: &Layout,
    event: &ObjectProp<'_>,
    wanted: Wanted<'_>,
    edits: &mut Edits,
) {
    let Some(groups) = event.value.as_array() else { return };
    let mut heard: Vec<&str> = Vec::new();
    let mut kept = Vec::new();
    let repeats = |group: &Value<'_>, handler: &Value<'_>| {
        let Some(found) = our_command(handler) else { return false };
        let matcher = matcher(text, group);
        if heard.contains(&matcher) {
            return true;
        }
        heard.push(matcher);
        if found.value.as_ref() != wanted.command {
            kept.push((found.range(), decides(&found.value)));
        }
        false
    };
    let emptied = emptied(text, groups, repeats, edits);
    if emptied.contains(&true) {
        Container::from(groups).remove(text, &emptied, edits);
    }
    let hooks: Vec<&Object<'_>> =
        groups.elements.iter().flat_map(handlers).filter_map(Value::as_object).collect();
    for (span, decided) in kept {
        edits.replace(span.start..span.end, spl::canon::Value::from(wanted.command).to_string());
        let hook =
            hooks.iter().find(|hook| hook.range.start < span.start && span.end < hook.range.end);
        if let Some(hook) = hook.filter(|_| decided != decides(wanted.command))
            && let Some(timeout) = wanted.timeout
        {
            wait(text, layout, hook, timeout, edits);
        }
    }
}

/// Gives a hook another time.
fn wait(text: &str, layout: &Layout, hook: &Object<'_>, timeout: u32, edits: &mut Edits) {
    if let Some(found) = hook.get("timeout") {
        let span = found.value.range();
        edits.replace(span.start..span.end, timeout.to_string());
        return;
    }
    let container = Container::from(hook);
    let over_lines = container.is_over_lines(text, false);
    container.append(text, layout, over_lines, edits, |indentation| {
        vec![member(layout, "timeout", &Json::Number(timeout), indentation)]
    });
}

/// Returns which calls a group is asked about, as it is written. Nothing and `*` mean all.
fn matcher<'t>(text: &'t str, group: &Value<'_>) -> &'t str {
    let matcher = group.as_object().and_then(|group| group.get("matcher"));
    let written = matcher.map_or("", |matcher| {
        let span = matcher.value.range();
        text.get(span.start..span.end).unwrap_or_default()
    });
    if written == "\"*\"" || written == "\"\"" { "" } else { written }
}

fn member(layout: &Layout, key: &str, value: &Json, indentation: Option<&str>) -> String {
    layout.member(key, &layout.write(value, indentation), indentation.is_some())
}

/// A group without a matcher, which stands for everything.
fn group(command: &str, event: &Event) -> Json {
    let hook = Json::Object(vec![
        ("type", Json::Text("command".into())),
        ("command", Json::Text(command.into())),
        ("timeout", Json::Number(event.timeout)),
    ]);
    Json::Object(vec![("hooks", Json::Array(vec![hook]))])
}
