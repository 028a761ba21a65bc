//! Which namespaces take records: the fold of the registry's thread, kept in the transaction that
//! appends, so that it is exact among processes.
//!
//! Whoever writes into the root asks nothing here; into any other, one row by its primary key. Only
//! a refusal looks at what stands above.

use rusqlite::{OptionalExtension as _, Row, params};

use super::{AppendError, Reader, StoreError, Tx};
use crate::record::{
    Namespace, NamespaceEntry, NamespaceStatus, Origin, Record, RecordId, Sequence,
};
use crate::time::Timestamp;

/// What the registry says about a namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceRow {
    /// Which one.
    pub namespace: Namespace,
    /// What its newest entry says.
    pub status: NamespaceStatus,
    /// Whether it takes records: it and all above it are active.
    pub open: bool,
    /// The entry, and when it arrived; `None` if the namespace was in use before there was a registry.
    pub entry: Option<(RecordId, Timestamp)>,
}

/// A namespace that takes no records, or one below such a one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("namespace `{namespace}` takes no records: {}", in_words(.namespace, .failing, *.status))]
pub struct NamespaceRejected {
    /// Where a record was to be written.
    pub namespace: Namespace,
    /// The one that fails: it, or the highest above it that does.
    pub failing: Namespace,
    /// What the registry says about that one; `None` if nothing.
    pub status: Option<NamespaceStatus>,
}

impl NamespaceRejected {
    /// Returns the command that fixes it.
    pub fn fix(&self) -> String {
        format!("spl namespace create {}", self.failing)
    }
}

fn in_words(namespace: &Namespace, failing: &Namespace, status: Option<NamespaceStatus>) -> String {
    let what = match status {
        None => "not registered".to_owned(),
        Some(status) => status.to_string(),
    };
    let fix = format!("`spl namespace create {failing}` makes it active");
    if namespace == failing {
        format!("it is {what}; {fix}")
    } else {
        format!("`{failing}` above it is {what}; {fix}")
    }
}

const SELECT: &str = "
    SELECT path, status, open, records.id, records.received_at
    FROM namespaces LEFT JOIN records USING (seq)";

impl Reader<'_> {
    /// Returns what the registry says about a namespace. The root is always there and has no row.
    pub fn namespace(&self, namespace: &Namespace) -> Result<Option<NamespaceRow>, StoreError> {
        self.namespace_at(namespace.as_str())
    }

    /// Returns every namespace that was ever registered, by path; the root is not among them.
    pub fn namespaces(&self) -> Result<Vec<NamespaceRow>, StoreError> {
        let sql = format!("{SELECT} ORDER BY path");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query_map([], row)?;
        rows.filter_map(Result::transpose).map(|row| Ok(row?)).collect()
    }

    /// Returns why a namespace takes no records; `None` if it does.
    pub fn rejects(&self, namespace: &Namespace) -> Result<Option<NamespaceRejected>, StoreError> {
        if namespace.is_root() {
            return Ok(None);
        }
        let sql = "SELECT open FROM namespaces WHERE path = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let open = statement.query_row([namespace.as_str()], |row| row.get(0)).optional()?;
        if open == Some(true) {
            return Ok(None);
        }
        for path in namespace.lineage().skip(1) {
            let status = self.namespace_at(path)?.map(|row| row.status);
            if status == Some(NamespaceStatus::Active) {
                continue;
            }
            let failing = Namespace::parse(path).unwrap_or_else(|_| namespace.clone());
            return Ok(Some(NamespaceRejected { namespace: namespace.clone(), failing, status }));
        }
        Ok(None)
    }

    fn namespace_at(&self, path: &str) -> Result<Option<NamespaceRow>, StoreError> {
        let sql = format!("{SELECT} WHERE path = ?1");
        let found = self.connection.prepare_cached(&sql)?.query_row([path], row).optional()?;
        Ok(found.flatten())
    }
}

impl Tx<'_> {
    /// Refuses a namespace that takes no records. Inside the transaction nobody can change that
    /// before what is written here is stored.
    pub fn enter(&self, namespace: &Namespace) -> Result<(), AppendError> {
        match self.reader().rejects(namespace)? {
            None => Ok(()),
            Some(rejected) => Err(AppendError::Namespace(rejected)),
        }
    }

    /// Takes an entry of the registry into account. One that came from another instance says
    /// nothing about this one (decision 13).
    pub(super) fn fold_namespace(
        &self,
        record: &Record,
        origin: Origin,
        sequence: Sequence,
    ) -> Result<(), StoreError> {
        if origin == Origin::Import {
            return Ok(());
        }
        let Some(entry) = NamespaceEntry::of(record) else { return Ok(()) };
        let row = params![entry.id.as_str(), entry.status.as_str(), sequence.get()];
        self.connection.prepare_cached(WRITE)?.execute(row)?;
        self.connection.prepare_cached(OPEN)?.execute([entry.id.as_str()])?;
        Ok(())
    }
}

fn row(row: &Row<'_>) -> rusqlite::Result<Option<NamespaceRow>> {
    let (path, status): (String, String) = (row.get(0)?, row.get(1)?);
    // What does not read here could not be named in a record either.
    let (Ok(namespace), Some(status)) = (Namespace::parse(&path), NamespaceStatus::parse(&status))
    else {
        return Ok(None);
    };
    let id = row.get::<_, Option<[u8; 32]>>(3)?.map(RecordId::from_bytes);
    let entry = id.zip(row.get::<_, Option<i64>>(4)?.map(Timestamp::from_millis));
    Ok(Some(NamespaceRow { namespace, status, open: row.get(2)?, entry }))
}

const WRITE: &str = "
    INSERT INTO namespaces (path, status, open, seq) VALUES (?1, ?2, 0, ?3)
    ON CONFLICT (path) DO UPDATE SET status = excluded.status, seq = excluded.seq";

/// Of a path and all below it. Behind `/` comes `0`: between the two stands whatever is below.
const OPEN: &str = "
    UPDATE namespaces SET open = status = 'active' AND NOT EXISTS (
        SELECT 1 FROM namespaces AS above
        WHERE above.status <> 'active'
          AND substr(namespaces.path, 1, length(above.path) + 1) = above.path || '/')
    WHERE path = ?1 OR (path > ?1 || '/' AND path < ?1 || '0')";
