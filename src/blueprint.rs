//! Blueprints: files of records that somebody else has written, to be installed as a whole or not at
//! all (contract §7.6).
//!
//! Comes in: a blueprint and those that it extends, a [`BlueprintSet`], and who wants to install it.
//! Goes out: a [`Plan`], which writes nothing and shows all that would be written; and, to whoever
//! accepts that plan by its hash, the records, stored in one commit.
//!
//! A blueprint is a list of *seeds*. A seed is a record without a clock, and hooks and permission
//! rules are seeds like any other: there is no second way to say them. What this engine has no use
//! for, such as definitions of actors and triggers, is refused by name and never left out.
//!
//! Who vouches for a blueprint is worked out in `vouched`: the operator, who has signed it; an
//! author whom the operator trusts; this program, for the one that it brings. What nobody vouches for
//! can land content and nothing else (`content`).
//!
//! **Invariant:** every seed passes the records door with the installer as caller, before the first
//! one is stored. A blueprint gives nobody a right to write anything.
//!
//! **Invariant:** the plan hash covers everything that a blueprint and those that it extends would
//! write, and nothing of the instance it is asked on: what was accepted once is the same everywhere.

mod content;
mod error;
mod file;
mod install;
mod installed;
mod place;
mod plan;
mod seed;
mod set;
mod signature;
mod starter;
mod useless;
mod vouched;

pub use error::BlueprintError;
pub use file::{Blueprint, FIELDS, FORMAT, MAX_SEEDS};
pub use install::{Installed, install};
pub use installed::{BLUEPRINTS_THREAD, INSTALL_KIND, Installation, installations};
pub use place::Place;
pub use plan::{Plan, Planned, State, plan};
pub use seed::{SEED_FIELDS, Seed, Sort};
pub use set::{BlueprintSet, MAX_EXTENDED, Placed};
pub use signature::{ALGORITHM, BlueprintSignature};
pub use starter::{STARTER, starter};
pub use vouched::{Vouched, Voucher};
