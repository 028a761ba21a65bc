//! How a text is laid out, and JSON in that layout.

use jsonc_parser::ast::Object;
use spl::canon::Value;

/// How a text is laid out.
pub(super) struct Layout {
    /// What ends a line.
    pub(super) newline: &'static str,
    /// One step of indentation.
    unit: String,
    /// Whether what stands on one line has spaces in it.
    pub(super) spaced: bool,
}

/// JSON to be written. The keys stay in their order.
pub(super) enum Json {
    /// A string.
    Text(String),
    /// A number.
    Number(u32),
    /// An array.
    Array(Vec<Json>),
    /// An object.
    Object(Vec<(&'static str, Json)>),
}

impl Layout {
    /// Reads how a text is laid out. What it does not say is said as most do.
    pub(super) fn of(text: &str, root: Option<&Object<'_>>) -> Self {
        let newline = match text.find('\n') {
            Some(at) if text.get(..at).is_some_and(|before| before.ends_with('\r')) => "\r\n",
            _ => "\n",
        };
        let first = root.and_then(|root| root.properties.first());
        let unit = first
            .and_then(|first| indentation(text, first.range.start))
            .filter(|unit| !unit.is_empty())
            .or_else(|| text.lines().map(leading).find(|unit| !unit.is_empty()))
            .unwrap_or("  ");
        let spaced = match first {
            None => true,
            Some(first) => {
                let pair = text.get(first.range.start..first.range.end).unwrap_or_default();
                pair.contains("\": ") || text.contains("\": ")
            }
        };
        Self { newline, unit: unit.to_owned(), spaced }
    }

    /// Returns the indentation of what stands inside something with this one.
    pub(super) fn inside(&self, indentation: &str) -> String {
        format!("{indentation}{}", self.unit)
    }

    /// Writes a value, over lines that begin with `indentation`, or all on one line.
    pub(super) fn write(&self, json: &Json, indentation: Option<&str>) -> String {
        match json {
            Json::Text(text) => Value::from(text.as_str()).to_string(),
            Json::Number(number) => number.to_string(),
            Json::Array(items) => {
                let inner = indentation.map(|indentation| self.inside(indentation));
                let items = items.iter().map(|item| self.write(item, inner.as_deref()));
                self.enclose(['[', ']'], &items.collect::<Vec<_>>(), indentation)
            }
            Json::Object(members) => {
                let inner = indentation.map(|indentation| self.inside(indentation));
                let members = members.iter().map(|(key, value)| {
                    let value = self.write(value, inner.as_deref());
                    self.member(key, &value, indentation.is_some())
                });
                self.enclose(['{', '}'], &members.collect::<Vec<_>>(), indentation)
            }
        }
    }

    /// Writes a member of an object.
    pub(super) fn member(&self, key: &str, value: &str, over_lines: bool) -> String {
        let space = if over_lines || self.spaced { " " } else { "" };
        format!("{}:{space}{value}", Value::from(key))
    }

    fn enclose(&self, ends: [char; 2], items: &[String], indentation: Option<&str>) -> String {
        let [open, close] = ends;
        match indentation {
            Some(indentation) if !items.is_empty() => {
                let start = format!("{}{}", self.newline, self.inside(indentation));
                let items = items.join(&format!(",{start}"));
                format!("{open}{start}{items}{}{indentation}{close}", self.newline)
            }
            _ => format!("{open}{}{close}", items.join(if self.spaced { ", " } else { "," })),
        }
    }
}

/// Returns the white space before `at`, if nothing else stands before it on its line.
pub(super) fn indentation(text: &str, at: usize) -> Option<&str> {
    let line = line_before(text, at);
    line.chars().all(|c| c == ' ' || c == '\t').then_some(line)
}

/// Returns the white space that the line of `at` begins with.
pub(super) fn indentation_of_line(text: &str, at: usize) -> &str {
    leading(line_before(text, at))
}

fn line_before(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    before.get(before.rfind('\n').map_or(0, |end| end + 1)..).unwrap_or_default()
}

fn leading(line: &str) -> &str {
    let end = line.find(|c| c != ' ' && c != '\t').unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}
