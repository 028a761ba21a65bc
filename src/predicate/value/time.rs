//! Points and lengths of time: in words, and as the evaluator has them.

use cel::common::types::{CelDuration, CelTimestamp};
use chrono::{DateTime, Datelike as _, TimeDelta};

use super::Value;

const NANOS_OF_A_SECOND: u32 = 1_000_000_000;

/// Returns the evaluator's point in time; `None` outside the years 1 to 9999.
pub(in crate::predicate) fn point(seconds: i64, nanos: u32) -> Option<CelTimestamp> {
    let point = DateTime::from_timestamp(seconds, nanos).filter(|_| nanos < NANOS_OF_A_SECOND)?;
    let known = (1..=9999).contains(&point.year());
    known.then(|| CelTimestamp::from(point.fixed_offset()))
}

pub(in crate::predicate) fn of_point(point: &CelTimestamp) -> Value {
    let point = point.inner();
    // A leap second has more than a second's.
    let nanos = point.timestamp_subsec_nanos() % NANOS_OF_A_SECOND;
    Value::Timestamp { seconds: point.timestamp(), nanos }
}

/// Returns the evaluator's length of time; `None` beyond 2^63 nanoseconds.
pub(in crate::predicate) fn length(seconds: i64, nanos: i32) -> Option<CelDuration> {
    let length =
        TimeDelta::try_seconds(seconds)?.checked_add(&TimeDelta::nanoseconds(i64::from(nanos)))?;
    length.num_nanoseconds().map(|_| CelDuration::from(length))
}

pub(in crate::predicate) fn of_length(length: &CelDuration) -> Value {
    Value::Duration { seconds: length.inner().num_seconds(), nanos: length.inner().subsec_nanos() }
}

/// `2026-11-30T13:37:00.5Z`; `None` beyond the calendar.
pub(super) fn point_in_words(seconds: i64, nanos: u32) -> Option<String> {
    let point = DateTime::from_timestamp(seconds, 0)?.format("%Y-%m-%dT%H:%M:%S");
    Some(format!("{point}{}Z", fraction(nanos)))
}

/// `-1.5s`
pub(super) fn length_in_words(seconds: i64, nanos: i32) -> String {
    let sign = if seconds < 0 || nanos < 0 { "-" } else { "" };
    format!("{sign}{}{}s", seconds.unsigned_abs(), fraction(nanos.unsigned_abs()))
}

/// `.5`, or nothing for none.
fn fraction(nanos: u32) -> String {
    let digits = format!(".{nanos:09}");
    digits.trim_end_matches('0').trim_end_matches('.').to_owned()
}
