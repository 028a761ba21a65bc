//! The named stages of an append, for tests that stop a process at each.

/// Told each stage as it is reached, on the thread that reached it.
pub type Probe = Box<dyn Fn(Stage) + Send + Sync>;

/// A point in an append at which a process may be stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The file lock is held; nothing is written.
    Locked,
    /// The transaction has begun.
    Begun,
    /// The rows are written, inside the transaction.
    Inserted,
    /// The head is signed and written, inside the transaction.
    HeadSigned,
    /// The transaction is durable; nobody has been told.
    Committed,
}

impl Stage {
    /// Every stage, in order.
    pub const ALL: &[Self] =
        &[Self::Locked, Self::Begun, Self::Inserted, Self::HeadSigned, Self::Committed];

    /// Returns the name of the stage.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Locked => "locked",
            Self::Begun => "begun",
            Self::Inserted => "inserted",
            Self::HeadSigned => "head-signed",
            Self::Committed => "committed",
        }
    }
}
