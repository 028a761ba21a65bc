//! What is done in place of the evaluator's own operations, with the same results: each counts
//! what it is about to do before it does it.

use std::cmp::Ordering;

use cel::ExecutionError;
use cel::common::types::{CelBool, CelBytes, CelInt, CelString, Kind};
use cel::common::value::{CowVal, Val};

use super::value::{Beyond, Blob, BuiltList, Text};
use crate::predicate::meter::{self, ELEMENT, ENTRY, MAX_VALUE_DEPTH};

mod build;
mod finish;
mod time;

pub(in crate::predicate) use build::{add, copy, keep, list, map, share};
pub(in crate::predicate) use finish::{answer, verdict};
pub(in crate::predicate) use time::{milliseconds, timestamp};

pub(in crate::predicate) type Args<'b, 'v> = Vec<CowVal<'b, 'v>>;
pub(in crate::predicate) type Outcome<'b, 'v> = Result<CowVal<'b, 'v>, ExecutionError>;

fn bool<'b, 'v>(bool: bool) -> CowVal<'b, 'v> {
    CowVal::owned(CelBool::from(bool))
}

fn text_of(value: &dyn Val) -> Option<&str> {
    value.downcast_ref::<CelString<'_>>().map(CelString::inner)
}

fn bytes_of(value: &dyn Val) -> Option<&[u8]> {
    value.downcast_ref::<CelBytes<'_>>().map(CelBytes::inner)
}

/// The error for types that an operation does not take. It copies no value.
fn no_overload(operation: &str, values: &[&dyn Val]) -> ExecutionError {
    let types = values.iter().map(|value| value.get_type().name().to_owned()).collect();
    ExecutionError::no_such_overload(operation, types)
}

fn pair<'b, 'v>(args: Args<'b, 'v>) -> Result<(CowVal<'b, 'v>, CowVal<'b, 'v>), ExecutionError> {
    match <[CowVal<'b, 'v>; 2]>::try_from(args) {
        Ok([one, two]) => Ok((one, two)),
        Err(args) => Err(ExecutionError::invalid_argument_count(2, args.len())),
    }
}

fn only<'b, 'v>(args: Args<'b, 'v>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    match <[CowVal<'b, 'v>; 1]>::try_from(args) {
        Ok([one]) => Ok(one),
        Err(args) => Err(ExecutionError::invalid_argument_count(1, args.len())),
    }
}

/// Counts one round of a loop that has this weight.
pub(in crate::predicate) fn tick<'b, 'v>(args: Args<'b, 'v>) -> Outcome<'b, 'v> {
    let weight = only(args)?;
    let weight = weight.downcast_ref::<CelInt>().and_then(|int| usize::try_from(*int.inner()).ok());
    meter::work(weight.unwrap_or(1))?;
    Ok(bool(true))
}

pub(in crate::predicate) fn equals<'b, 'v>(args: Args<'b, 'v>) -> Outcome<'b, 'v> {
    let (one, two) = pair(args)?;
    equal(one.as_ref(), two.as_ref()).map(bool)
}

pub(in crate::predicate) fn differs<'b, 'v>(args: Args<'b, 'v>) -> Outcome<'b, 'v> {
    let (one, two) = pair(args)?;
    equal(one.as_ref(), two.as_ref()).map(|equal| bool(!equal))
}

/// Tells whether two values are equal.
pub(in crate::predicate) fn equal(one: &dyn Val, two: &dyn Val) -> Result<bool, ExecutionError> {
    equal_below(one, two, 0)
}

