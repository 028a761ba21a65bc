//! Everything that a text is held against before it may be a predicate, in the order in which it
//! is. A refusal has the reason ([`Flaw`]) on the right, and most have a column.
//!
//! | guard | when | reason |
//! |---|---|---|
//! | [`MAX_SOURCE_BYTES`] | before parsing | `too_long` |
//! | not blank | before parsing | `empty` |
//! | [`MAX_NESTING`] brackets inside each other | before parsing | `too_nested` |
//! | is CEL | parsing | `syntax`, `parser_failed` |
//! | [`MAX_NODES`] operations | parsed | `too_many_nodes` |
//! | [`MAX_DEPTH`] operations inside each other | parsed | `too_deep` |
//! | [`MAX_LOOPS`] loops inside each other | parsed | `loops_too_deep` |
//! | [`MAX_LITERAL`] elements in a list or map | parsed | `list_too_long` |
//! | no messages, no optional values | parsing, checked | `unsupported` |
//! | names, functions, fields that exist | checked | `unknown_name`, `unknown_function`, `unknown_field` |
//! | only what this context has | checked | `wrong_context` |
//! | arguments and types that go together | checked | `wrong_arguments`, `type_clash` |
//! | the pattern of `matches` is written out, and is one | checked | `dynamic_pattern`, `bad_pattern` |
//! | [`MAX_PATTERN_BYTES`], [`MAX_PATTERN_NESTING`] | checked | `pattern_too_large` |
//! | [`MAX_PATTERNS_BYTES`], [`MAX_WIDE_CLASSES`] | checked | `pattern_too_large` |
//! | a result that may be true or false, of a predicate | checked | `not_boolean` |
//! | [`MAX_UNITS`], [`MAX_BUILT`] | evaluated | a [`Failure`](super::Failure) |
//!
//! The sizes are measured here, the rest is the checker's. What follows from the sizes: an accepted
//! predicate needs little stack to evaluate, on any thread. What follows from the last: it stops
//! soon.

use cel::common::ast::{Expr, IdedExpr};

use super::error::{Flaw, PredicateError};
use super::parse::Columns;
use super::tree::{Part, children};

/// The most bytes of source.
pub const MAX_SOURCE_BYTES: usize = 2048;
/// The most brackets inside each other.
pub const MAX_NESTING: usize = 32;
/// The most operations inside each other.
pub const MAX_DEPTH: usize = 32;
/// The most operations.
pub const MAX_NODES: usize = 512;
/// The most loops inside each other. A loop over the result of a loop is not inside it.
pub const MAX_LOOPS: usize = 2;
/// The most elements of a list or map that is written out.
pub const MAX_LITERAL: usize = 256;
/// The most memory of a compiled pattern.
pub const MAX_PATTERN_BYTES: usize = 256 * 1024;
/// The most memory of all compiled patterns of one expression.
pub const MAX_PATTERNS_BYTES: usize = 4 * MAX_PATTERN_BYTES;
/// The most classes of characters that reach beyond ASCII, as `\w` does, in all patterns of one
/// expression. Each takes a fraction of a millisecond to be read.
pub const MAX_WIDE_CLASSES: usize = 32;
/// The most groups and repetitions inside each other in a pattern.
pub const MAX_PATTERN_NESTING: u32 = 32;

/// The most units of work in one evaluation.
pub const MAX_UNITS: u64 = 100_000;
/// The bytes that may be handled for one unit.
pub const UNIT_BYTES: u64 = 64;
/// The most bytes that one evaluation builds.
pub const MAX_BUILT: u64 = 1024 * 1024;

/// Checks what can be checked before anything is parsed.
pub(super) fn text(source: &str) -> Result<(), PredicateError> {
    if source.len() > MAX_SOURCE_BYTES {
        return Err(PredicateError::new(
            Flaw::TooLong,
            format!("{} bytes long, and at most {MAX_SOURCE_BYTES} are taken", source.len()),
        ));
    }
    if source.trim().is_empty() {
        return Err(PredicateError::new(Flaw::Empty, "an expression was expected")
            .hint(Some("`true` always holds".to_owned())));
    }
    nesting(source)
}

