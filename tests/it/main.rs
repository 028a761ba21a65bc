//! Integration tests, in one binary so that they link once.

mod accounts;
mod asking;
mod budgets;
mod canon;
mod captured;
mod code;
mod crash;
mod decisions;
mod engine;
mod erasure;
mod formats;
mod import;
mod lab;
mod model;
mod namespaces;
mod observe;
mod permit;
mod record;
mod requests;
mod resume;
mod review;
mod run;
mod store;
mod support;
