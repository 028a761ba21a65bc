//! What tells settings other than hooks apart.

use super::version::written;
use crate::record::{Act, Namespace, Record};

/// The topic, the namespace and the name of a setting. The latest record of a key is the setting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SettingKey {
    /// The topic.
    pub topic: String,
    /// The namespace, as written.
    pub namespace: String,
    /// The name; empty for a topic that has one setting only.
    pub name: String,
}

impl SettingKey {
    pub(super) fn new(topic: &str, namespace: &Namespace, name: &str) -> Self {
        Self { topic: topic.into(), namespace: namespace.as_str().into(), name: name.into() }
    }

    /// Returns the key of the setting that a record states, if it states one.
    pub(super) fn of(record: &Record) -> Option<Self> {
        if record.act != Act::Learn {
            return None;
        }
        Some(Self {
            topic: record.topic()?.to_owned(),
            namespace: written(&record.body, "namespace", Namespace::root().as_str()),
            name: written(&record.body, "name", ""),
        })
    }
}