/// Checks how deeply brackets stand inside each other. Brackets in strings and comments do not
/// count.
fn nesting(source: &str) -> Result<(), PredicateError> {
    let mut open = 0_usize;
    let mut scan = Scan { rest: source, column: 0, last: None };
    while let Some(char) = scan.next() {
        match char {
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        if open > MAX_NESTING {
            let message = format!("more than {MAX_NESTING} brackets inside each other");
            return Err(PredicateError::new(Flaw::TooNested, message).at(scan.column - 1));
        }
    }
    Ok(())
}

/// The characters of a source that are not in a string or a comment.
struct Scan<'s> {
    rest: &'s str,
    column: usize,
    last: Option<char>,
}

impl Scan<'_> {
    fn next(&mut self) -> Option<char> {
        loop {
            let raw = matches!(self.last, Some('r' | 'R'));
            if self.rest.starts_with("//") {
                self.skip_line();
            } else if let Some(quote) =
                ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| self.rest.starts_with(quote))
            {
                self.skip_string(quote, raw);
            } else {
                self.last = self.take();
                return self.last;
            }
        }
    }

    fn take(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let char = chars.next()?;
        self.rest = chars.as_str();
        self.column += 1;
        Some(char)
    }

    fn skip_line(&mut self) {
        while !matches!(self.take(), None | Some('\n')) {}
    }

    fn skip_string(&mut self, quote: &str, raw: bool) {
        for _ in 0..quote.len() {
            self.take();
        }
        while !self.rest.is_empty() && !self.rest.starts_with(quote) {
            if self.take() == Some('\\') && !raw {
                self.take();
            }
        }
        for _ in 0..quote.len() {
            self.take();
        }
        self.last = Some('"');
    }
}

/// Checks what was parsed, without recursion: nothing is known yet about how deep it is.
pub(super) fn tree(root: &IdedExpr, columns: &Columns<'_>) -> Result<(), PredicateError> {
    let mut nodes = 0;
    let mut todo = vec![Node { expr: root, depth: 1, loops: 0 }];
    while let Some(node) = todo.pop() {
        nodes += 1;
        let column = columns.of(node.expr);
        let refuse = |flaw, message: String| Err(PredicateError::new(flaw, message).at(column));
        if nodes > MAX_NODES {
            return refuse(Flaw::TooManyNodes, format!("more than {MAX_NODES} operations"));
        }
        if node.depth > MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} operations inside each other");
            return refuse(Flaw::TooDeep, message);
        }
        if node.loops == MAX_LOOPS && matches!(node.expr.expr, Expr::Comprehension(_)) {
            let message = format!("more than {MAX_LOOPS} loops inside each other");
            return refuse(Flaw::LoopsTooDeep, message);
        }
        if literal_len(node.expr) > MAX_LITERAL {
            let message = format!("more than {MAX_LITERAL} elements in one list or map");
            return refuse(Flaw::ListTooLong, message);
        }
        let first = todo.len();
        node.children(&mut todo);
        // The first child is looked at first, so that the first flaw is the one that is told.
        todo.get_mut(first..).unwrap_or_default().reverse();
    }
    Ok(())
}

const fn literal_len(expr: &IdedExpr) -> usize {
    match &expr.expr {
        Expr::List(list) => list.elements.len(),
        Expr::Map(map) => map.entries.len(),
        _ => 0,
    }
}

struct Node<'e> {
    expr: &'e IdedExpr,
    depth: usize,
    /// How many loops repeat it.
    loops: usize,
}

impl Node<'_> {
    fn children(&self, into: &mut Vec<Self>) {
        children(self.expr, |expr, part| {
            let loops = self.loops + usize::from(part == Part::Repeated);
            into.push(Node { expr, depth: self.depth + 1, loops });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_flaw() {
        let table: Vec<&str> =
            include_str!("guard.rs").lines().filter(|line| line.starts_with("//! |")).collect();
        for flaw in Flaw::ALL {
            let word = format!("`{}`", flaw.as_str());
            assert!(table.iter().any(|row| row.contains(&word)), "{word} stands in no row");
        }
    }
}
