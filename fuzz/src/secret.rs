//! Secrets: masking is total, and touches nothing but what was found.

use spl::canon::{Limits, parse};
use spl::secret::{Finding, Rendering, find, mask, mask_value, render};

/// Checks the bytes as text, and as a value if they are one.
pub fn check(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let findings: Vec<Finding> = find(&text).collect();
    for rendering in [Rendering::Masked, Rendering::Polpo, Rendering::Polyglot] {
        assert_eq!(render(&text, rendering), replaced(&text, &findings, rendering));
    }
    let masked = mask(&text);
    assert_eq!(mask(&masked), masked, "masked twice");
    if let Ok(value) = parse(bytes, Limits::DOOR) {
        let masked = mask_value(&value);
        assert_eq!(mask_value(&masked), masked, "a value masked twice");
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
