//! Permission rules to a ruling (contract §3.3).
/// Stub.
#[derive(Debug)]
pub enum Ruling {
    /// x
    Off,
    /// x
    Allow {
        /// x
        rule: String,
    },
    /// x
    Deny {
        /// x
        rule: Option<String>,
    },
}
