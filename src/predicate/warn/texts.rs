//! What is looked for in texts.

use cel::common::ast::IdedExpr;

use super::{Oddity, Reader};

impl Reader<'_> {
    /// Looks at a text that `function` looks for in another.
    pub(super) fn searched(
        &mut self,
        function: &str,
        target: &IdedExpr,
        argument: &IdedExpr,
        text: &str,
    ) {
        if !matches!(function, "contains" | "startsWith" | "endsWith" | "matches") {
            return;
        }
        if text.is_empty() {
            let message = "the empty text is in every text, so this is always true".to_owned();
            return self.warn(Oddity::EmptyText, argument, message, None);
        }
        match function {
            "startsWith" => self.resource_begins(target, argument, text),
            "matches" if is_glob(text) => {
                let message = "this reads like a pattern for files".to_owned();
                let hint = "in a regular expression `*` repeats what stands before it; \
                            anything is `.*`";
                self.warn(Oddity::Glob, argument, message, Some(hint.to_owned()));
            }
            _ => {}
        }
    }
}

fn is_glob(pattern: &str) -> bool {
    ["**", "/*.", "/*/"].iter().any(|glob| pattern.contains(glob))
}
