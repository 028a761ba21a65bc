//! A value of a settings file, and where it stands.

use std::path::Path;

use crate::canon::{Object, Value};
use crate::policy::SettingsError;

/// A value, and where it stands.
#[derive(Clone)]
pub(super) struct Place<'a> {
    file: &'a Path,
    /// `hooks.preToolUse[0]`
    field: String,
    pub(super) value: &'a Value,
}

impl<'a> Place<'a> {
    /// Returns a member of a file.
    pub(super) fn root(file: &'a Path, key: &str, value: &'a Value) -> Self {
        Self { file, field: key.to_owned(), value }
    }

    /// Returns the member `key` of a file, if it is there.
    pub(super) fn top(file: &'a Path, members: &'a Object, key: &str) -> Option<Self> {
        Some(Self::root(file, key, members.get(key)?))
    }

    /// Returns the member `key` of an object, if it is there.
    pub(super) fn member(&self, key: &str) -> Option<Self> {
        let (file, field) = (self.file, format!("{}.{key}", self.field));
        Some(Self { file, field, value: self.value.get(key)? })
    }

    /// Returns what `read` makes of the member `key`, if it is there.
    pub(super) fn read<T>(
        &self,
        key: &str,
        read: impl FnOnce(&Self) -> Result<T, SettingsError>,
    ) -> Result<Option<T>, SettingsError> {
        self.member(key).as_ref().map(read).transpose()
    }

    pub(super) fn is_object(&self) -> Result<(), SettingsError> {
        self.value.as_object().map(|_| ()).ok_or_else(|| self.must_be("an object"))
    }

    pub(super) fn flag(&self) -> Result<bool, SettingsError> {
        self.value.as_bool().ok_or_else(|| self.must_be("true or false"))
    }

    pub(super) fn text(&self) -> Result<&'a str, SettingsError> {
        self.value.as_str().ok_or_else(|| self.must_be("a string"))
    }

    pub(super) fn positive(&self) -> Result<u64, SettingsError> {
        const WANTED: &str = "a positive whole number";
        match self.value.as_u64() {
            Some(0) => Err(self.refuse("bad_value", &format!("is 0, and must be {WANTED}"))),
            Some(number) => Ok(number),
            None if matches!(self.value, Value::Number(_)) => {
                Err(self.refuse("bad_value", &format!("must be {WANTED}")))
            }
            None => Err(self.must_be(WANTED)),
        }
    }

    /// Returns the elements of an array.
    pub(super) fn elements(&self) -> Result<Vec<Self>, SettingsError> {
        let elements = self.value.as_array().ok_or_else(|| self.must_be("an array"))?;
        let place = |(index, value)| Self {
            file: self.file,
            field: format!("{}[{index}]", self.field),
            value,
        };
        Ok(elements.iter().enumerate().map(place).collect())
    }

    /// Refuses a value of another type.
    pub(super) fn must_be(&self, wanted: &str) -> SettingsError {
        let is = self.value.type_in_words();
        self.refuse("wrong_type", &format!("is {is}, and must be {wanted}"))
    }

    /// Refuses an object that lacks a member.
    pub(super) fn lacks(&self, key: &str) -> SettingsError {
        self.refuse("missing_field", &format!("has no `{key}`"))
    }

    /// Refuses the value.
    pub(super) fn refuse(&self, reason: &'static str, message: &str) -> SettingsError {
        SettingsError {
            path: self.file.to_owned(),
            field: self.field.clone(),
            reason,
            message: message.to_owned(),
        }
    }
}
