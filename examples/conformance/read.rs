//! Values and types as the cases write them: protobuf's JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value as Json};
use spl::predicate::{Key, Type, Value};

const DURATION: &str = "google.protobuf.Duration";
const TIMESTAMP: &str = "google.protobuf.Timestamp";

/// What a case is called.
#[derive(Debug, Clone)]
pub(crate) struct Title {
    pub(crate) file: String,
    pub(crate) section: String,
    pub(crate) name: String,
}

impl std::fmt::Display for Title {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.file, self.section, self.name)
    }
}

pub(crate) fn title(raw: &Json) -> Result<Title, String> {
    let part = |name: &str| text(&raw[name]).map(str::to_owned);
    Ok(Title { file: part("file")?, section: part("section")?, name: part("name")? })
}

/// Tells whether two values are the same: of the same types throughout, the same zero, and not a
/// number where the other is none.
pub(crate) fn same(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::Double(one), Value::Double(two)) => {
            one.to_bits() == two.to_bits() || (one.is_nan() && two.is_nan())
        }
        (Value::List(one), Value::List(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(one, two)| same(one, two))
        }
        (Value::Map(one), Value::Map(two)) => {
            one.keys().eq(two.keys()) && one.values().zip(two.values()).all(|(a, b)| same(a, b))
        }
        _ => one == two,
    }
}

pub(crate) fn value(raw: &Json) -> Result<Value, String> {
    let (kind, inner) = only_member(raw)?;
    Ok(match kind {
        "nullValue" => Value::Null,
        "boolValue" => Value::Bool(inner.as_bool().ok_or("no boolean")?),
        "int64Value" => Value::Int(parsed(inner)?),
        "uint64Value" => Value::Uint(parsed(inner)?),
        "doubleValue" => Value::Double(inner.as_f64().map_or_else(|| parsed(inner), Ok)?),
        "stringValue" => Value::String(text(inner)?.to_owned()),
        "bytesValue" => Value::Bytes(BASE64.decode(text(inner)?).map_err(|e| e.to_string())?),
        "typeValue" => Value::Type(text(inner)?.to_owned()),
        "listValue" => {
            Value::List(array(&inner["values"])?.iter().map(value).collect::<Result<_, _>>()?)
        }
        "mapValue" => {
            let entries = array(&inner["entries"])?;
            let entry = |entry: &Json| Ok((key(&entry["key"])?, value(&entry["value"])?));
            Value::Map(entries.iter().map(entry).collect::<Result<_, String>>()?)
        }
        "objectValue" => of_time(inner)?,
        other => return Err(format!("a `{other}` is not understood")),
    })
}

fn key(raw: &Json) -> Result<Key, String> {
    match value(raw)? {
        Value::Bool(bool) => Ok(Key::Bool(bool)),
        Value::Int(int) => Ok(Key::Int(int)),
        Value::Uint(uint) => Ok(Key::Uint(uint)),
        Value::String(text) => Ok(Key::String(text)),
        other => Err(format!("{other:?} is no key")),
    }
}

fn of_time(raw: &Json) -> Result<Value, String> {
    let written = text(&raw["value"])?;
    let message = text(&raw["@type"])?.trim_start_matches("type.googleapis.com/");
    match message {
        TIMESTAMP => {
            let point: jiff::Timestamp = written.parse().map_err(|e| format!("{written}: {e}"))?;
            let nanos = point.as_nanosecond();
            let seconds = i64::try_from(nanos.div_euclid(1_000_000_000));
            let nanos = u32::try_from(nanos.rem_euclid(1_000_000_000));
            let (Ok(seconds), Ok(nanos)) = (seconds, nanos) else { return Err("range".into()) };
            Ok(Value::Timestamp { seconds, nanos })
        }
        DURATION => {
            let number = written.strip_suffix('s').ok_or("a length of time in seconds")?;
            let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
            let nanos: i32 = format!("{fraction:0<9}").parse().map_err(|_| "a fraction")?;
            let seconds = whole.parse().map_err(|_| "a number of seconds")?;
            let nanos = if number.starts_with('-') { -nanos } else { nanos };
            Ok(Value::Duration { seconds, nanos })
        }
        other => Err(format!("a `{other}` is not understood")),
    }
}

pub(crate) fn ty(raw: &Json) -> Result<Type, String> {
    let (kind, inner) = only_member(raw)?;
    Ok(match (kind, inner.as_str()) {
        ("dyn", _) => Type::Dyn,
        ("null", _) => Type::Null,
        ("listType", _) => Type::List,
        ("mapType", _) => Type::Map,
        ("type", _) => Type::Type,
        ("primitive", Some("BOOL")) => Type::Bool,
        ("primitive", Some("INT64")) => Type::Int,
        ("primitive", Some("UINT64")) => Type::Uint,
        ("primitive", Some("DOUBLE")) => Type::Double,
        ("primitive", Some("STRING")) => Type::String,
        ("primitive", Some("BYTES")) => Type::Bytes,
        ("messageType", Some(TIMESTAMP)) => Type::Timestamp,
        ("messageType", Some(DURATION)) => Type::Duration,
        _ => return Err(format!("the type {raw} is not understood")),
    })
}

fn only_member(raw: &Json) -> Result<(&str, &Json), String> {
    let mut members = object(raw)?.iter();
    match (members.next(), members.next()) {
        (Some((name, inner)), None) => Ok((name, inner)),
        _ => Err(format!("one member was expected in {raw}")),
    }
}

/// A number, which JSON may hold as a text.
fn parsed<T: std::str::FromStr>(raw: &Json) -> Result<T, String> {
    let written = raw.as_str().map_or_else(|| raw.to_string(), str::to_owned);
    written.parse().map_err(|_| format!("{raw} is no such number"))
}

pub(crate) fn text(raw: &Json) -> Result<&str, String> {
    raw.as_str().ok_or_else(|| format!("{raw} is no text"))
}

/// A list; what is left out is an empty one.
pub(crate) fn array(raw: &Json) -> Result<&[Json], String> {
    match raw {
        Json::Null => Ok(&[]),
        Json::Array(elements) => Ok(elements),
        other => Err(format!("{other} is no list")),
    }
}

pub(crate) fn object(raw: &Json) -> Result<&Map<String, Json>, String> {
    raw.as_object().ok_or_else(|| format!("{raw} is no object"))
}
