//! Reads a pack, and names all that is wrong with it (contract §2, §3, §10).

use super::decision::BYTE_ORDER_MARK;
use super::place::{Findings, Place, ROOT, path_of};
use super::{
    Event, Finding, GateLimits, Matcher, Mode, OnFailure, Pack, PackCode, PackHook, PackName,
    Pattern, Surface, credential, handler,
};
use crate::canon::{Canonical, Limits, ParseError, Value, parse};

/// The most bytes of a file.
pub const PACK_BYTES: usize = 262_144;

/// How deep a pack nests at most, and how many values it has.
const DEPTH: usize = 64;
const VALUES: usize = 10_000;

/// The most hooks of a pack.
const HOOKS: usize = 64;
/// The most characters of a description.
const DESCRIPTION_CHARS: usize = 512;
/// The most characters of the name of a hook.
const ID_CHARS: usize = 64;

/// A file that was read: the pack, unless something is wrong with it, and what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The pack. `None` if there is an error among the findings.
    pub pack: Option<Pack>,
    /// All that was found, also what refuses nothing.
    pub findings: Vec<Finding>,
}

/// Reads a pack from the bytes of its file. `provider_native` are the tools that the host's providers
/// run themselves.
pub fn read_pack(name: &PackName, bytes: &[u8], provider_native: &[String]) -> Reading {
    let findings = Findings::default();
    match json(bytes, &findings) {
        Some(value) => read(name, &value, provider_native, findings),
        None => Reading { pack: None, findings: findings.into_vec() },
    }
}

/// Reads a pack from its value, which somebody else has read from bytes.
pub fn read_pack_value(name: &PackName, value: &Value, provider_native: &[String]) -> Reading {
    let findings = Findings::default();
    if !value.nests_within(DEPTH) {
        findings.add(PackCode::LimitExceeded, ROOT, too_deep());
        return Reading { pack: None, findings: findings.into_vec() };
    }
    if let Value::Object(members) = value
        && Canonical::of_object_within(members, PACK_BYTES).is_err()
    {
        findings.add(PackCode::TooLarge, ROOT, too_large());
        return Reading { pack: None, findings: findings.into_vec() };
    }
    read(name, value, provider_native, findings)
}

/// Reads the value of a file, or says why there is none.
pub(super) fn json(bytes: &[u8], findings: &Findings) -> Option<Value> {
    if bytes.len() > PACK_BYTES {
        findings.add(PackCode::TooLarge, ROOT, too_large());
        return None;
    }
    // An editor may have put one mark in front; two are a mistake, of which the parser skips one.
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    if text.starts_with(BYTE_ORDER_MARK) {
        findings.add(PackCode::InvalidJson, ROOT, "begins with two byte order marks");
        return None;
    }
    match parse(text, Limits { bytes: PACK_BYTES, depth: DEPTH }) {
        Ok(value) => Some(value),
        Err(error) => {
            let (code, message) = match &error {
                ParseError::TooDeep { .. } => (PackCode::LimitExceeded, too_deep()),
                ParseError::DuplicateKey { .. } => {
                    (PackCode::InvalidJson, "holds the same key twice".to_owned())
                }
                ParseError::Syntax { offset, .. } => {
                    (PackCode::InvalidJson, format!("is not JSON at byte {offset}"))
                }
                ParseError::NumberOutOfRange { .. } => {
                    (PackCode::InvalidJson, "holds a number beyond a 64-bit float".to_owned())
                }
                // These name a byte and repeat nothing.
                other => (PackCode::InvalidJson, format!("is not JSON: {other}")),
            };
            let path = match &error {
                ParseError::DuplicateKey { key, within } => {
                    super::place::with_key(&path_of(within), key)
                }
                _ => ROOT.to_owned(),
            };
            findings.add(code, &path, message);
            None
        }
    }
}

fn too_large() -> String {
    format!("has more than {PACK_BYTES} bytes")
}

fn too_deep() -> String {
    format!("nests more than {DEPTH} levels deep")
}

fn read(name: &PackName, value: &Value, native: &[String], findings: Findings) -> Reading {
    let pack = pack(name, &Place::root(value, &findings), native);
    let pack = pack.filter(|_| !findings.refuse());
    Reading { pack, findings: findings.into_vec() }
}

fn pack(name: &PackName, root: &Place<'_>, native: &[String]) -> Option<Pack> {
    let written = root.object(PackCode::InvalidField)?;
    if root.value.count() > VALUES {
        return root.refuse(PackCode::LimitExceeded, format!("has more than {VALUES} values"));
    }
    root.knows(&["$schema", "version", "description", "hooks"]);
    if let Some(schema) = root.member("$schema") {
        schema.text(PackCode::InvalidField);
    }
    match root.member("version") {
        None => root.lacks(PackCode::UnsupportedVersion, "version")?,
        Some(version) if version.value.as_i64() == Some(1) => {}
        Some(version) => version.find(PackCode::UnsupportedVersion, "must be 1"),
    }
    let description = description(root);
    let hooks = hooks(root, native);
    credential::look(root);
    let sha256 = Canonical::of_object(written).sha256();
    Some(Pack { name: name.clone(), description, hooks, sha256, written: written.clone() })
}

