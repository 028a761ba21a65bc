//! Patterns of names, as minimatch reads them.
//!
//! `*` `?` `[a-c]` `[!a]` `{a,b}` `{1..3}`, `@(a|b)` `?(…)` `*(…)` `+(…)` `!(…)`, a leading `!` for
//! the opposite, a leading `#` for nothing, `\` before what stands for itself. `/` parts names, across
//! which only `**` reaches, and a leading dot is matched by a dot alone. No crate reads all of that;
//! `fixtures/policy/polyglot/globs.json` says what each has to come to.
//!
//! How it fits: `braces` makes several patterns of one, `segment` reads what stands between two
//! slashes, `program` runs that.
//!
//! **Invariant:** a name of n characters takes at most n times the length of the compiled pattern
//! times its loops, whatever both are; and what would be long in compiled form is refused when it is
//! read.

mod braces;
mod program;
mod segment;

use program::Program;

/// The most characters of a pattern.
const PATTERN_CHARS: usize = 1024;

/// The most patterns that braces may stand for.
const ALTERNATIVES: usize = 1024;

/// Why a pattern is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// Nothing would match it.
    #[error("must be `tool` or `tool:pattern`")]
    Empty,
    /// It is too long to be one.
    #[error("is a pattern of more than {PATTERN_CHARS} characters")]
    TooLong,
    /// What it stands for is too much.
    #[error("is a pattern that stands for too much")]
    TooComplex,
}

/// A pattern of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    written: String,
    rules: Rules,
    form: Form,
}

/// How names are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rules {
    /// Whether `/` parts names.
    parts: bool,
    /// Whether a leading dot hides a name from `*` and its like.
    hides: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    /// A comment.
    Nothing,
    /// One name, without a slash.
    Name(String),
    /// Any of these, or none of them.
    Any { negated: bool, of: Vec<Vec<Part>> },
}

/// What stands between two slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// `**`
    Anything,
    Name(String),
    Program(Program),
}

impl Part {
    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Anything => true,
            Self::Name(own) => own == name,
            Self::Program(program) => program.matches(name),
        }
    }
}

impl Glob {
    /// Reads a pattern of names.
    pub fn new(pattern: &str) -> Result<Self, GlobError> {
        Self::read(pattern, Rules { parts: true, hides: true })
    }

    /// Reads a pattern of paths, of which no leading dot hides any.
    pub fn of_paths(pattern: &str) -> Result<Self, GlobError> {
        Self::read(pattern, Rules { parts: true, hides: false })
    }

    /// Reads a pattern of texts, in which slashes and dots are characters like any other.
    pub fn of_text(pattern: &str) -> Result<Self, GlobError> {
        Self::read(pattern, Rules { parts: false, hides: false })
    }

    fn read(pattern: &str, rules: Rules) -> Result<Self, GlobError> {
        if pattern.chars().count() > PATTERN_CHARS {
            return Err(GlobError::TooLong);
        }
        let form = form(pattern, rules)?;
        Ok(Self { written: pattern.to_owned(), rules, form })
    }

    /// Returns the pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Returns whether the whole of a name matches.
    pub fn matches(&self, name: &str) -> bool {
        match &self.form {
            Form::Nothing => false,
            Form::Name(own) => own == self.rules.without_slashes(name),
            Form::Any { negated, of } => {
                of.iter().any(|parts| self.rules.matches(parts, name)) != *negated
            }
        }
    }
}

fn form(pattern: &str, rules: Rules) -> Result<Form, GlobError> {
    if pattern.starts_with('#') {
        return Ok(Form::Nothing);
    }
    if pattern.is_empty() {
        return Ok(Form::Name(String::new()));
    }
    // `!(a)` is every name but `a`, and not the opposite of `(a)`.
    let mut rest = pattern;
    let mut negated = false;
    while let Some(after) = rest.strip_prefix('!').filter(|after| !after.starts_with('(')) {
        (rest, negated) = (after, !negated);
    }
    let mut of = Vec::new();
    let mut size = 0;
    // Braces stand for names, of which none is empty.
    let is_name = |alternative: &String| rest.is_empty() || !alternative.is_empty();
    for alternative in braces::expand(rest, ALTERNATIVES)?.into_iter().filter(is_name) {
        let parts = rules.parts_of(&alternative, &mut size)?;
        // Those that braces have doubled say nothing new.
        if !of.contains(&parts) {
            of.push(parts);
        }
    }
    match of.as_mut_slice() {
        [parts] if !negated => match parts.as_mut_slice() {
            [Part::Name(name)] => Ok(Form::Name(std::mem::take(name))),
            _ => Ok(Form::Any { negated, of }),
        },
        _ => Ok(Form::Any { negated, of }),
    }
}

