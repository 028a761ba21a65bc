//! Structured queries: a filter in the style of document stores becomes parameterised SQL
//! (contract §2.4).

mod filter;
mod sql;

use rusqlite::ToSql;
use rusqlite::types::Value as Bound;

use super::read::NOT_ERASED;
use super::{Reader, StoreError, Stored};
use crate::canon::{Object, Value};
use crate::code::{Code, Coded};
use sql::{Field, Sql};

/// The most records of one answer.
const MAX_LIMIT: usize = 1000;
const DEFAULT_LIMIT: usize = 100;

/// Why a query is not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct QueryError {
    /// The member of the request that is wrong.
    pub field: String,
    /// One sentence.
    pub message: String,
}

impl QueryError {
    fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }
}

impl Coded for QueryError {
    fn code(&self) -> Code {
        Code::InvalidQuery
    }

    fn field(&self) -> Option<&str> {
        Some(&self.field)
    }
}

/// A query that reads well.
#[derive(Debug, Clone)]
pub struct Query {
    condition: Sql,
    order: String,
    limit: usize,
    offset: usize,
    capped: bool,
    explain: bool,
}

/// What a query has found.
#[derive(Debug, Clone)]
pub struct Page {
    /// The records, in the order asked for.
    pub records: Vec<Stored>,
    /// Where to go on, if there is more.
    pub next_cursor: Option<String>,
    /// Whether fewer were returned than asked for, because of the ceiling.
    pub capped: bool,
    /// How it was found, if that was asked.
    pub plan: Option<Object>,
}

impl Query {
    /// Reads the body of `POST /v1/records/query`.
    pub fn parse(request: &Value) -> Result<Self, QueryError> {
        const KNOWN: [&str; 7] =
            ["filter", "thread", "sort", "limit", "offset", "cursor", "explain"];
        let Value::Object(members) = request else {
            return Err(QueryError::new("filter", "a query is an object with a `filter`"));
        };
        if let Some(unknown) = members.keys().find(|key| !KNOWN.contains(&key.as_str())) {
            let message =
                format!("`{unknown}` is not offered here; a query has {}", KNOWN.join(", "));
            return Err(QueryError::new(unknown, message));
        }
        let filter = members
            .get("filter")
            .ok_or_else(|| QueryError::new("filter", "`filter` is missing; `{}` matches all"))?;
        let mut condition = filter::compile(filter)?;
        if let Some(thread) = members.get("thread") {
            let thread = thread
                .as_str()
                .ok_or_else(|| QueryError::new("thread", "`thread` must be a string"))?;
            condition = condition.and_thread(thread);
        }
        let asked = number(members, "limit")?;
        let offset = match members.get("cursor") {
            None => number(members, "offset")?.unwrap_or(0),
            Some(cursor) => cursor
                .as_str()
                .and_then(|cursor| cursor.parse().ok())
                .ok_or_else(|| QueryError::new("cursor", "`cursor` is not one of ours"))?,
        };
        Ok(Self {
            condition,
            order: order(members.get("sort"))?,
            limit: asked.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT),
            offset,
            capped: asked.is_some_and(|limit| limit > MAX_LIMIT),
            explain: members.get("explain").and_then(Value::as_bool).unwrap_or(false),
        })
    }
}

fn number(members: &Object, field: &str) -> Result<Option<usize>, QueryError> {
    let Some(value) = members.get(field) else { return Ok(None) };
    value
        .as_u64()
        .and_then(|number| usize::try_from(number).ok())
        .map(Some)
        .ok_or_else(|| QueryError::new(field, format!("`{field}` must be an integer from 0 on")))
}

fn order(sort: Option<&Value>) -> Result<String, QueryError> {
    let Some(sort) = sort else { return Ok("seq".into()) };
    let wrong = || QueryError::new("sort", "`sort` must be one field with 1 or -1");
    let mut entries = sort.as_object().ok_or_else(wrong)?.iter();
    let (Some((path, direction)), None) = (entries.next(), entries.next()) else {
        return Err(wrong());
    };
    let direction = match direction.as_i64() {
        Some(1) => "ASC",
        Some(-1) => "DESC",
        _ => return Err(wrong()),
    };
    let field = Field::parse(path)?;
    Ok(format!("{} {direction}, seq {direction}", field.order_expression()))
}

impl Query {
    /// Returns the same query, which finds no record that was erased.
    #[must_use]
    pub fn without_erased(mut self) -> Self {
        self.condition.push(" AND ");
        self.condition.push(NOT_ERASED);
        self
    }
}

impl Reader<'_> {
    /// Returns how many records a query finds, whatever its limit.
    pub fn count(&self, query: &Query) -> Result<u64, StoreError> {
        let sql = format!("SELECT count(*) FROM records WHERE {}", query.condition.text);
        let bound = rusqlite::params_from_iter(query.condition.bound.iter());
        Ok(self.connection.prepare_cached(&sql)?.query_row(bound, |row| row.get(0))?)
    }

    /// Returns what a query finds.
    pub fn query(&self, query: &Query) -> Result<Page, StoreError> {
        let bound: Vec<&dyn ToSql> =
            query.condition.bound.iter().map(|value: &Bound| value as &dyn ToSql).collect();
        let condition = query.condition.text.as_str();
        let (records, more) =
            self.page(condition, &bound, &query.order, query.limit, query.offset)?;
        // Whoever asks for nothing gets no further.
        let next = query.offset + records.len();
        Ok(Page {
            next_cursor: (more && next > query.offset).then(|| next.to_string()),
            records,
            capped: query.capped,
            plan: query.explain.then(|| query.condition.plan()),
        })
    }
}
