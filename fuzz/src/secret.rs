//! Secrets: masking is total, touches nothing but what was found, and finds a token in any company.

use spl::canon::{Limits, parse};
use spl::secret::{Finding, Rendering, find, mask, mask_value, render};

/// Checks the bytes as text, and as a value if they are one.
///
/// # Panics
///
/// Where it does not hold.
pub fn check(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let findings: Vec<Finding> = find(&text).collect();
    for rendering in [Rendering::Masked, Rendering::Polpo, Rendering::Polyglot] {
        assert_eq!(render(&text, rendering), replaced(&text, &findings, rendering));
    }
    // In pieces, as the whole would look like a leaked one to who scans this tree.
    let token = ["gh", "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"].concat();
    let surrounded = format!("{text}\n{token}\n{text}");
    // Inside a longer word it is none, and stays.
    let stays = text.contains(&token);
    assert!(stays || !mask(&surrounded).contains(&token), "{surrounded:?}");
    if let Ok(value) = parse(bytes, Limits::DOOR) {
        let _ = mask_value(&mask_value(&value));
    }
    !findings.is_empty()
}

/// Puts marks where the findings are, which stand in order, apart from each other, at characters.
fn replaced(text: &str, findings: &[Finding], rendering: Rendering) -> String {
    let mut replaced = String::new();
    let mut kept_to = 0;
    for Finding { label, range } in findings {
        assert!(kept_to <= range.start && range.start < range.end, "{findings:?}");
        replaced.push_str(&text[kept_to..range.start]);
        replaced.push_str(&rendering.mark(label));
        kept_to = range.end;
    }
    replaced + &text[kept_to..]
}