fn description(place: &Place<'_>) -> Option<String> {
    let description = place.member("description")?;
    let text = description.text(PackCode::InvalidField)?;
    description.within(PackCode::InvalidField, text, DESCRIPTION_CHARS).map(str::to_owned)
}

fn hooks(root: &Place<'_>, native: &[String]) -> Vec<PackHook> {
    let Some(place) = root.member("hooks") else {
        return root.lacks(PackCode::InvalidField, "hooks").unwrap_or_default();
    };
    let hooks = place.array(PackCode::InvalidField).unwrap_or_default();
    if hooks.is_empty() && place.value.as_array().is_some() {
        place.find(PackCode::InvalidField, "must hold a hook");
    }
    if hooks.len() > HOOKS {
        place.find(PackCode::LimitExceeded, format!("has more than {HOOKS} hooks"));
    }
    let read: Vec<Option<PackHook>> = place.elements().map(|it| hook(&it, native)).collect();
    let mut ids: Vec<&str> = Vec::new();
    for id in place.elements().filter_map(|it| it.member("id")) {
        let Some(text) = id.value.as_str() else { continue };
        if ids.contains(&text) {
            id.find(PackCode::DuplicateId, "another hook of the pack has this name");
        }
        ids.extend(id.value.as_str());
    }
    read.into_iter().flatten().collect()
}

fn hook(place: &Place<'_>, native: &[String]) -> Option<PackHook> {
    const FIELD: PackCode = PackCode::InvalidField;
    place.object(FIELD)?;
    place.knows(&[
        "id",
        "event",
        "description",
        "enabled",
        "mode",
        "priority",
        "match",
        "handler",
        "onFailure",
        "terminationGate",
    ]);
    let id = id(place);
    let event = event(place);
    let description = description(place);
    let enabled = place.member("enabled").map_or(Some(true), |it| it.flag(FIELD));
    let mode = place.member("mode");
    let mode = mode.map_or(Some(Mode::Control), |it| it.one_of(FIELD, &Mode::ALL, Mode::as_str));
    let priority = place.member("priority");
    let priority = priority.map_or(Some(100), |it| it.integer((FIELD, FIELD), -1000..=1000));
    let matcher = place.member("match").map_or(Some(Matcher::default()), |it| matcher(&it, event));
    let handler_at = place.member("handler");
    let timeout = handler_at.as_ref().and_then(handler::timeout);
    let handler = match &handler_at {
        None => place.lacks(PackCode::InvalidHandler, "handler"),
        Some(handler_at) => handler::handler(handler_at),
    };
    let on_failure = place.member("onFailure");
    let on_failure = on_failure.map(|it| it.one_of(FIELD, &OnFailure::ALL, OnFailure::as_str));
    let gate = place.member("terminationGate");
    let gate = gate.map(|it| {
        about_gate(place, &it, (event, mode));
        gate_limits(&it)
    });
    if let (Some(event), Some(mode), Some(matcher)) = (event, mode, &matcher) {
        about_native(place, (event, mode), matcher, native);
    }
    let by_mode = match mode {
        Some(Mode::Observe) => OnFailure::Continue,
        _ => OnFailure::Fail,
    };
    Some(PackHook {
        id: id?,
        event: event?,
        description,
        enabled: enabled?,
        mode: mode?,
        priority: i32::try_from(priority?).ok()?,
        matcher: matcher?,
        handler: handler?,
        timeout,
        on_failure: on_failure.unwrap_or(Some(by_mode))?,
        gate: gate.map_or(Some(None), |gate| gate.map(Some))?,
    })
}

fn id(hook: &Place<'_>) -> Option<String> {
    const RULE: &str = "must be a letter or digit, then letters, digits, `.`, `_`, `:` and `-`, \
                        64 characters at most";
    let Some(place) = hook.member("id") else {
        return hook.lacks(PackCode::InvalidField, "id");
    };
    let text = place.text(PackCode::InvalidField)?;
    let is_id = text.len() <= ID_CHARS
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._:-".contains(&b));
    if is_id { Some(text.to_owned()) } else { place.refuse(PackCode::InvalidField, RULE) }
}

fn event(hook: &Place<'_>) -> Option<Event> {
    let Some(place) = hook.member("event") else {
        return hook.lacks(PackCode::InvalidField, "event");
    };
    place.text(PackCode::InvalidField)?;
    place.one_of(PackCode::UnknownEvent, &Event::ALL, Event::as_str)
}

fn matcher(place: &Place<'_>, event: Option<Event>) -> Option<Matcher> {
    const MATCHER: PackCode = PackCode::InvalidMatcher;
    place.object(MATCHER)?;
    place.knows(&["steps", "tools", "loops", "agents", "surfaces"]);
    if let (Some(tools), Some(event)) = (place.member("tools"), event)
        && !event.is_of_a_tool()
    {
        tools.find(MATCHER, format!("`{event}` is about no tool"));
    }
    let list = |key: &str| match place.member(key) {
        None => Some(Vec::new()),
        Some(list) => patterns(&list),
    };
    let (steps, tools, loops, agents) =
        (list("steps"), list("tools"), list("loops"), list("agents"));
    let surfaces = place.member("surfaces").map_or(Some(Vec::new()), |it| surfaces(&it));
    Some(Matcher {
        steps: steps?,
        tools: tools?,
        loops: loops?,
        agents: agents?,
        surfaces: surfaces?,
    })
}

