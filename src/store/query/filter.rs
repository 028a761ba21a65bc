//! The operators of a filter.

use super::QueryError;
use super::sql::{Field, Sql};
use crate::canon::Value;

/// The most comparisons in one filter: SQLite bounds the size of an expression too.
const MAX_TERMS: usize = 500;

const OPERATORS: &str =
    "$eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $like, $ilike, $exists, $and, $or, $not";

/// Turns a filter into a condition.
pub(super) fn compile(filter: &Value) -> Result<Sql, QueryError> {
    let mut writer = Writer { sql: Sql::default(), terms: 0 };
    writer.filter(filter)?;
    Ok(writer.sql)
}

struct Writer {
    sql: Sql,
    terms: usize,
}

impl Writer {
    /// Members of a filter are joined by AND.
    fn filter(&mut self, filter: &Value) -> Result<(), QueryError> {
        let Value::Object(members) = filter else {
            let message = format!("a filter is an object, not {}", filter.type_name());
            return Err(QueryError::new("filter", message));
        };
        self.join(" AND ", members.iter(), |writer, (key, value)| match key.as_str() {
            "$and" => writer.list(" AND ", key, value),
            "$or" => writer.list(" OR ", key, value),
            "$not" => writer.not(|writer| writer.filter(value)),
            operator if operator.starts_with('$') => Err(unknown(operator)),
            path => writer.field(&Field::parse(path)?, value),
        })
    }

    fn list(&mut self, joint: &str, key: &str, filters: &Value) -> Result<(), QueryError> {
        let filters = filters
            .as_array()
            .ok_or_else(|| QueryError::new(key, format!("`{key}` takes a list of filters")))?;
        self.join(joint, filters.iter(), Self::filter)
    }

    fn join<T>(
        &mut self,
        joint: &str,
        items: impl Iterator<Item = T>,
        each: impl Fn(&mut Self, T) -> Result<(), QueryError>,
    ) -> Result<(), QueryError> {
        self.sql.push("(");
        let mut some = false;
        for item in items {
            if std::mem::replace(&mut some, true) {
                self.sql.push(joint);
            }
            each(self, item)?;
        }
        if !some {
            // Counted too: ten thousand empty filters are as large as ten thousand comparisons.
            self.count()?;
            // Nothing to satisfy holds of everything; nothing to choose from, of nothing.
            self.sql.push(if joint == " OR " { "FALSE" } else { "TRUE" });
        }
        self.sql.push(")");
        Ok(())
    }

    fn not(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<(), QueryError>,
    ) -> Result<(), QueryError> {
        // What cannot be compared does not hold, so its opposite does.
        self.sql.push("NOT coalesce(");
        inner(self)?;
        self.sql.push(", FALSE)");
        Ok(())
    }

    fn field(&mut self, field: &Field, value: &Value) -> Result<(), QueryError> {
        let Value::Object(operators) = value else { return self.equals(field, value) };
        if operators.is_empty() || !operators.keys().all(|key| key.starts_with('$')) {
            let message =
                format!("a field is compared with a value or with operators: {OPERATORS}");
            return Err(QueryError::new("filter", message));
        }
        self.join(" AND ", operators.iter(), |writer, (operator, operand)| {
            writer.operator(field, operator, operand)
        })
    }

    fn operator(
        &mut self,
        field: &Field,
        operator: &str,
        operand: &Value,
    ) -> Result<(), QueryError> {
        match operator {
            "$eq" => self.equals(field, operand),
            "$ne" => self.not(|writer| writer.equals(field, operand)),
            "$gt" => self.compares(field, operator, " > ", operand),
            "$gte" => self.compares(field, operator, " >= ", operand),
            "$lt" => self.compares(field, operator, " < ", operand),
            "$lte" => self.compares(field, operator, " <= ", operand),
            "$in" => self.is_among(field, operator, operand),
            "$nin" => self.not(|writer| writer.is_among(field, operator, operand)),
            "$like" => self.matches(field, operator, operand, " GLOB ", glob_of),
            "$ilike" => self.matches(field, operator, operand, " LIKE ", str::to_owned),
            "$exists" => self.exists(field, operand),
            "$not" => self.not(|writer| writer.field(field, operand)),
            other => Err(unknown(other)),
        }
    }

    fn is_among(&mut self, field: &Field, operator: &str, list: &Value) -> Result<(), QueryError> {
        let values = list
            .as_array()
            .ok_or_else(|| QueryError::new(operator, format!("`{operator}` takes a list")))?;
        self.join(" OR ", values.iter(), |writer, value| writer.equals(field, value))
    }

