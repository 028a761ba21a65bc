//! Whole sessions at a terminal: the real binary in a real shell, with an environment and a home
//! of its own, and everything that it says as a snapshot.

mod accounts;
mod answers;
mod blueprints;
mod bootstrap;
mod captured;
mod decisions;
mod diagnosing;
mod expressions;
mod help;
mod hooks;
mod identity;
mod installing;
mod loops;
mod models;
mod moving;
mod namespaces;
mod packs;
mod permissions;
mod pipes;
mod policies;
mod policy_cases;
mod runs;
mod serving;
mod shells;
mod start;
mod store;
mod terminal;
mod threads;
mod tokens;
mod tools;
mod trust;
mod watching;
mod writing;
