//! What holds for any bytes at each place where bytes come in.
//!
//! Each module is one property, `check`, which panics where it does not hold and otherwise returns
//! whether the bytes got past the reading at the front. A fuzz target feeds each; on stable
//! `tests/seeds.rs` feeds them the files of `seeds/`. What several share is in `choices`,
//! `expression` and `facts`.

pub mod bearer;
pub mod blueprint;
pub mod body;
pub mod canon;
pub mod choices;
pub mod envelope;
pub mod evaluators;
pub mod expression;
pub mod facts;
pub mod hook_record;
pub mod import_line;
pub mod policy_pack;
pub mod policy_settings;
pub mod predicate;
pub mod query;
pub mod secret;
pub mod session_payload;
pub mod url_path;
