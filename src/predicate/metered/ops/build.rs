//! What makes new values.

use cel::ExecutionError;
use cel::common::types::{CelBytes, CelMap, CelString, Kind};
use cel::common::value::{Builtin, CowVal, Val};

use super::{
    Args, Blob, BuiltList, ELEMENT, Outcome, Text, bytes_of, is_light, no_overload, only, pair,
    text_of,
};
use crate::predicate::meter::{self, SLOT, make};
use crate::predicate::metered::value::BuiltMap;

pub(in crate::predicate) fn add<'b, 'v>(args: Args<'b, 'v>) -> Outcome<'b, 'v> {
    let (one, two) = pair(args)?;
    if let (Some(one), Some(two)) = (text_of(one.as_ref()), text_of(two.as_ref())) {
        make(one.len() + two.len())?;
        return Ok(CowVal::owned(Text::from([one, two].concat())));
    }
    if let (Some(one), Some(two)) = (bytes_of(one.as_ref()), bytes_of(two.as_ref())) {
        make(one.len() + two.len())?;
        return Ok(CowVal::owned(Blob::from([one, two].concat())));
    }
    let kinds = (one.get_type().kind(), two.get_type().kind());
    if kinds == (Kind::List, Kind::List) {
        return join(one.as_ref(), two.as_ref());
    }
    let light = is_light(one.as_ref()) && is_light(two.as_ref());
    match one.as_adder().filter(|_| light) {
        Some(adder) => Ok(CowVal::Owned(adder.add(two.as_ref())?.into_owned())),
        None => Err(no_overload("+", &[one.as_ref(), two.as_ref()])),
    }
}

fn join<'b, 'v>(one: &(dyn Val + 'v), two: &(dyn Val + 'v)) -> Outcome<'b, 'v> {
    let mut elements = Vec::new();
    for list in [one, two] {
        let Some(list) = list.as_iterable() else {
            return Err(no_overload("+", &[one, two]));
        };
        let mut list = list.iter();
        while let Some(element) = list.next() {
            meter::handle(ELEMENT)?;
            meter::build(SLOT)?;
            elements.push(element.clone_as_boxed());
        }
    }
    Ok(CowVal::owned(BuiltList::new(elements)))
}

/// Counts a text that a conversion or a key is made of, as read and as built, and passes any value
/// on.
pub(in crate::predicate) fn copy<'b, 'v>(args: Args<'b, 'v>) -> Outcome<'b, 'v> {
    let value = only(args)?;
    let text = text_of(value.as_ref()).map(str::len);
    if let Some(bytes) = text.or_else(|| bytes_of(value.as_ref()).map(<[u8]>::len)) {
        make(bytes)?;
    }
    Ok(value)
}

/// Counts a value that is about to be an element, and makes it cheap to copy.
pub(in crate::predicate) fn keep<'b, 'v>(args: Args<'b, 'v>) -> Outcome<'b, 'v> {
    let value = only(args)?;
    meter::build(SLOT)?;
    kept(value)
}

/// Takes the list that the evaluator built, whose elements have been counted.
pub(in crate::predicate) fn share<'b, 'v>(args: Args<'b, 'v>) -> Outcome<'b, 'v> {
    Ok(CowVal::owned(BuiltList::new(elements(only(args)?)?)))
}

/// Takes the list of a list that is written out.
pub(in crate::predicate) fn list<'b, 'v>(args: Args<'b, 'v>) -> Outcome<'b, 'v> {
    let elements = elements(only(args)?)?;
    meter::build(elements.len().saturating_mul(SLOT))?;
    let elements = elements.into_iter().map(|element| Ok(kept(element.into())?.into_owned()));
    Ok(CowVal::owned(BuiltList::new(elements.collect::<Result<_, ExecutionError>>()?)))
}

/// Takes the map of a map that is written out, whose keys have been counted.
pub(in crate::predicate) fn map<'b, 'v>(args: Args<'b, 'v>) -> Outcome<'b, 'v> {
    let map = only(args)?.into_owned();
    let Some(Builtin::Map(map)) = map.into_builtin() else {
        return Err(ExecutionError::function_error("map", "not a map"));
    };
    let entries = CelMap::into_inner(map).into_iter().map(|(key, value)| {
        meter::build(SLOT)?;
        Ok((key, kept(value.into())?.into_owned()))
    });
    Ok(CowVal::owned(BuiltMap::new(entries.collect::<Result<_, ExecutionError>>()?)))
}

fn elements<'v>(list: CowVal<'_, 'v>) -> Result<Vec<Box<dyn Val + 'v>>, ExecutionError> {
    <Vec<Box<dyn Val + 'v>>>::try_from(list.into_owned())
        .map_err(|_| ExecutionError::function_error("list", "not a list"))
}

/// Makes a value cheap to copy, if the evaluator built it: a text of its own becomes a shared one.
fn kept<'b, 'v>(value: CowVal<'b, 'v>) -> Outcome<'b, 'v> {
    if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        if text.as_borrowed().is_none() && value.downcast_ref::<Text>().is_none() {
            make(text.inner().len())?;
            return Ok(CowVal::owned(Text::from(text.inner().to_owned())));
        }
    } else if let Some(bytes) = value.downcast_ref::<CelBytes<'_>>()
        && bytes.as_borrowed().is_none()
        && value.downcast_ref::<Blob>().is_none()
    {
        make(bytes.inner().len())?;
        return Ok(CowVal::owned(Blob::from(bytes.inner().to_vec())));
    }
    Ok(value)
}
