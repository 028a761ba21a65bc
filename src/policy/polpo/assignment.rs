//! Which packs an agent has: the key `hooks` of its `agent.json` (contract §2.6).

use super::place::{Findings, Place};
use super::read::json;
use super::{Finding, PackCode, PackName};

/// The most packs of an agent.
pub const PACKS_PER_AGENT: usize = 16;

/// Keys that the place of the file says instead, or the host.
const RESERVED: [&str; 3] = ["name", "systemPrompt", "createdAt"];

/// Reads the packs of an agent, in their order, from the bytes of its `agent.json`. `is_there` says
/// which packs there are. What else stands in the file is somebody else's to read.
pub fn read_assignment(
    bytes: &[u8],
    is_there: &dyn Fn(&str) -> bool,
) -> (Vec<PackName>, Vec<Finding>) {
    let findings = Findings::default();
    let names = match json(bytes, &findings) {
        None => Vec::new(),
        Some(value) => assignment(&Place::root(&value, &findings), is_there),
    };
    (names, findings.into_vec())
}

fn assignment(root: &Place<'_>, is_there: &dyn Fn(&str) -> bool) -> Vec<PackName> {
    const FIELD: PackCode = PackCode::InvalidField;
    if root.object(FIELD).is_none() {
        return Vec::new();
    }
    for reserved in RESERVED.iter().filter_map(|key| root.member(key)) {
        reserved.find(FIELD, "is not the file's to say");
    }
    let Some(hooks) = root.member("hooks") else { return Vec::new() };
    if hooks.array(FIELD).is_some_and(|names| names.len() > PACKS_PER_AGENT) {
        hooks.find(PackCode::LimitExceeded, format!("names more than {PACKS_PER_AGENT} packs"));
    }
    let mut names: Vec<PackName> = Vec::new();
    for element in hooks.elements() {
        let Some(text) = element.text(FIELD) else { continue };
        match PackName::parse(text) {
            Err(fault) => element.find(FIELD, fault.to_string()),
            Ok(name) if names.contains(&name) => {
                element.find(PackCode::DuplicatePack, "names a pack twice");
            }
            Ok(name) => {
                if !is_there(name.as_str()) {
                    element.find(PackCode::UnknownPack, "names a pack that is not there");
                }
                names.push(name);
            }
        }
    }
    names
}