fn equal_below(one: &dyn Val, two: &dyn Val, depth: usize) -> Result<bool, ExecutionError> {
    if depth > MAX_VALUE_DEPTH {
        return Err(ExecutionError::function_error("==", "values nested too deep"));
    }
    if let (Some(one), Some(two)) = (text_of(one), text_of(two)) {
        meter::handle(one.len().min(two.len()))?;
        return Ok(one == two);
    }
    if let (Some(one), Some(two)) = (bytes_of(one), bytes_of(two)) {
        meter::handle(one.len().min(two.len()))?;
        return Ok(one == two);
    }
    for value in [one, two] {
        if value.downcast_ref::<Beyond>().is_some() {
            return Err(no_overload("==", &[one, two]));
        }
    }
    match (one.get_type().kind(), two.get_type().kind()) {
        (Kind::List, Kind::List) => equal_lists(one, two, depth),
        (Kind::Map, Kind::Map) => equal_maps(one, two, depth),
        // A number that is asked whether it equals something else copies that into an error.
        _ => Ok(is_light(one) && is_light(two) && one.equals(two)),
    }
}

fn same_size(one: &dyn Val, two: &dyn Val) -> bool {
    let size = |value: &dyn Val| value.as_sizer().map(|sizer| *sizer.size().inner());
    size(one) == size(two)
}

