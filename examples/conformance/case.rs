//! One case.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use spl::predicate::{Type, Value};

use crate::read::{array, object, text, ty, value};

pub(crate) struct Case {
    pub(crate) source: String,
    pub(crate) container: String,
    pub(crate) unchecked: bool,
    pub(crate) variables: BTreeMap<String, Type>,
    pub(crate) bindings: BTreeMap<String, Value>,
    pub(crate) expected: Expected,
}

pub(crate) enum Expected {
    Value(Value),
    Error,
}

impl Case {
    pub(crate) fn read(raw: &Json) -> Result<Self, String> {
        const KNOWN: [&str; 11] = [
            "file",
            "section",
            "name",
            "description",
            "expr",
            "container",
            "disableCheck",
            "typeEnv",
            "bindings",
            "value",
            "evalError",
        ];
        let members = object(raw)?;
        if let Some(unknown) = members.keys().find(|member| !KNOWN.contains(&member.as_str())) {
            return Err(format!("`{unknown}` is not understood"));
        }
        let bindings = match raw.get("bindings") {
            Some(bindings) => object(bindings)?
                .iter()
                .map(|(name, bound)| Ok((name.clone(), value(&bound["value"])?)))
                .collect::<Result<BTreeMap<_, _>, String>>()?,
            None => BTreeMap::new(),
        };
        // Whatever is bound without a declaration may be anything.
        let mut variables: BTreeMap<_, _> =
            bindings.keys().map(|name| (name.clone(), Type::Dyn)).collect();
        for declared in array(&raw["typeEnv"])? {
            let name = text(&declared["name"])?.to_owned();
            variables.insert(name, ty(&declared["ident"]["type"])?);
        }
        Ok(Self {
            source: text(&raw["expr"])?.to_owned(),
            container: raw.get("container").map_or(Ok(""), text)?.to_owned(),
            unchecked: raw.get("disableCheck").is_some_and(|disabled| *disabled == true),
            variables,
            bindings,
            expected: match (raw.get("value"), raw.get("evalError")) {
                (Some(wanted), None) => Expected::Value(value(wanted)?),
                (None, Some(_)) => Expected::Error,
                // As the specification says of a case that expects nothing.
                (None, None) => Expected::Value(Value::Bool(true)),
                (Some(_), Some(_)) => return Err("expects a value and an error".to_owned()),
            },
        })
    }
}
