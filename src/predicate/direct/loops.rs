//! Loops, and what they and literals build.

use super::eval::{Outcome, Walk};
use super::fault::Fault;
use super::node::{Collect, Loop, Node, Quantifier};
use super::value::{Each, Made, Value};
use crate::predicate::meter::SLOT;

impl<'a> Walk<'a> {
    pub(super) fn quantify(&mut self, quantifier: Quantifier, all: &'a Loop) -> Outcome<'a, bool> {
        if quantifier == Quantifier::ExistsOne {
            return self.exists_one(all);
        }
        let decides = quantifier == Quantifier::Exists;
        let mut fault = None;
        for element in self.range(all)? {
            match self.round(all, element) {
                Ok(bool) if bool == decides => return Ok(decides),
                Ok(_) => {}
                Err(Fault::Stopped) => return Err(Fault::Stopped),
                // A later element may still decide.
                Err(new) => fault = Some(new),
            }
        }
        fault.map_or(Ok(!decides), Err)
    }

    fn exists_one(&mut self, all: &'a Loop) -> Outcome<'a, bool> {
        let mut found = 0_usize;
        for element in self.range(all)? {
            found += usize::from(self.round(all, element)?);
        }
        Ok(found == 1)
    }

    fn round(&mut self, all: &'a Loop, element: Value<'a>) -> Outcome<'a, bool> {
        self.spent.work(all.units)?;
        self.bind(all.local, element);
        self.holds(&all.body)
    }

    pub(super) fn collect(&mut self, all: &'a Collect) -> Outcome<'a> {
        let mut found = Vec::new();
        for element in self.range(&all.each)? {
            self.spent.work(all.each.units)?;
            self.bind(all.each.local, element);
            if let Some(guard) = &all.guard
                && !self.holds(guard)?
            {
                continue;
            }
            let value = self.value(&all.each.body)?;
            self.spent.build(SLOT)?;
            found.push(self.kept(value)?);
        }
        Ok(Value::List(found.into()))
    }

    fn range(&mut self, all: &'a Loop) -> Outcome<'a, Each<'a>> {
        let range = self.value(&all.range)?;
        range.each().ok_or_else(|| Fault::NotTaken("a loop", range.type_of()))
    }

    fn bind(&mut self, local: usize, element: Value<'a>) {
        if let Some(variable) = self.locals.get_mut(local) {
            *variable = element;
        }
    }

    pub(super) fn list(&mut self, nodes: &'a [Node]) -> Outcome<'a> {
        let elements = nodes.iter().map(|node| self.value(node)).collect::<Result<Vec<_>, _>>()?;
        self.spent.build(elements.len().saturating_mul(SLOT))?;
        let kept = elements.into_iter().map(|element| self.kept(element));
        Ok(Value::List(kept.collect::<Result<_, _>>()?))
    }

    pub(super) fn map(&mut self, nodes: &'a [(Node, Node)]) -> Outcome<'a> {
        let mut entries: Vec<(Value<'a>, Value<'a>)> = Vec::with_capacity(nodes.len());
        for (key, value) in nodes {
            let key = self.value(key)?;
            self.copied(&key)?;
            let key = key.into_key().ok_or(Fault::NotAKey)?;
            let value = self.value(value)?;
            match entries.binary_search_by(|(held, _)| held.as_key().cmp(&key.as_key())) {
                Ok(_) => return Err(Fault::DuplicateKey),
                Err(at) => entries.insert(at, (key, value)),
            }
        }
        for (_, value) in &mut entries {
            self.spent.build(SLOT)?;
            *value = self.kept(std::mem::replace(value, Value::Null))?;
        }
        Ok(Value::Map(entries.into()))
    }

    /// Counts a text that is written out, or that a conversion made, where it becomes an element,
    /// and shares it.
    fn kept(&mut self, value: Value<'a>) -> Outcome<'a> {
        Ok(match value {
            Value::WrittenText(text) => {
                self.spent.make(text.len())?;
                Value::MadeText(Made::Shared(text.into()))
            }
            Value::WrittenBytes(bytes) => {
                self.spent.make(bytes.len())?;
                Value::MadeBytes(Made::Shared(bytes.into()))
            }
            Value::MadeText(Made::Fresh(text)) => {
                self.spent.make(text.len())?;
                Value::MadeText(Made::Shared(text))
            }
            Value::MadeBytes(Made::Fresh(bytes)) => {
                self.spent.make(bytes.len())?;
                Value::MadeBytes(Made::Shared(bytes))
            }
            other => other,
        })
    }

    /// Counts a text or bytes that are about to be copied.
    pub(super) fn copied(&mut self, value: &Value<'a>) -> Outcome<'a, ()> {
        let bytes = value.as_text().map(str::len);
        match bytes.or_else(|| value.as_bytes().map(<[u8]>::len)) {
            Some(bytes) => Ok(self.spent.make(bytes)?),
            None => Ok(()),
        }
    }
}