/// Returns a list that must hold something.
fn list<'a>(place: &'a Place<'_>) -> Option<impl Iterator<Item = Place<'a>>> {
    if place.array(PackCode::InvalidMatcher)?.is_empty() {
        return place.refuse(PackCode::InvalidMatcher, "matches nothing; leave it out instead");
    }
    Some(place.elements())
}

fn patterns(place: &Place<'_>) -> Option<Vec<Pattern>> {
    let mut patterns: Vec<Pattern> = Vec::new();
    for element in list(place)? {
        let Some(text) = element.text(PackCode::InvalidMatcher) else { continue };
        match Pattern::new(text) {
            Err(fault) => element.find(PackCode::InvalidMatcher, fault.to_string()),
            Ok(pattern) if patterns.iter().any(|other| other.is_same(&pattern)) => {
                element.find(PackCode::InvalidMatcher, "stands twice, case and space aside");
            }
            Ok(pattern) => patterns.push(pattern),
        }
    }
    Some(patterns)
}

fn surfaces(place: &Place<'_>) -> Option<Vec<Surface>> {
    let mut surfaces: Vec<Surface> = Vec::new();
    for element in list(place)? {
        let code = PackCode::InvalidMatcher;
        let Some(surface) = element.one_of(code, &Surface::ALL, Surface::as_str) else { continue };
        if surfaces.contains(&surface) {
            element.find(code, "stands twice");
        }
        surfaces.push(surface);
    }
    Some(surfaces)
}

/// Looks whether a gate stands where one may be.
fn about_gate(hook: &Place<'_>, gate: &Place<'_>, (event, mode): (Option<Event>, Option<Mode>)) {
    if event.is_some_and(|event| event != Event::TurnStop) {
        gate.find(PackCode::GateEvent, format!("a gate is of `{}` alone", Event::TurnStop));
    }
    if mode == Some(Mode::Observe) {
        gate.find(PackCode::GateMode, "a gate decides, and a hook that observes does not");
    }
    let kind = hook.member("handler").and_then(|handler| handler.member("type"));
    if let Some(kind) = kind
        && let Some(text) = kind.value.as_str()
        && let Some(known) = handler::HandlerKind::ALL.iter().find(|it| it.as_str() == text)
        && !known.is_deterministic()
    {
        kind.find(PackCode::GateHandler, "what a model answers is no gate");
    }
    if let Some(on_failure) = hook.member("onFailure")
        && on_failure.value.as_str() == Some(OnFailure::Continue.as_str())
    {
        on_failure.find(PackCode::GateOnFailureIgnored, "a gate fails closed in any case");
    }
    if let Some(enabled) = hook.member("enabled")
        && enabled.value.as_bool() == Some(false)
    {
        enabled.find(PackCode::DisabledGate, "a gate that is not enabled blocks what it matches");
    }
}

fn gate_limits(place: &Place<'_>) -> Option<GateLimits> {
    const LIMITS: PackCode = PackCode::GateLimits;
    place.object(LIMITS)?;
    place.knows(&["maxCycles", "maxDurationMs", "maxTokens"]);
    let limit = |key: &str, most: u64| match place.member(key) {
        None => place.lacks(LIMITS, key),
        Some(limit) => {
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            let limit = limit.integer((LIMITS, LIMITS), 1..=most)?;
            u64::try_from(limit).ok()
        }
    };
    let most = GateLimits::MOST;
    let (cycles, duration, tokens) = (
        limit("maxCycles", most.max_cycles),
        limit("maxDurationMs", most.max_duration_ms),
        limit("maxTokens", most.max_tokens),
    );
    Some(GateLimits { max_cycles: cycles?, max_duration_ms: duration?, max_tokens: tokens? })
}

/// Looks for tools that a provider runs itself, which no hook can stop before.
fn about_native(
    hook: &Place<'_>,
    (event, mode): (Event, Mode),
    matcher: &Matcher,
    native: &[String],
) {
    if event != Event::ToolBefore || mode != Mode::Control {
        return;
    }
    let Some(tools) = hook.member("match").and_then(|it| it.member("tools")) else { return };
    for element in tools.elements() {
        let pattern = element.value.as_str().and_then(|text| Pattern::new(text).ok());
        let Some(pattern) = pattern.filter(|it| matcher.tools.iter().any(|own| own.is_same(it)))
        else {
            continue;
        };
        if !native.iter().any(|name| pattern.matches(name)) {
            continue;
        }
        if pattern.is_literal() {
            let message = "the provider runs this tool, and no hook can stop it";
            element.find(PackCode::ProviderNativeUnsupported, message);
        } else {
            let message = "also names a tool that the provider runs, to which it is not applied";
            element.find(PackCode::WildcardProviderNative, message);
        }
    }
}