impl Rules {
    fn parts_of(self, pattern: &str, size: &mut usize) -> Result<Vec<Part>, GlobError> {
        let mut parts: Vec<Part> = Vec::new();
        let texts = if self.parts { split(pattern).collect() } else { vec![pattern] };
        let mut kept: Vec<&str> = Vec::new();
        for text in texts {
            let before = kept.last().copied();
            match text {
                "**" if self.parts && before == Some("**") => {}
                ".." if before.is_some_and(|it| !["..", ".", "**", ""].contains(&it)) => {
                    kept.pop();
                }
                text => kept.push(text),
            }
        }
        for text in kept {
            parts.push(match text {
                "**" if self.parts => Part::Anything,
                text => self.part(text, size)?,
            });
        }
        Ok(parts)
    }

    fn part(self, text: &str, size: &mut usize) -> Result<Part, GlobError> {
        let pieces = segment::read(text)?;
        if let Some(name) = segment::as_name(&pieces) {
            return Ok(Part::Name(name));
        }
        let program = Program::compile(&pieces, self.hides)?;
        *size += program.len();
        if *size > program::STATES {
            Err(GlobError::TooComplex)
        } else {
            Ok(Part::Program(program))
        }
    }

    fn without_slashes(self, name: &str) -> &str {
        if self.parts { name.trim_end_matches('/') } else { name }
    }

    fn matches(self, parts: &[Part], name: &str) -> bool {
        match parts {
            [Part::Anything] => split(name).all(|name| !self.is_hidden(name)),
            [part] => {
                let name = self.without_slashes(name);
                part.matches(name) && !(self.parts && name.contains('/'))
            }
            parts => self.matches_path(parts, name),
        }
    }

    /// Follows all ways through a path at once: after each part, where in it one may be.
    fn matches_path(self, parts: &[Part], path: &str) -> bool {
        let names: Vec<&str> = split(path).collect();
        let mut reached = vec![false; names.len() + 1];
        if let Some(first) = reached.first_mut() {
            *first = true;
        }
        let Some((last, before)) = parts.split_last() else { return false };
        for part in before {
            reached = self.after(part, &names, &reached, true);
        }
        reached = self.after(last, &names, &reached, false);
        // A slash at the end names the same.
        let ends_early = names.last() == Some(&"") && reached.iter().rev().nth(1) == Some(&true);
        reached.last() == Some(&true) || ends_early
    }

    fn after(self, part: &Part, names: &[&str], from: &[bool], may_be_nothing: bool) -> Vec<bool> {
        let mut reached = vec![false; from.len()];
        let mut inside = false;
        for (at, (is_from, to)) in from.iter().zip(reached.iter_mut()).enumerate() {
            let before = at.checked_sub(1).and_then(|before| names.get(before));
            *to = match (part, before) {
                (Part::Anything, before) => {
                    inside = inside && before.is_none_or(|name| !self.is_hidden(name));
                    let here = inside || (may_be_nothing && *is_from);
                    inside = inside || *is_from;
                    here
                }
                (part, Some(name)) => {
                    at.checked_sub(1).and_then(|it| from.get(it)) == Some(&true)
                        && part.matches(name)
                }
                (_, None) => false,
            };
        }
        reached
    }

    fn is_hidden(self, name: &str) -> bool {
        self.hides && name.starts_with('.')
    }
}

/// Splits at slashes, of which several in a row are one.
fn split(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(path);
    std::iter::from_fn(move || {
        let text = rest?;
        let (name, after) = match text.split_once('/') {
            Some((name, after)) => (name, Some(after.trim_start_matches('/'))),
            None => (text, None),
        };
        rest = after;
        Some(name)
    })
}

#[cfg(test)]
mod tests;
