//! From text to an expression, and from the parser's complaints to ours.

use cel::common::ast::{IdedExpr, SourceInfo};
use cel::parser::{ParseError, Parser};

use super::error::{Flaw, PredicateError};
use super::plain;

/// Parses `source`. To be called on the deep thread, where the result is dropped as well, unless it
/// is plain.
pub(super) fn parse(source: &str) -> Result<(IdedExpr, Columns<'_>), PredicateError> {
    if let Some((expr, info)) = plain::parse(source) {
        return Ok((expr, Columns { source, info }));
    }
    let parser = Parser::new().enable_optional_syntax(false).enable_ident_escape_syntax(true);
    match parser.parse_with_source_info(source) {
        Ok((expr, info)) => Ok((expr, Columns { source, info })),
        // Its own text is not used: it draws the source, and panics on wide ones.
        Err(errors) => Err(errors.errors.first().map_or_else(
            || PredicateError::new(Flaw::ParserFailed, "the parser gave up"),
            |first| complaint(source, first),
        )),
    }
}

/// Where the parts of an expression stand in its source.
pub(super) struct Columns<'s> {
    source: &'s str,
    info: SourceInfo,
}

impl Columns<'_> {
    /// Returns where `expr` stands, in characters. For an operator that is the operator; for a
    /// call it is the opening bracket, for a selection the dot.
    pub(super) fn of(&self, expr: &IdedExpr) -> Option<usize> {
        self.characters(self.byte(expr)?)
    }

    /// Returns where the name of the function that `expr` calls stands.
    pub(super) fn of_function(&self, expr: &IdedExpr, name: &str) -> Option<usize> {
        let bracket = self.byte(expr)?;
        let before = self.source.get(..bracket)?.trim_end();
        let start = before.strip_suffix(name).map_or(bracket, str::len);
        self.characters(start)
    }

    /// Returns where the field stands that `expr` selects.
    pub(super) fn of_field(&self, expr: &IdedExpr, field: &str) -> Option<usize> {
        let from = self.byte(expr)?;
        // Within `has(…)` the place is that of the macro, and the field is the last one in it.
        let after = self.source.get(from..)?;
        let start = after.match_indices(field).map(|(at, _)| from + at).find(|at| {
            let before = self.source.get(..*at).unwrap_or_default().trim_end_matches(['`', ' ']);
            let behind = self.source.get(at + field.len()..).unwrap_or_default();
            before.ends_with('.') && !behind.starts_with(|c: char| c == '_' || c.is_alphanumeric())
        });
        self.characters(start.unwrap_or(from))
    }

    fn byte(&self, expr: &IdedExpr) -> Option<usize> {
        let (start, _) = self.info.offset_for(expr.id)?;
        usize::try_from(start).ok()
    }

    fn characters(&self, byte: usize) -> Option<usize> {
        Some(self.source.get(..byte)?.chars().count())
    }
}

fn complaint(source: &str, error: &ParseError) -> PredicateError {
    let column = column(source, error.pos);
    let said = error.msg.strip_prefix("Syntax error: ").unwrap_or(&error.msg);
    let refuse = |flaw, message: &str| PredicateError::new(flaw, message).at(column);
    if said.contains("Recursion limit") {
        // The parser's own bound; what it says about the place is not a line and a column.
        return refuse(Flaw::TooDeep, "too many operations inside each other").at(None);
    }
    if said.contains("invalid argument to has()") {
        return refuse(Flaw::WrongArguments, "`has` is called as `has(record.body.args.path)`")
            .hint("a key that is no name is quoted: has(record.body.args.`a-b`)".to_owned());
    }
    if let Some(what) = said.strip_prefix("unsupported syntax ") {
        return refuse(Flaw::Unsupported, "optional values are not supported")
            .hint(Some(format!("instead of {what}, guard the field with `has()`")));
    }
    if let Some(text) = quoted_after(said, "token recognition error at: ") {
        if text.starts_with(['"', '\'']) {
            return refuse(Flaw::Syntax, "the string does not end");
        }
        let hint = text.starts_with('=').then(|| "to compare write `==`".to_owned());
        return refuse(Flaw::Syntax, &format!("unexpected `{}`", cut(text.trim()))).hint(hint);
    }
    for opening in ["mismatched input ", "extraneous input ", "no viable alternative at input "] {
        match quoted_after(said, opening) {
            Some("<EOF>") => return refuse(Flaw::Syntax, "the expression ends too early"),
            Some(text) => {
                return refuse(Flaw::Syntax, &format!("unexpected `{}`", cut(text)))
                    .hint(spoken(text).map(|sign| format!("in CEL that is `{sign}`")));
            }
            None => {}
        }
    }
    if let Some(wanted) = said.strip_prefix("missing ") {
        let wanted = wanted.split(" at ").next().unwrap_or(wanted);
        return refuse(Flaw::Syntax, &format!("{} was expected", cut(wanted)));
    }
    refuse(Flaw::Syntax, cut(said))
}

/// Returns the operator that a word may be meant for.
fn spoken(word: &str) -> Option<&'static str> {
    match word.to_ascii_lowercase().as_str() {
        "and" => Some("&&"),
        "or" => Some("||"),
        "not" => Some("!"),
        "is" => Some("=="),
        _ => None,
    }
}

/// Returns what stands in `'…'` right after `opening`.
fn quoted_after<'t>(text: &'t str, opening: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(opening)?.strip_prefix('\'')?;
    let end = rest.find("' expecting").or_else(|| rest.rfind('\''))?;
    rest.get(..end)
}

fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(80).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

/// Turns the parser's line and column, both counted from 1, into a column of the whole source.
fn column(source: &str, (line, column): (isize, isize)) -> Option<usize> {
    let line = usize::try_from(line).ok()?.checked_sub(1)?;
    let column = usize::try_from(column).ok()?.checked_sub(1)?;
    let before: usize =
        source.split_inclusive('\n').take(line).map(|line| line.chars().count()).sum();
    Some((before + column).min(source.chars().count()))
}
