//! Operations on values, each counting what it is about to do before it does it.

use std::cmp::Ordering;

use super::eval::{Outcome, Walk};
use super::fault::Fault;
use super::node::{Arithmetic, Order};
use super::value::{Made, TypeName, Value};
use crate::predicate::meter::{ELEMENT, ENTRY, MAX_VALUE_DEPTH, SLOT};
use crate::predicate::metered::value::MapKey;

impl<'a> Walk<'a> {
    /// Tells whether two values are equal.
    pub(super) fn equal(&mut self, one: &Value<'a>, two: &Value<'a>) -> Outcome<'a, bool> {
        self.equal_below(one, two, 0)
    }

    fn equal_below(&mut self, one: &Value<'a>, two: &Value<'a>, depth: usize) -> Outcome<'a, bool> {
        if depth > MAX_VALUE_DEPTH {
            return Err(Fault::TooDeep);
        }
        match (one.type_of(), two.type_of()) {
            (TypeName::Text, TypeName::Text) => {
                let (one, two) = (one.as_text(), two.as_text());
                self.spent.handle(one.map_or(0, str::len).min(two.map_or(0, str::len)))?;
                Ok(one == two)
            }
            (TypeName::Bytes, TypeName::Bytes) => {
                let (one, two) = (one.as_bytes(), two.as_bytes());
                self.spent.handle(one.map_or(0, <[u8]>::len).min(two.map_or(0, <[u8]>::len)))?;
                Ok(one == two)
            }
            (TypeName::Beyond, _) | (_, TypeName::Beyond) => Err(Fault::not_both("==", one, two)),
            (TypeName::List, TypeName::List) => self.equal_lists(one, two, depth),
            (TypeName::Map, TypeName::Map) => self.equal_maps(one, two, depth),
            _ => Ok(equal_light(one, two)),
        }
    }

    fn equal_lists(&mut self, one: &Value<'a>, two: &Value<'a>, depth: usize) -> Outcome<'a, bool> {
        if one.len() != two.len() {
            return Ok(false);
        }
        let pairs = one.each().into_iter().flatten().zip(two.each().into_iter().flatten());
        for (one, two) in pairs {
            self.spent.handle(ELEMENT)?;
            if !self.equal_below(&one, &two, depth + 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn equal_maps(&mut self, one: &Value<'a>, two: &Value<'a>, depth: usize) -> Outcome<'a, bool> {
        if one.len() != two.len() {
            return Ok(false);
        }
        for key in one.each().into_iter().flatten() {
            let bytes = key.as_text().map_or(0, str::len);
            self.spent.handle(ENTRY + bytes)?;
            self.spent.look_up(bytes)?;
            let Some(other) = self.member(two, &key) else { return Ok(false) };
            self.spent.look_up(bytes)?;
            let value = self.member(one, &key).ok_or_else(|| Fault::no_key(&key))?;
            if !self.equal_below(&value, &other, depth + 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn is_in(&mut self, wanted: &Value<'a>, within: &Value<'a>) -> Outcome<'a, bool> {
        match within.type_of() {
            TypeName::List => {
                for element in within.each().into_iter().flatten() {
                    self.spent.handle(ELEMENT)?;
                    if self.equal(&element, wanted)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            TypeName::Map if wanted.as_key().is_some() => {
                self.spent.look_up(wanted.as_text().map_or(0, str::len))?;
                Ok(self.member(within, wanted).is_some())
            }
            _ => Err(Fault::not_both("in", wanted, within)),
        }
    }

    pub(super) fn element(&mut self, of: &Value<'a>, index: &Value<'a>) -> Outcome<'a> {
        let refusal = || Fault::not_both("[]", of, index);
        match of.type_of() {
            TypeName::List => {
                let Some(MapKey::Number(at)) = index.as_key() else { return Err(refusal()) };
                usize::try_from(at).ok().and_then(|at| of.at(at)).ok_or(Fault::OutOfBounds)
            }
            TypeName::Map if index.as_key().is_some() => {
                self.spent.look_up(index.as_text().map_or(0, str::len))?;
                self.member(of, index).ok_or_else(|| Fault::no_key(index))
            }
            _ => Err(refusal()),
        }
    }

    pub(super) fn in_order(
        &mut self,
        wanted: Order,
        one: &Value<'a>,
        two: &Value<'a>,
    ) -> Outcome<'a, bool> {
        let ordering = if let Some(ordering) = compare(one, two) {
            Some(ordering)
        } else if let (Some(one), Some(two)) = (one.as_text(), two.as_text()) {
            self.spent.handle(one.len().min(two.len()))?;
            Some(one.cmp(two))
        } else if let (Some(one), Some(two)) = (one.as_bytes(), two.as_bytes()) {
            self.spent.handle(one.len().min(two.len()))?;
            Some(one.cmp(two))
        } else {
            None
        };
        let sign = match wanted {
            Order::Less => "<",
            Order::AtMost => "<=",
            Order::Greater => ">",
            Order::AtLeast => ">=",
        };
        let ordering = ordering.ok_or_else(|| Fault::not_both(sign, one, two))?;
        Ok(match wanted {
            Order::Less => ordering.is_lt(),
            Order::AtMost => ordering.is_le(),
            Order::Greater => ordering.is_gt(),
            Order::AtLeast => ordering.is_ge(),
        })
    }

    pub(super) fn arithmetic(
        &mut self,
        what: Arithmetic,
        one: &Value<'a>,
        two: &Value<'a>,
    ) -> Outcome<'a> {
        match (one, two) {
            (Value::Int(one), Value::Int(two)) => of_ints(what, *one, *two).map(Value::Int),
            (Value::Uint(one), Value::Uint(two)) => of_uints(what, *one, *two).map(Value::Uint),
            (Value::Double(one), Value::Double(two)) => of_doubles(what, *one, *two),
            _ if what == Arithmetic::Add => self.join(one, two),
            _ => Err(Fault::not_both(written(what), one, two)),
        }
    }

    /// Joins two texts, two runs of bytes or two lists.
    fn join(&mut self, one: &Value<'a>, two: &Value<'a>) -> Outcome<'a> {
        if let (Some(one), Some(two)) = (one.as_text(), two.as_text()) {
            self.spent.make(one.len() + two.len())?;
            return Ok(Value::MadeText(Made::Shared([one, two].concat().into())));
        }
        if let (Some(one), Some(two)) = (one.as_bytes(), two.as_bytes()) {
            self.spent.make(one.len() + two.len())?;
            return Ok(Value::MadeBytes(Made::Shared([one, two].concat().into())));
        }
        if (one.type_of(), two.type_of()) != (TypeName::List, TypeName::List) {
            return Err(Fault::not_both("+", one, two));
        }
        let mut elements = Vec::new();
        for element in [one, two].into_iter().filter_map(Value::each).flatten() {
            self.spent.handle(ELEMENT)?;
            self.spent.build(SLOT)?;
            elements.push(element);
        }
        Ok(Value::List(elements.into()))
    }

    pub(super) fn size(&mut self, of: &Value<'a>) -> Outcome<'a> {
        let size = if let Some(text) = of.as_text() {
            self.spent.handle(text.len())?;
            Some(text.chars().count())
        } else {
            of.as_bytes().map(<[u8]>::len).or_else(|| of.len())
        };
        let size = size.ok_or_else(|| Fault::NotTaken("size", of.type_of()))?;
        Ok(Value::Int(i64::try_from(size).unwrap_or(i64::MAX)))
    }
}

/// Tells whether two values are equal of which one at most is a text, bytes, a list or a map.
fn equal_light(one: &Value<'_>, two: &Value<'_>) -> bool {
    match (one, two) {
        (Value::Null, Value::Null) => true,
        (Value::Type(one), Value::Type(two)) => one == two,
        _ => compare(one, two) == Some(Ordering::Equal),
    }
}

/// Orders two booleans or two numbers; numbers of different types by what they stand for.
#[expect(clippy::cast_precision_loss, reason = "CEL compares integers with doubles as doubles")]
fn compare(one: &Value<'_>, two: &Value<'_>) -> Option<Ordering> {
    match (one, two) {
        (Value::Bool(one), Value::Bool(two)) => Some(one.cmp(two)),
        (Value::Int(one), Value::Int(two)) => Some(one.cmp(two)),
        (Value::Uint(one), Value::Uint(two)) => Some(one.cmp(two)),
        (Value::Int(one), Value::Uint(two)) => Some(i128::from(*one).cmp(&i128::from(*two))),
        (Value::Uint(one), Value::Int(two)) => Some(i128::from(*one).cmp(&i128::from(*two))),
        (Value::Double(one), Value::Double(two)) => one.partial_cmp(two),
        (Value::Double(one), Value::Int(two)) => one.partial_cmp(&(*two as f64)),
        (Value::Double(one), Value::Uint(two)) => one.partial_cmp(&(*two as f64)),
        (Value::Int(one), Value::Double(two)) => (*one as f64).partial_cmp(two),
        (Value::Uint(one), Value::Double(two)) => (*one as f64).partial_cmp(two),
        _ => None,
    }
}

const fn written(what: Arithmetic) -> &'static str {
    match what {
        Arithmetic::Add => "+",
        Arithmetic::Subtract => "-",
        Arithmetic::Multiply => "*",
        Arithmetic::Divide => "/",
        Arithmetic::Remainder => "%",
    }
}

macro_rules! integers {
    ($($name:ident: $type:ty;)*) => { $(
        fn $name<'a>(what: Arithmetic, one: $type, two: $type) -> Outcome<'a, $type> {
            let result = match what {
                Arithmetic::Add => one.checked_add(two),
                Arithmetic::Subtract => one.checked_sub(two),
                Arithmetic::Multiply => one.checked_mul(two),
                Arithmetic::Divide | Arithmetic::Remainder if two == 0 => {
                    return Err(Fault::DivisionByZero);
                }
                Arithmetic::Divide => one.checked_div(two),
                Arithmetic::Remainder => one.checked_rem(two),
            };
            result.ok_or(Fault::OutOfRange)
        }
    )* };
}
integers! {
    of_ints: i64;
    of_uints: u64;
}

fn of_doubles<'a>(what: Arithmetic, one: f64, two: f64) -> Outcome<'a> {
    Ok(Value::Double(match what {
        Arithmetic::Add => one + two,
        Arithmetic::Subtract => one - two,
        Arithmetic::Multiply => one * two,
        Arithmetic::Divide => one / two,
        Arithmetic::Remainder => {
            return Err(Fault::NotBothTaken("%", TypeName::Double, TypeName::Double));
        }
    }))
}
