//! Conditions as SQL text of our own, with every value of the caller's bound.

use rusqlite::types::Value as Bound;

use super::QueryError;
use crate::canon::Object;
use crate::object;

/// A condition, and what is bound to its parameters `?1`, `?2`, …
#[derive(Debug, Clone, Default)]
pub(super) struct Sql {
    pub(super) text: String,
    pub(super) bound: Vec<Bound>,
    fields: Vec<Field>,
}

/// A field that a filter may name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Field {
    /// A column of the table.
    Column(&'static str),
    /// A path into the body, as SQLite spells it. Its segments are letters, digits, `-` and `_`.
    Body { path: String, json_path: String },
}

/// The fields that are columns, and the columns they are.
const COLUMNS: [(&str, &str); 9] = [
    ("id", "lower(hex(id))"),
    ("thread", "thread"),
    ("actor", "actor"),
    ("act", "act"),
    ("clock", "clock"),
    ("data_type", "data_type"),
    ("namespace", "namespace"),
    ("created_at", "received_at"),
    ("body.kind", "kind"),
];

/// The columns that an index leads to.
const INDEXED: [&str; 2] = ["thread", "kind"];

impl Field {
    /// Reads a path: a column, or `body.<segment>[.<segment>…]`.
    pub(super) fn parse(path: &str) -> Result<Self, QueryError> {
        if let Some((_, column)) = COLUMNS.iter().find(|(name, _)| *name == path) {
            return Ok(Self::Column(column));
        }
        let good = |segment: &str| {
            !segment.is_empty()
                && segment.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        };
        match path.strip_prefix("body.") {
            Some(rest) if path.len() <= 512 && rest.split('.').all(good) => {
                let quoted: Vec<String> =
                    rest.split('.').map(|segment| format!("\"{segment}\"")).collect();
                let json_path = format!("$.body.{}", quoted.join("."));
                Ok(Self::Body { path: path.into(), json_path })
            }
            _ => {
                let shown: String = path.chars().take(64).collect();
                let message = format!(
                    "`{shown}` is not a field; fields are id, thread, actor, act, clock, \
                     data_type, namespace, created_at and body.<name>"
                );
                Err(QueryError::new(shown, message))
            }
        }
    }

    /// Returns an expression that sorts by this field. The path is spelled out: it can hold nothing
    /// but letters, digits, `-`, `_` and our own quotes.
    pub(super) fn order_expression(&self) -> String {
        match self {
            Self::Column(column) => (*column).to_owned(),
            Self::Body { json_path, .. } => format!("json_extract(canonical, '{json_path}')"),
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Column("lower(hex(id))") => "id",
            Self::Column("received_at") => "created_at",
            Self::Column("kind") => "body.kind",
            Self::Column(column) => column,
            Self::Body { path, .. } => path,
        }
    }

    fn is_indexed(&self) -> bool {
        matches!(self, Self::Column(column) if INDEXED.contains(column))
    }
}

impl Sql {
    /// Adds a piece of SQL text.
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds a parameter and binds a value to it.
    pub(super) fn bind(&mut self, value: impl Into<Bound>) {
        self.bound.push(value.into());
        self.text.push_str(&format!("?{}", self.bound.len()));
    }

    /// Adds the value of a field.
    pub(super) fn push_field(&mut self, field: &Field) {
        match field {
            Field::Column(column) => self.push(column),
            Field::Body { json_path, .. } => {
                self.push("json_extract(canonical, ");
                self.bind(json_path.clone());
                self.push(")");
            }
        }
        if !self.fields.contains(field) {
            self.fields.push(field.clone());
        }
    }

    /// Adds the JSON type of a field in the body: null if there is no such field.
    pub(super) fn push_type(&mut self, json_path: &str) {
        self.push("json_type(canonical, ");
        self.bind(json_path.to_owned());
        self.push(")");
    }

    /// Narrows the condition to one thread.
    pub(super) fn and_thread(mut self, thread: &str) -> Self {
        self.push(" AND ");
        self.push_field(&Field::Column("thread"));
        self.push(" = ");
        self.bind(thread.to_owned());
        self
    }

    /// Returns how this is answered.
    pub(super) fn plan(&self) -> Object {
        let names = |indexed: bool| -> Vec<&str> {
            let of_kind = self.fields.iter().filter(|field| field.is_indexed() == indexed);
            of_kind.map(Field::name).collect()
        };
        object! {
            "bind_count": self.bound.len(),
            "indexed_fields": names(true),
            "sql": self.text.as_str(),
            "unindexed_fields": names(false),
        }
    }
}
