//! Points and lengths of time, where the evaluator departs from CEL.

use cel::ExecutionError;
use cel::common::types::{CelDuration, CelInt, CelTimestamp};
use cel::common::value::CowVal;

use super::{Args, Outcome, build, no_overload, only};
use crate::predicate::metered::engine;

/// Makes a point in time. The evaluator's own keeps the offset that it was written with, and then
/// says the hour of that place; CEL's hours are those of UTC.
pub(in crate::predicate) fn timestamp<'b, 'v>(args: Args<'b, 'v>) -> Outcome<'b, 'v> {
    let args = vec![build::copy(args)?];
    let Some(convert) = engine::environment().find_overload("timestamp", &args) else {
        return Err(no_overload("timestamp", &[only(args)?.as_ref()]));
    };
    let point = convert(args)?;
    let point = point.downcast_ref::<CelTimestamp>().map(|point| point.inner().to_utc());
    let point = point.ok_or_else(|| ExecutionError::function_error("timestamp", "no timestamp"))?;
    Ok(CowVal::owned(CelTimestamp::from(point.fixed_offset())))
}

/// Returns the milliseconds after the last whole second. The evaluator's own gives all of a length
/// of time in milliseconds.
pub(in crate::predicate) fn milliseconds<'b, 'v>(args: Args<'b, 'v>) -> Outcome<'b, 'v> {
    let value = only(args)?;
    let nanos = if let Some(length) = value.downcast_ref::<CelDuration>() {
        i64::from(length.inner().subsec_nanos())
    } else if let Some(point) = value.downcast_ref::<CelTimestamp>() {
        i64::from(point.inner().timestamp_subsec_nanos())
    } else {
        return Err(no_overload("getMilliseconds", &[value.as_ref()]));
    };
    Ok(CowVal::owned(CelInt::from(nanos / 1_000_000)))
}