    fn exists(&mut self, field: &Field, operand: &Value) -> Result<(), QueryError> {
        self.count()?;
        let wanted = operand
            .as_bool()
            .ok_or_else(|| QueryError::new("$exists", "`$exists` takes true or false"))?;
        match field {
            Field::Column(_) => self.sql.push_field(field),
            Field::Body { json_path, .. } => self.sql.push_type(json_path),
        }
        self.sql.push(if wanted { " IS NOT NULL" } else { " IS NULL" });
        Ok(())
    }

    fn equals(&mut self, field: &Field, value: &Value) -> Result<(), QueryError> {
        self.count()?;
        match value {
            Value::Null => {
                self.sql.push_field(field);
                self.sql.push(" IS NULL");
                Ok(())
            }
            Value::Bool(bool) => {
                match field {
                    Field::Column(_) => self.sql.push("FALSE"),
                    Field::Body { json_path, .. } => {
                        self.sql.push_type(json_path);
                        self.sql.push(if *bool { " = 'true'" } else { " = 'false'" });
                    }
                }
                Ok(())
            }
            Value::Number(_) | Value::String(_) => self.compare_typed(field, "$eq", " = ", value),
            Value::Array(_) | Value::Object(_) => Err(QueryError::new(
                "filter",
                format!("a field cannot be compared with {}", value.type_name()),
            )),
        }
    }

    fn compares(
        &mut self,
        field: &Field,
        operator: &str,
        symbol: &str,
        value: &Value,
    ) -> Result<(), QueryError> {
        self.count()?;
        if !matches!(value, Value::Number(_) | Value::String(_)) {
            let message = format!("`{operator}` takes a number or a string");
            return Err(QueryError::new(operator, message));
        }
        self.compare_typed(field, operator, symbol, value)
    }

    /// Compares text with text and numbers with numbers; SQLite would order across types.
    fn compare_typed(
        &mut self,
        field: &Field,
        operator: &str,
        symbol: &str,
        value: &Value,
    ) -> Result<(), QueryError> {
        self.sql.push("(");
        if let Field::Body { json_path, .. } = field {
            self.sql.push_type(json_path);
            self.sql.push(match value {
                Value::String(_) => " = 'text' AND ",
                _ => " IN ('integer', 'real') AND ",
            });
        }
        self.sql.push_field(field);
        self.sql.push(symbol);
        match value {
            Value::String(text) => self.sql.bind(text.clone()),
            Value::Number(number) => match (number.as_i64(), number.as_fraction()) {
                (Some(int), _) => self.sql.bind(int),
                (None, Some(float)) => self.sql.bind(float),
                (None, None) => {
                    let message = "numbers beyond 64 bits cannot be compared";
                    return Err(QueryError::new(operator, message));
                }
            },
            _ => self.sql.push("NULL"),
        }
        self.sql.push(")");
        Ok(())
    }

    fn matches(
        &mut self,
        field: &Field,
        operator: &str,
        pattern: &Value,
        symbol: &str,
        spell: impl Fn(&str) -> String,
    ) -> Result<(), QueryError> {
        self.count()?;
        let pattern = pattern.as_str().filter(|pattern| pattern.len() <= 512).ok_or_else(|| {
            let message = format!("`{operator}` takes a string of at most 512 bytes");
            QueryError::new(operator, message)
        })?;
        self.sql.push_field(field);
        self.sql.push(symbol);
        self.sql.bind(spell(pattern));
        Ok(())
    }

    fn count(&mut self) -> Result<(), QueryError> {
        self.terms += 1;
        if self.terms > MAX_TERMS {
            let message = format!("more than {MAX_TERMS} comparisons in one filter");
            return Err(QueryError::new("filter", message));
        }
        Ok(())
    }
}

/// SQLite's LIKE ignores case; its GLOB does not. `%` and `_` become `*` and `?`.
fn glob_of(pattern: &str) -> String {
    let mut glob = String::with_capacity(pattern.len());
    for char in pattern.chars() {
        match char {
            '%' => glob.push('*'),
            '_' => glob.push('?'),
            '*' | '?' | '[' => glob.extend(['[', char, ']']),
            other => glob.push(other),
        }
    }
    glob
}

fn unknown(operator: &str) -> QueryError {
    let shown: String = operator.chars().take(32).collect();
    let message = format!("`{shown}` is not an operator; operators are {OPERATORS}");
    QueryError::new(shown, message)
}
