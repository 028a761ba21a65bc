//! Permission rules to a ruling (contract §3.3).
