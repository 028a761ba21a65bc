//! A settings file that has been parsed: JSON, and as much beyond it as its harness takes.

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// The mark that some editors set before a text.
const MARK: &str = "\u{feff}";

/// What a harness takes beyond JSON.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Syntax {
    /// A byte order mark at the start.
    pub(crate) mark: bool,
    /// Comments, and commas behind the last member.
    pub(crate) comments: bool,
}

impl Syntax {
    /// Whatever any harness takes.
    pub(crate) const ANY: Self = Self { mark: true, comments: true };
}

/// What stands in the way, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The line, from 1.
    pub(crate) line: usize,
    /// The character in it, from 1.
    pub(crate) column: usize,
    /// What is there.
    pub(crate) what: String,
}

impl Fault {
    /// Returns the fault at a byte of `text`.
    pub(super) fn at(text: &str, offset: usize, what: impl Into<String>) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = before.matches('\n').count() + 1;
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
        Self { line, column, what: what.into() }
    }
}

/// A text with its parts.
pub(crate) struct Document<'a> {
    /// The text behind the mark, if there is one.
    pub(super) text: &'a str,
    /// The mark, or nothing.
    pub(super) mark: &'a str,
    /// The object that it is; nothing is written in an empty file.
    pub(super) root: Option<Object<'a>>,
}

impl<'a> Document<'a> {
    /// Reads the bytes of a file as text.
    pub(crate) fn text_of(bytes: &'a [u8]) -> Result<&'a str, Fault> {
        std::str::from_utf8(bytes).map_err(|error| {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let valid = String::from_utf8_lossy(valid);
            Fault::at(&valid, valid.len(), "there are bytes that are not UTF-8")
        })
    }

    /// Parses a text.
    pub(crate) fn parse(text: &'a str, syntax: Syntax) -> Result<Self, Fault> {
        let (mark, text) = match text.strip_prefix(MARK) {
            Some(_) if !syntax.mark => {
                return Err(Fault::at("", 0, "there is a byte order mark"));
            }
            Some(rest) => (MARK, rest),
            None => ("", text),
        };
        let options = ParseOptions {
            allow_comments: syntax.comments,
            allow_trailing_commas: syntax.comments,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| {
            Fault::at(text, error.range().start, begun_small(&error.kind().to_string()))
        })?;
        let root = match parsed.value {
            None => None,
            Some(Value::Object(root)) => Some(root),
            Some(other) => {
                return Err(Fault::at(text, start(&other), "the file is not an object"));
            }
        };
        Ok(Self { text, mark, root })
    }

    /// Returns the keys of the file.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.root.iter().flat_map(|root| &root.properties).map(|property| property.name.as_str())
    }

    /// Returns what stands under a path of keys.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Value<'a>> {
        let (last, folders) = path.split_last()?;
        let mut object = self.root.as_ref()?;
        for key in folders {
            object = object.get(key)?.value.as_object()?;
        }
        object.get(last).map(|property| &property.value)
    }

    /// Returns the member with this key. One that stands there twice is a fault, since nobody can
    /// say which of them a harness reads.
    pub(super) fn member<'d>(
        &self,
        object: &'d Object<'a>,
        key: &str,
    ) -> Result<Option<&'d ObjectProp<'a>>, Fault> {
        let mut found = object.properties.iter().filter(|property| property.name.as_str() == key);
        match (found.next(), found.next()) {
            (first, None) => Ok(first),
            (_, Some(second)) => {
                let what = format!("`{key}` stands there twice");
                Err(Fault::at(self.text, second.range.start, what))
            }
        }
    }

    /// Returns the hooks of the file, if there are any.
    pub(super) fn hooks<'d>(&'d self) -> Result<Option<&'d Object<'a>>, Fault> {
        let Some(root) = &self.root else { return Ok(None) };
        match self.member(root, "hooks")?.map(|property| &property.value) {
            None => Ok(None),
            Some(Value::Object(hooks)) => Ok(Some(hooks)),
            Some(other) => Err(self.fault(other, "`hooks` is not an object")),
        }
    }

    /// Returns the groups of an event.
    pub(super) fn groups<'d>(&self, event: &'d ObjectProp<'a>) -> Result<&'d Array<'a>, Fault> {
        match &event.value {
            Value::Array(groups) => Ok(groups),
            other => {
                let what = format!("`hooks.{}` is not an array", event.name.as_str());
                Err(self.fault(other, what))
            }
        }
    }

    /// Returns the fault of a value.
    fn fault(&self, value: &Value<'a>, what: impl Into<String>) -> Fault {
        Fault::at(self.text, start(value), what)
    }
}

/// Returns where a value begins.
fn start(value: &Value<'_>) -> usize {
    jsonc_parser::common::Ranged::range(value).start
}

fn begun_small(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map(|c| c.to_lowercase().chain(chars).collect()).unwrap_or_default()
}