fn equal_lists(one: &dyn Val, two: &dyn Val, depth: usize) -> Result<bool, ExecutionError> {
    let (Some(left), Some(right)) = (one.as_iterable(), two.as_iterable()) else {
        return Ok(false);
    };
    if !same_size(one, two) {
        return Ok(false);
    }
    let (mut left, mut right) = (left.iter(), right.iter());
    while let (Some(one), Some(two)) = (left.next(), right.next()) {
        meter::handle(ELEMENT)?;
        if !equal_below(one, two, depth + 1)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn equal_maps(one: &dyn Val, two: &dyn Val, depth: usize) -> Result<bool, ExecutionError> {
    let (Some(keys), Some(left), Some(right)) =
        (one.as_iterable(), one.as_indexer(), two.as_indexer())
    else {
        return Ok(false);
    };
    if !same_size(one, two) {
        return Ok(false);
    }
    let mut keys = keys.iter();
    while let Some(key) = keys.next() {
        meter::handle(ENTRY + text_of(key).map_or(0, str::len))?;
        let other = match right.get(key) {
            Ok(other) => other,
            Err(ExecutionError::NoSuchKey(_)) => return Ok(false),
            Err(error) => return Err(error),
        };
        if !equal_below(left.get(key)?.as_ref(), other.as_ref(), depth + 1)? {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(in crate::predicate) fn is_in<'b, 'v>(args: Args<'b, 'v>) -> Outcome<'b, 'v> {
    let (wanted, within) = pair(args)?;
    let refusal = || no_overload("in", &[wanted.as_ref(), within.as_ref()]);
    match within.get_type().kind() {
        Kind::List => {
            let mut elements = within.as_iterable().ok_or_else(refusal)?.iter();
            while let Some(element) = elements.next() {
                meter::handle(ELEMENT)?;
                if equal(element, wanted.as_ref())? {
                    return Ok(bool(true));
                }
            }
            Ok(bool(false))
        }
        Kind::Map => match within.as_indexer().ok_or_else(refusal)?.get(wanted.as_ref()) {
            Ok(_) => Ok(bool(true)),
            Err(ExecutionError::NoSuchKey(_)) => Ok(bool(false)),
            Err(ExecutionError::UnexpectedType { .. }) => Err(refusal()),
            Err(error) => Err(error),
        },
        _ => Err(refusal()),
    }
}

/// Orders two values of the same type, or two numbers.
fn order(sign: &str, args: Args<'_, '_>) -> Result<Ordering, ExecutionError> {
    let (one, two) = pair(args)?;
    let (one, two) = (one.as_ref(), two.as_ref());
    if let (Some(one), Some(two)) = (text_of(one), text_of(two)) {
        meter::handle(one.len().min(two.len()))?;
        return Ok(one.cmp(two));
    }
    if let (Some(one), Some(two)) = (bytes_of(one), bytes_of(two)) {
        meter::handle(one.len().min(two.len()))?;
        return Ok(one.cmp(two));
    }
    let refusal = || no_overload(sign, &[one, two]);
    let comparer = one.as_comparer().filter(|_| is_light(one) && is_light(two));
    comparer.ok_or_else(refusal)?.compare(two).map_err(|_| refusal())
}

/// Tells whether a value is small, so that the evaluator may copy it into an error.
fn is_light(value: &dyn Val) -> bool {
    !matches!(value.get_type().kind(), Kind::String | Kind::Bytes | Kind::List | Kind::Map)
}

macro_rules! comparisons {
    ($($name:ident = $sign:literal, $ordering:ident => $is:expr;)*) => { $(
        pub(in crate::predicate) fn $name<'b, 'v>(args: Args<'b, 'v>) -> Outcome<'b, 'v> {
            let $ordering = order($sign, args)?;
            Ok(bool($is))
        }
    )* };
}
comparisons! {
    is_less = "<", ordering => ordering.is_lt();
    is_at_most = "<=", ordering => ordering.is_le();
    is_greater = ">", ordering => ordering.is_gt();
    is_at_least = ">=", ordering => ordering.is_ge();
}

macro_rules! arithmetic {
    ($($name:ident = $sign:literal, $trait:ident . $method:ident;)*) => { $(
        pub(in crate::predicate) fn $name<'b, 'v>(args: Args<'b, 'v>) -> Outcome<'b, 'v> {
            let (one, two) = pair(args)?;
            let light = is_light(one.as_ref()) && is_light(two.as_ref());
            match one.$trait().filter(|_| light) {
                Some(one) => Ok(CowVal::Owned(one.$method(two.as_ref())?.into_owned())),
                None => Err(no_overload($sign, &[one.as_ref(), two.as_ref()])),
            }
        }
    )* };
}
arithmetic! {
    subtract = "-", as_subtractor.sub;
    multiply = "*", as_multiplier.mul;
    divide = "/", as_divider.div;
    remainder = "%", as_modder.modulo;
}

pub(in crate::predicate) fn size<'b, 'v>(args: Args<'b, 'v>) -> Outcome<'b, 'v> {
    let value = only(args)?;
    let size = if let Some(text) = text_of(value.as_ref()) {
        meter::handle(text.len())?;
        CelInt::from(i64::try_from(text.chars().count()).unwrap_or(i64::MAX))
    } else if let Some(bytes) = bytes_of(value.as_ref()) {
        CelInt::from(i64::try_from(bytes.len()).unwrap_or(i64::MAX))
    } else if let Some(sizer) = value.as_sizer() {
        sizer.size()
    } else {
        return Err(no_overload("size", &[value.as_ref()]));
    };
    Ok(CowVal::owned(size))
}

macro_rules! of_two_texts {
    ($($name:ident = $written:literal, |$one:ident, $two:ident| $cost:expr => $is:expr;)*) => { $(
        pub(in crate::predicate) fn $name<'b, 'v>(args: Args<'b, 'v>) -> Outcome<'b, 'v> {
            let (one, two) = pair(args)?;
            let (Some($one), Some($two)) = (text_of(one.as_ref()), text_of(two.as_ref())) else {
                return Err(no_overload($written, &[one.as_ref(), two.as_ref()]));
            };
            meter::handle($cost)?;
            Ok(bool($is))
        }
    )* };
}
of_two_texts! {
    contains = "contains", |one, two| one.len() + two.len() => one.contains(two);
    starts_with = "startsWith", |one, two| two.len().min(one.len()) => one.starts_with(two);
    ends_with = "endsWith", |one, two| two.len().min(one.len()) => one.ends_with(two);
}

/// Searches a text for one of the patterns of the running predicate.
pub(in crate::predicate) fn matches<'b, 'v>(args: Args<'b, 'v>) -> Outcome<'b, 'v> {
    let (text, index) = pair(args)?;
    let Some(text) = text_of(text.as_ref()) else {
        return Err(no_overload("matches", &[text.as_ref()]));
    };
    let index = index.downcast_ref::<CelInt>().and_then(|int| usize::try_from(*int.inner()).ok());
    let Some(pattern) = index.and_then(meter::pattern) else {
        return Err(ExecutionError::function_error("matches", "no such pattern"));
    };
    meter::handle(text.len().saturating_mul(pattern.weight()))?;
    Ok(bool(pattern.occurs_in(text)))
}
